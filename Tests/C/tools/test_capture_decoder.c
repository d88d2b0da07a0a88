/* SPDX-License-Identifier: MIT */
/* Captures: what the decoder makes of records, and what a tap writes. */
#include "capture_fixture.h"
#include "tendon/linux/time.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static void feed_hex(tendon_capture_decoder *decoder, uint8_t type, bool incoming, uint16_t adapter, const char *hex) {
    static block kept; /* lent until the items are taken */
    free(kept.data);
    kept = block_hex(hex);
    tendon_capture_decoder_feed(
        decoder, &(tendon_capture_record){
                     .type = type, .incoming = incoming, .adapter = adapter, .data = kept.data, .length = kept.length});
    if (hex[0] == '\0') {
        free(kept.data);
        kept.data = NULL;
    }
}

/* Fragments of the same handle on two adapters, mixed: each frame comes out whole. */
static void fragments_of_two_adapters_do_not_mix(void **state) {
    (void)state;
    static tendon_capture_decoder decoder;
    tendon_capture_item item;
    tendon_capture_decoder_init(&decoder);
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 1, CONNECTED);
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 20 0600 0600 0400 1b 23");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 1, "40 20 0600 0600 0400 1b 99");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 10 0400 00 010203");
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    assert_memory_equal(item.pdu, "\x1b\x23\0\1\2\3", 6);
    assert_int_equal(item.peer.type, TENDON_ADDRESS_TYPE_ANONYMOUS); /* connected before the capture began */
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 1, "40 10 0400 00 010203");
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    assert_memory_equal(item.pdu, "\x1b\x99\0\1\2\3", 6);
    assert_int_equal(item.handle, 0x40);
    assert_true(tendon_address_equal(&item.peer, &capture_peer));
    assert_int_equal(decoder.malformed, 0);
    feed_hex(&decoder, TENDON_HCI_PACKET_COMMAND, false, 0, "03 0c 00");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 0, "3e");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(decoder.malformed, 2);
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 0, "05 02 00 40"); /* a disconnection that is cut */
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(decoder.malformed, 3);
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 10 0100 00"); /* it continues nothing */
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(decoder.malformed, 4);
    assert_int_equal(decoder.other, 1);
    feed_hex(&decoder, 0, false, 0, "");
}

/* Core Spec Vol 4 Part E 7.7.65.1 and 7.7.5: with a status other than 0 nothing has begun or ended. Signaling, and
 * advertising reports aside, what is not ATT is counted as other. */
static void what_tells_of_no_connection_is_counted(void **state) {
    (void)state;
    static const struct {
        uint8_t type;
        const char *hex;
    } rows[] = {
        {TENDON_HCI_PACKET_EVENT, "3e 13 01 3e 4000 00 01 6655443322c1 1800 0000 c800 00"},
        {TENDON_HCI_PACKET_EVENT, "05 04 01 4000 13"},
        {TENDON_HCI_PACKET_EVENT, "0e 04 01 030c 00"},
        {TENDON_HCI_PACKET_ACL, "40 20 0500 0100 0500 13"},
        {TENDON_HCI_PACKET_ACL, "40 20 0500 0100 0600 13"},
        {TENDON_HCI_PACKET_COMMAND, "03 0c 00"},
    };
    static tendon_capture_decoder decoder;
    tendon_capture_item item;
    tendon_capture_decoder_init(&decoder);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        feed_hex(&decoder, rows[i].type, true, 0, rows[i].hex);
        assert_false(tendon_capture_decoder_next(&decoder, &item));
        assert_int_equal(decoder.other, i + 1);
        assert_int_equal(decoder.malformed, 0);
    }
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 20 0500 0100 0400 13");
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(item.peer.type, TENDON_ADDRESS_TYPE_ANONYMOUS); /* the attempt that failed has connected nobody */
    feed_hex(&decoder, 0, false, 0, "");
}

/* Frames on every channel but that of ATT, among them those of bearers that were never opened: counted, and no PDU. */
static void mal_E05_other_channels_are_ignored(void **state) {
    (void)state;
    static tendon_capture_decoder decoder;
    tendon_capture_item item;
    unsigned others = 0;
    tendon_capture_decoder_init(&decoder);
    for (unsigned cid = 0; cid < 0x10000; cid += cid < 0x48 ? 1 : 0x3B) {
        uint8_t packet[] = {0x40, 0x20, 0x0A, 0, 6, 0, (uint8_t)cid, (uint8_t)(cid >> 8), 0x1B, 0x23, 0, 1, 2, 3};
        block b = block_copy(packet, sizeof packet);
        for (int incoming = 0; incoming < 2; incoming++) {
            tendon_capture_decoder_feed(&decoder, &(tendon_capture_record){.type = TENDON_HCI_PACKET_ACL,
                                                                           .incoming = incoming != 0,
                                                                           .data = b.data,
                                                                           .length = b.length});
            assert_int_equal(tendon_capture_decoder_next(&decoder, &item), cid == 4);
            others += cid != 4;
            assert_int_equal(decoder.other, others);
        }
        free(b.data);
    }
    assert_int_equal(decoder.malformed, 0);
    assert_true(others > 2000);
}

static void reports_come_back(void **state) {
    (void)state;
    static const uint16_t properties[] = {0x13, 0x1B};
    for (size_t length = 0; length <= TENDON_AD_LEGACY_MAX + 1; length++) {
        char path[32];
        static tendon_capture_reader reader;
        static tendon_capture_decoder decoder;
        tendon_capture capture;
        tendon_capture_record record;
        tendon_capture_item item;
        uint8_t data[TENDON_AD_LEGACY_MAX + 1];
        memset(data, 0x5A, sizeof data);
        tendon_ad_report report = {.address = capture_peer,
                                   .properties = properties[length % 2],
                                   .rssi = -40,
                                   .tx_power = TENDON_RSSI_UNKNOWN,
                                   .data = data,
                                   .length = length};
        make_path(path);
        assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
        tendon_status status = tendon_capture_report(&capture, &report, 1);
        assert_int_equal(status, length > TENDON_AD_LEGACY_MAX ? TENDON_ERROR_UNSUPPORTED : TENDON_OK);
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
        tendon_capture_decoder_init(&decoder);
        if (status == TENDON_OK) {
            assert_int_equal(tendon_capture_next(&reader, &record), 1);
            tendon_capture_decoder_feed(&decoder, &record);
            assert_true(tendon_capture_decoder_next(&decoder, &item));
            assert_int_equal(item.kind, TENDON_CAPTURE_REPORT);
            assert_true(tendon_address_equal(&item.report.address, &capture_peer));
            assert_int_equal(item.report.properties & 0x08, report.properties & 0x08);
            assert_int_equal(item.report.rssi, -40);
            assert_int_equal(item.report.length, length);
            assert_memory_equal(item.report.data, data, length);
            assert_false(tendon_capture_decoder_next(&decoder, &item));
        }
        tendon_capture_reader_close(&reader);
        unlink(path);
    }
}

/* What a connection has sent by halves is gone with it: the next one with this handle begins anew. */
static void a_connection_that_ends_takes_its_fragments_along(void **state) {
    (void)state;
    static tendon_capture_decoder decoder;
    tendon_capture_item item;
    tendon_capture_decoder_init(&decoder);
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 0, CONNECTED);
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 20 0600 0600 0400 1b 23");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 0, "05 04 01 4000 13"); /* it failed: nothing has ended */
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(decoder.other, 1);
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 0, "05 04 00 4000 13");
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(item.kind, TENDON_CAPTURE_DISCONNECTED);
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 20 0500 0100 0400 13"); /* nobody knows of whom */
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    assert_int_equal(item.peer.type, TENDON_ADDRESS_TYPE_ANONYMOUS);
    feed_hex(&decoder, TENDON_HCI_PACKET_EVENT, true, 0, CONNECTED);
    assert_true(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, TENDON_HCI_PACKET_ACL, true, 0, "40 10 0400 00 010203");
    assert_false(tendon_capture_decoder_next(&decoder, &item));
    feed_hex(&decoder, 0, false, 0, "");
}

/* More connections than the decoder has places: the oldest are forgotten, PDUs still come out. */
static void more_connections_than_places(void **state) {
    (void)state;
    enum { FORGOTTEN = 3 };
    static tendon_capture_decoder decoder;
    tendon_capture_item item;
    memset(&decoder, 0xA5, sizeof decoder); /* what the memory held before */
    tendon_capture_decoder_init(&decoder);
    assert_int_equal(decoder.malformed + decoder.other, 0);
    for (unsigned handle = 0; handle < TENDON_CAPTURE_CONNECTIONS + FORGOTTEN; handle++) {
        uint8_t event[] = {0x3E, 0x13, 1, 0, (uint8_t)handle, 0, 1, 1, 1, 2, 3, 4, 5, (uint8_t)handle, 24, 0, 0,
                           0,    200,  0, 0};
        tendon_capture_record record = {
            .type = TENDON_HCI_PACKET_EVENT, .incoming = true, .data = event, .length = sizeof event};
        tendon_capture_decoder_feed(&decoder, &record);
        assert_true(tendon_capture_decoder_next(&decoder, &item));
        assert_int_equal(item.peer.bytes[0], handle);
        assert_true(item.peripheral);
    }
    for (unsigned handle = 0; handle < TENDON_CAPTURE_CONNECTIONS + FORGOTTEN; handle++) {
        uint8_t acl[] = {(uint8_t)handle, 0x20, 5, 0, 1, 0, 4, 0, 0x13};
        tendon_capture_record record = {
            .type = TENDON_HCI_PACKET_ACL, .incoming = true, .data = acl, .length = sizeof acl};
        tendon_capture_decoder_feed(&decoder, &record);
        assert_true(tendon_capture_decoder_next(&decoder, &item));
        assert_int_equal(item.peer.type,
                         handle < FORGOTTEN ? TENDON_ADDRESS_TYPE_ANONYMOUS : TENDON_ADDRESS_TYPE_RANDOM);
    }
}

static void tap_writes_a_link(void **state) {
    (void)state;
    char path[32];
    static tendon_capture_reader reader;
    tendon_capture capture;
    tendon_capture_record record;
    tendon_link link;
    make_path(path);
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    tendon_link_init(&link, NULL);
    link.peer = capture_peer;
    link.handle = 7;
    link.accepted = true;
    uint64_t before = tendon_realtime_us();
    tendon_capture_tap(&capture, &link, TENDON_TAP_OPENED, NULL, 0);
    struct timespec now; /* it arrived 2 s ago, and this program had no time for it */
    clock_gettime(CLOCK_MONOTONIC, &now);
    link.received_at = ((uint64_t)now.tv_sec - 2) * 1000000000u + (uint64_t)now.tv_nsec;
    tendon_capture_tap(&capture, &link, TENDON_TAP_RECEIVED, (const uint8_t *)"\x0a\1\0", 3);
    tendon_capture_tap(&capture, &link, TENDON_TAP_SENT, NULL, 0);
    link.reason = TENDON_ERROR_CANCELLED;
    tendon_capture_tap(&capture, &link, TENDON_TAP_CLOSED, NULL, 0);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
    static const bool incoming[] = {true, true, false, true};
    static const size_t lengths[] = {21, 11, 8, 6};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_capture_next(&reader, &record), 1);
        assert_int_equal(record.incoming, incoming[i]);
        assert_int_equal(record.length, lengths[i]);
        const uint64_t least = i == 1 ? before - 2000000 : before;
        assert_in_range(record.unix_us, least - 1000, least + 1900000);
    }
    assert_int_equal(record.data[5], 0x16);
    tendon_capture_reader_close(&reader);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_of_two_adapters_do_not_mix),
        cmocka_unit_test(what_tells_of_no_connection_is_counted),
        cmocka_unit_test(mal_E05_other_channels_are_ignored),
        cmocka_unit_test(reports_come_back),
        cmocka_unit_test(a_connection_that_ends_takes_its_fragments_along),
        cmocka_unit_test(more_connections_than_places),
        cmocka_unit_test(tap_writes_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
