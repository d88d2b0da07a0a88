/* SPDX-License-Identifier: MIT */
/* Obvious manager: the journal of an upgrade, and a gateway that starts again with it. */
#include "obvious_firmware_world.h"

#include "tendon/base/crc.h"

/* ---- journal ---- */

static void records(void **state) {
    (void)state;
    tendon_obvious_record record = {.state = TENDON_OBVIOUS_JOURNAL_ACTIVATE,
                                    .version = NEW,
                                    .caps = 0xFF,
                                    .serial = 0x1122334455667788,
                                    .counter = 42,
                                    .before = 0x0807060504030201};
    for (uint8_t i = 0; i < 32; i++) {
        record.sha256[i] = i;
    }
    uint8_t bytes[TENDON_OBVIOUS_RECORD_SIZE + 1] = {0};
    tendon_obvious_encode_record(&record, bytes);
    static const uint8_t head[] = {'T', 'O',  'J',  2,    2, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 42,
                                   0,   0,    0,    0,    0, 0,    0,    1,    2,    3,    4,    5,    6,    7,
                                   8,   0xE0, 0x51, 0x0F, 0, 255,  0,    0,    0,    0,    1,    2,    3};
    assert_memory_equal(bytes, head, sizeof head);
    tendon_obvious_record back;
    memset(&back, 0x55, sizeof back);
    assert_int_equal(tendon_obvious_decode_record(bytes, TENDON_OBVIOUS_RECORD_SIZE, &back), TENDON_OK);
    uint8_t again[TENDON_OBVIOUS_RECORD_SIZE];
    tendon_obvious_encode_record(&back, again);
    assert_memory_equal(again, bytes, sizeof again);
    for (size_t length = 0; length < TENDON_OBVIOUS_RECORD_SIZE; length++) {
        uint8_t *part = malloc(length + (length == 0));
        assert_non_null(part);
        memcpy(part, bytes, length);
        assert_int_equal(tendon_obvious_decode_record(part, length, &back), TENDON_ERROR_TRUNCATED);
        free(part);
    }
    assert_int_equal(tendon_obvious_decode_record(bytes, sizeof bytes, &back), TENDON_ERROR_MALFORMED);
    for (size_t i = 0; i < 8u * TENDON_OBVIOUS_RECORD_SIZE; i++) {
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(tendon_obvious_decode_record(bytes, TENDON_OBVIOUS_RECORD_SIZE, &back),
                         TENDON_ERROR_MALFORMED);
        bytes[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    record.state = 4; /* with a CRC that fits */
    tendon_obvious_encode_record(&record, bytes);
    assert_int_equal(tendon_obvious_decode_record(bytes, TENDON_OBVIOUS_RECORD_SIZE, &back), TENDON_ERROR_MALFORMED);
    assert_int_equal(back.state, TENDON_OBVIOUS_JOURNAL_ACTIVATE); /* untouched */
}

/* Written by an earlier version in the middle of an upgrade: its one counter is both. */
static void records_of_version_1(void **state) {
    (void)state;
    block old = block_hex("544f4a01 02 8877665544332211 2a00000000000000 e0510f00 04030201 ff000000 d4c3b2a1"
                          "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 00000000");
    put_number(old.data, 69, tendon_crc32(0, old.data, 69), 4);
    tendon_obvious_record record;
    assert_int_equal(tendon_obvious_decode_record(old.data, old.length, &record), TENDON_OK);
    assert_int_equal(record.state, TENDON_OBVIOUS_JOURNAL_ACTIVATE);
    assert_int_equal(record.version, NEW);
    assert_int_equal(record.caps, 0xFF);
    assert_int_equal(record.serial, 0x1122334455667788);
    assert_int_equal(record.counter, 42);
    assert_int_equal(record.before, 42);
    for (uint8_t i = 0; i < 32; i++) {
        assert_int_equal(record.sha256[i], i);
    }
    static const struct {
        size_t at;
        uint8_t value;
    } bad[] = {{3, 0}, {3, 3}, {4, 4}};
    for (size_t i = 0; i < 3; i++) { /* with a CRC that fits */
        uint8_t byte = old.data[bad[i].at];
        old.data[bad[i].at] = bad[i].value;
        put_number(old.data, 69, tendon_crc32(0, old.data, 69), 4);
        assert_int_equal(tendon_obvious_decode_record(old.data, old.length, &record), TENDON_ERROR_MALFORMED);
        old.data[bad[i].at] = byte;
    }
    old.data[69] ^= 1;
    assert_int_equal(tendon_obvious_decode_record(old.data, old.length, &record), TENDON_ERROR_MALFORMED);
    free(old.data);
}

/* What the device claims is no proof: neither a lower counter, of a flash memory that was put back, nor a higher one,
 * of an impostor, becomes the highest of the packages that were verified. */
static void the_word_of_the_device_changes_no_counter(void **state) {
    (void)state;
    static const uint64_t claims[] = {0, 41, 51, UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        const tendon_obvious_record record = {.serial = 0x1122334455667788, .counter = 50};
        begin();
        f->device.counter = claims[i];
        start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
        fixture_run(f, 200000);
        assert_non_null(strstr(trace, "need:report done:0/OK "));
        trace[0] = '\0';
        assert_true(w.stores > 2);
        for (unsigned at = 0; at < w.stores; at++) {
            assert_int_equal(w.journal[at].counter, 50);
        }
        end();
    }
}

/* An error of the journal fails the operation, whichever record it is. */
static void a_journal_that_fails(void **state) {
    (void)state;
    begin();
    perform_upgrade();
    unsigned stores = w.stores;
    assert_int_equal(stores, 4);
    trace[0] = '\0';
    end();
    for (unsigned i = 1; i < stores; i++) { /* the last one is that of the end */
        begin();
        w.fail_store = i;
        perform_upgrade();
        assert_non_null(strstr(trace, "done:2/ERROR_TABLE_FULL "));
        trace[0] = '\0';
        end();
    }
}

/* The gateway stops with each record and with each part of the image, and starts again from its last record, once while
 * the device still has its connection and once after the device has lost it. */
static void the_gateway_starts_again(void **state) {
    (void)state;
    unsigned resumed = 0;
    for (unsigned i = 2; i <= 15; i++) {
        unsigned stop = i / 2;
        bool booted = i % 2 != 0;
        begin();
        w.cut_at = stop;
        upgrade();
        fixture_run(f, 20000);
        assert_true(w.cut);
        assert_int_equal(w.steps, stop);
        uint8_t bytes[TENDON_OBVIOUS_RECORD_SIZE];
        tendon_obvious_record record;
        tendon_obvious_encode_record(last_record(), bytes);
        assert_int_equal(tendon_obvious_decode_record(bytes, sizeof bytes, &record), TENDON_OK);
        assert_int_not_equal(record.state, TENDON_OBVIOUS_JOURNAL_NONE);
        tendon_obvious_manager_cancel(&w.manager, f->now);
        fixture_run(f, 40000);
        tendon_obvious_session_disconnect(&f->session, f->now);
        fixture_run(f, 40000);
        assert_int_equal(w.done, 1);
        f->devices[0].silent = false;
        w.cut = false;
        w.cut_at = 0;
        unsigned begins = fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN),
                 sent = fixture_times(f, TENDON_OBVIOUS_XFER_DATA);
        if (record.state == TENDON_OBVIOUS_JOURNAL_ACTIVATE && booted) { /* FW_ACTIVATE had arrived */
            f->device.boot_id++;
            boot_staged(f);
        }
        f->device.battery = record.state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE ? 3 : 87;
        trace[0] = '\0';
        start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
        fixture_run(f, 400000);
        assert_int_equal(w.done, 2);
        assert_non_null(strstr(trace, "need:report done:0/OK "));
        assert_int_equal(f->device.active, NEW);
        assert_int_equal(f->device.active_state, 1);
        if (record.state >= TENDON_OBVIOUS_JOURNAL_ACTIVATE) { /* nothing is sent again */
            assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), begins);
            assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), sent);
        } else {
            resumed += fixture_times(f, TENDON_OBVIOUS_XFER_DATA) <= 5;
        }
        assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_NONE);
        trace[0] = '\0';
        end();
    }
    assert_true(resumed >= 8);
}

/* Between the interruption and the next attempt a package was applied: the upgrade still confirms, with its self test.
 */
static void an_update_meanwhile(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        tendon_obvious_record record = {.state = TENDON_OBVIOUS_JOURNAL_ACTIVATE,
                                        .version = NEW,
                                        .serial = 0x1122334455667788,
                                        .counter = 42, /* the update has raised it */
                                        .before = 41,
                                        .caps = 0xFF};
        begin();
        f->device.counter = how == 1 ? 40 : 42;
        f->device.caps &= how == 2 ? ~1u : ~0u;
        f->device.active = f->device.fw = NEW;
        f->device.active_state = 2;
        start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
        fixture_run(f, 200000);
        expect(how == 0 ? "prep need:report done:0/OK " : "prep need:report done:2/INTERNAL ");
        assert_int_equal(f->device.last[10 + 4], how == 0);
        assert_int_equal(last_record()->counter, 42);
        end();
    }
}

/* The device has only a part of what the record says it has: it runs the old firmware. */
static void a_partly_staged_firmware(void **state) {
    (void)state;
    begin();
    f->device.staged = NEW;
    f->device.staged_state = 1;
    const tendon_obvious_record record = {.state = TENDON_OBVIOUS_JOURNAL_ACTIVATE,
                                          .version = NEW,
                                          .serial = 0x1122334455667788,
                                          .counter = 41,
                                          .caps = 0xFF};
    start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
    fixture_run(f, 200000);
    expect("prep need:report done:2/INTERNAL ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_ACTIVATE), 0);
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_NONE);
    end();
}

/* A record of another device says nothing about this one. */
static void a_record_of_another_device(void **state) {
    (void)state;
    begin();
    const tendon_obvious_record record = {
        .state = TENDON_OBVIOUS_JOURNAL_REJOIN, .version = NEW, .serial = 1, .caps = 0xFF};
    start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
    fixture_run(f, 200000);
    expect("prep need:image 0% 25% 50% 75% 99% 100% resetting need:report done:0/OK ");
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),
        cmocka_unit_test(records_of_version_1),
        cmocka_unit_test(the_word_of_the_device_changes_no_counter),
        cmocka_unit_test(an_update_meanwhile),
        cmocka_unit_test(a_journal_that_fails),
        cmocka_unit_test(the_gateway_starts_again),
        cmocka_unit_test(a_partly_staged_firmware),
        cmocka_unit_test(a_record_of_another_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
