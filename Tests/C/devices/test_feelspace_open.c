/* SPDX-License-Identifier: MIT */
/* Opening a belt: order on the air, and every way in which it fails. */
#include "feelspace_fixture.h"

/* What an opening asks, from the first notification on: opcode, handle, first bytes. */
static void belt_opens_in_the_documented_order(void **state) {
    belt *b = *state;
    static const struct {
        uint8_t opcode;
        uint16_t handle;
        const char *value;
    } expected[] = {
        {0x12, 34, "0100"},        {0x12, 39, "0100"},        {0x12, 44, "0100"},    {0x12, 52, "0100"},
        {0x12, 78, "0100"},        {0x0A, H_FIRMWARE, ""},    {0x0A, H_BATTERY, ""}, {0x12, H_REQUEST, "0102"},
        {0x12, H_REQUEST, "0101"}, {0x12, H_REQUEST, "0103"},
    };
    enum { COUNT = sizeof expected / sizeof expected[0] };
    belt_open(b);
    size_t at = 0;
    while (b->log[at].opcode != 0x12) {
        at++;
    }
    assert_int_equal(b->log_count - at, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        block value = block_hex(expected[i].value);
        assert_int_equal(b->log[at + i].opcode, expected[i].opcode);
        assert_int_equal(b->log[at + i].handle, expected[i].handle);
        assert_int_equal(b->log[at + i].length, value.length);
        assert_memory_equal(b->log[at + i].value, value.data, value.length);
        free(value.data);
    }
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_WAIT);
    assert_int_equal(b->session.default_intensity, 40);
    assert_int_equal(b->session.heading_offset, 45);
    assert_true(b->session.has_firmware && b->session.firmware.version == 0x34);
    assert_true(b->session.has_battery && b->session.battery.level_percent == 64.0);
    assert_true(tendon_feelspace_session_idle(&b->session));
}

static void belt_tells_each_state_once(void **state) {
    belt *b = *state;
    static const tendon_feelspace_connection_event events[] = {
        TENDON_FEELSPACE_CONNECTION_STARTED, TENDON_FEELSPACE_CONNECTION_ESTABLISHED,
        TENDON_FEELSPACE_SERVICES_DISCOVERED, TENDON_FEELSPACE_HANDSHAKE_FINISHED};
    static const tendon_feelspace_state states[] = {TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_CONNECTING,
                                                    TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_HANDSHAKE,
                                                    TENDON_FEELSPACE_CONNECTED};
    belt_open(b);
    /* 4 states, then the heading offset: its answer comes when the belt is connected already */
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_STATE), 4);
    for (size_t i = 0; i < 4; i++) {
        const tendon_feelspace_event *event = &b->events[i].event;
        assert_int_equal(event->kind, TENDON_FEELSPACE_EVENT_STATE);
        assert_int_equal(event->connection.previous, states[i]);
        assert_int_equal(event->connection.state, states[i + 1]);
        assert_int_equal(event->connection.event, events[i]);
        assert_int_equal(event->connection.error, TENDON_FEELSPACE_NO_ERROR);
        assert_int_equal(b->events[i].state, states[i + 1]);
    }
    assert_memory_equal(&b->session.peer, &belt_address, sizeof belt_address);
}

/* Requests of a whole opening, so that each one can be made to fail. */
static size_t requests_of_an_opening(void **state) {
    belt *b = *state;
    belt_open(b);
    size_t count = b->log_count;
    belt_lose(b, TENDON_RADIO_ERROR_PEER_CLOSED);
    b->event_count = 0;
    return count;
}

static bool is_optional(const belt *b, size_t request) {
    const belt_asked *asked = &b->log[request];
    return (asked->opcode == 0x12 && (asked->handle == 78 || (asked->handle == H_REQUEST && asked->value[1] == 3)));
}

static void belt_fails_at_every_request(void **state) {
    belt *b = *state;
    size_t count = requests_of_an_opening(state);
    static const struct {
        uint8_t code;
        bool permission;
    } codes[] = {{0x0E, false}, {0x02, true}, {0x05, true}, {0x08, true}, {0x0C, true}, {0x0F, true}};
    for (size_t code = 0; code < sizeof codes / sizeof codes[0]; code++) {
        for (size_t at = 0; at < count; at++) {
            b->event_count = 0;
            b->fail_at = (int)at;
            b->fail_code = codes[code].code;
            int disconnects = b->disconnects;
            belt_connect(b);
            belt_run(b);
            if (b->session.state == TENDON_FEELSPACE_CONNECTED) {
                assert_true(is_optional(b, at));
                tendon_feelspace_session_disconnect(&b->session, b->now);
                belt_lose(b, TENDON_ERROR_CANCELLED);
                continue;
            }
            assert_false(is_optional(b, at));
            assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
            assert_int_equal(b->disconnects, disconnects + 1);
            const tendon_feelspace_event *event = &belt_last(b, TENDON_FEELSPACE_EVENT_STATE)->event;
            assert_int_equal(event->status, TENDON_ATT_ERROR(codes[code].code));
            bool enabling = b->log[at].opcode == 0x12 && b->log[at].handle != H_REQUEST;
            bool handshake = event->connection.previous == TENDON_FEELSPACE_HANDSHAKE;
            assert_int_equal(event->connection.event, enabling || handshake
                                                          ? TENDON_FEELSPACE_HANDSHAKE_FAILED
                                                          : TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED);
            tendon_feelspace_connection_error expected =
                handshake                ? (codes[code].permission ? TENDON_FEELSPACE_HANDSHAKE_PERMISSION
                                                                   : TENDON_FEELSPACE_HANDSHAKE_ERROR)
                : codes[code].permission ? TENDON_FEELSPACE_DISCOVERY_PERMISSION
                : enabling               ? TENDON_FEELSPACE_HANDSHAKE_ERROR
                                         : TENDON_FEELSPACE_DISCOVERY_ERROR;
            assert_int_equal(event->connection.error, expected);
            assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_UNKNOWN);
            belt_lose(b, TENDON_ERROR_CANCELLED);
        }
    }
}

static void belt_goes_mute_at_every_request(void **state) {
    belt *b = *state;
    size_t count = requests_of_an_opening(state);
    for (size_t at = 0; at < count; at++) {
        b->event_count = 0;
        b->answer_limit = (int)at;
        uint64_t start = b->now;
        belt_connect(b);
        belt_run(b);
        bool connected = b->session.state == TENDON_FEELSPACE_CONNECTED;
        tendon_feelspace_state stuck = b->session.state;
        bool reading = stuck == TENDON_FEELSPACE_HANDSHAKE;
        belt_advance(b, 30000);
        if (connected) {
            tendon_feelspace_session_disconnect(&b->session, b->now);
        } else {
            const tendon_feelspace_event *event = &belt_last(b, TENDON_FEELSPACE_EVENT_STATE)->event;
            assert_int_equal(event->connection.previous, stuck);
            assert_int_equal(event->status, TENDON_ERROR_TIMEOUT);
            assert_int_equal(event->connection.error,
                             reading ? TENDON_FEELSPACE_HANDSHAKE_TIMEOUT : TENDON_FEELSPACE_SERVICE_DISCOVERY_TIMEOUT);
        }
        assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
        assert_true(b->now >= start + 20000);
        belt_lose(b, TENDON_ERROR_CANCELLED);
        b->answer_limit = -1;
    }
}

static void belt_is_lost_at_every_request(void **state) {
    belt *b = *state;
    size_t count = requests_of_an_opening(state);
    for (size_t at = 0; at < count; at++) {
        b->event_count = 0;
        b->answer_limit = (int)at;
        belt_connect(b);
        belt_run(b);
        tendon_feelspace_state stuck = b->session.state;
        int disconnects = b->disconnects;
        belt_lose(b, TENDON_RADIO_ERROR_PEER_CLOSED);
        assert_int_equal(b->disconnects, disconnects); /* it is down */
        static const struct {
            tendon_feelspace_connection_event event;
            tendon_feelspace_connection_error error;
        } expected[] = {
            [TENDON_FEELSPACE_DISCOVERING_SERVICES] = {TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED,
                                                       TENDON_FEELSPACE_PAIRING_FAILED},
            [TENDON_FEELSPACE_HANDSHAKE] = {TENDON_FEELSPACE_HANDSHAKE_FAILED, TENDON_FEELSPACE_HANDSHAKE_ERROR},
            [TENDON_FEELSPACE_CONNECTED] = {TENDON_FEELSPACE_CONNECTION_LOST, TENDON_FEELSPACE_PERIPHERAL_DISCONNECTED},
        };
        belt_expect_state(b, stuck, TENDON_FEELSPACE_NOT_CONNECTED, expected[stuck].event, expected[stuck].error);
        b->answer_limit = -1;
    }
}

/* A belt that was connected before does not drop us for want of a bond. */
static void belt_known_is_lost_in_discovery(void **state) {
    belt *b = *state;
    const tendon_feelspace_connect_options options = {.known = true, .timeout_ms = 7000};
    assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, &options, b->now), TENDON_OK);
    belt_link_up(b);
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    belt_expect_state(b, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_NOT_CONNECTED,
                      TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED, TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION);
    assert_int_equal(tendon_feelspace_session_connect(&b->session, NULL, &options, b->now), TENDON_OK);
    belt_advance(b, 6999);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
    belt_advance(b, 1);
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                      TENDON_FEELSPACE_CONNECTION_FAILED, TENDON_FEELSPACE_CONNECTION_TIMEOUT);
}

static void belt_lacks_each_characteristic(void **state) {
    static const struct {
        uint16_t first, last;
        bool optional;
    } parts[] = {
        {29, 52, false}, {30, 31, false}, {32, 34, false}, {34, 34, false}, {35, 36, false}, {37, 39, false},
        {39, 39, false}, {40, 41, false}, {42, 44, false}, {44, 44, false}, {50, 52, false}, {52, 52, false},
        {53, 61, false}, {59, 61, false}, {61, 61, false}, {45, 46, true},  {54, 58, true},  {73, 78, true},
        {74, 75, true},  {76, 78, true},  {78, 78, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        void *fresh = NULL;
        belt_setup(&fresh);
        belt *b = fresh;
        belt_remove(b, parts[i].first, parts[i].last);
        belt_connect(b);
        belt_run(b);
        if (parts[i].optional) {
            assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
        } else {
            belt_expect_state(b, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_NOT_CONNECTED,
                              TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED, TENDON_FEELSPACE_DISCOVERY_ERROR);
            assert_int_equal(b->disconnects, 1);
        }
        belt_teardown(&fresh);
    }
}

/* ---- pairing ---- */

static void belt_pairs_between_discovery_and_notifications(void **state) {
    belt *b = *state;
    b->is_bonded = false;
    belt_connect(b);
    belt_run(b);
    assert_int_equal(b->pairs, 1);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_DISCOVERING_SERVICES);
    assert_int_equal(belt_writes(b, 34), 0);
    belt_advance(b, 15000); /* somebody looks for the home button */
    assert_int_equal(b->session.state, TENDON_FEELSPACE_DISCOVERING_SERVICES);
    tendon_feelspace_session_inputs.paired(&b->session, TENDON_OK, b->now);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    assert_int_equal(b->session.counters.illegal_inputs, 0);
}

static void belt_refuses_to_pair(void **state) {
    belt *b = *state;
    b->is_bonded = false;
    belt_connect(b);
    belt_run(b);
    tendon_feelspace_session_inputs.paired(&b->session, TENDON_RADIO_ERROR_PAIRING_FAILED, b->now);
    belt_expect_state(b, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_NOT_CONNECTED,
                      TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED, TENDON_FEELSPACE_PAIRING_FAILED);
    belt_lose(b, TENDON_ERROR_CANCELLED);
    b->pair_result = TENDON_RADIO_ERROR_PAIRING_FAILED; /* at once */
    belt_connect(b);
    belt_run(b);
    assert_int_equal(b->pairs, 2);
    belt_expect_state(b, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_NOT_CONNECTED,
                      TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED, TENDON_FEELSPACE_PAIRING_FAILED);
}

/* Where nobody can pair, the belt decides. */
static void belt_opens_without_a_pairing_service(void **state) {
    belt *b = *state;
    b->is_bonded = false;
    b->pair_result = TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    belt_open(b);
    assert_int_equal(b->pairs, 1);
    tendon_feelspace_session_disconnect(&b->session, b->now);
    belt_lose(b, TENDON_ERROR_CANCELLED);
    b->pair_result = TENDON_OK; /* the answer comes later */
    belt_connect(b);
    belt_run(b);
    tendon_feelspace_session_inputs.paired(&b->session, TENDON_RADIO_ERROR_NO_PAIRING_SERVICE, b->now);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

static void belt_is_never_paired_when_told_so(void **state) {
    belt *b = *state;
    b->is_bonded = false;
    b->config.skip_pairing = true;
    belt_init(b);
    belt_open(b);
    assert_int_equal(b->pairs, 0);
}

/* ---- handshake ---- */

static void belt_tells_mode_by_keep_alive(void **state) {
    belt *b = *state;
    b->silent = true;
    belt_reach(b, TENDON_FEELSPACE_HANDSHAKE);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_HANDSHAKE);
    belt_notify(b, H_KEEP_ALIVE, "0002");
    assert_int_equal(b->session.state, TENDON_FEELSPACE_HANDSHAKE);
    belt_notify(b, H_PARAMETER, "010228");
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_COMPASS);
    belt_run(b);
    belt_expect_write(b, H_KEEP_ALIVE, "00");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 0); /* known before: no change */
}

static void belt_never_answers_the_handshake(void **state) {
    belt *b = *state;
    b->silent = true;
    belt_connect(b);
    belt_run(b);
    belt_advance(b, 20000);
    belt_expect_state(b, TENDON_FEELSPACE_HANDSHAKE, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_HANDSHAKE_FAILED,
                      TENDON_FEELSPACE_HANDSHAKE_TIMEOUT);
}

static void belt_goes_to_standby_in_the_handshake(void **state) {
    belt *b = *state;
    b->mode = TENDON_FEELSPACE_MODE_STANDBY;
    belt_connect(b);
    belt_run(b);
    belt_expect_state(b, TENDON_FEELSPACE_HANDSHAKE, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_HANDSHAKE_FAILED,
                      TENDON_FEELSPACE_POWER_OFF);
}

static void mal_I01_empty_firmware_fails_the_handshake(void **state) {
    belt *b = *state;
    belt_set(b, H_FIRMWARE, "");
    belt_connect(b);
    belt_run(b);
    belt_expect_state(b, TENDON_FEELSPACE_HANDSHAKE, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_HANDSHAKE_FAILED,
                      TENDON_FEELSPACE_HANDSHAKE_ERROR);
    assert_int_equal(b->session.counters.rejected, 1);
}

static void mal_I02_short_battery_does_not_fail_the_handshake(void **state) {
    belt *b = *state;
    belt_set(b, H_BATTERY, "01004000");
    belt_open(b);
    assert_false(b->session.has_battery);
    assert_int_equal(b->session.counters.rejected, 1);
}

/* ---- a radio that fails ---- */

static void belt_radio_errors_are_told_apart(void **state) {
    belt *b = *state;
    static const struct {
        tendon_status status;
        tendon_feelspace_connection_error error;
    } errors[] = {
        {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_FEELSPACE_BT_POWERED_OFF},
        {TENDON_RADIO_ERROR_RFKILL, TENDON_FEELSPACE_BT_POWERED_OFF},
        {TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_FEELSPACE_BT_UNAUTHORIZED},
        {TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_FEELSPACE_BT_UNSUPPORTED},
        {TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, TENDON_FEELSPACE_BT_UNSUPPORTED},
        {TENDON_ERROR_TIMEOUT, TENDON_FEELSPACE_CONNECTION_TIMEOUT},
        {TENDON_HCI_ERROR(0x09), TENDON_FEELSPACE_CONNECTION_LIMIT_REACHED},
        {TENDON_RADIO_ERROR_OUT_OF_RANGE, TENDON_FEELSPACE_CONNECTION_REFUSED},
    };
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        b->connect_result = errors[i].status; /* at once */
        assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now), TENDON_OK);
        belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                          TENDON_FEELSPACE_CONNECTION_FAILED, errors[i].error);
        b->connect_result = TENDON_OK; /* later */
        belt_reach(b, TENDON_FEELSPACE_CONNECTING);
        belt_lose(b, errors[i].status);
        belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                          TENDON_FEELSPACE_CONNECTION_FAILED, errors[i].error);
        assert_false(b->session.work.draining);
    }
    assert_int_equal(b->disconnects, 0);
}

/* ---- the patch of one firmware ---- */

static void add_front_range(belt *b, const char *hex) {
    b->attributes[b->attribute_count++] = (belt_attribute){.handle = 0xFF00, .type = 0xFFFF};
    belt_set(b, 0xFF00, hex);
}

static void belt_patch_is_written_before_all_else(void **state) {
    belt *b = *state;
    belt_set(b, H_FIRMWARE, "040004");
    add_front_range(b, "e100 a000 e101 01");
    belt_open(b);
    assert_int_equal(b->session.patch, TENDON_FEELSPACE_PATCH_WRITTEN);
    size_t at = 0;
    while (b->log[at].handle != H_FIRMWARE) {
        at++;
    }
    assert_int_equal(b->log[at + 1].handle, H_REQUEST); /* at the head of the handshake's queue */
    assert_memory_equal(b->log[at + 1].value, "\x10\x01\x0A", 3);
    assert_int_equal(b->log[at + 2].handle, H_REQUEST);
    assert_memory_equal(b->log[at + 2].value, "\x11\x0A\x02\xE1\x00\xA0\x00\xE1\x00\x01", 10);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0); /* our own */
}

static void belt_patch_is_in_place(void **state) {
    belt *b = *state;
    belt_set(b, H_FIRMWARE, "040004");
    add_front_range(b, "e100 a000 e100 01");
    belt_open(b);
    assert_int_equal(b->session.patch, TENDON_FEELSPACE_PATCH_CONFIRMED);
    tendon_feelspace_session_disconnect(&b->session, b->now);
    assert_int_equal(b->session.patch, TENDON_FEELSPACE_PATCH_NONE);
    belt_lose(b, TENDON_ERROR_CANCELLED);
    b->answers_early = true; /* an answer before the response does not count */
    belt_connect(b);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_HANDSHAKE); /* all waits for it */
    belt_notify(b, H_KEEP_ALIVE, "0001");                           /* but this */
    belt_run(b);
    belt_expect_write(b, H_KEEP_ALIVE, "00");
    belt_advance(b, 249);
    assert_int_equal(b->session.patch, TENDON_FEELSPACE_PATCH_NONE);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_HANDSHAKE);
    belt_advance(b, 1);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    assert_int_equal(b->session.patch, TENDON_FEELSPACE_PATCH_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, belt_setup, belt_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(belt_opens_in_the_documented_order),
        TEST(belt_tells_each_state_once),
        TEST(belt_fails_at_every_request),
        TEST(belt_goes_mute_at_every_request),
        TEST(belt_is_lost_at_every_request),
        TEST(belt_known_is_lost_in_discovery),
        TEST(belt_lacks_each_characteristic),
        TEST(belt_pairs_between_discovery_and_notifications),
        TEST(belt_refuses_to_pair),
        TEST(belt_opens_without_a_pairing_service),
        TEST(belt_is_never_paired_when_told_so),
        TEST(belt_tells_mode_by_keep_alive),
        TEST(belt_never_answers_the_handshake),
        TEST(belt_goes_to_standby_in_the_handshake),
        TEST(mal_I01_empty_firmware_fails_the_handshake),
        TEST(mal_I02_short_battery_does_not_fail_the_handshake),
        TEST(belt_radio_errors_are_told_apart),
        TEST(belt_patch_is_written_before_all_else),
        TEST(belt_patch_is_in_place),
    };
    return cmocka_run_group_tests_name("feelspace_open", tests, NULL, NULL);
}
