/* SPDX-License-Identifier: MIT */
/* Obvious manager: updates and provisioning: the transfer, hostile answers to it, and connections that end. */
#include "obvious_manager_world.h"

/* ---- update ---- */

static void an_update(void **state) {
    (void)state;
    begin();
    perform(TENDON_OBVIOUS_UPDATE_FEATURES); /* connects */
    expect("need:package need:report done:0/OK ");
    assert_int_equal(f->device.counter, 42);
    assert_int_equal(f->device.size, w.package_length);
    assert_memory_equal(f->device.object, w.package, w.package_length);
    assert_true(w.manager.nonce.outstanding && w.manager.counter == 42);
    /* HELLO of the connection, then HELLO INFO NONCE BEGIN DATA(1724 in chunks of 1024) END */
    static const uint8_t sent[] = {1, 1, 2, 4, 0x20, 0x21, 0x21, 0x23};
    assert_int_equal(f->device.sent_count, sizeof sent);
    assert_memory_equal(f->device.sent, sent, sizeof sent);
    end();
    /* without nonces, without resume, with a small frame_max: the flags and the chunks show it */
    begin_world(512);
    f->device.caps = 0x0F & ~1u;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    assert_false(w.manager.nonce.outstanding);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 4); /* 490 each */
    end();
}

static void provisioning_then_an_update(void **state) {
    (void)state;
    begin();
    f->device.flags = 0;
    w.package_length = make_package(w.package, 2, 1, 43, 3);
    w.answers[0].length = w.package_length;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("prov:1 need:provision prov:0 need:package need:report done:0/OK ");
    assert_int_equal(f->device.counter, 43);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_GET_NONCE), 2);
    end();
    /* the device does not become provisioned */
    begin();
    f->device.flags = 0;
    f->device.payload[TENDON_OBVIOUS_XFER_END] = (const uint8_t[]){1, 0, 0, 0};
    f->device.payload_length[TENDON_OBVIOUS_XFER_END] = 4;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("prov:1 need:provision prov:0 done:14/NOT_PROVISIONED ");
    end();
    /* a cloud that asks for it again and again */
    begin();
    w.answers[0].kind = TENDON_OBVIOUS_ANSWER_PROVISION;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package prov:1 need:provision prov:0 need:package done:10/NOT_PROVISIONED ");
    end();
}

static void answers_of_the_cloud(void **state) {
    (void)state;
    static const struct {
        uint8_t flags, answer;
        const char *trace;
    } rows[] = {
        {1, TENDON_OBVIOUS_ANSWER_NOTHING, "need:package done:0/OK "},
        {1, TENDON_OBVIOUS_ANSWER_REFUSED, "need:package done:10/NOT_PROVISIONED "},
        {1, TENDON_OBVIOUS_ANSWER_FAILED, "need:package done:11/ERROR_NOT_FOUND "},
        {0, TENDON_OBVIOUS_ANSWER_NOTHING, "prov:1 need:provision prov:11 done:14/ERROR_NOT_FOUND "},
        {0, TENDON_OBVIOUS_ANSWER_REFUSED, "prov:1 need:provision prov:14 done:10/NOT_PROVISIONED "},
        {0, TENDON_OBVIOUS_ANSWER_PROVISION, "prov:1 need:provision prov:14 done:10/NOT_PROVISIONED "},
        {0, TENDON_OBVIOUS_ANSWER_FAILED, "prov:1 need:provision prov:11 done:14/ERROR_NOT_FOUND "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.flags = rows[i].flags;
        w.answers[0].kind = w.answers[1].kind = (tendon_obvious_answer_kind)rows[i].answer;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect(rows[i].trace);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        end();
    }
}

/* Nothing of a package that does not verify reaches the device. */
static void packages_that_are_refused(void **state) {
    (void)state;
    static const char *const traces[] = {"SIG_INVALID", "BAD_LENGTH",     "WRONG_PRODUCT", "WRONG_DEVICE", "REPLAY",
                                         "BAD_FORMAT",  "NONCE_MISMATCH", "REPLAY",        "UNKNOWN_KEY"};
    for (unsigned i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        begin();
        uint8_t *p = w.package;
        w.package_length = make_package(p, i == 5 ? 4 : 1, 0, i == 4 ? 41 : 42, 0);
        w.answers[0].length = w.package_length - (i == 1);
        p[8] ^= i == 2;
        p[12] ^= i == 3;
        p[7] |= i == 6; /* the flag, with a nonce of zeros */
        w.key.revoked = i == 8;
        sign(p, w.package_length, "OBVIOUS-OFP1");
        p[30] ^= i == 0;
        start_with(TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, i == 7 ? 42 : 0);
        fixture_run(f, 1000);
        char text[64];
        snprintf(text, sizeof text, "need:package done:11/%s ", traces[i]);
        expect(text);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        end();
    }
}

static void failures_of_a_transfer(void **state) {
    (void)state;
    static const uint8_t opcodes[] = {TENDON_OBVIOUS_XFER_BEGIN, TENDON_OBVIOUS_XFER_DATA, TENDON_OBVIOUS_XFER_END};
    for (size_t i = 0; i < 3; i++) {
        begin();
        f->device.error[opcodes[i]] = 21;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("need:package done:12/FLASH_FAILED ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), i > 0);
        end();
        begin();
        f->device.flags = 0;
        f->device.error[opcodes[i]] = 99; /* an unknown number */
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("prov:1 need:provision prov:12 done:14/INTERNAL ");
        end();
        begin();
        w.package_length = make_package(w.package, 3, 0, 42, 0);
        w.answers[0].length = w.package_length;
        f->device.error[opcodes[i]] = 11;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("need:package done:13/SIG_INVALID ");
        end();
    }
    begin();
    w.package_length = make_package(w.package, 3, 0, 42, 0);
    w.answers[0].length = w.package_length;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:3 need:report done:0/OK ");
    end();
    begin();
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = true;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:15/ERROR_TIMEOUT ");
    end();
}

/* ---- hostile answers to a transfer ---- */

static void hostile_begin_answers(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[14];
        const char *trace;
    } rows[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "},         /* session 0 */
        {{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "},         /* chunk_max 0 */
        {{1, 0, 0, 0, 255, 255, 255, 255, 0, 4, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "}, /* offset */
        {{1, 0, 0, 0, 0xBD, 6, 0, 0, 0, 4, 0, 0, 0, 0}, "need:package done:12/BAD_PARAM "},      /* size + 1 */
        {{1, 0, 0, 0, 10, 0, 0, 0, 0, 4, 1, 2, 3, 4}, "need:package done:12/HASH_MISMATCH "},    /* CRC */
        {{1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4}, "need:package done:12/HASH_MISMATCH "},     /* CRC at 0 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.payload[TENDON_OBVIOUS_XFER_BEGIN] = rows[i].bytes;
        f->device.payload_length[TENDON_OBVIOUS_XFER_BEGIN] = 14;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect(rows[i].trace);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 0);
        assert_true(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN) <= 2);
        end();
    }
}

static void lying_offsets(void **state) {
    (void)state;
    static const uint8_t far[] = {0, 0, 0, 1}, behind[] = {1, 0, 0, 0}, zero[4] = {0};
    static const uint8_t *const answers[] = {far, behind, zero};
    for (size_t i = 0; i < 3; i++) {
        begin();
        f->device.payload[TENDON_OBVIOUS_XFER_DATA] = answers[i];
        f->device.payload_length[TENDON_OBVIOUS_XFER_DATA] = 4;
        perform(TENDON_OBVIOUS_UPDATE_FEATURES);
        expect("need:package done:12/BAD_PARAM ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), 1);
        end();
    }
}

static uint8_t corrections_left;

/* The device answers BAD_OFFSET with its real offset, as after a power cut. */
static void bad_offsets_are_corrected(void **state) {
    (void)state;
    begin();
    w.silent_cloud = true;
    f->device.chunk_max = 100;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 100);
    give(0);
    for (corrections_left = 7; corrections_left > 0 && w.done == 0; corrections_left--) {
        for (unsigned n = f->device.times[TENDON_OBVIOUS_XFER_DATA] + 2;
             f->device.times[TENDON_OBVIOUS_XFER_DATA] < n && w.done == 0;) {
            tendon_memory_radio_tick(&f->air, f->now++);
        }
        f->device.offset = f->device.offset > 50 ? f->device.offset - 50 : 0;
    }
    fixture_run(f, 1000);
    assert_true(w.done == 1);
    end();
    /* a device that never agrees: 5 corrections, then the end */
    begin();
    f->device.loops = true;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/BAD_OFFSET ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 6);
    end();
    /* an offset beyond what was sent */
    begin();
    f->device.loops = true;
    f->device.bad_offset = 1025;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/BAD_OFFSET ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 1);
    end();
}

/* ---- connections that end ---- */

/* Disconnects after so many XFER_DATA. */
static void run_to_data(unsigned count) {
    for (int i = 0; i < 100000 && fixture_times(f, TENDON_OBVIOUS_XFER_DATA) < count; i++) {
        tendon_memory_radio_tick(&f->air, f->now);
        f->now = tendon_memory_radio_deadline(&f->air) > f->now ? f->now + 1 : f->now;
    }
}

static void a_transfer_goes_on_after_a_disconnection(void **state) {
    (void)state;
    for (unsigned resume = 0; resume < 2; resume++) {
        begin();
        f->device.chunk_max = 20;
        f->device.caps = resume ? 0xFF : 0xFF & ~16u;
        fixture_open(f);
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        run_to_data(7);
        unsigned before = fixture_times(f, TENDON_OBVIOUS_XFER_DATA);
        assert_true(before < 80);
        fixture_drop(f);
        fixture_run(f, 60000);
        expect("need:package need:report done:0/OK ");
        assert_memory_equal(f->device.object, w.package, w.package_length);
        /* 87 chunks; what the device has is not sent again if it can resume */
        unsigned sent = fixture_times(f, TENDON_OBVIOUS_XFER_DATA), all = resume ? 87 : 87 + before;
        assert_in_range(sent, all, all + 1);
        end();
    }
    /* a device that has another prefix than it reports: from the beginning */
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    run_to_data(7);
    f->device.object[3] ^= 1;
    fixture_drop(f);
    fixture_run(f, 60000);
    expect("need:package need:report done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), 1);
    assert_memory_equal(f->device.object, w.package, w.package_length);
    end();
}

/* The connection is lost while a wrong prefix is aborted: it is not resumed over the next one. */
static void a_restart_that_loses_its_connection(void **state) {
    (void)state;
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    run_to_data(7);
    f->device.object[3] ^= 1;
    f->device.mute[TENDON_OBVIOUS_XFER_ABORT] = true;
    fixture_drop(f);
    fixture_run(f, 1500);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), 1);
    fixture_drop(f);
    fixture_run(f, 60000);
    expect("need:package need:report done:0/OK ");
    assert_int_equal(f->device.begin[1], 0); /* flags */
    assert_memory_equal(f->device.object, w.package, w.package_length);
    end();
}

static void three_reconnections_then_the_end(void **state) {
    (void)state;
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    run_to_data(7);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    uint64_t before = f->now;
    while (w.done == 0 && f->now < before + 200000) {
        fixture_run(f, 100);
    }
    expect("need:package done:12/LINK_ERROR ");
    /* 1 + 2 + 4 s, and 30 s for each attempt */
    assert_in_range(f->now - before, 97000, 97400);
    end();
}

/* The response to XFER_END is lost: XFER_STATUS says whether the package was applied. */
static void a_lost_end_answer(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        begin();
        fixture_open(f);
        f->device.swallows_end = true; /* it executes XFER_END, and does not respond */
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        fixture_run(f, 1000);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_END), 1);
        f->device.swallows_end = false;
        if (how == 1) {
            fixture_drop(f);
        } else if (how == 2) { /* it lost everything, too */
            f->device.xfer_state = 1;
            f->device.begin_length = 0;
            f->device.counter = 41;
            fixture_drop(f);
        }
        fixture_run(f, 150000);
        expect("need:package need:report done:0/OK ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_STATUS), 1);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_END), how == 2 ? 2 : 1);
        assert_int_equal(f->device.counter, 42);
        end();
    }
}

/* ---- resets ---- */

static void forget_counter(obvious_fixture *fixture) {
    fixture->device.counter = 41;
}

static void an_update_that_resets_the_device(void **state) {
    (void)state;
    begin();
    f->device.end_flags = 1;
    f->device.reboots = true;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 update:2 need:report done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_REBOOT), 1);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FEATURE_COUNTER), 1);
    end();
    /* it does not disconnect: 15 s, then Tendon does; it did not reset */
    begin();
    f->device.end_flags = 1;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 update:2 done:14/INTERNAL ");
    end();
    /* it comes back with another counter */
    begin();
    f->device.end_flags = 1;
    f->device.reboots = true;
    f->device.on_reset = forget_counter;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 update:2 done:14/INTERNAL ");
    end();
    /* it does not come back within 60 s */
    begin();
    f->device.end_flags = 1;
    f->device.reboots = true;
    f->device.on_reset = leave;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 62000);
    expect("need:package update:1 update:2 done:15/ERROR_TIMEOUT ");
    end();
    /* it refuses, or it does not respond */
    begin();
    f->device.end_flags = 1;
    f->device.error[TENDON_OBVIOUS_REBOOT] = 6;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package update:1 done:14/NOT_SUPPORTED ");
    end();
}

/* It announces a fault in the middle of the transfer, and boots: what it announced has happened then, and after END it
 * waits for the REBOOT that it is owed. */
static void a_reset_before_the_end_is_not_the_one_after_it(void **state) {
    (void)state;
    for (unsigned how = 0; how < 2; how++) {
        begin();
        fixture_open(f);
        f->device.chunk_max = 20;
        f->device.end_flags = 1;
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        run_to_data(7);
        f->device.mute[TENDON_OBVIOUS_XFER_DATA] = true;
        fixture_event(f, TENDON_OBVIOUS_EVT_REBOOTING, (const uint8_t[]){5, 0xE8, 3}, 3);
        f->device.mute[TENDON_OBVIOUS_XFER_DATA] = false;
        f->device.boot_id++;
        fixture_drop(f);
        f->device.reboots = how == 0;
        fixture_run(f, 200000);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_REBOOT), 1);
        /* without a reset it comes back with the same boot id */
        assert_non_null(
            strstr(trace, how == 0 ? "update:1 update:2 need:report done:0/OK " : "update:2 done:14/INTERNAL "));
        trace[0] = '\0';
        end();
    }
}

/* It announces its own reset, so it is not asked for one, and does not reset. */
static void an_announced_reset_that_does_not_come(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.end_flags = 1;
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = true;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    run_to_data(1);
    fixture_event(f, TENDON_OBVIOUS_EVT_REBOOTING, (const uint8_t[]){2, 0xE8, 3}, 3);
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = false; /* the request is repeated */
    fixture_run(f, 100000);
    expect("need:package update:1 update:2 done:14/INTERNAL ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_REBOOT), 0);
    end();
}

/* ---- the record ---- */

/* The upgrade's part of the record is the upgrade's: an update raises the counter of what was applied, however it ends.
 */
static void an_update_changes_the_counter_alone(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        tendon_obvious_record record = {.state = TENDON_OBVIOUS_JOURNAL_ACTIVATE,
                                        .version = 1004000,
                                        .caps = 0xFF,
                                        .serial = 0x1122334455667788,
                                        .counter = 41,
                                        .sha256 = {1, 2, 3}};
        begin();
        w.kept = record;
        f->device.end_flags = how > 0;
        f->device.reboots = true;
        f->device.on_reset = how == 1 ? forget_counter : how == 2 ? leave : NULL;
        assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, f->now),
                         TENDON_OK);
        fixture_run(f, 200000);
        expect(how == 0   ? "need:package need:report done:0/OK "
               : how == 1 ? "need:package update:1 update:2 done:14/INTERNAL "
                          : "need:package update:1 update:2 done:15/ERROR_TIMEOUT ");
        assert_int_equal(w.stores, 1);
        record.counter = 42;
        assert_memory_equal(&w.record, &record, sizeof record);
        end();
    }
}

/* A device has a record by its serial number, which comes with INFO; 0 is one, too. It is read once in an operation. */
static tendon_obvious_record found;

static void load(void *context, tendon_obvious_record *record) {
    (void)context;
    note("load:%llx ", (unsigned long long)record->serial);
    const tendon_obvious_record none = {.serial = record->serial};
    assert_memory_equal(record, &none, sizeof none);
    record->counter = found.counter;
}

static void a_record_of_the_serial_number_is_loaded(void **state) {
    (void)state;
    static const struct {
        uint64_t serial, counter;
        const char *trace;
    } rows[] = {
        {0x1122334455667788, 42, "load:1122334455667788 need:package done:11/REPLAY "},
        {0x1122334455667788, 0, "load:1122334455667788 need:package need:report done:0/OK "},
        {0, 42, "load:0 need:package done:11/WRONG_DEVICE "}, /* the package is that of another device */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        f->device.serial = rows[i].serial;
        found.counter = rows[i].counter;
        w.manager.config.load = load;
        for (int times = 0; times < 2; times++) { /* nothing of the operation before is left */
            trace[0] = '\0';
            f->device.counter = 41;
            assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, f->now),
                             TENDON_OK);
            fixture_run(f, 200000);
            expect(rows[i].trace);
        }
        end();
    }
}

/* What the cloud sends is not raised before the device has applied it: it may be sent again. */
static void a_package_that_is_not_applied_raises_nothing(void **state) {
    (void)state;
    begin();
    f->device.error[TENDON_OBVIOUS_XFER_END] = 21;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/FLASH_FAILED ");
    assert_int_equal(w.stores, 0);
    end();
}

static void cancelled_at_any_time(void **state) {
    (void)state;
    for (unsigned ms = 0; ms < 60; ms++) {
        begin();
        w.silent_cloud = ms % 2 == 0;
        f->device.chunk_max = 4;
        start(TENDON_OBVIOUS_UPDATE_FEATURES);
        fixture_run(f, ms);
        bool over = w.done > 0;
        tendon_obvious_manager_cancel(&w.manager, f->now);
        tendon_obvious_manager_cancel(&w.manager, f->now);
        fixture_run(f, 100000);
        assert_int_equal(w.done, 1);
        assert_true(over || strstr(trace, "done:14/ERROR_CANCELLED ") != NULL);
        trace[0] = '\0';
        end();
    }
    begin();
    tendon_obvious_manager_cancel(&w.manager, f->now);
    fixture_run(f, 10);
    expect("");
    end();
}

/* Cancels an operation whose request has no response; the next one starts at once. */
static void cancel_then_start(tendon_obvious_operation next) {
    begin();
    fixture_open(f);
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = true;
    start(TENDON_OBVIOUS_GET_INFO);
    fixture_run(f, 100);
    tendon_obvious_manager_cancel(&w.manager, f->now);
    fixture_run(f, 0);
    expect("done:14/ERROR_CANCELLED ");
    memset(f->device.mute, 0, sizeof f->device.mute);
    start(next);
    fixture_run(f, 4000);
    expect("");
}

static void after_a_cancelled_operation_the_next_one_waits(void **state) {
    (void)state;
    /* for the response, which comes when the request is repeated after 5 s */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    end();
    /* for the limit of time of the request: 5 s, and 3 repeats */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = true;
    fixture_run(f, 15800);
    f->device.mute[TENDON_OBVIOUS_GET_DEVICE_INFO] = false;
    expect("");
    fixture_run(f, 200);
    expect("done:0/OK ");
    end();
    /* for the end of the connection: an update connects again, the others do not */
    cancel_then_start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_drop(f);
    fixture_run(f, 2000);
    expect("need:package need:report done:0/OK ");
    end();
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    fixture_drop(f);
    fixture_run(f, 10);
    expect("done:14/ERROR_DISCONNECTED ");
    end();
    /* or it is cancelled, too */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    tendon_obvious_manager_cancel(&w.manager, f->now);
    fixture_run(f, 0);
    expect("done:14/ERROR_CANCELLED ");
    end();
    /* a lost connection cannot take longer than the operation itself may */
    cancel_then_start(TENDON_OBVIOUS_GET_INFO);
    f->devices[0].silent = true;
    fixture_run(f, 30000);
    assert_int_equal(w.done, 2);
    end();
}

/* The keys and the product of the next operation. */

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update),
        cmocka_unit_test(provisioning_then_an_update),
        cmocka_unit_test(answers_of_the_cloud),
        cmocka_unit_test(packages_that_are_refused),
        cmocka_unit_test(failures_of_a_transfer),
        cmocka_unit_test(hostile_begin_answers),
        cmocka_unit_test(lying_offsets),
        cmocka_unit_test(bad_offsets_are_corrected),
        cmocka_unit_test(a_transfer_goes_on_after_a_disconnection),
        cmocka_unit_test(a_restart_that_loses_its_connection),
        cmocka_unit_test(three_reconnections_then_the_end),
        cmocka_unit_test(a_lost_end_answer),
        cmocka_unit_test(an_update_that_resets_the_device),
        cmocka_unit_test(a_reset_before_the_end_is_not_the_one_after_it),
        cmocka_unit_test(an_announced_reset_that_does_not_come),
        cmocka_unit_test(an_update_changes_the_counter_alone),
        cmocka_unit_test(a_record_of_the_serial_number_is_loaded),
        cmocka_unit_test(a_package_that_is_not_applied_raises_nothing),
        cmocka_unit_test(cancelled_at_any_time),
        cmocka_unit_test(after_a_cancelled_operation_the_next_one_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
