/* SPDX-License-Identifier: MIT */
/*
 * Recorded runs of a discovery and of a session's operations: devices with any table, which moves, answer anything, and
 * indicate Service Changed; sessions that start, cancel and disconnect at any time. Each discovery and each operation
 * ends once.
 */
#include "tendon/devices/operation.h"
#include "test_recording.h"

enum { RUNS = 16, LIVES = 60, STEPS = 140, ROWS = 5, ATTRIBUTES = 70, NUMBERS = 5, LIMIT = 1000, DISCOVERY = 7 };

/* Services, then what they contain; Generic Attribute with what the client looks for. */
static const uint16_t services[NUMBERS] = {0x1801, 0x180F, 0xF0F0, 0xFE84, 0x1800};
static const uint16_t numbers[NUMBERS + 1] = {0x2A19, 0x2A05, 0x2B2A, 0x2B29, 0xF001, 0xF002};
/* 128-bit UUIDs, as they are on the air: of a vendor, with a number in the place of the 16-bit one. */
static const uint8_t vendor[12] = {0x9B, 0x34, 0xFB, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90};

typedef struct attribute {
    uint16_t type;   /**< 2800, 2803, a descriptor, or 0: a value */
    uint16_t number; /**< of the service or characteristic */
    uint16_t end;    /**< of a service */
    uint8_t properties;
    bool wide;
} attribute;

typedef struct world {
    recording *r;
    uint64_t now;
    attribute table[ATTRIBUTES]; /**< of handle i + 1 */
    uint16_t count;
    uint8_t hash;
    uint8_t pdu[64]; /**< the request that waits for its response */
    size_t length;
    bool full;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[4];
    tendon_gatt_subscription subscriptions[4];
    tendon_gatt_cache cache;
    tendon_operation op;
    tendon_profile profile;
    tendon_profile_found found[ROWS];
    uint8_t flags[ROWS], service[ROWS], number[ROWS];
    bool wide[ROWS], discovering, starts;
    uint8_t buffer[40];
    int started, ended;
} world;

static world w;

/* ---- the device ---- */

static uint16_t add(attribute a) {
    w.table[w.count] = a;
    return w.count++;
}

static void makes_table(void) {
    recording *r = w.r;
    w.count = 0;
    w.hash++;
    while (w.count < ATTRIBUTES - 31) {
        bool wide = choose(r, 3) == 0;
        uint16_t first = add((attribute){.type = 0x2800, .number = services[choose(r, NUMBERS)], .wide = wide});
        for (unsigned i = choose(r, 4); i > 0; i--) {
            uint16_t number = numbers[choose(r, NUMBERS + 1)];
            bool own = number >= 0xF000 && choose(r, 2) == 0;
            (void)add((attribute){.type = 0x2803, .number = number, .wide = own, .properties = (uint8_t)choose(r, 64)});
            (void)add((attribute){.number = number, .wide = own});
            for (unsigned k = choose(r, 6) == 0 ? 8 : choose(r, 3); k > 0; k--) { /* 8: more than a page */
                (void)add((attribute){.type = choose(r, 3) != 0 && k < 6 ? 0x2902 : 0x2901});
            }
        }
        w.table[first].end = choose(r, 12) == 0 ? 0xFFFF : w.count;
        if (w.table[first].end == 0xFFFF) {
            break;
        }
    }
}

static size_t put_u16(uint8_t *out, uint16_t value) {
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
    return 2;
}

static size_t put_uuid(uint8_t *out, const attribute *a) {
    if (!a->wide) {
        return put_u16(out, a->number);
    }
    memcpy(out, vendor, sizeof vendor);
    (void)put_u16(out + 12, a->number);
    (void)put_u16(out + 14, 0);
    return 16;
}

static size_t put_item(uint8_t *out, uint8_t opcode, uint16_t handle, const attribute *a) {
    size_t length = put_u16(out, handle);
    if (opcode == 0x10) {
        length += put_u16(out + length, a->end);
        return length + put_uuid(out + length, a);
    }
    if (opcode == 0x08) {
        out[length++] = a->properties;
        length += put_u16(out + length, (uint16_t)(handle + 1));
        return length + put_uuid(out + length, a);
    }
    const attribute type = {.number = a->type != 0 ? a->type : a->number};
    return length + put_uuid(out + length, &type);
}

/* Core Spec Vol 3 Part F 3.4.3.2, 3.4.4.2, 3.4.4.10: items of one length. */
static size_t lists(uint8_t *out, uint8_t opcode, uint16_t first, uint16_t last, uint16_t type) {
    size_t length = 2, size = 0;
    out[0] = (uint8_t)(opcode + 1);
    for (uint16_t handle = first; handle != 0 && handle <= w.count && handle <= last; handle++) {
        const attribute *a = &w.table[handle - 1];
        uint8_t item[32];
        if (opcode != 0x04 && a->type != type) {
            continue;
        }
        size_t here = put_item(item, opcode, handle, a);
        if ((size != 0 && here != size) || length + here > w.bearer.mtu) {
            break;
        }
        memcpy(out + length, item, here);
        length += here;
        size = here;
    }
    out[1] = opcode == 0x04 ? 1 : (uint8_t)size;
    return size == 0 ? 0 : length;
}

static size_t answer(const uint8_t *pdu, uint8_t *out) {
    uint16_t first = (uint16_t)(pdu[1] | pdu[2] << 8), last = (uint16_t)(pdu[3] | pdu[4] << 8);
    uint16_t type = (uint16_t)(pdu[5] | pdu[6] << 8);
    memset(out, 0x40, 24);
    switch (pdu[0]) {
    case 0x08:
        if (type == 0x2B2A) { /* the Database Hash */
            memcpy(out, "\x09\x12\x07\x00", 4);
            memset(out + 4, w.hash, 16);
            return choose(w.r, 8) == 0 ? 0 : 20;
        }
        return lists(out, 0x08, first, last, type);
    case 0x04:
    case 0x10:
        return lists(out, pdu[0], first, last, type);
    case 0x02:
        memcpy(out, "\x03\x30\x00", 3);
        return 3;
    case 0x0A:
    case 0x0C:
        out[0] = (uint8_t)(pdu[0] + 1);
        return 1 + choose(w.r, 22);
    case 0x16:
        memcpy(out, pdu, w.length);
        out[0] = 0x17;
        return w.length;
    default:
        out[0] = (uint8_t)(pdu[0] + 1);
        return 1;
    }
}

static void device_sends(const uint8_t *bytes, size_t length) {
    block exact = block_copy(bytes, length);
    note_bytes(w.r, "device", bytes, length);
    note(w.r, "taken %d", tendon_att_bearer_receive(&w.bearer, exact.data, exact.length, w.now));
    free(exact.data);
}

static void device_answers(void) {
    recording *r = w.r;
    static const uint8_t codes[] = {0x01, 0x05, 0x0A, 0x0A, 0x0E, 0x0F, 0x12, 0x12};
    uint8_t out[64], pdu[64];
    if (w.length == 0) {
        return;
    }
    memcpy(pdu, w.pdu, sizeof pdu);
    size_t length = choose(r, 16) == 0 ? 0 : answer(pdu, out);
    if (length == 0) {
        bool none = choose(r, 4) != 0;
        const uint8_t error[] = {0x01, pdu[0], pdu[1], pdu[2], none ? 0x0A : codes[choose(r, sizeof codes)]};
        length = sizeof error;
        memcpy(out, error, length);
    }
    if (choose(r, 40) == 0) {
        out[choose(r, (unsigned)length)] ^= (uint8_t)(1u << choose(r, 8));
    }
    w.length = 0;
    device_sends(out, length - (choose(r, 60) == 0 && length > 1));
}

static void device_indicates(void) {
    recording *r = w.r;
    uint16_t handle = choose(r, 2) == 0 ? (uint16_t)(choose(r, 40) + 1) : w.cache.record.rows[0].value;
    const uint8_t pdu[] = {choose(r, 2) == 0 ? 0x1D : 0x1B, (uint8_t)handle, 0, 1, 0, 0xFF, 0xFF};
    for (int i = 0; choose(r, 2) == 0 && i < 4; i++) { /* on the handle that it was subscribed to, if it was */
        if (w.subscriptions[i].value_handle != 0) {
            handle = w.subscriptions[i].value_handle;
        }
    }
    uint8_t changed[sizeof pdu];
    memcpy(changed, pdu, sizeof pdu);
    changed[1] = (uint8_t)handle;
    device_sends(changed, sizeof changed);
}

static void table_moves(void) {
    if (choose(w.r, 3) == 0) {
        makes_table();
        note(w.r, "another table of %u", w.count);
    }
}

/* ---- the session ---- */

static tendon_status on_send(void *context, const uint8_t *pdu, size_t length) {
    assert_ptr_equal(context, &w);
    if (w.full) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    note_bytes(w.r, "session", pdu, length);
    if (pdu[0] != 0x1E && pdu[0] != 0x52) {
        assert_int_equal(w.length, 0); /* one request at a time */
        assert_true(length <= sizeof w.pdu);
        memset(w.pdu, 0, sizeof w.pdu);
        memcpy(w.pdu, pdu, length);
        w.length = length;
    }
    return TENDON_OK;
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const world *at = context;
    uint8_t bytes[16];
    const attribute names[2] = {{.number = services[at->service[row]], .wide = at->wide[row]},
                                {.number = numbers[at->number[row]], .wide = at->wide[row] && at->number[row] > 3}};
    tendon_uuid *const out[2] = {service, characteristic};
    for (int i = 0; i < 2; i++) {
        size_t length = put_uuid(bytes, &names[i]);
        *out[i] = tendon_uuid_from_u16(names[i].number);
        if (length == 16) {
            assert_int_equal(tendon_uuid_from_wire(bytes, length, out[i]), TENDON_OK);
        }
    }
    return at->flags[row];
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "value of %u at %u", value->handle, (unsigned)now);
}

static void starts_operation(void) {
    recording *r = w.r;
    static const uint8_t bytes[30] = {7};
    unsigned row = choose(r, ROWS);
    while (row < ROWS - 1u && w.found[row].value == 0) {
        row++;
    }
    const tendon_profile_found *found = &w.found[row];
    uint16_t handle = found->value != 0 || choose(r, 8) == 0 ? found->value : (uint16_t)(1 + choose(r, 30));
    uint8_t kind = (uint8_t)(1 + choose(r, 3)) | (choose(r, 4) == 0 ? TENDON_OPERATION_UNLIMITED : 0);
    if (w.op.client == NULL || w.op.kind != 0) {
        return;
    }
    w.op.now = w.now;
    unsigned verb = choose(r, TENDON_OPERATION_SUBSCRIBE + 2u);
    note(r, "starts %u of %u", verb, handle);
    w.started++;
    if (verb < TENDON_OPERATION_SUBSCRIBE) {
        tendon_operation_start(&w.op, kind, (tendon_operation_verb)verb, handle, bytes, 1 + choose(r, 22));
    } else {
        tendon_operation_subscribe(&w.op, kind, found, choose(r, 2) == 0);
    }
}

static void on_done(void *context, const tendon_gatt_result *result) {
    assert_ptr_equal(context, &w);
    uint8_t kind = w.op.client != NULL ? tendon_operation_ended(&w.op, result) : 0;
    note(w.r, "done %u: %d, %u bytes at %u", kind, result->status, (unsigned)result->length, (unsigned)result->now);
    w.ended += kind != 0;
    if (kind != 0 && w.starts) {
        w.starts = false;
        starts_operation();
    }
}

static void on_discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    assert_ptr_equal(context, &w);
    assert_true(w.discovering);
    w.discovering = false;
    if (w.op.kind == DISCOVERY) {
        tendon_operation_reset(&w.op);
    }
    note(w.r, "discovered: %d, row %u at %u", status, (unsigned)row, (unsigned)now);
    if (w.starts) {
        w.starts = false;
        starts_operation();
    }
}

static const tendon_operation_rules rules = {on_done, on_value, on_discovered, LIMIT, sizeof w.buffer};

static void starts_discovery(void) {
    recording *r = w.r;
    if (w.op.client == NULL || w.op.kind != 0 || w.discovering) {
        return;
    }
    for (unsigned i = 0; i < ROWS && choose(r, 3) == 0; i++) {
        w.flags[i] = (uint8_t)choose(r, 8);
        w.service[i] = (uint8_t)choose(r, NUMBERS);
        w.number[i] = (uint8_t)choose(r, NUMBERS + 1);
        w.wide[i] = choose(r, 3) == 0;
    }
    w.op.now = w.now;
    w.discovering = true;
    bool alone = choose(r, 4) != 0;
    note(r, "starts a discovery");
    tendon_operation_discover(&w.op, alone ? DISCOVERY : 0, &w.profile, row_of, w.found, choose(r, ROWS + 1u));
    if (w.discovering && choose(r, 3) == 0) {
        tendon_profile_limit(&w.profile, LIMIT, w.now);
    }
}

static void cancels(void) {
    recording *r = w.r;
    if (w.discovering && choose(r, 3) == 0) {
        tendon_profile_cancel(&w.profile, w.now);
        w.discovering = false;
        if (w.op.kind == DISCOVERY) {
            tendon_operation_reset(&w.op);
        }
        note(r, "cancels the discovery");
    } else if (w.op.kind != 0 && w.op.kind != DISCOVERY && choose(r, 3) == 0) {
        tendon_operation_reset(&w.op);
        w.started--;
        note(r, "forgets the operation");
    }
}

static void ends(tendon_status reason) {
    if (w.op.client == NULL) {
        return;
    }
    note(w.r, "ends");
    w.op.client = NULL;
    tendon_gatt_client_disconnected(&w.client, reason, w.now);
    if (w.op.kind != 0 && w.op.kind != DISCOVERY) {
        w.started--;
    }
    tendon_operation_reset(&w.op);
    assert_false(w.discovering); /* it had the end of its request */
}

static void on_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "service changed %u %u at %u", start, end, (unsigned)now);
}

static void on_bearer_closed(void *context, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "bearer closed at %u", (unsigned)now);
}

static void connects(void) {
    if (w.op.client != NULL) {
        if (choose(w.r, 6) == 0 || w.bearer.closed) {
            ends(TENDON_RADIO_ERROR_PEER_CLOSED);
        }
        return;
    }
    w.length = 0;
    w.full = false;
    tendon_att_bearer_init(&w.bearer, (tendon_bearer_io){.context = &w, .send = on_send}, 48);
    const tendon_gatt_client_config config = {.bearer = &w.bearer,
                                              .requests = w.requests,
                                              .request_capacity = 4,
                                              .subscriptions = w.subscriptions,
                                              .subscription_capacity = 4,
                                              .cache = choose(w.r, 4) != 0 ? &w.cache : NULL,
                                              .context = &w,
                                              .on_service_changed = on_service_changed,
                                              .on_bearer_closed = on_bearer_closed};
    assert_int_equal(tendon_gatt_client_init(&w.client, &config), TENDON_OK);
    w.op.client = &w.client;
    note(w.r, "connected, cache %d", config.cache != NULL);
}

static void time_passes(void) {
    static const uint16_t times[] = {1, 10, 500, 1000, 1001, 5000, 30000};
    w.now += times[choose(w.r, sizeof times / sizeof times[0])];
    if (w.op.client != NULL) {
        tendon_att_bearer_tick(&w.bearer, w.now);
    }
}

static void link_fills(void) {
    w.full = !w.full && choose(w.r, 2) == 0;
    if (!w.full && w.op.client != NULL) {
        tendon_att_bearer_writable(&w.bearer, w.now);
    }
}

static void cache_changes(void) {
    switch (choose(w.r, 6)) {
    case 0:
        tendon_gatt_cache_drop(&w.cache);
        break;
    case 1:
        w.cache.identity = !w.cache.identity || choose(w.r, 3) != 0;
        break;
    default:
        break;
    }
}

/* ---- a life ---- */

static void note_all(void) {
    const tendon_operation *o = &w.op;
    recording *r = w.r;
    note(r, "operation %u%d of %u, repeated %d; profile %u row %u, %u to %u%s", o->kind, o->call.rediscovering,
         (unsigned)o->request, o->call.repeated, w.profile.step, w.profile.row, w.profile.cursor, w.profile.end,
         w.profile.caching ? ", caching" : "");
    for (int i = 0; i < ROWS; i++) {
        const tendon_profile_found *f = &w.found[i];
        note(r, "row %d: %u to %u, %u %u %x, at %u", i, f->service, f->service_end, f->value, f->cccd, f->properties,
             (unsigned)tendon_profile_row_of(w.found, ROWS, f->value));
    }
    note(r, "cache %u%d%d, %u drops; until %lld", w.cache.state, w.cache.identity, w.cache.without_hash,
         (unsigned)w.cache.counters.drops,
         w.op.client == NULL || tendon_att_bearer_deadline(&w.bearer) == UINT64_MAX
             ? -1
             : (long long)tendon_att_bearer_deadline(&w.bearer));
}

static void step(void) {
    static void (*const actors[])(void) = {
        device_answers, device_answers,   device_answers, device_answers,   device_answers,   device_answers,
        device_answers, device_answers,   connects,       starts_discovery, starts_operation, starts_operation,
        cancels,        device_indicates, table_moves,    time_passes,      link_fills,       cache_changes};
    unsigned actor = choose(w.r, sizeof actors / sizeof actors[0]);
    w.starts = choose(w.r, 4) == 0;
    note(w.r, "actor %u", actor);
    actors[actor]();
    note_all();
}

static void live(recording *r, unsigned number) {
    static const tendon_address device = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC};
    memset(&w, 0, sizeof w);
    w.r = r;
    w.now = 1000;
    for (unsigned i = 0; i < ROWS; i++) {
        w.flags[i] = (uint8_t)(choose(r, 8) & (number % 2 != 0 ? 7u : 6u));
        w.service[i] = (uint8_t)choose(r, NUMBERS);
        w.number[i] = (uint8_t)choose(r, NUMBERS + 1);
    }
    tendon_gatt_cache_init(&w.cache, &device, NULL);
    w.op.rules = &rules;
    w.op.context = &w;
    w.op.buffer = w.buffer;
    makes_table();
    connects();
    for (int i = 0; i < STEPS; i++) {
        step();
    }
    ends(TENDON_ERROR_CANCELLED);
    assert_int_equal(w.started, w.ended);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void runs_hold_their_assertions(void **state) {
    (void)state;
    play_recordings(RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_hold_their_assertions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
