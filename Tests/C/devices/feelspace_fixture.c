/* SPDX-License-Identifier: MIT */
#include "feelspace_fixture.h"

const tendon_address belt_address = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};

/* The belt's table: handle, type, value in wire order. A declaration is properties, value handle, UUID. */
static const struct {
    uint16_t handle, type;
    const char *value;
} table[] = {
    {1, 0x2800, "0018"},
    {2, 0x2803, "02 0300 002a"},
    {3, 0x2A00, "4247"},
    {29, 0x2800, "51fe"},
    {30, 0x2803, "02 1f00 01fe"},
    {31, 0xFE01, "3400"},
    {32, 0x2803, "18 2100 02fe"},
    {33, 0xFE02, ""},
    {34, 0x2902, "0000"},
    {35, 0x2803, "08 2400 03fe"},
    {36, 0xFE03, ""},
    {37, 0x2803, "10 2600 04fe"},
    {38, 0xFE04, ""},
    {39, 0x2902, "0000"},
    {40, 0x2803, "08 2900 05fe"},
    {41, 0xFE05, ""},
    {42, 0x2803, "10 2b00 06fe"},
    {43, 0xFE06, ""},
    {44, 0x2902, "0000"},
    {45, 0x2803, "08 2e00 07fe"},
    {46, 0xFE07, ""},
    {50, 0x2803, "12 3300 09fe"},
    {51, 0xFE09, "010040f000"},
    {52, 0x2902, "0000"},
    {53, 0x2800, "52fe"},
    {54, 0x2803, "08 3700 0afe"},
    {55, 0xFE0A, ""},
    {56, 0x2803, "10 3900 0bfe"},
    {57, 0xFE0B, ""},
    {58, 0x2902, "0000"},
    {59, 0x2803, "10 3c00 0cfe"},
    {60, 0xFE0C, ""},
    {61, 0x2902, "0000"},
    {73, 0x2800, "53fe"},
    {74, 0x2803, "08 4b00 13fe"},
    {75, 0xFE13, ""},
    {76, 0x2803, "10 4d00 14fe"},
    {77, 0xFE14, ""},
    {78, 0x2902, "0000"},
};

/* ---- the link ---- */

static tendon_status on_send(void *context, const uint8_t *pdu, size_t length) {
    belt *b = context;
    assert_true(b->up);
    if (b->blocked) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    assert_int_equal(b->pending_length, 0); /* one request at a time */
    assert_true(b->log_count < BELT_LOG_MAX);
    belt_asked *asked = &b->log[b->log_count++];
    *asked = (belt_asked){.opcode = pdu[0], .at = b->now};
    if (length >= 3) {
        asked->handle = (uint16_t)(pdu[1] | pdu[2] << 8);
        asked->length = length - 3;
        memcpy(asked->value, pdu + 3, length - 3);
    }
    memcpy(b->pending, pdu, length);
    b->pending_length = length;
    return TENDON_OK;
}

static tendon_status on_connect(void *context) {
    belt *b = context;
    b->connects++;
    return b->connect_result;
}

static void on_disconnect(void *context) {
    ((belt *)context)->disconnects++;
}

static tendon_status on_pair(void *context) {
    belt *b = context;
    b->pairs++;
    return b->pair_result;
}

static bool on_bonded(void *context) {
    return ((belt *)context)->is_bonded;
}

static tendon_status on_scan(void *context, bool on) {
    belt *b = context;
    b->scanning = on && b->scan_result >= 0;
    return b->scan_result;
}

static void on_told(void *context, const tendon_feelspace_navigation_event *event, uint64_t now) {
    belt *b = context;
    assert_true(now <= b->now && b->told_count < BELT_EVENTS_MAX);
    b->told[b->told_count++] = *event;
    if (b->nav_hook != NULL) {
        b->nav_hook(b, event);
    }
}

/* Bytes of the union that the kind names; all others are 0. */
static size_t members_of(const tendon_feelspace_event *event) {
    switch (event->kind) {
    case TENDON_FEELSPACE_EVENT_STATE:
        return sizeof event->connection;
    case TENDON_FEELSPACE_EVENT_FOUND:
        return sizeof event->found;
    case TENDON_FEELSPACE_EVENT_SCAN_FINISHED:
        return sizeof event->scan;
    case TENDON_FEELSPACE_EVENT_BUTTON:
        return sizeof event->press;
    case TENDON_FEELSPACE_EVENT_PARAMETER:
        return sizeof event->parameter;
    case TENDON_FEELSPACE_EVENT_DEBUG:
    case TENDON_FEELSPACE_EVENT_REJECTED:
        return sizeof event->packet;
    case TENDON_FEELSPACE_EVENT_COMMAND:
        return sizeof event->command;
    default:
        return 0;
    }
}

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    belt *b = context;
    assert_true(b->event_count < BELT_EVENTS_MAX);
    assert_int_equal(now, b->now);
    bool notified = event->kind == TENDON_FEELSPACE_EVENT_ORIENTATION || event->kind == TENDON_FEELSPACE_EVENT_BUTTON;
    assert_true(event->received_at == 0 ? !notified : HAS_ARRIVED_AT(event->received_at, now));
    const uint8_t *members = (const uint8_t *)&event->connection;
    for (size_t i = members_of(event); i < sizeof *event - offsetof(tendon_feelspace_event, connection); i++) {
        assert_int_equal(members[i], 0);
    }
    belt_seen *seen = &b->events[b->event_count++];
    *seen = (belt_seen){.event = *event, .state = b->session.state, .mode = b->session.mode};
    if (event->kind == TENDON_FEELSPACE_EVENT_FOUND) {
        assert_true(event->found.name_length < sizeof seen->name);
        memcpy(seen->name, event->found.name, event->found.name_length);
    }
    if (event->kind != TENDON_FEELSPACE_EVENT_STATE && event->kind != TENDON_FEELSPACE_EVENT_FOUND &&
        event->kind != TENDON_FEELSPACE_EVENT_SCAN_FINISHED && event->kind != TENDON_FEELSPACE_EVENT_REJECTED &&
        event->kind != TENDON_FEELSPACE_EVENT_COMMAND && event->status != TENDON_ERROR_CANCELLED) {
        assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED); /* no value is told before */
    }
    if (b->hook != NULL) {
        b->hook(b, event);
    }
    if (b->navigates) {
        tendon_feelspace_navigation_on_event(&b->navigation, event, now);
    }
}

void belt_init(belt *b) {
    memset(&b->session, 0xA5, sizeof b->session); /* what the memory held before */
    assert_int_equal(tendon_feelspace_session_init(&b->session, &b->config), TENDON_OK);
}

void belt_navigate(belt *b) {
    const tendon_feelspace_navigation_config config = {.session = &b->session, .context = b, .on_event = on_told};
    memset(&b->navigation, 0xA5, sizeof b->navigation); /* what the memory held before */
    assert_int_equal(tendon_feelspace_navigation_init(&b->navigation, &config), TENDON_OK);
    b->navigates = true;
}

int belt_setup(void **state) {
    belt *b = calloc(1, sizeof *b);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        b->attributes[b->attribute_count++] = (belt_attribute){.handle = table[i].handle, .type = table[i].type};
        belt_set(b, table[i].handle, table[i].value);
    }
    b->now = 1000;
    b->answer_limit = -1;
    b->fail_at = -1;
    b->mode = TENDON_FEELSPACE_MODE_WAIT;
    b->intensity = 40;
    b->accuracy = 3;
    b->is_bonded = true;
    b->config = (tendon_feelspace_session_config){.link = {.context = b,
                                                           .connect = on_connect,
                                                           .disconnect = on_disconnect,
                                                           .pair = on_pair,
                                                           .bonded = on_bonded},
                                                  .scan = on_scan,
                                                  .context = b,
                                                  .on_event = on_event};
    belt_init(b);
    *state = b;
    return 0;
}

int belt_teardown(void **state) {
    free(*state);
    return 0;
}

void belt_set(belt *b, uint16_t handle, const char *hex) {
    belt_attribute *a = belt_attribute_of(b, handle);
    block bytes = block_hex(hex);
    assert_true(bytes.length <= sizeof a->value);
    memcpy(a->value, bytes.data, bytes.length);
    a->length = bytes.length;
    free(bytes.data);
}

void belt_remove(belt *b, uint16_t first, uint16_t last) {
    size_t kept = 0;
    for (size_t i = 0; i < b->attribute_count; i++) {
        if (b->attributes[i].handle < first || b->attributes[i].handle > last) {
            b->attributes[kept++] = b->attributes[i];
        }
    }
    b->attribute_count = kept;
}

/* ---- driving ---- */

void belt_link_up(belt *b) {
    tendon_att_bearer_init(&b->bearer, (tendon_bearer_io){b, on_send}, 247);
    const tendon_gatt_client_config config = {.bearer = &b->bearer,
                                              .requests = b->requests,
                                              .request_capacity = 2,
                                              .subscriptions = b->subscriptions,
                                              .subscription_capacity = 16};
    assert_int_equal(tendon_gatt_client_init(&b->client, &config), TENDON_OK);
    b->pending_length = 0;
    b->log_count = 0;
    b->up = true;
    tendon_feelspace_session_inputs.connected(&b->session, &b->client, b->now);
}

void belt_connect(belt *b) {
    assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now), TENDON_OK);
    belt_link_up(b);
}

void belt_lose(belt *b, tendon_status reason) {
    if (b->up) {
        b->up = false;
        b->pending_length = 0;
        tendon_gatt_client_disconnected(&b->client, reason, b->now);
    }
    tendon_feelspace_session_inputs.disconnected(&b->session, reason, b->now);
}

void belt_run_until(belt *b, tendon_feelspace_state state) {
    for (int i = 0; i < 1000 && b->session.state != state && belt_answer_one(b); i++) {
    }
}

void belt_run(belt *b) {
    belt_run_until(b, TENDON_FEELSPACE_STATE_COUNT);
}

void belt_open(belt *b) {
    belt_connect(b);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

void belt_reach(belt *b, tendon_feelspace_state state) {
    switch (state) {
    case TENDON_FEELSPACE_NOT_CONNECTED:
        break;
    case TENDON_FEELSPACE_SCANNING:
        assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_OK);
        break;
    case TENDON_FEELSPACE_CONNECTING:
        assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now), TENDON_OK);
        break;
    case TENDON_FEELSPACE_RECONNECTING:
        b->config.reconnect = true;
        belt_init(b);
        belt_open(b);
        belt_lose(b, TENDON_HCI_ERROR(0x08));
        break;
    default:
        belt_connect(b);
        belt_run_until(b, state);
        if (state == TENDON_FEELSPACE_CONNECTED) {
            belt_run(b);
        }
        break;
    }
    assert_int_equal(b->session.state, state);
}

void belt_advance(belt *b, uint64_t ms) {
    uint64_t end = b->now + ms;
    const tendon_session_inputs *inputs =
        b->navigates ? &tendon_feelspace_navigation_inputs : &tendon_feelspace_session_inputs;
    void *whom = b->navigates ? (void *)&b->navigation : (void *)&b->session;
    for (int i = 0; i < 100000; i++) {
        uint64_t due = inputs->deadline(whom);
        if (b->up && tendon_att_bearer_deadline(&b->bearer) < due) {
            due = tendon_att_bearer_deadline(&b->bearer);
        }
        if (due > end) {
            break;
        }
        b->now = due > b->now ? due : b->now;
        if (b->up) {
            tendon_att_bearer_tick(&b->bearer, b->now);
        }
        inputs->tick(whom, b->now);
    }
    b->now = end;
}

void belt_notify_bytes(belt *b, uint16_t handle, const uint8_t *bytes, size_t length) {
    uint8_t pdu[64] = {0x1B, (uint8_t)handle, 0};
    if (!b->up) {
        return;
    }
    memcpy(pdu + 3, bytes, length);
    block exact = block_copy(pdu, length + 3); /* exactly sized, so that reading beyond it shows */
    (void)tendon_att_bearer_receive_at(&b->bearer, exact.data, exact.length, b->now, ARRIVAL_OF(b->now));
    free(exact.data);
}

void belt_notify(belt *b, uint16_t handle, const char *hex) {
    block bytes = block_hex(hex);
    belt_notify_bytes(b, handle, bytes.data, bytes.length);
    free(bytes.data);
}

void belt_mode(belt *b, uint8_t mode) {
    b->mode = mode;
    belt_notify_bytes(b, H_PARAMETER, (const uint8_t[]){0x01, 0x01, mode}, 3);
}

void belt_press(belt *b, uint8_t button, uint8_t code, uint8_t previous, uint8_t mode) {
    b->mode = mode;
    belt_notify_bytes(b, H_BUTTON, (const uint8_t[]){button, code, 0, previous, mode}, 5);
}

/* ---- looking ---- */

size_t belt_count(const belt *b, tendon_feelspace_event_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < b->event_count; i++) {
        count += b->events[i].event.kind == kind;
    }
    return count;
}

const belt_seen *belt_last(const belt *b, tendon_feelspace_event_kind kind) {
    for (size_t i = b->event_count; i > 0; i--) {
        if (b->events[i - 1].event.kind == kind) {
            return &b->events[i - 1];
        }
    }
    fail_msg("no event of kind %d", (int)kind);
    return NULL;
}

void belt_expect_state(const belt *b, tendon_feelspace_state previous, tendon_feelspace_state state,
                       tendon_feelspace_connection_event event, tendon_feelspace_connection_error error) {
    const belt_seen *seen = belt_last(b, TENDON_FEELSPACE_EVENT_STATE);
    assert_int_equal(seen->event.connection.previous, previous);
    assert_int_equal(seen->event.connection.state, state);
    assert_int_equal(seen->event.connection.event, event);
    assert_int_equal(seen->event.connection.error, error);
}

size_t belt_writes(const belt *b, uint16_t handle) {
    size_t count = 0;
    for (size_t i = 0; i < b->log_count; i++) {
        count += b->log[i].opcode == 0x12 && b->log[i].handle == handle;
    }
    return count;
}

void belt_expect_write(const belt *b, uint16_t handle, const char *hex) {
    block bytes = block_hex(hex);
    for (size_t i = b->log_count; i > 0; i--) {
        const belt_asked *asked = &b->log[i - 1];
        if (asked->opcode == 0x12 && asked->handle == handle) {
            assert_int_equal(asked->length, bytes.length);
            assert_memory_equal(asked->value, bytes.data, bytes.length);
            free(bytes.data);
            return;
        }
    }
    fail_msg("nothing was written to %u", handle);
}
