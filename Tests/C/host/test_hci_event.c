/* SPDX-License-Identifier: MIT */
/* HCI events (Core Spec Vol 4 Part E 7.7), bytes written out. Hostile inputs of group F. */
#include "tendon/host/hci.h"
#include "test_bytes.h"

/* Decodes header and parameters; *keep holds the bytes. */
static tendon_status decode_hex(const char *hex, tendon_hci_event *event, tendon_hci_parameters *p, block *keep) {
    *keep = block_hex(hex);
    tendon_status status = tendon_hci_event_decode(keep->data, keep->length, event, NULL);
    return status == TENDON_OK ? tendon_hci_decode(event, p, NULL) : status;
}

#define CONNECTION "3e 13 01 00 4000 00 01 665544332211 1800 0000 4800 05"

static const char *const good[] = {
    "05 04 00 4000 13",
    "08 04 00 4000 01",
    "59 05 00 4000 01 10",
    "0c 08 00 4000 0b 0f00 3412",
    "0e 04 01 030c 00",
    "0e 03 01 0000",
    "0f 04 0c 01 0620",
    "10 01 42",
    "13 09 02 4000 0300 4100 0100",
    "1a 01 01",
    "30 03 00 4000",
    CONNECTION,
    "3e 0a 03 00 4000 1800 0000 4800",
    "3e 0c 04 00 4000 0102030405060708",
    "3e 0d 05 4000 0102030405060708 090a",
    "3e 0b 06 4000 0600 0c00 0000 c800",
    "3e 0b 07 4000 fb00 4808 fb00 4808",
    "3e 1f 0a 00 4000 01 01 665544332211 060504030241 262524232261 1800 0000 4800 05",
    "3e 06 0c 00 4000 02 02",
    "3e 01 11",
    "3e 06 12 00 01 4000 02",
    "3e 09 13 01 01 665544332211",
    "3e 04 14 4000 01",
    "3e 22 29 00 4000 01 01 665544332211 060504030241 262524232261 1800 0000 4800 05 01 ffff",
};

static void good_events_decode(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        tendon_hci_event event;
        tendon_hci_parameters p;
        block b;
        if (decode_hex(good[i], &event, &p, &b) != TENDON_OK) {
            fail_msg("%s", good[i]);
        }
        free(b.data);
    }
}

static void members_are_what_stands_in_the_event(void **state) {
    (void)state;
    tendon_hci_event e;
    tendon_hci_parameters p;
    block b;
    char text[TENDON_ADDRESS_STRING_SIZE];
    assert_int_equal(decode_hex(good[0], &e, &p, &b), TENDON_OK);
    assert_true(e.code == 5 && p.status == 0 && p.handle == 0x40 && p.reason == 0x13);
    free(b.data);
    assert_int_equal(decode_hex(good[2], &e, &p, &b), TENDON_OK);
    assert_true(p.enabled == 1 && p.key_size == 16);
    free(b.data);
    assert_int_equal(decode_hex(good[3], &e, &p, &b), TENDON_OK);
    assert_true(p.code == 11 && p.manufacturer == 0x000F && p.subversion == 0x1234);
    free(b.data);
    assert_int_equal(decode_hex(good[4], &e, &p, &b), TENDON_OK);
    assert_true(p.commands == 1 && p.opcode == TENDON_HCI_RESET);
    assert_hex(p.data, p.length, "00");
    free(b.data);
    assert_int_equal(decode_hex(good[6], &e, &p, &b), TENDON_OK);
    assert_true(p.status == 0x0C && p.commands == 1 && p.opcode == TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS);
    free(b.data);
    assert_int_equal(decode_hex(good[8], &e, &p, &b), TENDON_OK);
    assert_int_equal(p.count, 2);
    assert_hex(p.data, p.length, "4000 0300 4100 0100");
    free(b.data);
    assert_int_equal(decode_hex(CONNECTION, &e, &p, &b), TENDON_OK);
    assert_true(e.subevent == 1 && p.handle == 0x40 && p.role == 0 && p.peer.type == TENDON_ADDRESS_TYPE_RANDOM);
    assert_string_equal(tendon_address_format(&p.peer, text), "11:22:33:44:55:66");
    assert_true(p.interval == 0x18 && p.latency == 0 && p.timeout == 0x48 && p.clock == 5);
    free(b.data);
    assert_int_equal(decode_hex(good[15], &e, &p, &b), TENDON_OK);
    assert_true(p.interval == 6 && p.interval_max == 12 && p.timeout == 200);
    free(b.data);
    assert_int_equal(decode_hex(good[17], &e, &p, &b), TENDON_OK);
    assert_string_equal(tendon_address_format(&p.local_resolvable, text), "41:02:03:04:05:06");
    assert_string_equal(tendon_address_format(&p.peer_resolvable, text), "61:22:23:24:25:26");
    assert_true(p.role == 1 && p.clock == 5);
    free(b.data);
    assert_int_equal(decode_hex(good[20], &e, &p, &b), TENDON_OK);
    assert_true(p.set == 1 && p.handle == 0x40 && p.count == 2);
    free(b.data);
}

/* F01: the length in the header against the bytes there are: each cut, and one byte more. */
static void mal_F01_header_length(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        block whole = block_hex(good[i]);
        for (size_t length = 0; length < whole.length; length++) {
            block b = block_copy(whole.data, length);
            tendon_hci_event e;
            size_t offset = 99;
            assert_int_equal(tendon_hci_event_decode(b.data, length, &e, &offset), TENDON_ERROR_TRUNCATED);
            assert_int_equal(offset, length < 2 ? length : 2);
            assert_null(e.data);
            free(b.data);
        }
        uint8_t longer[64] = {0};
        memcpy(longer, whole.data, whole.length);
        block b = block_copy(longer, whole.length + 1);
        tendon_hci_event e;
        size_t offset = 99;
        assert_int_equal(tendon_hci_event_decode(b.data, b.length, &e, &offset), TENDON_ERROR_MALFORMED);
        assert_int_equal(offset, whole.length);
        free(b.data);
        free(whole.data);
    }
}

/* The header agrees, the parameters are too few, which is an error, or one too many, which later versions may append.
 */
static void mal_F02_parameters_too_few_or_many(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        block whole = block_hex(good[i]);
        size_t head = whole.data[0] == TENDON_HCI_LE_META ? 3 : 2;
        for (size_t length = head; length <= whole.length + 1; length++) {
            uint8_t bytes[64] = {0};
            memcpy(bytes, whole.data, whole.length);
            bytes[1] = (uint8_t)(length - 2);
            block b = block_copy(bytes, length);
            tendon_hci_event e;
            tendon_hci_parameters p;
            size_t offset = 99;
            assert_int_equal(tendon_hci_event_decode(b.data, length, &e, NULL), TENDON_OK);
            tendon_status status = tendon_hci_decode(&e, &p, &offset);
            bool open_ended = whole.data[0] == TENDON_HCI_COMMAND_COMPLETE;
            if (length >= whole.length || (open_ended && length >= 5)) {
                assert_int_equal(status, TENDON_OK);
            } else {
                assert_int_equal(status, TENDON_ERROR_TRUNCATED);
                assert_true(offset <= e.length);
            }
            free(b.data);
        }
        free(whole.data);
    }
}

static void mal_F05_entries_beyond_the_event(void **state) {
    (void)state;
    tendon_hci_event e;
    tendon_hci_parameters p;
    block b;
    assert_int_equal(decode_hex("13 05 02 4000 0300", &e, &p, &b), TENDON_ERROR_TRUNCATED);
    free(b.data);
    assert_int_equal(decode_hex("13 05 ff 4000 0300", &e, &p, &b), TENDON_ERROR_TRUNCATED);
    free(b.data);
    assert_int_equal(decode_hex("13 05 00 4000 0300", &e, &p, &b), TENDON_OK); /* 4 bytes behind no entry */
    assert_int_equal(p.count, 0);
    free(b.data);
    assert_int_equal(decode_hex("13 01 00", &e, &p, &b), TENDON_OK);
    assert_int_equal(p.count, 0);
    free(b.data);
}

/* F10: a handle above 0x0EFF or a role that is none; of a failed attempt both mean nothing. */
static void mal_F10_impossible_connections(void **state) {
    (void)state;
    static const char *const bad[] = {
        "3e 13 01 00 000f 00 01 665544332211 1800 0000 4800 05",
        "3e 13 01 00 ffff 00 01 665544332211 1800 0000 4800 05",
        "3e 13 01 00 4000 02 01 665544332211 1800 0000 4800 05",
        "3e 1f 0a 00 4000 ff 01 665544332211 000000000000 000000000000 1800 0000 4800 05",
        "05 04 00 000f 13",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        tendon_hci_event e;
        tendon_hci_parameters p;
        block b;
        assert_int_equal(decode_hex(bad[i], &e, &p, &b), TENDON_ERROR_MALFORMED);
        free(b.data);
    }
    tendon_hci_event e;
    tendon_hci_parameters p;
    block b;
    assert_int_equal(decode_hex("3e 13 01 3e ffff ff 01 665544332211 0000 0000 0000 00", &e, &p, &b), TENDON_OK);
    assert_int_equal(p.status, 0x3E);
    free(b.data);
    assert_int_equal(decode_hex("3e 13 01 00 ff0e 01 07 665544332211 1800 0000 4800 05", &e, &p, &b), TENDON_OK);
    assert_int_equal(p.peer.type, 7); /* unknown kinds are kept */
    free(b.data);
}

/* F11 is the state's owner to judge; the decoder takes the handle as it is. F16: off is reported as off. */
static void mal_F11_F16_taken_as_they_are(void **state) {
    (void)state;
    tendon_hci_event e;
    tendon_hci_parameters p;
    block b;
    assert_int_equal(decode_hex("05 04 00 ff0e 08", &e, &p, &b), TENDON_OK);
    assert_int_equal(p.handle, 0x0EFF);
    free(b.data);
    assert_int_equal(decode_hex("08 04 00 4000 00", &e, &p, &b), TENDON_OK);
    assert_true(p.status == 0 && p.enabled == 0);
    free(b.data);
}

static void mal_F12_le_meta(void **state) {
    (void)state;
    tendon_hci_event e;
    tendon_hci_parameters p;
    block b;
    assert_int_equal(decode_hex("3e 00", &e, &p, &b), TENDON_ERROR_TRUNCATED);
    free(b.data);
    for (unsigned sub = 0; sub < 256; sub++) {
        uint8_t bytes[] = {0x3E, 1, (uint8_t)sub};
        b = block_copy(bytes, 3);
        assert_int_equal(tendon_hci_event_decode(b.data, 3, &e, NULL), TENDON_OK);
        assert_true(e.subevent == sub && e.length == 0);
        tendon_status status = tendon_hci_decode(&e, &p, NULL);
        assert_true(status == TENDON_ERROR_UNSUPPORTED || status == TENDON_ERROR_TRUNCATED || sub == 0x11);
        free(b.data);
    }
}

/* F15, and F13's codes of 32 and more: vendor and unknown events keep their bytes, of any length. */
static void mal_F13_F15_unknown_events_are_kept(void **state) {
    (void)state;
    for (unsigned length = 0; length <= 255; length += 51) {
        uint8_t bytes[257] = {0xFF, (uint8_t)length};
        block b = block_copy(bytes, length + 2);
        tendon_hci_event e;
        tendon_hci_parameters p;
        size_t offset = 99;
        assert_int_equal(tendon_hci_event_decode(b.data, b.length, &e, NULL), TENDON_OK);
        assert_true(e.code == TENDON_HCI_VENDOR && e.length == length);
        assert_int_equal(tendon_hci_decode(&e, &p, &offset), TENDON_ERROR_UNSUPPORTED);
        assert_int_equal(offset, 0);
        free(b.data);
    }
    tendon_hci_event e;
    tendon_hci_parameters p;
    block b;
    assert_int_equal(decode_hex("10 00", &e, &p, &b), TENDON_ERROR_TRUNCATED);
    free(b.data);
    assert_int_equal(decode_hex("1a 02 01 00", &e, &p, &b), TENDON_OK);
    assert_int_equal(p.code, 1);
    free(b.data);
}

/* Every code and subevent with every length: a status, and views inside the bytes. */
static void every_code_and_length(void **state) {
    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        for (unsigned sub = 0; sub < (code == TENDON_HCI_LE_META ? 256u : 1u); sub++) {
            for (unsigned length = 0; length < 48; length++) {
                uint8_t zeros[48] = {0};
                block b = block_copy(zeros, length);
                tendon_hci_event e = {(uint8_t)code, (uint8_t)sub, b.data, length};
                tendon_hci_parameters p;
                size_t offset = 0;
                if (tendon_hci_decode(&e, &p, &offset) == TENDON_OK && p.length > 0) {
                    assert_true(p.data >= b.data && p.data + p.length <= b.data + length);
                }
                assert_true(offset <= length);
                free(b.data);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_events_decode),
        cmocka_unit_test(members_are_what_stands_in_the_event),
        cmocka_unit_test(mal_F01_header_length),
        cmocka_unit_test(mal_F02_parameters_too_few_or_many),
        cmocka_unit_test(mal_F05_entries_beyond_the_event),
        cmocka_unit_test(mal_F10_impossible_connections),
        cmocka_unit_test(mal_F11_F16_taken_as_they_are),
        cmocka_unit_test(mal_F12_le_meta),
        cmocka_unit_test(mal_F13_F15_unknown_events_are_kept),
        cmocka_unit_test(every_code_and_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
