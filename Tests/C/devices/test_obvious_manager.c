/* SPDX-License-Identifier: MIT */
/* Obvious manager: information, features, connections and arguments, against a scripted device and a scripted cloud. */
#include "obvious_manager_world.h"

/* ---- information and features ---- */

static void device_information(void **state) {
    (void)state;
    begin();
    perform(TENDON_OBVIOUS_GET_INFO); /* it does not connect */
    expect("done:14/ERROR_DISCONNECTED ");
    fixture_open(f);
    start(TENDON_OBVIOUS_GET_INFO);
    expect(""); /* not within the call */
    assert_int_equal(tendon_obvious_manager_start(&w.manager, TENDON_OBVIOUS_GET_INFO, NULL, 0, f->now),
                     TENDON_ERROR_BUSY);
    fixture_run(f, 100);
    expect("done:0/OK ");
    assert_true(w.manager.serial == 0x1122334455667788 && w.manager.fw == 1003000 && w.manager.battery == 87);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_HELLO), 1);
    f->device.product = 99;
    perform(TENDON_OBVIOUS_GET_INFO);
    expect("done:14/WRONG_PRODUCT ");
    f->device.product = 1234;
    f->device.serial++;
    perform(TENDON_OBVIOUS_GET_INFO);
    expect("done:14/PROTOCOL ");
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_IDLE);
    end();
}

static void status_of_features(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    tendon_obvious_feature list[FIXTURE_FEATURES];
    for (uint16_t i = 0; i < FIXTURE_FEATURES; i++) {
        f->device.features[i] = (tendon_obvious_feature){(uint16_t)(i + 1), 1, (uint8_t)(i % 3)};
        list[i] = (tendon_obvious_feature){(uint16_t)(FIXTURE_FEATURES - i), 0, 0};
    }
    f->device.feature_count = FIXTURE_FEATURES;
    start_with(TENDON_OBVIOUS_CHECK_STATUS, list, FIXTURE_FEATURES, 0);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FEATURE_STATUS), 2); /* 64 and 16 */
    for (uint16_t i = 0; i < FIXTURE_FEATURES; i++) {
        assert_int_equal(list[i].id, FIXTURE_FEATURES - i);
        assert_int_equal(list[i].toggle, (FIXTURE_FEATURES - i - 1) % 3);
    }
    f->device.error[TENDON_OBVIOUS_FEATURE_STATUS] = 8;
    start_with(TENDON_OBVIOUS_CHECK_STATUS, list, 1, 0);
    fixture_run(f, 1000);
    expect("done:14/UNKNOWN_FEATURE ");
    end();
}

/* What the device does not know is an answer, beside others; it cannot be switched. */
static void unknown_features(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    f->device.features[0] = (tendon_obvious_feature){99, 255, 255};
    f->device.features[1] = (tendon_obvious_feature){16, 1, 1};
    f->device.feature_count = 2;
    tendon_obvious_feature list[] = {{99, 0, 0}, {16, 0, 0}};
    start_with(TENDON_OBVIOUS_CHECK_STATUS, list, 2, 0);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    assert_int_equal(list[0].enable, TENDON_OBVIOUS_ENABLE_UNKNOWN);
    assert_int_equal(list[0].toggle, TENDON_OBVIOUS_TOGGLE_UNKNOWN);
    assert_int_equal(list[1].enable, TENDON_OBVIOUS_ENABLED);
    start_with(TENDON_OBVIOUS_TOGGLE, list, 1, 0);
    fixture_run(f, 1000);
    expect("done:14/UNKNOWN_FEATURE ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_FEATURE_TOGGLE), 0);
    end();
}

/* Answers with other ids, another order, fewer or more features. */
static void lying_status_answers(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes[13];
        size_t length;
    } rows[] = {
        {{2, 17, 0, 1, 1, 16, 0, 1, 1}, 9},
        {{2, 16, 0, 1, 1, 18, 0, 1, 1}, 9},
        {{1, 16, 0, 1, 1}, 5},
        {{3, 16, 0, 1, 1, 17, 0, 1, 1, 18, 0, 1, 1}, 13},
        {{2, 16, 0, 1, 1, 16, 0, 1, 1}, 9},
        {{2, 16, 0, 2, 1, 17, 0, 1, 1}, 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fixture_open(f);
        tendon_obvious_feature list[2] = {{16, 0, 0}, {17, 0, 0}};
        f->device.payload[TENDON_OBVIOUS_FEATURE_STATUS] = rows[i].bytes;
        f->device.payload_length[TENDON_OBVIOUS_FEATURE_STATUS] = rows[i].length;
        start_with(TENDON_OBVIOUS_CHECK_STATUS, list, 2, 0);
        fixture_run(f, 1000);
        expect("done:14/BAD_PARAM ");
        end();
    }
}

static void toggles(void **state) {
    (void)state;
    static const struct {
        uint8_t enable, toggle;
        const char *trace;
        uint8_t after;
    } rows[] = {
        {1, 1, "done:0/OK ", 2},
        {1, 2, "done:0/OK ", 1},
        {1, 0, "done:14/TOGGLE_UNSUPPORTED ", 0},
        {1, 255, "done:14/TOGGLE_UNSUPPORTED ", 255},
        {0, 1, "done:14/FEATURE_DISABLED ", 1},
        {255, 1, "done:14/UNKNOWN_FEATURE ", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        fixture_open(f);
        tendon_obvious_feature feature = {16, 0, 0};
        f->device.features[0] = (tendon_obvious_feature){16, rows[i].enable, rows[i].toggle};
        f->device.feature_count = 1;
        start_with(TENDON_OBVIOUS_TOGGLE, &feature, 1, 0);
        fixture_run(f, 1000);
        expect(rows[i].trace);
        assert_int_equal(f->device.features[0].toggle, rows[i].after);
        if (rows[i].enable == 1 && rows[i].toggle != 0 && rows[i].toggle != 255) {
            assert_int_equal(feature.toggle, rows[i].after);
            assert_int_equal(f->device.last[10 + 3], rows[i].after); /* the explicit opposite, not a flip */
        }
        end();
    }
    begin();
    fixture_open(f);
    tendon_obvious_feature list[2] = {{16, 0, 2}, {17, 0, 1}};
    f->device.features[0] = (tendon_obvious_feature){16, 1, 1};
    f->device.features[1] = (tendon_obvious_feature){17, 1, 2};
    f->device.feature_count = 2;
    start_with(TENDON_OBVIOUS_SET_TOGGLES, list, 2, 0);
    fixture_run(f, 1000);
    expect("done:0/OK ");
    assert_int_equal(f->device.features[0].toggle, 2);
    assert_int_equal(f->device.features[1].toggle, 1);
    f->device.error[TENDON_OBVIOUS_FEATURE_TOGGLE] = 9;
    start_with(TENDON_OBVIOUS_SET_TOGGLES, list, 2, 0);
    fixture_run(f, 1000);
    expect("done:14/FEATURE_DISABLED ");
    end();
}

static void what_the_caps_do_not_cover_is_not_sent(void **state) {
    (void)state;
    static const struct {
        unsigned operation;
        uint32_t missing;
        const char *trace;
    } rows[] = {
        {TENDON_OBVIOUS_CHECK_STATUS, 1, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_TOGGLE, 1, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_TOGGLE, 2, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_SET_TOGGLES, 2, "done:14/NOT_SUPPORTED "},
        {TENDON_OBVIOUS_UPDATE_FEATURES, 4, "done:14/NOT_SUPPORTED "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        tendon_obvious_feature feature = {16, 1, 1};
        f->device.caps = 0xFF & ~rows[i].missing;
        fixture_open(f);
        bool list = rows[i].operation <= TENDON_OBVIOUS_SET_TOGGLES;
        start_with((tendon_obvious_operation)rows[i].operation, list ? &feature : NULL, list, 0);
        fixture_run(f, 1000);
        expect(rows[i].trace);
        assert_int_equal(f->device.sent_count, list ? 1 : 2); /* HELLO */
        end();
    }
}

static void changes_are_held_back(void **state) {
    (void)state;
    static const uint8_t one[] = {1, 16, 0, 1, 1}, two[] = {2, 16, 0, 1, 2, 17, 0, 0, 0};
    begin();
    fixture_open(f);
    fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, one, sizeof one);
    expect("changed:1 ");
    w.silent_cloud = true;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 1000);
    expect("need:package ");
    fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, one, sizeof one);
    fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, two, sizeof two);
    expect("");
    w.answers[0].kind = TENDON_OBVIOUS_ANSWER_NOTHING;
    give(0);
    expect("");
    fixture_run(f, 10);
    expect("done:0/OK changed:2 ");
    assert_int_equal(w.manager.held[0].toggle, 2);
    /* more than can be kept: nothing is lost */
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 100);
    for (uint16_t i = 1; i <= 70; i++) {
        const uint8_t item[] = {1, (uint8_t)i, 0, 1, 1};
        fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, item, sizeof item);
    }
    give(0);
    fixture_run(f, 10);
    expect("need:package changed:64 done:0/OK changed:6 ");
    assert_int_equal(w.manager.held[5].id, 70);
    end();
}

static void another_ring_and_product(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    w.manager.config.product = 1235;
    perform(TENDON_OBVIOUS_GET_INFO);
    expect("done:14/WRONG_PRODUCT ");
    w.manager.config.product = 1234;
    const tendon_obvious_key_ring none = {.crypto = w.ring.crypto};
    w.manager.config.ring = &none;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:11/UNKNOWN_KEY ");
    w.manager.config.ring = &w.ring;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    end();
}

static void a_session_that_cannot_be_opened(void **state) {
    (void)state;
    begin();
    f->device.status_value[3] = 2;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("done:14/UNSUPPORTED_PROFILE ");
    perform(TENDON_OBVIOUS_GET_INFO); /* until the next connect */
    expect("done:14/UNSUPPORTED_PROFILE ");
    end();
    begin();
    f->devices[0].present = false;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 29900);
    expect("");
    fixture_run(f, 200);
    expect("done:15/OK ");
    end();
}

/* An attempt to connect ends with the operation that began it, and with no other. */
static void no_attempt_is_left_behind(void **state) {
    (void)state;
    for (unsigned how = 0; how < 3; how++) { /* too late, cancelled, of the application */
        begin();
        f->devices[0].present = false;
        if (how == 2) {
            assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_OK);
        }
        start(how == 2 ? TENDON_OBVIOUS_GET_INFO : TENDON_OBVIOUS_UPDATE_FEATURES);
        fixture_run(f, 1000);
        if (how == 1) {
            tendon_obvious_manager_cancel(&w.manager, f->now);
        }
        fixture_run(f, 30000);
        expect(how == 0 ? "done:15/OK " : how == 1 ? "done:14/ERROR_CANCELLED " : "done:14/ERROR_TIMEOUT ");
        assert_int_equal(f->session.state, how == 2 ? TENDON_OBVIOUS_SESSION_CONNECTING : TENDON_OBVIOUS_SESSION_IDLE);
        tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
        fixture_run(f, 10000);
        assert_int_equal(f->opened, how == 2);
        end();
    }
}

/* The end of the connection before is no failure of an operation that is started meanwhile: it connects again. */
static void an_operation_waits_for_the_end_of_the_connection_before(void **state) {
    (void)state;
    begin();
    fixture_open(f);
    tendon_obvious_session_disconnect(&f->session, f->now);
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_CLOSING);
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    assert_int_equal(f->opened, 2);
    tendon_obvious_session_disconnect(&f->session, f->now);
    perform(TENDON_OBVIOUS_GET_INFO); /* it does not connect */
    expect("done:14/ERROR_DISCONNECTED ");
    end();
    begin();
    fixture_open(f);
    tendon_obvious_session_disconnect(&f->session, f->now);
    f->session.work.reason = TENDON_OBVIOUS_ERROR_LINK_ERROR; /* that is no reason of what follows */
    f->devices[0].present = false;
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, 30200);
    expect("done:15/OK ");
    end();
}

static void arguments(void **state) {
    (void)state;
    begin();
    tendon_obvious_feature list[2] = {{16, 0, 1}, {17, 0, 1}};
#define start_status(operation, features, count)                                                                       \
    tendon_obvious_manager_start(&w.manager, operation, features, count, f->now)
    assert_int_equal(start_status((tendon_obvious_operation)0, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status((tendon_obvious_operation)3, list, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status(TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
    for (unsigned number = TENDON_OBVIOUS_UPGRADE_FIRMWARE * 2u; number <= 0x8000; number *= 2) { /* no operations */
        assert_int_equal(start_status((tendon_obvious_operation)number, NULL, 0), TENDON_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(start_status(TENDON_OBVIOUS_CHECK_STATUS, list, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status(TENDON_OBVIOUS_TOGGLE, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(start_status(TENDON_OBVIOUS_GET_INFO, list, 1), TENDON_ERROR_INVALID_ARGUMENT);
    list[1].id = 1025;
    assert_int_equal(start_status(TENDON_OBVIOUS_CHECK_STATUS, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    list[1].id = 0;
    assert_int_equal(start_status(TENDON_OBVIOUS_SET_TOGGLES, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    list[1] = (tendon_obvious_feature){17, 0, 0x80};
    assert_int_equal(start_status(TENDON_OBVIOUS_SET_TOGGLES, list, 2), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &w.answers[0], f->now), TENDON_ERROR_WRONG_STATE);
    tendon_obvious_answer bad = {.kind = TENDON_OBVIOUS_ANSWER_GIVEN};
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &bad, f->now), TENDON_ERROR_INVALID_ARGUMENT);
    bad.kind = TENDON_OBVIOUS_ANSWER_COUNT;
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &bad, f->now), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_obvious_manager_config config = w.manager.config, other;
    tendon_obvious_manager manager;
#define refused(member, value)                                                                                         \
    other = config;                                                                                                    \
    other.member = value;                                                                                              \
    assert_int_equal(tendon_obvious_manager_init(&manager, &other), TENDON_ERROR_INVALID_ARGUMENT)
    refused(session, NULL);
    refused(ring, NULL);
    refused(on_event, NULL);
    refused(chunk_max, 0);
    fixture_run(f, 10);
    expect("");
    end();
}

/* Whatever the operation before has left behind: a new one begins as the first one does. */
static void nothing_of_an_operation_is_left_for_the_next(void **state) {
    (void)state;
    begin();
    tendon_obvious_manager *m = &w.manager;
    m->obj = m->package_kind = m->tries = m->corrections = m->activations = m->reason = 9;
    m->answered = m->cancelled = m->restarted = m->resumes = m->provisioned = m->end_sent = m->announced =
        m->rejoining = true;
    m->percent = 50;
    m->nonce.outstanding = true;
    m->status = TENDON_ERROR_TIMEOUT;
    m->feature_at = 3;
    m->transfer = 77;
    memset(&m->record, 0xA5, sizeof m->record);
    assert_int_equal(tendon_obvious_manager_start(m, TENDON_OBVIOUS_UPDATE_FEATURES, NULL, 0, 5000), TENDON_OK);
    const tendon_obvious_record none = {0};
    assert_int_equal(m->obj | m->package_kind | m->tries | m->corrections | m->activations, 0);
    assert_false(m->answered || m->cancelled || m->restarted || m->resumes || m->provisioned || m->end_sent);
    assert_false(m->announced || m->rejoining || m->nonce.outstanding);
    assert_int_equal(m->percent, -1);
    assert_int_equal(m->status, TENDON_OK);
    assert_int_equal(m->feature_at, 0);
    assert_int_equal(m->transfer, 0);
    assert_memory_equal(&m->record, &none, sizeof none);
    assert_int_equal(m->deadline, 5000);
    assert_int_equal(m->limit, 5000 + 1800000);
    assert_true(f->session.keep_alive);
    fixture_free(f);
}

/* A package is not sent again because its hash differs, as firmware is; nor does the device restart. */
static void a_package_with_another_hash_fails(void **state) {
    (void)state;
    begin();
    f->device.error[TENDON_OBVIOUS_XFER_END] = 18;
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package done:12/HASH_MISMATCH ");
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_REBOOT), 0);
    assert_int_equal(fixture_times(f, TENDON_OBVIOUS_XFER_BEGIN), 1);
    end();
}

/* The first transfer begins at the beginning, also with a device that can resume. */
static void a_first_transfer_does_not_resume(void **state) {
    (void)state;
    begin();
    assert_true((f->device.caps & TENDON_OBVIOUS_CAP_RESUME) != 0);
    perform(TENDON_OBVIOUS_UPDATE_FEATURES);
    expect("need:package need:report done:0/OK ");
    assert_int_equal(f->device.begin[1], 0);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_information),
        cmocka_unit_test(status_of_features),
        cmocka_unit_test(unknown_features),
        cmocka_unit_test(lying_status_answers),
        cmocka_unit_test(toggles),
        cmocka_unit_test(what_the_caps_do_not_cover_is_not_sent),
        cmocka_unit_test(changes_are_held_back),
        cmocka_unit_test(another_ring_and_product),
        cmocka_unit_test(a_session_that_cannot_be_opened),
        cmocka_unit_test(no_attempt_is_left_behind),
        cmocka_unit_test(an_operation_waits_for_the_end_of_the_connection_before),
        cmocka_unit_test(arguments),
        cmocka_unit_test(nothing_of_an_operation_is_left_for_the_next),
        cmocka_unit_test(a_package_with_another_hash_fails),
        cmocka_unit_test(a_first_transfer_does_not_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
