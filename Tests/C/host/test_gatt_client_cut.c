/* SPDX-License-Identifier: MIT */
/* Positive responses cut at every position, every opcode at every request, and random operations. */
#include "gatt_client_peer.h"
#include "test_recording.h"

#define FULL "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15"
#define WIRE_LONG "00 FF EE DD CC BB AA 99 88 77 66 55 44 33 22 11"
#define PART_1 "07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11"

/* One response that its request accepts. Lengths at which a cut one is valid too: base + n * step; 0: none. */
typedef struct positive {
    peer_operation op;
    const char *response;
    size_t base, step;
} positive;

static const positive positives[] = {
    {op_mtu, "03 40 00", 0, 0},
    {op_services, "11 06 10 00 13 00 00 18 20 00 29 00 B0 68 30 00 FF FF 19 18", 2, 6},
    {op_services, "11 14 90 00 FF FF " WIRE_LONG, 0, 0},
    {op_services_by_uuid, "07 10 00 1F 00 30 00 3F 00 40 00 FF FF", 1, 4},
    {op_included, "09 08 02 00 15 00 19 00 0F 18 10 00 20 00 2F 00 0A 18", 2, 8},
    {op_included, "09 06 03 00 20 00 2F 00 04 00 30 00 3F 00", 2, 6},
    {op_characteristics, "09 07 02 00 02 03 00 00 2A 04 00 1A 10 00 01 2A", 2, 7},
    {op_characteristics, "09 15 08 00 10 10 00 " WIRE_LONG, 0, 0},
    {op_characteristics_by_uuid, "09 07 02 00 02 03 00 29 2A 04 00 1A 10 00 01 2A", 2, 7},
    {op_descriptors, "05 01 04 00 02 29 05 00 01 29 10 00 00 29", 2, 4},
    {op_descriptors, "05 02 10 00 " WIRE_LONG, 0, 0},
    {op_read, "0B 01 02 03 04", 1, 1},
    {op_read_long, "0B " FULL, 1, 1},
    {op_read_long_from_100, "0D 01 02 03", 1, 1},
    {op_read_by_uuid, "09 05 09 00 01 02 03 0B 00 04 05 06", 2, 5},
    {op_write, "13", 0, 0},
    {op_subscribe, "13", 0, 0},
    {op_write_long, "17 " PART_1, 5, 1},
};

static bool valid_length(const positive *c, size_t length, size_t whole) {
    return length == whole || (c->step > 0 && length > 0 && length >= c->base && (length - c->base) % c->step == 0 &&
                               (length > c->base || c->step == 1));
}

static void positive_responses_cut_at_every_position(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(positives) / sizeof(positives[0]); i++) {
        uint8_t bytes[TENDON_ATT_MTU_MAX];
        size_t whole = peer_hex(positives[i].response, bytes, sizeof(bytes));
        for (size_t length = 0; length <= whole; length++) {
            peer *p = peer_open();
            tendon_status id = positives[i].op(p);
            tendon_status status = peer_send_bytes(p, bytes, length);
            bool valid = valid_length(&positives[i], length, whole);
            if (valid != (status >= 0)) {
                fail_msg("%s cut to %zu: %d", positives[i].response, length, status);
            }
            if (!valid) {
                assert_int_equal(p->bearer.counters.malformed, 1);
            }
            if (length == 0) {
                peer_not_done(p); /* it cannot be assigned to a request: the request stays outstanding */
                assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
                assert_int_equal(peer_send_bytes(p, bytes, whole), TENDON_OK);
                peer_done(p, id, TENDON_ERROR_CANCELLED);
            } else if (!valid) {
                if (positives[i].op == op_write_long) { /* Execute Write (cancel): the part may be prepared */
                    peer_not_done(p);
                    assert_int_equal(peer_send(p, "19"), TENDON_OK);
                }
                peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE);
            }
            /* What goes on is ended, and the client is as good as new. */
            if (p->completions == 0 && p->client.queued > 0) {
                tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now);
                uint8_t refusal[] = {0x01, p->client.in_flight_opcode, 0, 0, 0x0E};
                assert_int_equal(peer_send_bytes(p, refusal, sizeof(refusal)), TENDON_OK);
                if (p->client.in_flight != 0) { /* Execute Write (cancel) */
                    assert_int_equal(peer_send(p, "19"), TENDON_OK);
                }
            }
            p->completions = 0;
            p->expected = p->sent;
            peer_alive(p);
            peer_close(p);
        }
    }
}

static bool can_complete(uint8_t request, uint8_t opcode) {
    return opcode == TENDON_ATT_ERROR_RESPONSE || opcode == tendon_att_response_opcode(request);
}

/* Every request on the air, every opcode, every length from 1 to 9, of bytes 00 and of bytes FF. */
static void every_opcode_at_every_request(void **state) {
    (void)state;
    static const peer_operation ops[] = {
        op_mtu,  op_services,  op_services_by_uuid, op_included, op_characteristics, op_descriptors,
        op_read, op_read_long, op_read_by_uuid,     op_write,    op_write_long,      op_subscribe};
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        for (unsigned j = 0; j < 256 * 9 * 2; j++) {
            uint8_t pdu[9];
            memset(pdu, j % 2 == 0 ? 0x00 : 0xFF, sizeof(pdu));
            pdu[0] = (uint8_t)(j / 18);
            peer *p = peer_open();
            assert_true(ops[i](p) > 0);
            uint8_t request = p->client.in_flight_opcode;
            tendon_gatt_client before = p->client;
            tendon_status status = peer_send_bytes(p, pdu, 1 + j / 2 % 9);
            if (!can_complete(request, pdu[0])) {
                assert_int_equal(p->completions, 0);
                assert_memory_equal(&before, &p->client, sizeof(before));
            }
            const tendon_bearer_counters *c = &p->bearer.counters;
            uint32_t counted = c->malformed + c->unknown_opcode + c->unexpected_response + c->unhandled_value +
                               c->unexpected_confirmation + c->refused_requests + c->after_close + c->ignored_commands;
            /* Of a list of values each is counted; at most two fit here. */
            assert_true(counted == (status < 0 ? 1u : 0u) || (pdu[0] == 0x23 && counted == 2));
            assert_true(p->completions <= 1);
            tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
            assert_int_equal(p->completions, 1); /* by the answer or by the end of the link, never by both */
            free(p);
        }
    }
}

/* Random operations, answers, time and faults, cancelled in between: each completion exactly once. */
#define RANDOM_IDS 60000u

typedef struct world {
    peer *p;
    uint32_t random;
    uint8_t state[RANDOM_IDS]; /* of each id: 0 never started, 1 waits, 2 completed */
    unsigned depth;
    size_t started, completed;
    bool can_secure;
    recording *r;
} world;

static uint32_t next_random(world *w) {
    w->random ^= w->random << 13;
    w->random ^= w->random >> 17;
    w->random ^= w->random << 5;
    return w->random;
}

static void start_random(world *w);

static void on_world_done(void *context, const tendon_gatt_result *result) {
    world *w = context;
    assert_true(result->request < RANDOM_IDS);
    assert_int_not_equal(w->state[result->request], 2); /* 0 or 1: it may come before the call has returned its id */
    assert_true(result->status <= 0);
    w->state[result->request] = 2;
    w->completed++;
    note(w->r, "done %u: %d at %u, handle %x, mtu %d, count %u", (unsigned)result->request, result->status,
         (unsigned)result->now, result->handle, result->mtu, (unsigned)result->count);
    note_bytes(w->r, "value", result->value, result->value != NULL ? result->length : 0);
    if (result->value != NULL && result->length > 0) {
        volatile uint8_t last = result->value[result->length - 1]; /* really lent */
        (void)last;
    }
    if (w->depth > 3) {
        return;
    }
    w->depth++;
    switch (next_random(w) % 8) {
    case 0:
        start_random(w);
        break;
    case 1:
        (void)tendon_gatt_client_cancel(&w->p->client, result->request + 1 + next_random(w) % 4, w->p->now);
        break;
    case 2:
        if (next_random(w) % 64 == 0) {
            tendon_gatt_client_disconnected(&w->p->client, TENDON_ERROR_DISCONNECTED, w->p->now);
        }
        break;
    default:
        break;
    }
    w->depth--;
}

static void on_world_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    world *w = context;
    w->p->values++;
    note(w->r, "handle %x at %u, indicated %d", value->handle, (unsigned)now, value->indication);
    note_bytes(w->r, "value", value->value, value->length);
    if (w->depth < 3 && next_random(w) % 4 == 0) {
        w->depth++;
        start_random(w);
        w->depth--;
    }
}

static bool on_world_insecure(void *context, uint8_t error, uint64_t now) {
    (void)now;
    world *w = context;
    note(w->r, "insecure: %x", error);
    return w->can_secure;
}

static void on_world_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    const world *w = context;
    note(w->r, "changed %x to %x at %u", start, end, (unsigned)now);
}

static void on_world_closed(void *context, uint64_t now) {
    const world *w = context;
    note(w->r, "closed at %u", (unsigned)now);
}

/* All that can be seen from outside. */
static void note_step(world *w) {
    recording *r = w->r;
    const tendon_bearer_counters *c = &w->p->bearer.counters;
    for (size_t i = 0; i < w->p->sent; i++) {
        note_bytes(r, "sent", w->p->out[i].bytes, w->p->out[i].length);
    }
    w->p->sent = 0;
    note(r, "at %u due %lld, waiting %u, closed %d, mtu %d; %u %u %u %u %u", (unsigned)w->p->now,
         (long long)tendon_att_bearer_deadline(&w->p->bearer), (unsigned)w->p->client.queued, w->p->client.closed,
         w->p->bearer.mtu, (unsigned)c->malformed, (unsigned)c->unknown_opcode, (unsigned)c->unexpected_response,
         (unsigned)c->unhandled_value, (unsigned)c->after_close);
}

static void start_random(world *w) {
    static const uint8_t value[40] = {1};
    peer *p = w->p;
    tendon_gatt_client *c = &p->client;
    tendon_uuid uuid = tendon_uuid_from_u16(0x2A29);
    tendon_status id = 0;
    uint64_t now = p->now;
    switch (next_random(w) % 18) {
    case 14:
        id =
            tendon_gatt_discover_characteristics_by_uuid(c, 1, 16, &uuid, p->characteristics, 3, on_world_done, w, now);
        break;
    case 16:
        id = tendon_gatt_unsubscribe(c, (uint16_t)(3 + next_random(w) % 6), on_world_done, w, now);
        break;
    case 17:
        id = tendon_gatt_subscribe_characteristic(c, &(tendon_gatt_characteristic){.value_handle = 3, .end_handle = 9},
                                                  false, on_world_value, w, on_world_done, w, now);
        break;
    case 0:
        id = tendon_gatt_exchange_mtu(c, on_world_done, w, now);
        break;
    case 1:
        id = tendon_gatt_discover_services(c, p->services, 8, on_world_done, w, now);
        break;
    case 2:
        id = tendon_gatt_discover_services_by_uuid(c, &uuid, p->services, 8, on_world_done, w, now);
        break;
    case 3:
        id = tendon_gatt_find_included(c, 1, 0x10, p->services, 8, on_world_done, w, now);
        break;
    case 4:
        id = tendon_gatt_discover_characteristics(c, 1, 16, p->characteristics, 3, on_world_done, w, now);
        break;
    case 5:
        id = tendon_gatt_discover_descriptors(c, 4, 0x10, p->descriptors, 8, on_world_done, w, now);
        break;
    case 6:
        id = tendon_gatt_read(c, 3, on_world_done, w, now);
        break;
    case 7:
        id = tendon_gatt_read_long(c, 3, 0, p->buffer, 100, on_world_done, w, now);
        break;
    case 8:
        id = tendon_gatt_read_by_uuid(c, 1, 0x10, &uuid, on_world_done, w, now);
        break;
    case 10:
        id = tendon_gatt_write(c, 7, value, next_random(w) % 40, on_world_done, w, now);
        break;
    case 11:
        id = tendon_gatt_write_long(c, 7, 0, value, 40, on_world_done, w, now);
        break;
    default:
        id = tendon_gatt_subscribe(c, (uint16_t)(3 + next_random(w) % 6), 9, true, on_world_value, w, on_world_done, w,
                                   now);
        break;
    }
    if (id > 0) {
        assert_true((uint32_t)id < RANDOM_IDS);
        w->started++;
        if (w->state[id] == 0) {
            w->state[id] = 1;
        }
        if (next_random(w) % 4 == 0) {
            (void)tendon_gatt_client_set_deadline(c, (uint32_t)id, now + next_random(w) % 3000);
        }
    }
}

/* The answer that fits what is on the air, mostly; its bytes are damaged at times. */
static void answer_random(world *w) {
    static const char *const by_chance[] = {
        "1B 03 00 01", "1D 03 00 01", "1D 42 00 01 00 FF FF", "23 03 00 00 00", "0A 03 00", "1E", "FF", "13"};
    uint8_t bytes[TENDON_ATT_MTU_MAX];
    size_t length = 0;
    uint8_t request = w->p->client.in_flight_opcode;
    uint32_t choice = next_random(w) % 10;
    if (choice < 2 || w->p->client.in_flight == 0) {
        length = peer_hex(by_chance[next_random(w) % 8], bytes, sizeof(bytes));
    } else if (choice < 4) {
        uint8_t error[] = {0x01, request, 0, 0, (uint8_t)(next_random(w) % 0x14)};
        memcpy(bytes, error, sizeof(error));
        length = sizeof(error);
    } else if (request == 0x18) {
        length = peer_hex("19", bytes, sizeof(bytes));
    } else {
        for (size_t i = 0, at = next_random(w); length == 0 && i < 2 * sizeof(positives) / sizeof(positives[0]); i++) {
            const positive *c = &positives[(at + i) % (sizeof(positives) / sizeof(positives[0]))];
            length = peer_hex(c->response, bytes, sizeof(bytes));
            length = bytes[0] == tendon_att_response_opcode(request) ? length : 0;
        }
    }
    if (length > 0 && next_random(w) % 8 == 0) {
        bytes[next_random(w) % length] ^= (uint8_t)(1u << next_random(w) % 8);
        length -= next_random(w) % 2;
    }
    (void)peer_send_bytes(w->p, bytes, length);
}

static void reopen(world *w) {
    uint32_t next_id = w->p->client.next_id;
    tendon_gatt_client_config config = w->p->client.config;
    tendon_bearer_io io = w->p->bearer.io;
    tendon_gatt_client_disconnected(&w->p->client, TENDON_ERROR_DISCONNECTED, w->p->now);
    assert_int_equal(w->started, w->completed);
    assert_int_equal(w->p->client.queued, 0);
    tendon_att_bearer_init(&w->p->bearer, io, 64);
    assert_int_equal(tendon_gatt_client_init(&w->p->client, &config), TENDON_OK);
    w->p->client.next_id = next_id; /* so that every id of the run is another */
    tendon_gatt_client_set_service_changed(&w->p->client, 0x42);
}

static void play(recording *r, unsigned number) {
    world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    w->random = 0x7E4D04 + number;
    w->r = r;
    w->p = peer_open();
    w->p->client.config.on_service_changed = on_world_changed;
    w->p->client.config.on_bearer_closed = on_world_closed;
    w->p->client.config.on_insecure = on_world_insecure;
    w->p->client.config.context = w;
    for (unsigned step = 0; step < 25000; step++) {
        w->p->now += next_random(w) % 3;
        switch (next_random(w) % 11) {
        case 0:
        case 1:
        case 2:
            start_random(w);
            break;
        case 3:
            if (next_random(w) % 3 == 0) {
                uint32_t back = 1 + next_random(w) % 6;
                note(r, "cancel %d", tendon_gatt_client_cancel(&w->p->client, w->p->client.next_id - back, w->p->now));
            }
            break;
        case 4:
            w->p->now += next_random(w) % 16 == 0 ? next_random(w) % 40000 : next_random(w) % 400;
            tendon_att_bearer_tick(&w->p->bearer, w->p->now);
            break;
        case 5: {
            uint32_t fault = next_random(w) % 200;
            w->p->link = fault == 0 ? TENDON_ERROR_DISCONNECTED : fault < 60 ? TENDON_ERROR_WOULD_BLOCK : TENDON_OK;
            tendon_att_bearer_writable(&w->p->bearer, w->p->now);
            break;
        }
        case 6:
            w->can_secure = next_random(w) % 4 != 0;
            tendon_gatt_client_secured(
                &w->p->client, next_random(w) % 3 == 0 ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_OK, w->p->now);
            break;
        default:
            answer_random(w);
            break;
        }
        note_step(w);
        assert_true(w->started >= w->completed);
        if (w->p->client.closed) {
            w->p->link = TENDON_OK;
            reopen(w);
        }
    }
    reopen(w);
    assert_true(w->started > 2500);
    for (uint32_t id = 0; id < RANDOM_IDS; id++) {
        assert_int_not_equal(w->state[id], 1);
    }
    free(w->p);
    free(w);
}

/* Each completes exactly once. */
static void random_operations_complete_once(void **state) {
    (void)state;
    play_recordings(8, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(positive_responses_cut_at_every_position),
        RUN(every_opcode_at_every_request),
        RUN(random_operations_complete_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
