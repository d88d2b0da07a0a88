/* SPDX-License-Identifier: MIT */
#include "gatt_client_peer.h"

size_t peer_hex(const char *hex, uint8_t *out, size_t capacity) {
    size_t length = 0;
    for (const char *c = hex; *c != 0;) {
        if (*c == ' ') {
            c++;
            continue;
        }
        char digits[3] = {c[0], c[1], 0};
        char *end;
        unsigned long byte = strtoul(digits, &end, 16);
        if (end != digits + 2 || length >= capacity) {
            fail_msg("bad hex \"%s\"", hex);
        }
        out[length++] = (uint8_t)byte;
        c += 2;
    }
    return length;
}

static void print_hex(const char *label, const uint8_t *bytes, size_t length) {
    char text[3 * TENDON_ATT_MTU_MAX + 1] = "";
    for (size_t i = 0; i < length && i < TENDON_ATT_MTU_MAX; i++) {
        snprintf(text + 3 * i, 4, "%02X ", bytes[i]);
    }
    print_error("%s %s\n", label, text);
}

static void check_hex(const char *what, const uint8_t *bytes, size_t length, const char *hex) {
    uint8_t expected[TENDON_ATT_MTU_MAX];
    size_t count = peer_hex(hex, expected, sizeof(expected));
    if (count != length || (length > 0 && memcmp(bytes, expected, length) != 0)) {
        print_hex("expected:", expected, count);
        print_hex("got:     ", bytes, length);
        fail_msg("%s differs", what);
    }
}

static void note(peer *p, char event) {
    size_t length = strlen(p->order);
    if (length + 1 < sizeof(p->order)) {
        p->order[length] = event;
        p->order[length + 1] = 0;
    }
}

static tendon_status on_send(void *context, const uint8_t *pdu, size_t length) {
    peer *p = context;
    if (p->link < 0) {
        return p->link;
    }
    assert_true(p->sent < PEER_OUT_MAX);
    assert_true(length <= p->bearer.mtu && length <= PEER_OUT_SIZE);
    memcpy(p->out[p->sent].bytes, pdu, length);
    p->out[p->sent++].length = length;
    return TENDON_OK;
}

void peer_on_done(void *context, const tendon_gatt_result *result) {
    peer *p = context;
    void (*then)(peer *, const tendon_gatt_result *) = p->on_done;
    note(p, 'D');
    assert_true(result->now >= p->now);
    p->completions++;
    p->result = *result;
    if (result->value != NULL) {
        assert_true(result->length <= sizeof(p->result_value));
        memcpy(p->result_value, result->value, result->length);
        p->result.value = p->result_value;
    }
    p->on_done = NULL;
    if (then != NULL) {
        then(p, result);
    }
}

void peer_on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    peer *p = context;
    void (*then)(peer *, const tendon_gatt_value *) = p->on_value;
    note(p, 'V');
    assert_non_null(value->value);
    assert_true(now == p->now);
    assert_true(now * 1000000u - value->received_at <= 250000u && p->bearer.received_at == value->received_at);
    p->values++;
    p->value = *value;
    memcpy(p->value_bytes, value->value, value->length);
    p->on_value = NULL;
    if (then != NULL) {
        then(p, value);
    }
}

static void on_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    peer *p = context;
    (void)now;
    note(p, 'S');
    p->changes++;
    p->change_start = start;
    p->change_end = end;
}

static void on_bearer_closed(void *context, uint64_t now) {
    peer *p = context;
    (void)now;
    note(p, 'X');
    p->deaths++;
}

peer *peer_open(void) {
    peer *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    p->now = 1000;
    p->buffer_capacity = sizeof(p->buffer);
    tendon_bearer_io io = {p, on_send};
    memset(&p->bearer, 0xA5, sizeof p->bearer); /* what the memory held before */
    tendon_att_bearer_init(&p->bearer, io, 64);
    tendon_gatt_client_config config = {.bearer = &p->bearer,
                                        .requests = p->requests,
                                        .request_capacity = PEER_REQUESTS,
                                        .subscriptions = p->subscriptions,
                                        .subscription_capacity = PEER_SUBSCRIPTIONS,
                                        .context = p,
                                        .on_service_changed = on_service_changed,
                                        .on_bearer_closed = on_bearer_closed};
    memset(&p->client, 0xA5, sizeof p->client);
    memset(p->requests, 0xA5, sizeof p->requests);
    memset(p->subscriptions, 0xA5, sizeof p->subscriptions);
    assert_int_equal(tendon_gatt_client_init(&p->client, &config), TENDON_OK);
    return p;
}

peer *peer_open_mtu(uint16_t mtu) {
    peer *p = peer_open();
    p->bearer.mtu = mtu;
    p->bearer.own_mtu = mtu;
    return p;
}

void peer_close(peer *p) {
    peer_quiet(p);
    peer_not_done(p);
    assert_int_equal(p->values, 0);
    free(p);
}

void peer_expect(peer *p, const char *hex) {
    if (p->expected >= p->sent) {
        fail_msg("expected %s, nothing was sent", hex);
    }
    check_hex("PDU", p->out[p->expected].bytes, p->out[p->expected].length, hex);
    p->expected++;
}

void peer_quiet(peer *p) {
    if (p->expected < p->sent) {
        print_hex("unexpected:", p->out[p->expected].bytes, p->out[p->expected].length);
        fail_msg("%zu PDUs more than expected", p->sent - p->expected);
    }
}

tendon_status peer_send_bytes(peer *p, const uint8_t *bytes, size_t length) {
    uint8_t *block = malloc(length > 0 ? length : 1);
    assert_non_null(block);
    memcpy(block, bytes, length);
    const uint64_t outer = p->bearer.received_at;
    /* It arrived a little before it is taken. */
    tendon_status status = tendon_att_bearer_receive_at(&p->bearer, block, length, p->now, p->now * 1000000u - 250000u);
    assert_true(p->bearer.received_at == outer);
    free(block);
    return status;
}

tendon_status peer_send(peer *p, const char *hex) {
    uint8_t bytes[TENDON_ATT_MTU_MAX + 64];
    return peer_send_bytes(p, bytes, peer_hex(hex, bytes, sizeof(bytes)));
}

void peer_exchange(peer *p, const char *out, const char *in) {
    if (out != NULL) {
        peer_expect(p, out);
        peer_quiet(p);
    }
    if (in != NULL) {
        assert_int_equal(peer_send(p, in), TENDON_OK);
    }
}

void peer_done(peer *p, tendon_status id, tendon_status status) {
    assert_int_equal(p->completions, 1);
    assert_int_equal(p->result.request, id);
    if (p->result.status != status) {
        fail_msg("status %s (%d), expected %s (%d)", tendon_status_name(p->result.status), p->result.status,
                 tendon_status_name(status), status);
    }
    p->completions = 0;
}

void peer_done_value(peer *p, tendon_status id, const char *hex) {
    peer_done(p, id, TENDON_OK);
    check_hex("value", p->result_value, p->result.length, hex);
}

void peer_not_done(peer *p) {
    assert_int_equal(p->completions, 0);
}

void peer_value(peer *p, uint16_t handle, const char *hex, bool indication) {
    assert_int_equal(p->values, 1);
    assert_int_equal(p->value.handle, handle);
    check_hex("value", p->value_bytes, p->value.length, hex);
    assert_int_equal(p->value.indication, indication);
    p->values = 0;
}

void peer_alive(peer *p) {
    tendon_status id = op_read(p);
    assert_true(id > 0);
    peer_exchange(p, "0A 03 00", "0B 55");
    peer_done_value(p, id, "55");
}

tendon_status op_mtu(peer *p) {
    return tendon_gatt_exchange_mtu(&p->client, peer_on_done, p, p->now);
}

tendon_status op_services(peer *p) {
    return tendon_gatt_discover_services(&p->client, p->services, 8, peer_on_done, p, p->now);
}

tendon_status op_services_by_uuid(peer *p) {
    tendon_uuid uuid = tendon_uuid_from_u16(0x180A);
    return tendon_gatt_discover_services_by_uuid(&p->client, &uuid, p->services, 8, peer_on_done, p, p->now);
}

tendon_status op_included(peer *p) {
    return tendon_gatt_find_included(&p->client, 0x0001, 0x0010, p->services, 8, peer_on_done, p, p->now);
}

tendon_status op_characteristics(peer *p) {
    return tendon_gatt_discover_characteristics(&p->client, 0x0001, 0x0010, p->characteristics, 8, peer_on_done, p,
                                                p->now);
}

tendon_status op_characteristics_by_uuid(peer *p) {
    tendon_uuid uuid = tendon_uuid_from_u16(0x2A29);
    return tendon_gatt_discover_characteristics_by_uuid(&p->client, 0x0001, 0x0010, &uuid, p->characteristics, 8,
                                                        peer_on_done, p, p->now);
}

tendon_status op_descriptors(peer *p) {
    return tendon_gatt_discover_descriptors(&p->client, 0x0004, 0x0010, p->descriptors, 8, peer_on_done, p, p->now);
}

tendon_status op_read(peer *p) {
    return tendon_gatt_read(&p->client, 0x0003, peer_on_done, p, p->now);
}

tendon_status op_read_long(peer *p) {
    return tendon_gatt_read_long(&p->client, 0x0003, 0, p->buffer, p->buffer_capacity, peer_on_done, p, p->now);
}

tendon_status op_read_long_from_100(peer *p) {
    return tendon_gatt_read_long(&p->client, 0x0003, 100, p->buffer, p->buffer_capacity, peer_on_done, p, p->now);
}

tendon_status op_read_by_uuid(peer *p) {
    tendon_uuid uuid = tendon_uuid_from_u16(0x2A29);
    return tendon_gatt_read_by_uuid(&p->client, 0x0001, 0x0010, &uuid, peer_on_done, p, p->now);
}

tendon_status op_write(peer *p) {
    static const uint8_t value[] = {1, 2, 3};
    return tendon_gatt_write(&p->client, 0x0007, value, 3, peer_on_done, p, p->now);
}

tendon_status op_write_long(peer *p) {
    static const uint8_t value[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    return tendon_gatt_write_long(&p->client, 0x0007, 0, value, sizeof(value), peer_on_done, p, p->now);
}

tendon_status op_subscribe(peer *p) {
    return tendon_gatt_subscribe(&p->client, 0x0003, 0x0004, false, peer_on_value, p, peer_on_done, p, p->now);
}

tendon_status op_subscribe_indicate(peer *p) {
    return tendon_gatt_subscribe(&p->client, 0x0003, 0x0004, true, peer_on_value, p, peer_on_done, p, p->now);
}

peer *peer_subscribed(bool indicate) {
    peer *p = peer_open();
    tendon_status id = indicate ? op_subscribe_indicate(p) : op_subscribe(p);
    peer_exchange(p, indicate ? "12 04 00 02 00" : "12 04 00 01 00", "13");
    peer_done(p, id, TENDON_OK);
    p->order[0] = 0;
    return p;
}
