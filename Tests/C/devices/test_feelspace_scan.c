/* SPDX-License-Identifier: MIT */
/* Searching for belts: what a belt is, once per search, how a search ends. */
#include "feelspace_fixture.h"

#define OLDER "\x11\x07\x00\xA1\x0C\x20\x00\x08\x9A\x9E\xE2\x11\x15\xA1\x33\x33\x33\x65"
#define NEWER "\x03\x03\x51\xFE"
#define NAME "\x0F\x09naviGuertel 12"

/* What the device with this last byte of its address sends. */
static void hear(belt *b, uint8_t who, const char *data, size_t length) {
    block exact = block_copy(data, length);
    tendon_ad_report report = {.address = belt_address, .rssi = -50, .data = exact.data, .length = exact.length};
    report.address.bytes[5] = who;
    tendon_feelspace_session_advertised(&b->session, &report, b->now);
    free(exact.data);
}

#define HEAR(b, who, text) hear(b, who, text, sizeof(text) - 1)

static size_t found(const belt *b) {
    return belt_count(b, TENDON_FEELSPACE_EVENT_FOUND);
}

static void scan(belt *b) {
    assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_OK);
    assert_true(b->scanning);
}

static void expect_finished(const belt *b, tendon_feelspace_scan_cause cause, tendon_feelspace_connection_error error) {
    const tendon_feelspace_event *event = &belt_last(b, TENDON_FEELSPACE_EVENT_SCAN_FINISHED)->event;
    assert_int_equal(event->scan.cause, cause);
    assert_int_equal(event->scan.error, error);
}

static void belt_needs_its_uuid_and_its_name(void **state) {
    belt *b = *state;
    scan(b);
    HEAR(b, 1, OLDER);
    HEAR(b, 2, NEWER);
    HEAR(b, 3, NAME);
    HEAR(b, 4, OLDER "\x09\x09naviGuer"); /* another product with that UUID */
    HEAR(b, 5,
         "\x0C\x09naviGuertel"
         "\x03\x03\x52\xFE"); /* another service */
    assert_int_equal(found(b), 0);
    HEAR(b, 1, NAME);
    assert_int_equal(found(b), 1);
    const belt_seen *seen = belt_last(b, TENDON_FEELSPACE_EVENT_FOUND);
    assert_string_equal(seen->name, "naviGuertel 12");
    assert_false(seen->event.found.newer_hardware);
    assert_int_equal(seen->event.found.rssi, -50);
    HEAR(b, 3, NEWER); /* the name came first, and is told all the same */
    assert_int_equal(found(b), 2);
    seen = belt_last(b, TENDON_FEELSPACE_EVENT_FOUND);
    assert_string_equal(seen->name, "naviGuertel 12");
    assert_true(seen->event.found.newer_hardware);
    HEAR(b, 6, NEWER "\x0C\x08NAVIGUERTEL"); /* both at once, any case, shortened */
    assert_int_equal(found(b), 3);
    for (int i = 0; i < 3; i++) {
        HEAR(b, 1, OLDER);
        HEAR(b, 1, NAME);
        HEAR(b, 6, NEWER NAME);
    }
    assert_int_equal(found(b), 3); /* once per search */
    tendon_feelspace_session_stop_scan(&b->session, b->now);
    HEAR(b, 7, NEWER NAME);
    assert_int_equal(found(b), 3);
    scan(b);
    HEAR(b, 1, OLDER NAME);
    assert_int_equal(found(b), 4);
}

static void mal_belt_advertisements_cut_anywhere(void **state) {
    belt *b = *state;
    static const char whole[] = NEWER NAME;
    scan(b);
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        hear(b, 9, whole, length);
        assert_int_equal(found(b), 0);
    }
    hear(b, 9, whole, sizeof whole - 1);
    assert_int_equal(found(b), 1);
    HEAR(b, 10, NEWER "\xFF\x09naviGuertel"); /* lies about its length */
    assert_int_equal(found(b), 1);
    char longest[4 + 2 + 100];
    memcpy(longest, NEWER "\x65\x09naviGuertel", 4 + 2 + 11);
    memset(longest + 17, 'x', sizeof longest - 17);
    hear(b, 11, longest, sizeof longest);
    assert_int_equal(found(b), 2);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_FOUND)->event.found.name_length, 29);
}

/* Strangers that show one half make room for others; belts that were told of do not. */
static void belt_is_found_among_many(void **state) {
    belt *b = *state;
    scan(b);
    for (int i = 0; i < 100; i++) {
        HEAR(b, (uint8_t)i, OLDER);
    }
    HEAR(b, 200, NEWER NAME);
    assert_int_equal(found(b), 1);
    for (int i = 0; i < 100; i++) {
        HEAR(b, (uint8_t)i, OLDER);
    }
    HEAR(b, 200, NEWER NAME);
    assert_int_equal(found(b), 1);
    for (uint8_t i = 0; i < TENDON_FEELSPACE_ADVERTISERS_MAX - 1; i++) {
        HEAR(b, (uint8_t)(201 + i), NEWER NAME);
    }
    assert_int_equal(found(b), TENDON_FEELSPACE_ADVERTISERS_MAX);
    assert_int_equal(b->session.counters.advertisers_left_out, 0);
    HEAR(b, 250, NEWER NAME);
    assert_int_equal(found(b), TENDON_FEELSPACE_ADVERTISERS_MAX);
    assert_int_equal(b->session.counters.advertisers_left_out, 1);
}

/* ---- the end of a search ---- */

static void search_times_out(void **state) {
    belt *b = *state;
    static const struct { uint64_t asked, waits; } times[] = {{0, 15000}, {500, 500}};
    for (size_t i = 0; i < 2; i++) {
        b->event_count = 0;
        assert_int_equal(tendon_feelspace_session_scan(&b->session, times[i].asked, b->now), TENDON_OK);
        belt_advance(b, times[i].waits - 1);
        assert_int_equal(b->session.state, TENDON_FEELSPACE_SCANNING);
        belt_advance(b, 1);
        assert_false(b->scanning);
        assert_int_equal(b->event_count, 3);
        assert_int_equal(b->events[1].event.kind, TENDON_FEELSPACE_EVENT_SCAN_FINISHED);
        assert_int_equal(b->events[1].state, TENDON_FEELSPACE_NOT_CONNECTED);
        expect_finished(b, TENDON_FEELSPACE_SCAN_CAUSE_TIMEOUT, TENDON_FEELSPACE_NO_ERROR);
        belt_expect_state(b, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_SCAN_TIMEOUT,
                          TENDON_FEELSPACE_NO_ERROR);
    }
}

/* tendon.h: UINT64_MAX is never. */
static void search_without_end_goes_on(void **state) {
    belt *b = *state;
    b->now = 1000000;
    assert_int_equal(tendon_feelspace_session_scan(&b->session, UINT64_MAX, b->now), TENDON_OK);
    assert_true(tendon_feelspace_session_inputs.deadline(&b->session) == UINT64_MAX);
    belt_advance(b, 1000000);
    tendon_feelspace_session_inputs.tick(&b->session, b->now);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_SCANNING);
    HEAR(b, 1, NEWER NAME);
    assert_int_equal(found(b), 1);
    tendon_feelspace_session_stop_scan(&b->session, b->now);
    const tendon_feelspace_connect_options options = {.timeout_ms = UINT64_MAX};
    assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, &options, b->now), TENDON_OK);
    assert_true(tendon_feelspace_session_inputs.deadline(&b->session) == UINT64_MAX);
    tendon_feelspace_session_inputs.tick(&b->session, b->now);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
}

static void search_is_cancelled(void **state) {
    belt *b = *state;
    tendon_feelspace_session_stop_scan(&b->session, b->now);
    assert_int_equal(b->event_count, 0);
    scan(b);
    belt_expect_state(b, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_SCAN_STARTED,
                      TENDON_FEELSPACE_NO_ERROR);
    assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(b->event_count, 1);
    tendon_feelspace_session_stop_scan(&b->session, b->now);
    assert_false(b->scanning);
    expect_finished(b, TENDON_FEELSPACE_SCAN_CAUSE_CANCELED, TENDON_FEELSPACE_NO_ERROR);
    belt_expect_state(b, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_SCAN_CANCELED,
                      TENDON_FEELSPACE_NO_ERROR);
}

static void search_ends_when_connecting(void **state) {
    belt *b = *state;
    scan(b);
    HEAR(b, 1, NEWER NAME);
    b->event_count = 0;
    assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now), TENDON_OK);
    assert_false(b->scanning);
    assert_int_equal(b->event_count, 2);
    assert_int_equal(b->events[0].event.kind, TENDON_FEELSPACE_EVENT_SCAN_FINISHED);
    expect_finished(b, TENDON_FEELSPACE_SCAN_CAUSE_CANCELED, TENDON_FEELSPACE_NO_ERROR);
    belt_expect_state(b, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_CONNECTION_STARTED,
                      TENDON_FEELSPACE_NO_ERROR);
}

static void connect_found(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_FOUND) {
        assert_int_equal(tendon_feelspace_session_connect(&b->session, event->found.address, NULL, b->now), TENDON_OK);
        assert_int_equal(b->session.peer.bytes[5], 77);
    }
}

static void search_ends_in_its_callback(void **state) {
    belt *b = *state;
    b->hook = connect_found;
    scan(b);
    HEAR(b, 77, NEWER NAME);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
    belt_link_up(b);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

static void search_again(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_SCAN_FINISHED && b->hooked++ == 0) {
        scan(b);
    }
}

static void search_starts_again_in_its_callback(void **state) {
    belt *b = *state;
    b->hook = search_again;
    scan(b);
    belt_advance(b, 15000);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_SCANNING);
    assert_true(b->scanning);
    belt_expect_state(b, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_SCAN_STARTED,
                      TENDON_FEELSPACE_NO_ERROR);
    belt_advance(b, 15000);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
    belt_expect_state(b, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_SCAN_TIMEOUT,
                      TENDON_FEELSPACE_NO_ERROR);
}

static void connect_at_the_end(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_SCAN_FINISHED && b->hooked++ == 0) {
        assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now), TENDON_OK);
    }
}

/* However the search ends: the last change of state that is reported is the one to connecting. */
static void search_is_followed_by_a_connection(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        b->hook = connect_at_the_end;
        scan(b);
        if (how == 0) {
            belt_advance(b, 15000);
        } else if (how == 1) {
            tendon_feelspace_session_stop_scan(&b->session, b->now);
        } else {
            tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now);
        }
        assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
        assert_int_equal(b->connects, 1);
        size_t told = 0;
        for (size_t i = 0; i < b->event_count; i++) {
            const belt_seen *seen = &b->events[i];
            if (seen->event.kind == TENDON_FEELSPACE_EVENT_STATE &&
                seen->event.connection.event != TENDON_FEELSPACE_CONNECTION_FAILED) {
                assert_int_equal(seen->event.connection.state, seen->state);
                told++;
            }
        }
        assert_int_equal(told, 2); /* scanning, connecting */
        belt_teardown(&fresh);
    }
}

static void search_needs_no_connection(void **state) {
    belt *b = *state;
    for (int i = TENDON_FEELSPACE_CONNECTING; i < TENDON_FEELSPACE_STATE_COUNT; i++) {
        void *fresh = NULL;
        belt_setup(&fresh);
        b = fresh;
        belt_reach(b, (tendon_feelspace_state)i);
        assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_ERROR_WRONG_STATE);
        expect_finished(b, TENDON_FEELSPACE_SCAN_CAUSE_ALREADY_CONNECTED, TENDON_FEELSPACE_NO_ERROR);
        assert_int_equal(b->session.state, i);
        belt_teardown(&fresh);
    }
}

/* ---- adapters ---- */

static void search_without_an_adapter(void **state) {
    belt *b = *state;
    static const struct {
        tendon_feelspace_adapter adapter;
        tendon_status status;
        tendon_feelspace_scan_cause cause;
        tendon_feelspace_connection_error error;
    } rows[] = {
        {TENDON_FEELSPACE_ADAPTER_OFF, 0, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_ACTIVE, TENDON_FEELSPACE_BT_POWERED_OFF},
        {TENDON_FEELSPACE_ADAPTER_ABSENT, 0, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_AVAILABLE,
         TENDON_FEELSPACE_BT_UNSUPPORTED},
        {TENDON_FEELSPACE_ADAPTER_UNAUTHORIZED, 0, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_AVAILABLE,
         TENDON_FEELSPACE_BT_UNAUTHORIZED},
        {TENDON_FEELSPACE_ADAPTER_ON, TENDON_RADIO_ERROR_RFKILL, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_ACTIVE,
         TENDON_FEELSPACE_BT_POWERED_OFF},
        {TENDON_FEELSPACE_ADAPTER_ON, TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_AVAILABLE,
         TENDON_FEELSPACE_BT_UNSUPPORTED},
        {TENDON_FEELSPACE_ADAPTER_ON, TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_AVAILABLE,
         TENDON_FEELSPACE_BT_UNAUTHORIZED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_feelspace_session_adapter(&b->session, rows[i].adapter, b->now);
        b->scan_result = rows[i].status;
        b->event_count = 0;
        assert_true(tendon_feelspace_session_scan(&b->session, 0, b->now) < 0);
        assert_int_equal(b->event_count, 1);
        expect_finished(b, rows[i].cause, rows[i].error);
        assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
        if (rows[i].status == 0) { /* one that goes while searching; then one that goes while connecting */
            tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_ON, b->now);
            scan(b);
            tendon_feelspace_session_adapter(&b->session, rows[i].adapter, b->now);
            assert_false(b->scanning);
            expect_finished(b, rows[i].cause, rows[i].error);
            belt_expect_state(b, TENDON_FEELSPACE_SCANNING, TENDON_FEELSPACE_NOT_CONNECTED,
                              TENDON_FEELSPACE_SCAN_FAILED, rows[i].error);
            int connects = b->connects;
            assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now), TENDON_OK);
            assert_int_equal(b->connects, connects);
            belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                              TENDON_FEELSPACE_CONNECTION_FAILED, rows[i].error);
        }
    }
}

static void search_waits_for_an_adapter(void **state) {
    belt *b = *state;
    tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_UNKNOWN, b->now);
    assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_OK);
    assert_false(b->scanning);
    belt_advance(b, 5000);
    tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_ON, b->now);
    assert_true(b->scanning);
    belt_advance(b, 10000); /* the timer ran all the while */
    assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
    tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_UNKNOWN, b->now);
    assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_OK);
    b->scan_result = TENDON_RADIO_ERROR_ADAPTER_DOWN;
    tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_ON, b->now);
    expect_finished(b, TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_ACTIVE, TENDON_FEELSPACE_BT_POWERED_OFF);
}

static void adapter_goes_while_connected(void **state) {
    belt *b = *state;
    belt_open(b);
    tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_OFF, b->now);
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_CONNECTION_LOST,
                      TENDON_FEELSPACE_BT_POWERED_OFF);
}

static void search_that_a_program_cannot_do(void **state) {
    belt *b = *state;
    b->config.scan = NULL;
    belt_init(b);
    assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_SCAN_FINISHED), 1);
}

/* ---- belts that were connected ---- */

static void known_belts_are_ten_newest_first(void **state) {
    (void)state;
    tendon_feelspace_known known = {0};
    tendon_address belts[12];
    for (size_t i = 0; i < 12; i++) {
        belts[i] = belt_address;
        belts[i].bytes[5] = (uint8_t)i;
        assert_false(tendon_feelspace_known_has(&known, &belts[i]));
        tendon_feelspace_known_add(&known, &belts[i]);
        assert_true(tendon_feelspace_known_has(&known, &belts[i]));
        assert_true(tendon_address_equal(&known.belts[0], &belts[i]));
    }
    assert_int_equal(known.count, 10);
    assert_false(tendon_feelspace_known_has(&known, &belts[1]));
    assert_true(tendon_feelspace_known_has(&known, &belts[2]));
    tendon_feelspace_known_add(&known, &belts[5]); /* known already: only its place changes */
    assert_int_equal(known.count, 10);
    assert_true(tendon_address_equal(&known.belts[0], &belts[5]));
    for (size_t i = 2; i < 12; i++) {
        assert_true(tendon_feelspace_known_has(&known, &belts[i]));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, belt_setup, belt_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(belt_needs_its_uuid_and_its_name),
        TEST(mal_belt_advertisements_cut_anywhere),
        TEST(belt_is_found_among_many),
        TEST(search_times_out),
        TEST(search_without_end_goes_on),
        TEST(search_is_cancelled),
        TEST(search_ends_when_connecting),
        TEST(search_ends_in_its_callback),
        TEST(search_starts_again_in_its_callback),
        cmocka_unit_test(search_is_followed_by_a_connection),
        TEST(search_needs_no_connection),
        TEST(search_without_an_adapter),
        TEST(search_waits_for_an_adapter),
        TEST(adapter_goes_while_connected),
        TEST(search_that_a_program_cannot_do),
        TEST(known_belts_are_ten_newest_first),
    };
    return cmocka_run_group_tests_name("feelspace_scan", tests, NULL, NULL);
}
