/* SPDX-License-Identifier: MIT */
/* Advertising reports, legacy and extended: groups F06, F07, F09. */
#include "tendon/host/hci.h"
#include "test_bytes.h"

#define LEGACY_1 "00 01 665544332211 03 020106 c4"
#define LEGACY_2 "04 00 060504030201 00 7f"
#define EXTENDED_1 "0100 01 665544332211 01 02 05 f4 c4 0000 00 000000000000 03 020106"
#define EXTENDED_2 "2000 ff 000000000000 03 03 0f 7f 7f 0600 01 111111111111 00"

/* Walks the reports of parameters (count first) given as hex; the first three are kept. */
typedef struct walked {
    tendon_ad_report reports[3];
    size_t count;
    tendon_status status;
    size_t offset;
    block keep;
} walked;

static walked walk(uint8_t subevent, const char *hex) {
    walked w = {.keep = block_hex(hex)};
    tendon_hci_event event = {TENDON_HCI_LE_META, subevent, w.keep.data, w.keep.length};
    tendon_hci_reports reports = tendon_hci_reports_of(&event);
    tendon_ad_report report;
    while (tendon_hci_reports_next(&reports, &report)) {
        if (w.count < 3) {
            w.reports[w.count] = report;
        }
        w.count++;
        assert_true(report.length == 0 ||
                    (report.data >= w.keep.data && report.data + report.length <= w.keep.data + w.keep.length));
    }
    assert_false(tendon_hci_reports_next(&reports, &report));
    w.status = reports.status;
    w.offset = reports.error_offset;
    return w;
}

static void rejected(uint8_t subevent, const char *hex, size_t count, tendon_status status, size_t offset) {
    walked w = walk(subevent, hex);
    if (w.count != count || w.status != status || (status != TENDON_OK && w.offset != offset)) {
        fail_msg("%s: %zu reports, %s at %zu", hex, w.count, tendon_status_name(w.status), w.offset);
    }
    free(w.keep.data);
}

static void legacy_reports(void **state) {
    (void)state;
    char text[TENDON_ADDRESS_STRING_SIZE];
    walked w = walk(0x02, "02 " LEGACY_1 LEGACY_2);
    assert_int_equal(w.status, TENDON_OK);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.reports[0].properties, 0x13);
    assert_string_equal(tendon_address_format(&w.reports[0].address, text), "11:22:33:44:55:66");
    assert_int_equal(w.reports[0].address.type, TENDON_ADDRESS_TYPE_RANDOM);
    assert_hex(w.reports[0].data, w.reports[0].length, "020106");
    assert_true(w.reports[0].rssi == -60 && w.reports[0].tx_power == TENDON_RSSI_UNKNOWN);
    assert_true(w.reports[0].set_id == 0xFF && w.reports[0].primary_phy == 1 && w.reports[0].secondary_phy == 0);
    assert_int_equal(w.reports[1].properties, 0x1A);
    assert_true(w.reports[1].length == 0 && w.reports[1].rssi == TENDON_RSSI_UNKNOWN);
    free(w.keep.data);
}

static void extended_reports(void **state) {
    (void)state;
    walked w = walk(0x0D, "02 " EXTENDED_1 EXTENDED_2);
    assert_int_equal(w.status, TENDON_OK);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.reports[0].properties, TENDON_AD_CONNECTABLE);
    assert_true(w.reports[0].primary_phy == 1 && w.reports[0].secondary_phy == 2 && w.reports[0].set_id == 5);
    assert_true(w.reports[0].tx_power == -12 && w.reports[0].rssi == -60);
    assert_hex(w.reports[0].data, w.reports[0].length, "020106");
    assert_int_equal(w.reports[1].properties, TENDON_AD_DATA_MORE);
    assert_int_equal(w.reports[1].address.type, TENDON_ADDRESS_TYPE_ANONYMOUS);
    free(w.keep.data);
}

/* Every cut of two reports: those that are whole, then the reason. */
static void reports_cut_at_each_byte(void **state) {
    (void)state;
    static const struct {
        uint8_t subevent;
        const char *hex;
        size_t first_end;
    } cases[] = {{0x02, "02 " LEGACY_1 LEGACY_2, 14}, {0x0D, "02 " EXTENDED_1 EXTENDED_2, 28}};
    for (size_t i = 0; i < 2; i++) {
        block whole = block_hex(cases[i].hex);
        for (size_t length = 0; length < whole.length; length++) {
            block b = block_copy(whole.data, length);
            tendon_hci_event event = {TENDON_HCI_LE_META, cases[i].subevent, b.data, length};
            tendon_hci_reports reports = tendon_hci_reports_of(&event);
            tendon_ad_report report;
            size_t count = 0;
            while (tendon_hci_reports_next(&reports, &report)) {
                count++;
            }
            assert_int_equal(count, length >= cases[i].first_end);
            assert_int_equal(reports.status, TENDON_ERROR_TRUNCATED);
            assert_true(reports.error_offset <= length);
            free(b.data);
        }
        free(whole.data);
    }
}

static void mal_F06_counts_and_lengths(void **state) {
    (void)state;
    rejected(0x02, "", 0, TENDON_ERROR_TRUNCATED, 0);
    rejected(0x02, "00", 0, TENDON_ERROR_MALFORMED, 0);
    rejected(0x02, "00 " LEGACY_1, 0, TENDON_ERROR_MALFORMED, 0);
    rejected(0x0D, "00", 0, TENDON_ERROR_MALFORMED, 0);
    rejected(0x02, "03 " LEGACY_1, 1, TENDON_ERROR_TRUNCATED, 14); /* more than fit */
    rejected(0x02, "ff " LEGACY_1 LEGACY_2, 2, TENDON_ERROR_TRUNCATED, 24);
    rejected(0x02, "01 00 01 665544332211 04 020106", 0, TENDON_ERROR_TRUNCATED,
             10); /* data length above what is left */
    rejected(0x02, "01 00 01 665544332211 ff 020106 c4", 0, TENDON_ERROR_MALFORMED, 9);
    rejected(0x02, "01 00 01 665544332211 03 020106", 0, TENDON_ERROR_TRUNCATED, 13); /* RSSI missing */
    rejected(0x02, "01 " LEGACY_1 "00", 1, TENDON_ERROR_MALFORMED, 14);               /* bytes after the last */
    rejected(0x0D, "01 0100 01 665544332211 01 02 05 f4 c4 0000 00 000000000000 ff 020106", 0, TENDON_ERROR_TRUNCATED,
             25);
}

/* F07: a legacy advertisement cannot hold more than 31 bytes, in either form. */
static void mal_F07_legacy_data_too_long(void **state) {
    (void)state;
    for (unsigned extended = 0; extended < 2; extended++) {
        for (unsigned length = 30; length <= 33; length++) {
            uint8_t bytes[64] = {1};
            tendon_writer w = tendon_writer_make(bytes, sizeof(bytes));
            tendon_write_u8(&w, 1);
            tendon_write_u8(&w, extended ? 0x13 : 0);
            if (extended) {
                tendon_write_u8(&w, 0);
            }
            tendon_write_bytes(&w, "\1\1\2\3\4\5\6", 7);
            if (extended) {
                tendon_write_bytes(&w, "\1\0\xff\x7f\xc4\0\0\0\0\0\0\0\0\0", 14);
            }
            tendon_write_u8(&w, (uint8_t)length);
            (void)tendon_writer_reserve(&w, length + (extended ? 0 : 1));
            block b = block_copy(bytes, w.length);
            tendon_hci_event event = {TENDON_HCI_LE_META, extended ? 0x0D : 0x02, b.data, b.length};
            tendon_hci_reports reports = tendon_hci_reports_of(&event);
            tendon_ad_report report;
            assert_int_equal(tendon_hci_reports_next(&reports, &report), length <= 31);
            assert_int_equal(reports.status, length <= 31 ? TENDON_OK : TENDON_ERROR_MALFORMED);
            free(b.data);
        }
    }
}

/* F09: reserved bits, kinds, PHYs and set ids are kept as they came. */
static void mal_F09_reserved_values(void **state) {
    (void)state;
    walked w = walk(0x0D, "01 81ff 7e 665544332211 00 ff 42 f4 c4 0000 00 000000000000 00");
    assert_true(w.status == TENDON_OK && w.count == 1);
    assert_int_equal(w.reports[0].properties, 0xFF81);
    assert_int_equal(w.reports[0].address.type, 0x7E);
    assert_true(w.reports[0].primary_phy == 0 && w.reports[0].secondary_phy == 0xFF && w.reports[0].set_id == 0x42);
    free(w.keep.data);
    w = walk(0x02, "01 05 01 665544332211 00 c4");
    assert_true(w.count == 1 && w.reports[0].properties == (TENDON_AD_LEGACY | 0x0500));
    free(w.keep.data);
    for (unsigned type = 0; type < 5; type++) {
        static const uint16_t expected[] = {0x13, 0x15, 0x12, 0x10, 0x1A};
        uint8_t bytes[] = {1, (uint8_t)type, 0, 1, 2, 3, 4, 5, 6, 0, 0xC4};
        tendon_hci_event event = {TENDON_HCI_LE_META, 0x02, bytes, sizeof(bytes)};
        tendon_hci_reports reports = tendon_hci_reports_of(&event);
        tendon_ad_report report;
        assert_true(tendon_hci_reports_next(&reports, &report));
        assert_int_equal(report.properties, expected[type]);
    }
}

static void other_events_have_no_reports(void **state) {
    (void)state;
    tendon_hci_event events[] = {{TENDON_HCI_LE_META, 0x01, (const uint8_t *)"\1", 1},
                                 {TENDON_HCI_VENDOR, 0x02, (const uint8_t *)"\1", 1}};
    for (size_t i = 0; i < 2; i++) {
        tendon_hci_reports reports = tendon_hci_reports_of(&events[i]);
        tendon_ad_report report;
        assert_int_equal(reports.status, TENDON_ERROR_UNSUPPORTED);
        assert_false(tendon_hci_reports_next(&reports, &report));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legacy_reports),
        cmocka_unit_test(extended_reports),
        cmocka_unit_test(reports_cut_at_each_byte),
        cmocka_unit_test(mal_F06_counts_and_lengths),
        cmocka_unit_test(mal_F07_legacy_data_too_long),
        cmocka_unit_test(mal_F09_reserved_values),
        cmocka_unit_test(other_events_have_no_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
