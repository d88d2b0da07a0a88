/* SPDX-License-Identifier: MIT */
#include "bose_fixture.h"

static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    central *c = context;
    if (c->link != TENDON_OK) {
        return c->link;
    }
    if (c->room == 0) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    c->room -= c->room > 0 ? 1 : 0;
    taken *t = &c->pdus[c->count % KEPT];
    assert_true(length <= c->bearer.mtu);
    t->length = (uint16_t)length;
    memcpy(t->bytes, pdu, length < sizeof t->bytes ? length : sizeof t->bytes);
    c->count++;
    return TENDON_OK;
}

void bose_init(bose_fixture *f, const tendon_simulated_bose_options *options) {
    assert_int_equal(tendon_simulated_bose_init(&f->device, options), TENDON_OK);
    assert_int_equal(f->device.server.count, 0x2C);
    f->now = 5000;
}

int bose_setup(void **state) {
    bose_fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -1;
    }
    const tendon_simulated_bose_options options = {0};
    bose_init(f, &options);
    *state = f;
    return 0;
}

int bose_teardown(void **state) {
    free(*state);
    return 0;
}

void bose_connect(bose_fixture *f, size_t which, uint16_t mtu) {
    central *c = &f->centrals[which];
    memset(c, 0, sizeof *c);
    c->room = -1;
    tendon_att_bearer_init(&c->bearer, (tendon_bearer_io){c, take}, 247);
    assert_int_equal(tendon_simulated_bose_connected(&f->device, &c->bearer, f->now), TENDON_OK);
    if (mtu > 23) {
        const uint8_t pdu[3] = {0x02, (uint8_t)(mtu & 0xFF), (uint8_t)(mtu >> 8)};
        tendon_att_bearer_receive(&c->bearer, pdu, 3, f->now);
        assert_int_equal(c->bearer.mtu, mtu);
    }
}

void bose_disconnect(bose_fixture *f, size_t which) {
    tendon_simulated_bose_disconnected(&f->device, &f->centrals[which].bearer, TENDON_RADIO_ERROR_PEER_CLOSED, f->now);
}

void bose_send(bose_fixture *f, size_t which, const char *hex) {
    block pdu = block_hex(hex);
    tendon_att_bearer_receive(&f->centrals[which].bearer, pdu.data, pdu.length, f->now);
    free(pdu.data);
}

void bose_expect(const bose_fixture *f, size_t which, size_t index, const char *hex) {
    const central *c = &f->centrals[which];
    assert_true(index < c->count && c->count - index <= KEPT);
    const taken *t = &c->pdus[index % KEPT];
    block expected = block_hex(hex);
    if (t->length != expected.length || memcmp(t->bytes, expected.data, t->length) != 0) {
        char text[3 * 80 + 1] = "";
        for (size_t i = 0; i < t->length && i < 80; i++) {
            snprintf(text + 3 * i, 4, "%02x ", t->bytes[i]);
        }
        fail_msg("PDU %zu: got %s\nexpected     %s", index, text, hex);
    }
    free(expected.data);
}

void bose_expect_last(const bose_fixture *f, size_t which, const char *hex) {
    assert_true(f->centrals[which].count > 0);
    bose_expect(f, which, f->centrals[which].count - 1, hex);
}

void bose_exchange(bose_fixture *f, size_t which, const char *request, const char *response) {
    size_t before = f->centrals[which].count;
    bose_send(f, which, request);
    assert_int_equal(f->centrals[which].count, before + 1);
    bose_expect_last(f, which, response);
}

void bose_forget(bose_fixture *f, size_t which) {
    f->centrals[which].count = 0;
}

void bose_listen(bose_fixture *f, size_t which) {
    bose_exchange(f, which, "12 24 00 01 00", "13");
    bose_forget(f, which);
}

void bose_run(bose_fixture *f, uint64_t until) {
    for (unsigned steps = 0; steps < 1000000; steps++) {
        uint64_t due = tendon_simulated_bose_deadline(&f->device);
        if (due > until) {
            break;
        }
        f->now = due > f->now ? due : f->now;
        tendon_simulated_bose_tick(&f->device, f->now);
    }
    f->now = until;
}
