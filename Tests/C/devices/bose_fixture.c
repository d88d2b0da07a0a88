/* SPDX-License-Identifier: MIT */
#include "bose_fixture.h"
#include "test_bytes.h"

#include <stdlib.h>
#include <string.h>

/* The attribute table of docs/protocols/bose.md, written out: handle, type and value in wire order. */
static const struct {
    uint16_t handle;
    const char *type, *value;
} table[] = {
    {0x0001, "0028", "0018"},
    {0x0002, "0328", "020300002a"},
    {0x0003, "002a", "4c45"},
    {0x0010, "0028", "d2fd"},
    {0x0011, "0328", "121200 43dd7babb2efaba033431c0483ad617b"},
    {0x0012, "43dd7babb2efaba033431c0483ad617b", "0400402c010000000f0007000e08002f040000"},
    {0x0013, "0229", "0000"},
    {0x0014, "0328", "021500 c121222ab340fc80a642ff98e7b35c85"},
    {0x0015, "c121222ab340fc80a642ff98e7b35c85",
     "00fff8000880017fff001f07 01f83007d080017fff001f07 02ffff0001c0013fff001f0a 03ffff0001c0013fff001f08"},
    {0x0016, "0328", "1a1700 0b898075f707469b4b400e00f68af35a"},
    {0x0017, "0b898075f707469b4b400e00f68af35a", "000000 010000 020000 030000"},
    {0x0018, "0229", "0000"},
    {0x0019, "0328", "101a00 3d954ad5d1fb52a7c84c8849b82aa756"},
    {0x001A, "3d954ad5d1fb52a7c84c8849b82aa756", ""},
    {0x001B, "0229", "0000"},
    {0x001C, "0328", "021d00 ad2dc9ee9c7b98b8cd4b5af9524f38a0"},
    {0x001D, "ad2dc9ee9c7b98b8cd4b5af9524f38a0", "810100 820100 830100 c00100 c10100 c20100"},
    {0x001E, "0328", "1a1f00 d7f19632981f34937b4780f7af50e521"},
    {0x001F, "d7f19632981f34937b4780f7af50e521", "8100 8200 8300 c000 c100 c200"},
    {0x0020, "0229", "0000"},
    {0x0021, "0328", "102200 74ac853b4d8975a20248ba794edd1490"},
    {0x0022, "74ac853b4d8975a20248ba794edd1490", ""},
    {0x0023, "0229", "0000"},
    {0x0030, "0028", "0a18"},
    {0x0031, "0328", "023200242a"},
    {0x0032, "242a", "4672616d6573"},
    {0x0033, "0328", "023400252a"},
    {0x0034, "252a", "30373837363550323033313431303041 5a"},
    {0x0035, "0328", "023600262a"},
    {0x0036, "262a", "312e302e30"},
    {0x0037, "0328", "023800232a"},
    {0x0038, "232a", "0102030405060708"},
    {0x0039, "0328", "023a00502a"},
    {0x003A, "502a", "019e002c400001"},
};

size_t unhex(const char *text, uint8_t *out, size_t capacity) {
    size_t count = 0;
    while (*text != '\0') {
        if (*text == ' ') {
            text++;
            continue;
        }
        char pair[3] = {text[0], text[1], '\0'};
        char *end;
        assert_true(count < capacity);
        out[count++] = (uint8_t)strtoul(pair, &end, 16);
        assert_ptr_equal(end, pair + 2);
        text += 2;
    }
    return count;
}

static uint16_t u16(const uint8_t *b) {
    return (uint16_t)(b[0] | b[1] << 8);
}

static void put16(uint8_t *b, unsigned v) {
    b[0] = (uint8_t)(v & 0xFF);
    b[1] = (uint8_t)(v >> 8);
}

static bool answer_one(fixture *f);

static tendon_status on_send(void *context, const uint8_t *pdu, size_t length) {
    fixture *f = context;
    assert_true(f->up);
    assert_int_equal(f->pending_length, 0); /* one request at a time */
    assert_true(f->log_count < LOG_MAX);
    f->log[f->log_count++] = (uint32_t)pdu[0] << 16 | (length >= 3 ? u16(pdu + 1) : 0);
    memcpy(f->pending, pdu, length);
    f->pending_length = length;
    return TENDON_OK;
}

/* ---- the link ---- */

static tendon_status on_connect(void *context) {
    fixture *f = context;
    f->connect_asked = f->connect_result == TENDON_OK;
    return f->connect_result;
}

static void on_disconnect(void *context) {
    fixture *f = context;
    f->disconnect_asked = true;
    f->disconnect_asked_at = f->now;
}

static tendon_status on_pair(void *context) {
    fixture *f = context;
    f->pair_calls++;
    f->pair_asked = f->pair_result == TENDON_OK;
    return f->pair_result;
}

static bool on_bonded(void *context) {
    return ((fixture *)context)->is_bonded;
}

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    fixture *f = context;
    assert_true(f->event_count < EVENTS_MAX);
    assert_true(now <= f->now);
    bool notified = event->kind == TENDON_BOSE_EVENT_SENSOR_DATA || event->kind == TENDON_BOSE_EVENT_SAMPLE ||
                    event->kind == TENDON_BOSE_EVENT_GESTURE;
    assert_true(event->received_at == 0 ? !notified : HAS_ARRIVED_AT(event->received_at, now));
    seen *s = &f->events[f->event_count++];
    *s = (seen){.kind = event->kind,
                .status = event->status,
                .reason = event->reason,
                .characteristic = event->characteristic,
                .offset = event->offset,
                .service_uuid = event->service_uuid,
                .characteristic_uuid = event->characteristic_uuid,
                .device_ms = event->device_ms,
                .received_at = event->received_at,
                .sampled_at = event->sampled_at,
                .error_us = event->error_us,
                .gesture = event->gesture,
                .length = event->length,
                .configuration = event->configuration,
                .state = f->session.state,
                .at = now};
    if (event->sample != NULL) {
        s->sample = *event->sample;
    }
    if (event->intents != NULL) {
        s->intents = *event->intents;
    }
    if (f->hook != NULL) {
        f->hook(f, event);
    }
}

void fixture_init(fixture *f) {
    memset(&f->session, 0xA5, sizeof f->session); /* what the memory held before */
    assert_int_equal(tendon_bose_session_init(&f->session, &f->config), TENDON_OK);
}

int fixture_setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        attribute *a = &f->attributes[f->attribute_count++];
        a->handle = table[i].handle;
        a->type_length = unhex(table[i].type, a->type, sizeof a->type);
        a->length = unhex(table[i].value, a->value, sizeof a->value);
    }
    f->now = 1000;
    f->mtu = 247;
    f->answer_limit = -1;
    f->fail_at = -1;
    f->keeps_written = true;
    f->config = (tendon_bose_session_config){.link = {.context = f,
                                                      .connect = on_connect,
                                                      .disconnect = on_disconnect,
                                                      .pair = on_pair,
                                                      .bonded = on_bonded},
                                             .context = f,
                                             .on_event = on_event,
                                             .pairing_delegate = true};
    fixture_init(f);
    *state = f;
    return 0;
}

int fixture_teardown(void **state) {
    free(*state);
    return 0;
}

void fixture_set(fixture *f, uint16_t handle, const char *hex) {
    attribute *a = fixture_attribute(f, handle);
    a->length = unhex(hex, a->value, sizeof a->value);
}

void fixture_remove(fixture *f, uint16_t first, uint16_t last) {
    size_t kept = 0;
    for (size_t i = 0; i < f->attribute_count; i++) {
        if (f->attributes[i].handle < first || f->attributes[i].handle > last) {
            f->attributes[kept++] = f->attributes[i];
        }
    }
    f->attribute_count = kept;
}

/* ---- driving ---- */

void fixture_link_up(fixture *f) {
    tendon_bearer_io io = {f, on_send};
    tendon_att_bearer_init(&f->bearer, io, 247);
    tendon_gatt_client_config config = {.bearer = &f->bearer,
                                        .requests = f->requests,
                                        .request_capacity = 8,
                                        .subscriptions = f->subscriptions,
                                        .subscription_capacity = 16};
    assert_int_equal(tendon_gatt_client_init(&f->client, &config), TENDON_OK);
    f->pending_length = 0;
    f->log_count = 0;
    f->up = true;
    tendon_bose_session_inputs.connected(&f->session, &f->client, f->now);
}

void fixture_connect(fixture *f) {
    f->connect_asked = f->disconnect_asked = f->pair_asked = false;
    assert_int_equal(tendon_bose_session_open(&f->session, f->now), TENDON_OK);
    assert_true(f->connect_asked);
    fixture_link_up(f);
}

static void tick_all(fixture *f) {
    if (f->up) {
        tendon_att_bearer_tick(&f->bearer, f->now);
    }
    if (tendon_bose_session_inputs.deadline(&f->session) <= f->now) {
        tendon_bose_session_inputs.tick(&f->session, f->now);
    }
}

static bool answer_one(fixture *f) {
    if (!f->up || f->mute || f->pending_length == 0 || f->answer_limit == 0) {
        return false;
    }
    if (f->answer_limit > 0) {
        f->answer_limit--;
    }
    if (f->slow_ms > 0) {
        uint64_t slow = f->slow_ms;
        f->mute = true;
        fixture_advance(f, slow);
        f->mute = false;
        if (!f->up || f->pending_length == 0) {
            return false;
        }
    }
    uint8_t out[600];
    size_t length = fixture_answer(f, f->pending, f->pending_length, out);
    f->pending_length = 0;
    /* exactly sized, so that reading beyond it shows */
    uint8_t *copy = malloc(length);
    memcpy(copy, out, length);
    tendon_att_bearer_receive_at(&f->bearer, copy, length, f->now, ARRIVAL_OF(f->now));
    free(copy);
    return true;
}

void fixture_run_until(fixture *f, tendon_bose_state state) {
    for (int i = 0; i < 1000 && f->session.state != state; i++) {
        tick_all(f);
        if (f->session.state == state || !answer_one(f)) {
            break;
        }
    }
    if (f->session.state == state && tendon_bose_session_inputs.deadline(&f->session) <= f->now) {
        tick_all(f);
    }
}

void fixture_run(fixture *f) {
    fixture_run_until(f, TENDON_BOSE_STATE_COUNT);
    tick_all(f);
}

void fixture_disconnect_if_asked(fixture *f) {
    if (f->disconnect_asked) {
        f->disconnect_asked = false;
        fixture_lose(f, TENDON_ERROR_CANCELLED);
    }
}

void fixture_lose(fixture *f, tendon_status reason) {
    if (f->up) {
        f->up = false;
        f->pending_length = 0;
        tendon_gatt_client_disconnected(&f->client, reason, f->now);
    }
    tendon_bose_session_inputs.disconnected(&f->session, reason, f->now);
}

void fixture_advance(fixture *f, uint64_t ms) {
    uint64_t end = f->now + ms;
    for (int i = 0; i < 10000; i++) {
        uint64_t due = tendon_bose_session_inputs.deadline(&f->session);
        if (f->up && tendon_att_bearer_deadline(&f->bearer) < due) {
            due = tendon_att_bearer_deadline(&f->bearer);
        }
        if (due > end) {
            break;
        }
        f->now = due > f->now ? due : f->now;
        tick_all(f);
    }
    f->now = end;
}

void fixture_open(fixture *f) {
    fixture_connect(f);
    fixture_run(f);
    assert_true(f->session.state == TENDON_BOSE_OPEN || f->session.state == TENDON_BOSE_SUSPENDED);
}

void fixture_reach(fixture *f, tendon_bose_state state) {
    switch (state) {
    case TENDON_BOSE_CLOSED:
        return;
    case TENDON_BOSE_CONNECTING:
        assert_int_equal(tendon_bose_session_open(&f->session, f->now), TENDON_OK);
        return;
    case TENDON_BOSE_WAITING_PAIRING_MODE:
        fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040002");
        fixture_connect(f);
        fixture_run(f);
        break;
    case TENDON_BOSE_BONDING:
        fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040003");
        fixture_connect(f);
        fixture_run(f);
        break;
    case TENDON_BOSE_SUSPENDED:
        fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f041008");
        fixture_open(f);
        break;
    case TENDON_BOSE_CLOSING:
        fixture_open(f);
        assert_int_equal(tendon_bose_session_close(&f->session, f->now), TENDON_OK);
        fixture_run(f);
        break;
    default:
        fixture_connect(f);
        fixture_run_until(f, state);
        break;
    }
    assert_int_equal(f->session.state, state);
}

void fixture_notify(fixture *f, uint16_t handle, const char *hex) {
    uint8_t value[512];
    size_t length = unhex(hex, value, sizeof value);
    if (!f->up) {
        return;
    }
    uint8_t *pdu = malloc(length + 3);
    pdu[0] = 0x1B;
    put16(pdu + 1, handle);
    memcpy(pdu + 3, value, length);
    tendon_att_bearer_receive_at(&f->bearer, pdu, length + 3, f->now, ARRIVAL_OF(f->now));
    free(pdu);
}

void fixture_status(fixture *f, uint16_t status) {
    attribute *a = fixture_attribute(f, H_DEVICE);
    a->value[17] = (uint8_t)(status >> 8);
    a->value[18] = (uint8_t)(status & 0xFF);
    if (!f->up) {
        return;
    }
    uint8_t pdu[3 + 19] = {0x1B, H_DEVICE, 0};
    memcpy(pdu + 3, a->value, 19);
    tendon_att_bearer_receive_at(&f->bearer, pdu, sizeof pdu, f->now, ARRIVAL_OF(f->now));
}

size_t fixture_count(const fixture *f, tendon_bose_event_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < f->event_count; i++) {
        count += f->events[i].kind == kind;
    }
    return count;
}

const seen *fixture_last(const fixture *f, tendon_bose_event_kind kind) {
    for (size_t i = f->event_count; i > 0; i--) {
        if (f->events[i - 1].kind == kind) {
            return &f->events[i - 1];
        }
    }
    fail_msg("no event of kind %d", (int)kind);
    return NULL;
}

size_t fixture_asked(const fixture *f, uint8_t opcode, uint16_t handle) {
    size_t count = 0;
    for (size_t i = 0; i < f->log_count; i++) {
        count += f->log[i] == ((uint32_t)opcode << 16 | handle);
    }
    return count;
}

tendon_bose_sensor_configuration fixture_enabled(fixture *f, uint8_t sensor, uint16_t period) {
    tendon_bose_sensor_configuration configuration = f->session.sensor_configuration;
    assert_int_equal(tendon_bose_enable_sensor(&configuration, sensor, period, &f->session.sensors), TENDON_OK);
    return configuration;
}

void fixture_configure(fixture *f, uint8_t sensor, uint16_t period) {
    tendon_bose_sensor_configuration configuration = fixture_enabled(f, sensor, period);
    assert_int_equal(tendon_bose_session_configure_sensors(&f->session, &configuration, f->now), TENDON_OK);
}

void fixture_configure_gesture(fixture *f, uint8_t gesture, bool on) {
    tendon_bose_gesture_configuration configuration = f->session.gesture_configuration;
    assert_int_equal(tendon_bose_set_gesture(&configuration, gesture, on), TENDON_OK);
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &configuration, f->now), TENDON_OK);
}

void fixture_assert_value(fixture *f, uint16_t handle, const char *hex) {
    uint8_t bytes[64];
    size_t length = unhex(hex, bytes, sizeof bytes);
    assert_int_equal(fixture_attribute(f, handle)->length, length);
    assert_memory_equal(fixture_attribute(f, handle)->value, bytes, length);
}
