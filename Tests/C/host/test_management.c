/* SPDX-License-Identifier: MIT */
/* PDUs of the kernel's management interface (BlueZ, doc/mgmt-api.txt), written out. */
#include "tendon/host/management.h"
#include "test_bytes.h"

static tendon_status decode_hex(const char *hex, tendon_management_event *event, size_t *offset, block *keep) {
    *keep = block_hex(hex);
    return tendon_management_decode(keep->data, keep->length, event, offset);
}

static void expect_bytes(const uint8_t *pdu, tendon_status length, const char *hex) {
    block wanted = block_hex(hex);
    assert_int_equal(length, wanted.length);
    assert_memory_equal(pdu, wanted.data, wanted.length);
    free(wanted.data);
}

static const char *const events[] = {
    "0100 0000 0700 0500 00 91060000",                     /* Command Complete: Set Powered, settings */
    "0100 ffff 0900 0300 00 0200 0100 0000",               /* Command Complete: Read Index List */
    "0200 0000 0300 0500 12",                              /* Command Status: Set Powered, rfkilled */
    "0300 0100 0100 42",                                   /* Controller Error */
    "0600 0000 0400 91060000",                             /* New Settings */
    "0b00 0000 1000 665544332211 01 08000000 0300 020106", /* Device Connected, LE public */
    "0c00 0000 0800 665544332211 02 03",                   /* Device Disconnected, LE random, by the peer */
    "0d00 0000 0800 665544332211 00 04",                   /* Connect Failed, BR/EDR */
};

static void events_are_decoded(void **state) {
    (void)state;
    tendon_management_event e;
    block keep;
    assert_int_equal(decode_hex(events[0], &e, NULL, &keep), TENDON_OK);
    assert_int_equal(e.code, TENDON_MANAGEMENT_COMMAND_COMPLETE);
    assert_int_equal(e.index, 0);
    assert_int_equal(e.opcode, TENDON_MANAGEMENT_SET_POWERED);
    assert_int_equal(e.status, TENDON_MANAGEMENT_SUCCESS);
    assert_int_equal(e.length, 4);
    assert_memory_equal(e.data, "\x91\x06\x00\x00", 4);
    free(keep.data);

    assert_int_equal(decode_hex(events[2], &e, NULL, &keep), TENDON_OK);
    assert_int_equal(e.code, TENDON_MANAGEMENT_COMMAND_STATUS);
    assert_int_equal(e.status, TENDON_MANAGEMENT_RFKILLED);
    free(keep.data);

    assert_int_equal(decode_hex(events[3], &e, NULL, &keep), TENDON_OK);
    assert_int_equal(e.index, 1);
    assert_int_equal(e.status, 0x42);
    free(keep.data);

    assert_int_equal(decode_hex(events[4], &e, NULL, &keep), TENDON_OK);
    assert_int_equal(e.settings, TENDON_MANAGEMENT_POWERED | TENDON_MANAGEMENT_BONDABLE | TENDON_MANAGEMENT_BREDR |
                                     TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_ADVERTISING);
    free(keep.data);
}

static void peers_are_decoded(void **state) {
    (void)state;
    static const uint8_t address[6] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66};
    tendon_management_event e;
    block keep;
    assert_int_equal(decode_hex(events[5], &e, NULL, &keep), TENDON_OK);
    assert_memory_equal(e.peer.bytes, address, 6);
    assert_int_equal(e.peer.type, TENDON_ADDRESS_TYPE_PUBLIC);
    assert_true(e.low_energy);
    assert_int_equal(e.settings, 8); /* locally initiated */
    assert_int_equal(e.length, 3);
    assert_memory_equal(e.data, "\x02\x01\x06", 3);
    free(keep.data);

    assert_int_equal(decode_hex(events[6], &e, NULL, &keep), TENDON_OK);
    assert_int_equal(e.peer.type, TENDON_ADDRESS_TYPE_RANDOM);
    assert_int_equal(e.reason, 3);
    free(keep.data);

    assert_int_equal(decode_hex(events[7], &e, NULL, &keep), TENDON_OK);
    assert_false(e.low_energy);
    assert_int_equal(e.status, TENDON_MANAGEMENT_CONNECT_FAILURE);
    free(keep.data);
}

static void unknown_events_keep_their_bytes(void **state) {
    (void)state;
    tendon_management_event e;
    block keep;
    assert_int_equal(decode_hex("3412 0500 0200 aabb", &e, NULL, &keep), TENDON_OK);
    assert_int_equal(e.code, 0x1234);
    assert_int_equal(e.index, 5);
    assert_int_equal(e.length, 2);
    assert_memory_equal(e.data, "\xaa\xbb", 2);
    free(keep.data);
}

/* Cut anywhere: refused, and *out untouched. */
static void cut_events_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        block whole = block_hex(events[i]);
        for (size_t length = 0; length < whole.length; length++) {
            block part = block_copy(whole.data, length);
            tendon_management_event e = {.code = 0xABCD};
            size_t offset = 999;
            assert_int_equal(tendon_management_decode(part.data, part.length, &e, &offset), TENDON_ERROR_TRUNCATED);
            assert_int_equal(e.code, 0xABCD);
            assert_in_range(offset, 0, length);
            free(part.data);
        }
        free(whole.data);
    }
}

/* The length of the header is right, the parameters are too few for the event. */
static void short_parameters_are_refused(void **state) {
    (void)state;
    static const uint16_t needed[] = {0, 3, 3, 1, 0, 0, 4, 0, 0, 0, 0, 13, 8, 8};
    for (uint16_t code = 1; code < sizeof needed / sizeof needed[0]; code++) {
        for (uint16_t length = 0; length <= 16; length++) {
            uint8_t bytes[22] = {(uint8_t)code, 0, 0, 0, (uint8_t)length, 0};
            block pdu = block_copy(bytes, 6u + length);
            tendon_management_event e;
            size_t offset = 999;
            tendon_status status = tendon_management_decode(pdu.data, pdu.length, &e, &offset);
            assert_int_equal(status, length < needed[code] ? TENDON_ERROR_TRUNCATED : TENDON_OK);
            if (status < 0) {
                assert_in_range(offset, 6, 6 + length);
            }
            free(pdu.data);
        }
    }
}

static void bytes_after_the_end_are_malformed(void **state) {
    (void)state;
    tendon_management_event e;
    size_t offset = 999;
    block keep;
    assert_int_equal(decode_hex("0600 0000 0400 91060000 00", &e, &offset, &keep), TENDON_ERROR_MALFORMED);
    assert_int_equal(offset, 4);
    free(keep.data);
    /* Device Connected whose data is longer than the event */
    assert_int_equal(decode_hex("0b00 0000 0e00 665544332211 01 00000000 0200 aa", &e, &offset, &keep),
                     TENDON_ERROR_TRUNCATED);
    assert_int_equal(offset, 19);
    free(keep.data);
}

static void information_is_decoded(void **state) {
    (void)state;
    uint8_t bytes[280] = {0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x09, 0xF1, 0x05, 0x1B, 0xBE, 0x01, 0x00,
                          0x91, 0x06, 0x00, 0x00, 0x0C, 0x01, 0x1C, 'h',  'o',  's',  't',  0};
    bytes[20 + 249] = 's';
    tendon_management_information information;
    block whole = block_copy(bytes, sizeof bytes);
    assert_int_equal(tendon_management_decode_information(whole.data, whole.length, &information, NULL), TENDON_OK);
    assert_int_equal(information.address.bytes[0], 0x11);
    assert_int_equal(information.version, 9);
    assert_int_equal(information.manufacturer, 0x05F1);
    assert_int_equal(information.supported_settings, 0x0001BE1B);
    assert_int_equal(information.current_settings, 0x00000691);
    assert_int_equal(information.device_class[2], 0x1C);
    assert_string_equal((const char *)information.name, "host");
    assert_string_equal((const char *)information.short_name, "s");
    free(whole.data);
    for (size_t length = 0; length < sizeof bytes; length++) {
        block part = block_copy(bytes, length);
        size_t offset = 999;
        assert_int_equal(tendon_management_decode_information(part.data, part.length, &information, &offset),
                         TENDON_ERROR_TRUNCATED);
        assert_in_range(offset, 0, length);
        free(part.data);
    }
}

static void index_lists_are_decoded(void **state) {
    (void)state;
    uint16_t indexes[3] = {0xAAAA, 0xAAAA, 0xAAAA};
    size_t offset = 999;
    block b = block_hex("0300 0700 0000 0100");
    assert_int_equal(tendon_management_decode_index_list(b.data, b.length, indexes, 2, NULL), 3);
    assert_int_equal(indexes[0], 7);
    assert_int_equal(indexes[1], 0);
    assert_int_equal(indexes[2], 0xAAAA); /* room for two: no more are stored */
    for (size_t length = 0; length < b.length; length++) {
        block part = block_copy(b.data, length);
        assert_int_equal(tendon_management_decode_index_list(part.data, part.length, indexes, 2, &offset),
                         TENDON_ERROR_TRUNCATED);
        free(part.data);
    }
    free(b.data);
    b = block_hex("0000");
    assert_int_equal(tendon_management_decode_index_list(b.data, b.length, indexes, 0, NULL), 0);
    free(b.data);
}

/* The type behind the six bytes: 0 BR/EDR, 1 LE public, 2 LE random; no other is defined. */
static void addresses_are_read_and_written(void **state) {
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        const uint8_t wire[7] = {0x66, 0x55, 0x44, 0x33, 0x22, 0x11, (uint8_t)type};
        for (size_t length = 0; length <= sizeof wire; length++) {
            block part = block_copy(wire, length);
            tendon_reader reader = tendon_reader_make(part.data, part.length);
            tendon_address address = {{9, 9, 9, 9, 9, 9}, 9};
            const tendon_address none = {.type = 0};
            bool whole = length == sizeof wire;
            assert_int_equal(tendon_management_read_address(&reader, &address), whole && (type == 1 || type == 2));
            assert_int_equal(reader.status, whole ? TENDON_OK : TENDON_ERROR_TRUNCATED);
            assert_int_equal(address.type,
                             whole && type == 2 ? TENDON_ADDRESS_TYPE_RANDOM : TENDON_ADDRESS_TYPE_PUBLIC);
            assert_memory_equal(address.bytes, whole ? (const uint8_t *)"\x11\x22\x33\x44\x55\x66" : none.bytes, 6);
            free(part.data);
        }
        const tendon_address peer = {{0x11, 0x22, 0x33, 0x44, 0x55, 0x66}, (uint8_t)type};
        uint8_t out[TENDON_MANAGEMENT_ADDRESS_SIZE];
        for (size_t capacity = 0; capacity <= sizeof out; capacity++) {
            tendon_writer writer = tendon_writer_make(out, capacity);
            tendon_management_write_address(&writer, &peer);
            assert_int_equal(tendon_writer_result(&writer), capacity == sizeof out ? 7 : TENDON_ERROR_BUFFER_TOO_SMALL);
        }
        assert_memory_equal(out, wire, 6);
        assert_int_equal(out[6], type == TENDON_ADDRESS_TYPE_RANDOM ? 2 : 1);
    }
}

static void commands_are_encoded(void **state) {
    (void)state;
    uint8_t out[64];
    expect_bytes(out,
                 tendon_management_encode(TENDON_MANAGEMENT_READ_INDEX_LIST, TENDON_MANAGEMENT_NO_INDEX, NULL, 0, out,
                                          sizeof out),
                 "0300 ffff 0000");
    static const uint8_t on = 1;
    expect_bytes(out, tendon_management_encode(TENDON_MANAGEMENT_SET_POWERED, 1, &on, 1, out, sizeof out),
                 "0500 0100 0100 01");
    for (size_t capacity = 0; capacity < 7; capacity++) {
        assert_int_equal(tendon_management_encode(TENDON_MANAGEMENT_SET_POWERED, 1, &on, 1, out, capacity),
                         TENDON_ERROR_BUFFER_TOO_SMALL);
    }
    assert_int_equal(tendon_management_encode(1, 0, out, 65536, out, sizeof out), TENDON_ERROR_OVERFLOW);
}

static void connection_parameters_are_encoded_and_checked(void **state) {
    (void)state;
    uint8_t out[64];
    tendon_management_connection_parameters item = {
        .peer = {{0x11, 0x22, 0x33, 0x44, 0x55, 0x66}, TENDON_ADDRESS_TYPE_PUBLIC},
        .parameters = {.min_interval = 6, .max_interval = 12, .latency = 4, .timeout = 200}};
    expect_bytes(out, tendon_management_encode_connection_parameters(2, &item, 1, out, sizeof out),
                 "3500 0200 1100 0100 665544332211 01 0600 0c00 0400 c800");
    expect_bytes(out, tendon_management_encode_connection_parameters(2, NULL, 0, out, sizeof out),
                 "3500 0200 0200 0000");
    const struct {
        uint16_t min, max, latency, timeout;
        bool good;
    } rows[] = {{6, 6, 0, 10, true},        {5, 6, 0, 10, false},        {6, 3201, 0, 3200, false},
                {8, 7, 0, 100, false},      {6, 6, 500, 3200, false},    {6, 6, 0, 9, false},
                {6, 6, 0, 3201, false},     {6, 40, 0, 10, false},       {6, 39, 0, 10, true},
                {3200, 3200, 0, 801, true}, {3200, 3200, 0, 800, false}, {6, 25, 499, 3126, true},
                {6, 25, 499, 3125, false}};
    for (unsigned type = 0; type < 256; type++) {
        tendon_management_connection_parameters other = item;
        other.peer.type = (uint8_t)type;
        assert_int_equal(tendon_management_encode_connection_parameters(2, &other, 1, out, sizeof out),
                         type <= TENDON_ADDRESS_TYPE_RANDOM ? 23 : TENDON_ERROR_INVALID_ARGUMENT);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        item.parameters = (tendon_connection_parameters){.min_interval = rows[i].min,
                                                         .max_interval = rows[i].max,
                                                         .latency = rows[i].latency,
                                                         .timeout = rows[i].timeout};
        tendon_status status = tendon_management_encode_connection_parameters(0, &item, 1, out, sizeof out);
        assert_int_equal(status, rows[i].good ? 23 : TENDON_ERROR_INVALID_ARGUMENT);
    }
}

/* The length of a command has 16 bits: 2 + 4368 * 15 = 65522 is the longest that it can state. */
static void connection_parameters_fill_one_command(void **state) {
    (void)state;
    enum { MOST = 4368 };
    static tendon_management_connection_parameters items[MOST + 1];
    static uint8_t out[6 + 2 + MOST * 15];
    for (size_t i = 0; i <= MOST; i++) {
        items[i].parameters =
            (tendon_connection_parameters){.min_interval = 6, .max_interval = 12, .latency = 4, .timeout = 200};
    }
    assert_int_equal(tendon_management_encode_connection_parameters(2, items, MOST, out, sizeof out), sizeof out);
    assert_memory_equal(out, "\x35\x00\x02\x00\xf2\xff\x10\x11", 8);
    assert_int_equal(tendon_management_encode_connection_parameters(2, items, MOST + 1, out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_decoded),
        cmocka_unit_test(peers_are_decoded),
        cmocka_unit_test(unknown_events_keep_their_bytes),
        cmocka_unit_test(cut_events_are_refused),
        cmocka_unit_test(short_parameters_are_refused),
        cmocka_unit_test(bytes_after_the_end_are_malformed),
        cmocka_unit_test(information_is_decoded),
        cmocka_unit_test(index_lists_are_decoded),
        cmocka_unit_test(addresses_are_read_and_written),
        cmocka_unit_test(commands_are_encoded),
        cmocka_unit_test(connection_parameters_are_encoded_and_checked),
        cmocka_unit_test(connection_parameters_fill_one_command),
    };
    return cmocka_run_group_tests_name("host_management", tests, NULL, NULL);
}
