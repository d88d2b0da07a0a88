/* SPDX-License-Identifier: MIT */
/* Obvious manager: checks for firmware, upgrades, trial boots and the journal, against a scripted device and a scripted
 * cloud. */
#include "obvious_firmware_world.h"

/* ---- check ---- */

static void perform_check(void) {
    unsigned before = w.done;
    start_from(TENDON_OBVIOUS_CHECK_FIRMWARE, NULL);
    fixture_run(f, 2000000);
    assert_int_equal(w.done, before + 1);
}

static void a_check(void **state) {
    (void)state;
    begin();
    perform_check(); /* it does not connect */
    expect("done:14/ERROR_DISCONNECTED ");
    fixture_open(f);
    perform_check();
    expect("need:firmware done:0/OK ");
    assert_int_equal(w.manager.fw, OLD);
    assert_int_equal(w.manager.offer.version, NEW);
    static const uint8_t sent[] = {1, 1, 2, 0x32};
    assert_int_equal(f->device.sent_count, sizeof sent);
    assert_memory_equal(f->device.sent, sent, sizeof sent);
    assert_int_equal(w.stores, 0);
    end();
}

static void checks_without_an_offer(void **state) {
    (void)state;
    static const struct {
        tendon_obvious_answer_kind kind;
        uint32_t version, epoch, product;
        const char *trace;
    } rows[] = {
        {TENDON_OBVIOUS_ANSWER_NOTHING, NEW, 3, 1234, "need:firmware done:16/OK "},
        {TENDON_OBVIOUS_ANSWER_REFUSED, NEW, 3, 1234, "need:firmware done:16/OK "},
        {TENDON_OBVIOUS_ANSWER_FAILED, NEW, 3, 1234, "need:firmware done:16/ERROR_NOT_FOUND "},
        {TENDON_OBVIOUS_ANSWER_GIVEN, OLD, 3, 1234, "need:firmware done:16/DOWNGRADE "},
        {TENDON_OBVIOUS_ANSWER_GIVEN, NEW, 2, 1234, "need:firmware done:16/DOWNGRADE "},
        {TENDON_OBVIOUS_ANSWER_GIVEN, NEW, 3, 1235, "need:firmware done:16/WRONG_PRODUCT "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fixture_open(f);
        make_manifest(rows[i].version, rows[i].epoch, rows[i].product);
        w.offer.kind = rows[i].kind;
        perform_check();
        expect(rows[i].trace);
        end();
    }
    begin();
    fixture_open(f);
    w.manifest[20] ^= 1;
    perform_check();
    expect("need:firmware done:16/SIG_INVALID ");
    f->device.fw = 0xFFFFFFFF;
    perform_check();
    expect("done:14/INTERNAL ");
    f->device.fw = OLD;
    f->device.error[TENDON_OBVIOUS_FW_STATE] = 21;
    perform_check();
    expect("done:14/FLASH_FAILED ");
    end();
}

/* The record of an upgrade that was interrupted after its activation. */
static const tendon_obvious_record activated = {.state = TENDON_OBVIOUS_JOURNAL_REJOIN,
                                                .version = OLD, /* what the device runs: the check offers a newer one */
                                                .serial = 0x1122334455667788,
                                                .counter = 41,
                                                .before = 41,
                                                .caps = 0xFF};

/* The program starts again in the middle of an upgrade, and the application checks first: as the upgrade itself, it
 * confirms after the self test alone. */
static void a_check_tests_the_trial_of_its_upgrade(void **state) {
    (void)state;
    static const struct {
        uint32_t missing;
        uint64_t counter;
        const char *end;
        uint8_t verdict;
    } rows[] = {
        {0, 41, "need:firmware done:0/OK ", 1},
        {0, 42, "need:firmware done:0/OK ", 1}, /* a package was applied meanwhile */
        {1, 41, "done:14/INTERNAL ", 0},
        {0, 40, "done:14/INTERNAL ", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.caps &= ~rows[i].missing;
        f->device.counter = rows[i].counter;
        f->device.active_state = 2;
        fixture_open(f);
        start_from(TENDON_OBVIOUS_CHECK_FIRMWARE, &activated);
        fixture_run(f, 100000);
        expect(rows[i].end);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 1);
        if (rows[i].verdict == 0) {
            assert_int_equal(f->device.last[10 + 4], 0);
        }
        assert_int_equal(w.stores, 0); /* the upgrade reports, and ends its record */
        end();
    }
}

/* The device has confirmed it, and only the end of the record is missing: there is no trial to test. */
static void a_check_tests_no_firmware_that_was_confirmed(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    start_from(TENDON_OBVIOUS_CHECK_FIRMWARE, &activated);
    fixture_run(f, 100000);
    expect("need:firmware done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 0);
    end();
}

/* The session ends with the connection: a verdict cannot be sent, and the operation ends then, with the cause. */
static void the_self_test_answers_with_another_serial_number(void **state) {
    (void)state;
    static const struct {
        tendon_obvious_operation operation;
        const char *end;
    } rows[] = {
        {TENDON_OBVIOUS_CHECK_FIRMWARE, "done:14/PROTOCOL "},
        {TENDON_OBVIOUS_UPGRADE_FIRMWARE, "prep need:report done:2/PROTOCOL "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.active_state = 2;
        fixture_open(f);
        f->device.mute[TENDON_OBVIOUS_FW_STATE] = true;
        start_from(rows[i].operation, &activated);
        fixture_run(f, 1000);
        f->device.mute[TENDON_OBVIOUS_FW_STATE] = false;
        f->device.serial++;
        fixture_run(f, 10000); /* FW_STATE is repeated, then GET_DEVICE_INFO */
        expect(rows[i].end);
        assert_true(f->closed);
        assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_IDLE);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 0);
        end();
    }
}

/* A trial that another gateway has begun, or that nothing is known of: it is left alone. */
static void a_trial_of_somebody_else_is_left_alone(void **state) {
    (void)state;
    tendon_obvious_record other_version = activated, sent = activated, other_device = activated;
    other_version.version = NEW + 1;
    sent.state = TENDON_OBVIOUS_JOURNAL_SEND;
    other_device.serial++;
    const tendon_obvious_record *records[] = {NULL, &other_version, &sent, &other_device};
    for (size_t i = 0; i < 4; i++) {
        begin();
        fixture_open(f);
        f->device.active_state = 2;
        start_from(TENDON_OBVIOUS_CHECK_FIRMWARE, records[i]);
        fixture_run(f, 100000);
        expect("need:firmware done:0/OK ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 0);
        assert_int_equal(f->device.active_state, 2);
        end();
        if (i == 1) {
            continue; /* for the upgrade of another version, this one was rolled back */
        }
        begin(); /* there is no place for another image during a trial */
        f->device.active_state = 2;
        start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, records[i]);
        fixture_run(f, 100000);
        expect("prep done:2/BUSY ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 0);
        assert_int_equal(w.stores, 0);
        end();
    }
}

/* ---- upgrade ---- */

static void a_good_upgrade(void **state) {
    (void)state;
    begin();
    w.traces_records = true;
    perform_upgrade(); /* connects */
    expect("prep need:image rec:1 0% 25% 50% 75% 99% rec:2 100% resetting rec:3 rec:0 need:report done:0/OK ");
    assert_memory_equal(f->device.object, w.image, IMAGE);
    assert_memory_equal(f->device.begin + 46, w.manifest, 136);
    assert_int_equal(f->device.active, NEW);
    assert_int_equal(f->device.active_state, 1);
    /* HELLO twice, INFO FW_STATE BEGIN DATA(4) END ACTIVATE; HELLO FW_STATE INFO CONFIRM */
    static const uint8_t sent[] = {1, 1, 2, 0x32, 0x20, 0x21, 0x21, 0x21, 0x21, 0x23, 0x30, 1, 0x32, 2, 0x31};
    assert_int_equal(f->device.sent_count, sizeof sent);
    assert_memory_equal(f->device.sent, sent, sizeof sent);
    static const uint8_t confirm[] = {0xE0, 0x51, 0x0F, 0, 1};
    assert_memory_equal(f->device.last + 10, confirm, sizeof confirm);
    end();
}

/* GET_DEVICE_INFO cannot say the version, FW_STATE can: the application verifies and asks with that one. */
static void a_device_that_cannot_read_its_version(void **state) {
    (void)state;
    begin();
    f->device.fw = 0xFFFFFFFF;
    w.silent_cloud = true;
    upgrade();
    fixture_run(f, 1000);
    expect("prep need:image ");
    assert_int_equal(w.manager.fw, OLD);
    answer(TENDON_OBVIOUS_NEED_IMAGE);
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    trace[0] = '\0';
    end();
}

static void upgrades_that_do_not_begin(void **state) {
    (void)state;
    static const struct {
        uint8_t battery;
        uint32_t missing;
        tendon_obvious_answer_kind kind;
        const char *trace;
    } rows[] = {
        {87, 8, TENDON_OBVIOUS_ANSWER_GIVEN, "done:4/NOT_SUPPORTED "},
        {87, 32, TENDON_OBVIOUS_ANSWER_GIVEN, "done:4/NOT_SUPPORTED "},
        {19, 0, TENDON_OBVIOUS_ANSWER_GIVEN, "prep done:2/LOW_POWER "},
        {87, 0, TENDON_OBVIOUS_ANSWER_NOTHING, "prep need:image done:4/OK "},
        {87, 0, TENDON_OBVIOUS_ANSWER_REFUSED, "prep need:image done:1/OK "},
        {87, 0, TENDON_OBVIOUS_ANSWER_FAILED, "prep need:image done:1/ERROR_NOT_FOUND "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.battery = rows[i].battery;
        f->device.caps = 0xFF & ~rows[i].missing;
        w.download.kind = rows[i].kind;
        perform_upgrade();
        expect(rows[i].trace);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        assert_int_equal(w.stores, 0);
        end();
    }
    static const uint8_t batteries[] = {20, 255};
    for (size_t i = 0; i < 2; i++) {
        begin();
        f->device.battery = batteries[i];
        perform_upgrade();
        expect("prep need:image 0% 25% 50% 75% 99% 100% resetting need:report done:0/OK ");
        end();
    }
    begin();
    f->device.status_value[3] = 2;
    perform_upgrade();
    expect("done:4/UNSUPPORTED_PROFILE ");
    end();
    begin(); /* pairing refused */
    f->devices[0].bonded = false;
    f->session.config.link.pair = NULL;
    perform_upgrade();
    expect("done:3/UNAUTHORIZED ");
    end();
}

/* The image must be that of the manifest before a byte goes to the device. */
static void images_that_do_not_fit(void **state) {
    (void)state;
    for (unsigned how = 0; how < 5; how++) {
        begin();
        uint8_t other[32] = {0};
        w.download.image_length += how == 0;
        w.download.image_crc32 ^= how == 1;
        w.download.image_sha256 = how == 2 ? other : how == 3 ? NULL : w.sha256;
        w.manifest[100] ^= how == 4;
        perform_upgrade();
        expect(how == 0   ? "prep need:image done:1/BAD_LENGTH "
               : how == 4 ? "prep need:image done:1/SIG_INVALID "
                          : "prep need:image done:1/HASH_MISMATCH ");
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 0);
        end();
    }
    begin();
    w.unreadable = true;
    perform_upgrade();
    expect("prep need:image 0% need:report done:2/ERROR_NOT_FOUND ");
    end();
}

/* ---- disconnections ---- */

static void five_reconnections_then_the_end(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.chunk_max = 20;
    upgrade();
    run_to(TENDON_OBVIOUS_XFER_DATA, 7);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    uint64_t before = f->now;
    while (w.done == 0 && f->now < before + 400000) {
        fixture_run(f, 100);
    }
    /* 1 + 2 + 4 + 8 + 15 s, and 30 s for each attempt */
    assert_in_range(f->now - before, 180000, 180600);
    assert_non_null(strstr(trace, "need:report done:2/LINK_ERROR "));
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_SEND); /* to resume it later */
    end();
}

static void an_upgrade_resumes(void **state) {
    (void)state;
    for (unsigned drops = 1; drops <= 5; drops++) {
        begin();
        fixture_open(f);
        f->device.chunk_max = 20;
        upgrade();
        for (unsigned i = 1; i <= drops; i++) {
            run_to(TENDON_OBVIOUS_XFER_DATA, fixture_times(f, TENDON_OBVIOUS_XFER_DATA) + 1);
            fixture_drop(f);
            fixture_run(f, 990); /* the first pause of 1 s, always: there was progress in between */
        }
        fixture_run(f, 200000);
        assert_non_null(strstr(trace, "100% resetting need:report done:0/OK "));
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 1 + drops);
        assert_in_range(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 200, 200 + drops);
        assert_memory_equal(f->device.object, w.image, IMAGE);
        end();
    }
}

/* What the device has, it keeps: BUSY and LOW_POWER are of now. The next upgrade resumes. */
static void a_begin_that_is_refused_ends_no_transfer(void **state) {
    (void)state;
    static const uint8_t statuses[] = {4, 22};
    for (unsigned i = 0; i < 4; i++) {
        bool after_a_drop = i >= 2;
        begin();
        fixture_open(f);
        f->device.chunk_max = 20;
        upgrade();
        run_to(TENDON_OBVIOUS_XFER_DATA, 7);
        f->device.error[TENDON_OBVIOUS_XFER_BEGIN] = statuses[i % 2];
        if (!after_a_drop) {
            tendon_obvious_manager_cancel(&w.manager, f->now);
            fixture_run(f, 0);
        }
        fixture_drop(f);
        if (!after_a_drop) {
            const tendon_obvious_record record = *last_record();
            start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
        }
        fixture_run(f, 20000);
        assert_non_null(strstr(trace, i % 2 == 0 ? "done:2/BUSY " : "done:2/LOW_POWER "));
        assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_SEND);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), 0);
        f->device.error[TENDON_OBVIOUS_XFER_BEGIN] = 0;
        const tendon_obvious_record record = *last_record();
        start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, &record);
        fixture_run(f, 200000);
        assert_non_null(strstr(trace, "need:report done:0/OK "));
        assert_in_range(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 200, 202);
        trace[0] = '\0';
        end();
    }
}

static unsigned parts;

/* Counts the parts of the image that are read in calls of their own. */
static void count_parts(void *manager, uint64_t now) {
    unsigned before = w.reads;
    tendon_obvious_manager_inputs.tick(manager, now);
    assert_true(w.reads - before <= 2); /* the last one, and the first data */
    parts += w.reads > before;
}

/* The sum of a long prefix takes time: others are served between its parts. */
static void a_prefix_is_summed_part_by_part(void **state) {
    (void)state;
    begin();
    f->device.max_frame = 512;
    f->device.chunk_max = 20;
    tendon_session_inputs counted = tendon_obvious_manager_inputs;
    counted.tick = count_parts;
    tendon_memory_radio_attach(&f->air, &counted, &w.manager);
    fixture_open(f);
    upgrade();
    run_to(TENDON_OBVIOUS_XFER_DATA, 180);
    fixture_drop(f);
    parts = 0;
    fixture_run(f, 200000);
    assert_in_range(parts, 7, 9); /* 3600 bytes, 498 each */
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    trace[0] = '\0';
    end();
    begin(); /* what cannot be read here is no wrong prefix of the device */
    fixture_open(f);
    f->device.chunk_max = 20;
    upgrade();
    run_to(TENDON_OBVIOUS_XFER_DATA, 7);
    w.unreadable = true;
    fixture_drop(f);
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "done:2/ERROR_NOT_FOUND "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 2);
    assert_int_equal(f->device.last[10 + 4], 0); /* XFER_ABORT */
    trace[0] = '\0';
    end();
}

/* The reason of an abort is of its own operation. */
static void reasons_of_aborts(void **state) {
    (void)state;
    begin();
    f->device.error[TENDON_OBVIOUS_XFER_END] = 18;
    perform_upgrade();
    assert_int_equal(f->device.last[6], TENDON_OBVIOUS_XFER_ABORT);
    assert_int_equal(f->device.last[10 + 4], 2);
    f->device.error[TENDON_OBVIOUS_XFER_DATA] = 21;
    perform_upgrade();
    assert_int_equal(f->device.last[6], TENDON_OBVIOUS_XFER_ABORT);
    assert_int_equal(f->device.last[10 + 4], 0);
    trace[0] = '\0';
    end();
}

static void bad_offsets(void **state) {
    (void)state;
    begin();
    f->device.loops = true; /* a device that never agrees: 5 corrections */
    perform_upgrade();
    expect("prep need:image 0% need:report done:2/BAD_OFFSET ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 6);
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_NONE);
    end();
    begin();
    f->device.chunk_max = 20;
    fixture_open(f);
    upgrade();
    run_to(TENDON_OBVIOUS_XFER_DATA, 15);
    assert_in_range(f->device.offset, 257, IMAGE - 1);
    f->device.offset = 256; /* the last page that it has */
    fixture_run(f, 100000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_memory_equal(f->device.object, w.image, IMAGE);
    end();
}

/* HASH_MISMATCH at the end: once again from the beginning. */
static void hash_mismatches(void **state) {
    (void)state;
    for (unsigned bad = 1; bad <= 2; bad++) {
        begin();
        fixture_open(f);
        f->device.error[TENDON_OBVIOUS_XFER_END] = 18;
        w.heals = bad == 1;
        perform_upgrade();
        bool good = bad == 1;
        assert_non_null(strstr(trace, good ? "need:report done:0/OK " : "need:report done:2/HASH_MISMATCH "));
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 2);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_DATA), 8);
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_ABORT), good ? 1 : 2);
        assert_int_equal(f->device.active, good ? NEW : OLD);
        end();
    }
}

/* ---- trial ---- */

static void loses_a_cap(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->device.caps &= ~1u;
}

static void loses_the_counter(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->device.counter = 40;
}

static void trials_that_fail(void **state) {
    (void)state;
    static const struct {
        void (*on_reset)(obvious_fixture *fixture);
        const char *end;
        unsigned confirms;
    } rows[] = {
        {roll_back, "resetting need:report done:2/INTERNAL ", 0},
        {loses_a_cap, "resetting need:report done:2/INTERNAL ", 1},
        {loses_the_counter, "resetting need:report done:2/INTERNAL ", 1},
        {leaves, "resetting need:report done:2/ERROR_TIMEOUT ", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        f->device.on_reset = rows[i].on_reset;
        perform_upgrade();
        assert_non_null(strstr(trace, rows[i].end));
        assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), rows[i].confirms);
        if (rows[i].confirms > 0) {
            assert_int_equal(f->device.last[10 + 4], 0); /* rejected */
        }
        end();
    }
    begin(); /* 180 s to come back */
    fixture_open(f);
    f->device.on_reset = leaves;
    upgrade();
    run_to(TENDON_OBVIOUS_FW_ACTIVATE, 1);
    fixture_run(f, 179000);
    assert_int_equal(w.done, 0);
    fixture_run(f, 3000);
    assert_int_equal(w.done, 1);
    assert_int_equal(last_record()->state, TENDON_OBVIOUS_JOURNAL_REJOIN);
    end();
}

/* The device that does not disconnect after FW_ACTIVATE: Tendon does after 5 s. */
static void a_device_that_stays_connected(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.reboots = false;
    upgrade();
    run_to(TENDON_OBVIOUS_FW_ACTIVATE, 1);
    fixture_run(f, 4900);
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_OPEN);
    fixture_run(f, 300);
    assert_int_not_equal(f->session.state, TENDON_OBVIOUS_SESSION_OPEN);
    f->device.reboots = true; /* it is still staged: once more */
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_ACTIVATE), 2);
    end();
}

static void silent_firmware(void **state) {
    (void)state;
    begin(); /* it disconnects instead of confirming, then it confirms */
    f->device.on_reset = boot_and_mute;
    mute_after_reset = TENDON_OBVIOUS_FW_CONFIRM;
    upgrade();
    run_to(TENDON_OBVIOUS_FW_CONFIRM, 1);
    f->device.mute[TENDON_OBVIOUS_FW_CONFIRM] = false;
    fixture_drop(f);
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 2);
    trace[0] = '\0';
    end();
    begin(); /* the self test gets no response: rejected */
    f->device.on_reset = boot_and_mute;
    mute_after_reset = TENDON_OBVIOUS_GET_DEVICE_INFO;
    perform_upgrade();
    assert_non_null(strstr(trace, "need:report done:2/ERROR_TIMEOUT "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FW_CONFIRM), 1);
    assert_int_equal(f->device.last[10 + 4], 0);
    trace[0] = '\0';
    end();
    begin(); /* data without a response: a new connection */
    fixture_open(f);
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = true;
    upgrade();
    fixture_run(f, 15500); /* three attempts of 5 s */
    f->device.mute[TENDON_OBVIOUS_XFER_DATA] = false;
    fixture_run(f, 200000);
    assert_non_null(strstr(trace, "need:report done:0/OK "));
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 2);
    trace[0] = '\0';
    end();
}

static void a_device_has_three_minutes_to_come_back(void **state) {
    (void)state;
    begin();
    f->device.on_reset = leaves;
    upgrade();
    const uint64_t began = f->now;
    while (w.stores == 0 || last_record()->state != TENDON_OBVIOUS_JOURNAL_REJOIN) {
        fixture_run(f, 1);
        assert_true(f->now < began + 60000);
    }
    fixture_run(f, 179999);
    assert_int_equal(w.done, 0);
    fixture_run(f, 1);
    assert_int_equal(w.done, 1);
    expect("prep need:image 0% 25% 50% 75% 99% 100% resetting need:report done:2/ERROR_TIMEOUT ");
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check),
        cmocka_unit_test(checks_without_an_offer),
        cmocka_unit_test(a_check_tests_the_trial_of_its_upgrade),
        cmocka_unit_test(a_check_tests_no_firmware_that_was_confirmed),
        cmocka_unit_test(the_self_test_answers_with_another_serial_number),
        cmocka_unit_test(a_trial_of_somebody_else_is_left_alone),
        cmocka_unit_test(a_good_upgrade),
        cmocka_unit_test(a_device_that_cannot_read_its_version),
        cmocka_unit_test(upgrades_that_do_not_begin),
        cmocka_unit_test(images_that_do_not_fit),
        cmocka_unit_test(five_reconnections_then_the_end),
        cmocka_unit_test(an_upgrade_resumes),
        cmocka_unit_test(a_begin_that_is_refused_ends_no_transfer),
        cmocka_unit_test(a_prefix_is_summed_part_by_part),
        cmocka_unit_test(reasons_of_aborts),
        cmocka_unit_test(bad_offsets),
        cmocka_unit_test(hash_mismatches),
        cmocka_unit_test(trials_that_fail),
        cmocka_unit_test(a_device_that_stays_connected),
        cmocka_unit_test(silent_firmware),
        cmocka_unit_test(a_device_has_three_minutes_to_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
