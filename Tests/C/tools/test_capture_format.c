/* SPDX-License-Identifier: MIT */
/* Records and headers of captures: literal bytes, truncated at every position, and round trips. */
#include "capture_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* The same records decoded from exact heap blocks of every length. */
static void mal_record_cut_at_every_position(void **state) {
    (void)state;
    block whole = block_hex("0000000f 0000000f 00000001 00000007" TIME_2000 "02" NOTIFICATION);
    for (size_t cut = 0; cut <= whole.length; cut++) {
        block b = block_copy(whole.data, cut);
        tendon_capture_record record;
        size_t offset = 999;
        tendon_status status = tendon_capture_decode_record(TENDON_CAPTURE_H4, b.data, cut, &record, &offset);
        if (cut == whole.length) {
            assert_int_equal(status, whole.length);
            assert_int_equal(record.type, TENDON_HCI_PACKET_ACL);
            assert_true(record.incoming);
            assert_int_equal(record.drops, 7);
            assert_int_equal(record.length, 14);
        } else {
            assert_int_equal(status, TENDON_ERROR_INCOMPLETE);
            assert_int_equal(offset, cut < 8 ? 24 : whole.length);
        }
        free(b.data);
    }
    free(whole.data);
}

static void mal_headers(void **state) {
    (void)state;
    uint32_t datalink = 0;
    size_t offset = 0;
    block good = block_hex(HEADER_H4);
    for (size_t i = 0; i < good.length; i++) {
        good.data[i] ^= 0x80;
        tendon_status status = tendon_capture_decode_header(good.data, good.length, &datalink, &offset);
        assert_int_equal(status, i < 8 ? TENDON_ERROR_MALFORMED : TENDON_ERROR_UNSUPPORTED);
        assert_int_equal(offset, i < 8 ? i : i < 12 ? 8 : 12);
        good.data[i] ^= 0x80;
    }
    for (size_t cut = 0; cut < good.length; cut++) {
        block b = block_copy(good.data, cut);
        assert_int_equal(tendon_capture_decode_header(b.data, cut, &datalink, &offset), TENDON_ERROR_INCOMPLETE);
        assert_int_equal(offset, cut);
        free(b.data);
    }
    for (size_t cut = 1; cut <= 8; cut++) { /* no capture, whatever follows */
        block b = block_copy(good.data, cut);
        b.data[cut - 1] ^= 0x80;
        assert_int_equal(tendon_capture_decode_header(b.data, cut, &datalink, &offset), TENDON_ERROR_MALFORMED);
        assert_int_equal(offset, cut - 1);
        free(b.data);
    }
    assert_int_equal(tendon_capture_decode_header(good.data, good.length, &datalink, NULL), TENDON_OK);
    assert_int_equal(datalink, TENDON_CAPTURE_H4);
    free(good.data);
}

static void mal_records(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint32_t datalink;
        tendon_status status;
        size_t offset;
    } cases[] = {
        /* more kept than there was */
        {"00000001 00000002 00000001 00000000" TIME_2000 "0401", TENDON_CAPTURE_H4, TENDON_ERROR_MALFORMED, 4},
        /* longer than any packet: detected without waiting for 4 GB */
        {"ffffffff ffffffff", TENDON_CAPTURE_H4, TENDON_ERROR_MALFORMED, 0},
        {"00010005 00000001", TENDON_CAPTURE_H4, TENDON_ERROR_MALFORMED, 0},
        /* right: empty packets of the other kinds; a note of the monitor; a record cut when it was captured */
        {"00000000 00000000 00000003 00000000" TIME_2000, TENDON_CAPTURE_H1, 24, 0},
        {"00000000 00000000 0001000c 00000000" TIME_2000, TENDON_CAPTURE_MONITOR, 24, 0},
        {"00000100 00000001 00000001 00000000" TIME_2000 "04", TENDON_CAPTURE_H4, 25, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        block b = block_hex(cases[i].hex);
        tendon_capture_record record;
        size_t offset = 0;
        assert_int_equal(tendon_capture_decode_record(cases[i].datalink, b.data, b.length, &record, &offset),
                         cases[i].status);
        assert_int_equal(offset, cases[i].offset);
        free(b.data);
    }
}

/* Without an H4 byte, or with a type that no HCI packet has: a record, but no packet. Its bytes are all there. */
static void what_is_no_packet_of_an_h4_file(void **state) {
    (void)state;
    tendon_capture_record record;
    block b = block_hex("00000000 00000000 00000001 00000000" TIME_2000);
    assert_int_equal(tendon_capture_decode_record(TENDON_CAPTURE_H4, b.data, b.length, &record, NULL), 24);
    assert_int_equal(record.type, 0);
    assert_int_equal(record.length, 0);
    free(b.data);
    b = block_hex("00000003 00000002 00000001 00000000" TIME_2000 "00aa");
    for (unsigned type = 0; type <= 0xFF; type++) {
        bool is_packet = type >= TENDON_HCI_PACKET_COMMAND && type <= TENDON_HCI_PACKET_ISO;
        b.data[24] = (uint8_t)type;
        assert_int_equal(tendon_capture_decode_record(TENDON_CAPTURE_H4, b.data, b.length, &record, NULL), 26);
        assert_int_equal(record.type, is_packet ? type : 0);
        assert_int_equal(record.length, is_packet ? 1 : 2);
        assert_int_equal(record.original_length, is_packet ? 2 : 3);
        assert_true(record.incoming);
    }
    free(b.data);
}

static void flags_tell_what_an_h1_record_is(void **state) {
    (void)state;
    static const uint8_t types[4] = {TENDON_HCI_PACKET_ACL, TENDON_HCI_PACKET_ACL, TENDON_HCI_PACKET_COMMAND,
                                     TENDON_HCI_PACKET_EVENT};
    for (uint8_t flags = 0; flags < 4; flags++) {
        block b = block_hex("00000001 00000001 00000000 00000000" TIME_2000 "aa");
        b.data[11] = flags;
        tendon_capture_record record;
        assert_int_equal(tendon_capture_decode_record(TENDON_CAPTURE_H1, b.data, b.length, &record, NULL), 25);
        assert_int_equal(record.type, types[flags]);
        assert_int_equal(record.incoming, flags & 1);
        free(b.data);
    }
}

static void times_before_1970_are_0(void **state) {
    (void)state;
    static const char *const times[] = {"0000000000000000", "00dcddb30f2f7fff", "00dcddb30f2f8000", "00dcddb30f2f8001"};
    for (int i = 0; i < 4; i++) {
        char hex[128];
        snprintf(hex, sizeof hex, "00000001 00000001 00000001 00000000 %s 04", times[i]);
        block b = block_hex(hex);
        tendon_capture_record record;
        assert_int_equal(tendon_capture_decode_record(TENDON_CAPTURE_H4, b.data, b.length, &record, NULL), 25);
        assert_true(record.unix_us == (i == 3 ? 1 : 0));
        free(b.data);
    }
}

/* encode(decode(x)) = x and the other way round, over random records. */
static void records_survive_a_round_trip(void **state) {
    (void)state;
    uint32_t random = 2463534242u;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[64], packet[25 + 64];
        for (size_t j = 0; j < sizeof bytes; j++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            bytes[j] = (uint8_t)random;
        }
        bool monitor = (random & 1) != 0;
        tendon_capture_record in = {.unix_us = (uint64_t)random * 1000003u,
                                    .type = (uint8_t)(1 + bytes[0] % 5),
                                    .incoming = (bytes[1] & 1) != 0,
                                    .adapter = monitor ? bytes[2] : 0,
                                    .drops = random,
                                    .data = bytes,
                                    .length = bytes[3] % sizeof bytes};
        in.original_length = in.length + (bytes[4] & 3);
        if (in.type == TENDON_HCI_PACKET_COMMAND || in.type == TENDON_HCI_PACKET_EVENT) {
            in.incoming = in.type == TENDON_HCI_PACKET_EVENT;
        }
        uint32_t datalink = monitor ? TENDON_CAPTURE_MONITOR : TENDON_CAPTURE_H4;
        tendon_status head = tendon_capture_encode_record(datalink, &in, packet, sizeof packet);
        assert_int_equal(head, monitor ? 24 : 25);
        memcpy(packet + head, in.data, in.length);
        tendon_capture_record out;
        assert_int_equal(tendon_capture_decode_record(datalink, packet, (size_t)head + in.length, &out, NULL),
                         head + (int)in.length);
        assert_true(out.unix_us == in.unix_us);
        assert_int_equal(out.type, in.type);
        assert_int_equal(out.incoming, in.incoming);
        assert_int_equal(out.adapter, in.adapter);
        assert_int_equal(out.drops, in.drops);
        assert_int_equal(out.length, in.length);
        assert_int_equal(out.original_length, in.original_length);
        assert_memory_equal(out.data, in.data, in.length);
        for (size_t capacity = 0; capacity < (size_t)head; capacity++) {
            assert_int_equal(tendon_capture_encode_record(datalink, &in, packet, capacity),
                             TENDON_ERROR_BUFFER_TOO_SMALL);
        }
    }
}

static void what_a_datalink_cannot_hold_is_refused(void **state) {
    (void)state;
    uint8_t head[25];
    tendon_capture capture;
    tendon_capture_record record = {.type = 0, .opcode = 12};
    assert_int_equal(tendon_capture_encode_record(TENDON_CAPTURE_H4, &record, head, sizeof head),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_capture_encode_record(TENDON_CAPTURE_MONITOR, &record, head, sizeof head), 24);
    record = (tendon_capture_record){.type = TENDON_HCI_PACKET_EVENT, .incoming = false};
    assert_int_equal(tendon_capture_encode_record(TENDON_CAPTURE_MONITOR, &record, head, sizeof head),
                     TENDON_ERROR_INVALID_ARGUMENT);
    record = (tendon_capture_record){.type = 2, .original_length = TENDON_CAPTURE_PACKET_LIMIT};
    assert_int_equal(tendon_capture_encode_record(TENDON_CAPTURE_H4, &record, head, sizeof head),
                     TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_capture_attach(&capture, 1, TENDON_CAPTURE_H1), TENDON_ERROR_INVALID_ARGUMENT);
    char path[32], missing[40];
    make_path(path);
    assert_int_equal(unlink(path), 0);
    snprintf(missing, sizeof missing, "%s/x", path);
    assert_int_equal(tendon_capture_create(&capture, missing, TENDON_CAPTURE_H4), TENDON_SYSTEM_ERROR(ENOENT));
    assert_int_equal(tendon_capture_att(&capture, 1, true, head, 3, 0), TENDON_SYSTEM_ERROR(ENOENT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mal_record_cut_at_every_position),
        cmocka_unit_test(mal_headers),
        cmocka_unit_test(mal_records),
        cmocka_unit_test(what_is_no_packet_of_an_h4_file),
        cmocka_unit_test(flags_tell_what_an_h1_record_is),
        cmocka_unit_test(times_before_1970_are_0),
        cmocka_unit_test(records_survive_a_round_trip),
        cmocka_unit_test(what_a_datalink_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
