/* SPDX-License-Identifier: MIT */
#include "device_fixture.h"

static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    device_central *c = context;
    if (c->link != TENDON_OK) {
        return c->link;
    }
    if (c->room == 0) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    c->room -= c->room > 0 ? 1 : 0;
    device_taken *t = &c->pdus[c->count % DEVICE_KEPT];
    assert_true(length <= c->bearer.mtu);
    t->at = c->owner->now;
    t->length = (uint16_t)length;
    memcpy(t->bytes, pdu, length < sizeof t->bytes ? length : sizeof t->bytes);
    c->count++;
    return TENDON_OK;
}

void device_fixture_init(device_fixture *f, tendon_peripheral_device device) {
    memset(f, 0, sizeof *f);
    f->device = device;
    f->now = 5000;
}

device_fixture *device_fixture_new(tendon_peripheral_device device) {
    device_fixture *f = malloc(sizeof *f);
    assert_non_null(f);
    device_fixture_init(f, device);
    return f;
}

tendon_status device_connect(device_fixture *f, size_t which, uint16_t mtu) {
    device_central *c = &f->centrals[which];
    memset(c, 0, sizeof *c);
    c->owner = f;
    c->room = -1;
    tendon_att_bearer_init(&c->bearer, (tendon_bearer_io){c, take}, 247);
    tendon_status status = f->device.ops->connected(f->device.context, &c->bearer, f->now);
    if (status == TENDON_OK && mtu > 23) {
        const uint8_t pdu[3] = {0x02, (uint8_t)(mtu & 0xFF), (uint8_t)(mtu >> 8)};
        tendon_att_bearer_receive(&c->bearer, pdu, 3, f->now);
        assert_int_equal(c->bearer.mtu, mtu);
        device_forget(f, which);
    }
    return status;
}

void device_disconnect(device_fixture *f, size_t which) {
    f->device.ops->disconnected(f->device.context, &f->centrals[which].bearer, TENDON_RADIO_ERROR_PEER_CLOSED, f->now);
}

void device_send(device_fixture *f, size_t which, const char *hex) {
    block pdu = block_hex(hex);
    tendon_att_bearer_receive(&f->centrals[which].bearer, pdu.data, pdu.length, f->now);
    free(pdu.data);
}

void device_expect(const device_fixture *f, size_t which, size_t index, const char *hex) {
    const device_central *c = &f->centrals[which];
    assert_true(index < c->count && c->count - index <= DEVICE_KEPT);
    const device_taken *t = &c->pdus[index % DEVICE_KEPT];
    block expected = block_hex(hex);
    bool same = t->length == expected.length && memcmp(t->bytes, expected.data, t->length) == 0;
    free(expected.data);
    if (!same) {
        char text[3 * 80 + 1] = "";
        for (size_t i = 0; i < t->length && i < 80; i++) {
            snprintf(text + 3 * i, 4, "%02x ", t->bytes[i]);
        }
        fail_msg("PDU %zu: got %s\nexpected     %s", index, text, hex);
    }
}

void device_expect_last(const device_fixture *f, size_t which, const char *hex) {
    assert_true(f->centrals[which].count > 0);
    device_expect(f, which, f->centrals[which].count - 1, hex);
}

void device_exchange(device_fixture *f, size_t which, const char *request, const char *response) {
    size_t before = f->centrals[which].count;
    device_send(f, which, request);
    for (size_t i = before; i < f->centrals[which].count; i++) {
        if (f->centrals[which].pdus[i % DEVICE_KEPT].bytes[0] != 0x1B) { /* notifications may come before it */
            device_expect(f, which, i, response);
            return;
        }
    }
    fail_msg("%s: no answer", request);
}

void device_forget(device_fixture *f, size_t which) {
    f->centrals[which].count = 0;
}

void device_writable(device_fixture *f, size_t which, int room) {
    f->centrals[which].room = room;
    tendon_att_bearer_writable(&f->centrals[which].bearer, f->now);
    f->device.ops->writable(f->device.context, f->now);
}

void device_run(device_fixture *f, uint64_t until) {
    for (unsigned steps = 0; steps < 1000000; steps++) {
        uint64_t due = f->device.ops->deadline(f->device.context);
        if (due > until) {
            break;
        }
        f->now = due > f->now ? due : f->now;
        f->device.ops->tick(f->device.context, f->now);
    }
    f->now = until;
}

tendon_status device_perform(device_fixture *f, tendon_scenario_actor actor, const char *command) {
    char line[128];
    tendon_scenario_event event;
    snprintf(line, sizeof line, "at 0ms %s", command);
    tendon_status count = tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL);
    assert_int_equal(count, 1);
    size_t wrong = 0;
    return actor.perform(actor.context, &event, false, &wrong, f->now);
}
