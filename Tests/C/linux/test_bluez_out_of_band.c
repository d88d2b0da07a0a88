/* SPDX-License-Identifier: MIT */
/* Out of Band pairing over the management socket, PDU by PDU (doc/mgmt-api.txt of BlueZ: Add Remote Out Of Band Data).
 */
#include "agent_scene.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { ADD = 0x21, PAIR = 0x19, CANCEL = 0x1A };
static tendon_out_of_band data[2];

/** Data of the first two devices, whose addresses differ in the type alone. */
static tendon_pairing_agent with_data(size_t count) {
    for (size_t i = 0; i < 2; i++) {
        data[i] = (tendon_out_of_band){.address = pairing_peers[i]};
        memset(data[i].confirm, (int)(0xC0 + i), 16);
        memset(data[i].random, (int)(0x10 + i), 16);
    }
    return tendon_pairing_agent_out_of_band(data, count);
}

/* Address and type, 32 zeros of P-192, confirmation value, random value. */
static void expect_data(pairing_scene *s, int peer, bool given) {
    const uint8_t *a = pairing_peers[peer].bytes;
    uint8_t pdu[128], wanted[6 + 71] = {ADD, 0, 7, 0, 71, 0, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2};
    if (given) {
        memset(wanted + 13 + 32, 0xC0 + peer, 16);
        memset(wanted + 13 + 48, 0x10 + peer, 16);
    }
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof wanted);
    assert_memory_equal(pdu, wanted, sizeof wanted);
}

/** Pairs with a device whose data the agent has. */
static pairing_scene *begun(const tendon_pairing_agent *agent) {
    pairing_scene *s = scene_with(2, agent);
    assert_int_equal(pairing_scene_pair(s, 0), TENDON_OK);
    expect_data(s, 0, true);
    pairing_scene_expect_preparation(s);
    pairing_scene_expect(s, PAIR, 0, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    pairing_scene_expect_nothing(s);
    return s;
}

/* Key type 3: authenticated, of Secure Connections. */
static void the_kernel_has_the_data_during_the_pairing_alone(void **state) {
    (void)state;
    const tendon_pairing_agent agent = with_data(1);
    pairing_scene *s = begun(&agent);
    kernel_stores(s, &pairing_peers[0], 3, 16);
    expect_data(s, 0, false);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_true(s->ends[0].end.link.encrypted);
    assert_true(tendon_link_has_security(&s->ends[0].end.link, TENDON_SECURITY_AUTHENTICATED));
    assert_int_equal(s->bonds.items[0].type, 3);
    assert_true(tendon_bond_is_authenticated(&s->bonds.items[0]));
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* The values are wrong: Confirm Value Failed is status 5, Authentication Failed. */
static void a_failed_pairing_takes_the_data_back(void **state) {
    static const struct {
        uint8_t status;
        tendon_status result;
    } rows[] = {{0x05, TENDON_RADIO_ERROR_PAIRING_FAILED},
                {0x03, TENDON_RADIO_ERROR_PAIRING_FAILED},
                {0x08, TENDON_RADIO_ERROR_PAIRING_FAILED},
                {0x0E, TENDON_ERROR_DISCONNECTED},
                {0x14, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_pairing_agent agent = with_data(1);
        pairing_scene *s = begun(&agent);
        pairing_scene_complete(s, 0, rows[i].status);
        assert_int_equal(s->ends[0].status, rows[i].result);
        assert_int_equal(s->bonds.count, 0);
        expect_data(s, 0, false);
        pairing_scene_expect_nothing(s);
        pairing_scene_close(s);
    }
}

static void each_end_takes_the_data_back(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        const tendon_pairing_agent agent = with_data(1), other = tendon_pairing_agent_accept();
        pairing_scene *s = begun(&agent);
        tendon_link *link = &s->ends[0].end.link;
        if (way == 0) {
            s->service->cancel(s->service->context, &pairing_peers[0]);
        } else if (way == 1) {
            tendon_link_close(link);
            assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
        } else if (way == 2) { /* the limit of 35 s */
            tendon_source *timer = &s->b->radio.radio.pairing_timer;
            timer->expired(timer->context, link->pairing.deadline);
            assert_int_equal(s->ends[0].status, TENDON_ERROR_TIMEOUT);
        } else { /* the agent is replaced, and its data are released */
            assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &other), TENDON_OK);
            memset(data, 0, sizeof data);
            pairing_scene_drain(s);
            pairing_scene_complete(s, 0, 0x05);
        }
        if (way < 3) {
            pairing_scene_expect(s, CANCEL, 0, -1);
        }
        expect_data(s, 0, false);
        pairing_scene_expect_nothing(s);
        assert_false(link->out_of_band);
        pairing_scene_close(s);
    }
}

static void another_attempt_gives_the_data_again(void **state) {
    (void)state;
    const tendon_pairing_agent agent = with_data(1);
    pairing_scene *s = begun(&agent);
    pairing_scene_complete(s, 0, 0x0A); /* busy */
    pairing_scene_expect_nothing(s);    /* the attempt waits, with its data */
    tendon_source *timer = &s->b->radio.radio.pairing_timer;
    timer->expired(timer->context, s->ends[0].end.link.pairing.retry_at);
    expect_data(s, 0, true);
    pairing_scene_expect_preparation(s);
    pairing_scene_expect(s, PAIR, 0, 3);
    pairing_scene_close(s);
}

/* The kernel has a key that is not in the store: it is removed, and the second command is like the first. */
static void a_key_of_before_is_removed(void **state) {
    (void)state;
    tendon_pairing_agent agent = with_data(1);
    agent.io = TENDON_PAIRING_KEYBOARD_DISPLAY;
    pairing_scene *s = begun(&agent);
    pairing_scene_complete(s, 0, 0x13);
    pairing_scene_expect(s, 0x1B, 0, 0);
    pairing_scene_expect(s, PAIR, 0, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    pairing_scene_close(s);
}

/* Without data: Just Works, which this agent rejects. */
static void a_device_without_data_is_rejected(void **state) {
    (void)state;
    const tendon_pairing_agent agent = with_data(1);
    pairing_scene *s = scene_with(2, &agent);
    begin(s, 1, TENDON_PAIRING_NO_INPUT_NO_OUTPUT); /* its address differs in the type */
    kernel_confirms(s, 1, 1);
    pairing_scene_expect(s, NO, 1, -1);
    pairing_scene_complete(s, 1, 0x05);
    assert_int_equal(s->ends[1].status, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* With an agent that accepts Just Works: not from a device whose data it has, and no key that is not authenticated. */
static void data_are_never_optional(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        tendon_pairing_agent agent = with_data(1);
        agent.authenticated = false;
        pairing_scene *s = begun(&agent);
        if (way == 0) {
            kernel_confirms(s, 0, 1);
            pairing_scene_expect(s, NO, 0, -1);
            pairing_scene_complete(s, 0, 0x05);
            expect_data(s, 0, false);
        } else { /* LE Legacy Pairing has ended with an unauthenticated key */
            kernel_stores(s, &pairing_peers[0], 0, 16);
            pairing_scene_drain(s);
        }
        assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
        assert_int_equal(s->bonds.count, 0);
        begin(s, 1, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
        kernel_confirms(s, 1, 1);
        pairing_scene_expect(s, YES, 1, -1);
        pairing_scene_close(s);
    }
}

/* ---- a peripheral ---- */

static void a_peripheral_has_the_data_while_it_is_pairable(void **state) {
    (void)state;
    const tendon_pairing_agent agent = with_data(2), fewer = with_data(1);
    pairing_scene *s = scene_with(0, &agent);
    pairing_scene_add(s, 0, true);
    assert_int_equal(tendon_radio_set_pairable(me.radio, false), TENDON_OK);
    pairing_scene_drain(s);
    assert_int_equal(tendon_radio_set_pairable(me.radio, true), TENDON_OK);
    expect_data(s, 0, true);
    expect_data(s, 1, true);
    pairing_scene_expect_preparation(s);
    uint8_t io[64];
    assert_int_equal(recv(s->b->kernel, io, sizeof io, MSG_DONTWAIT), 7); /* Set IO Capability */
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &fewer), TENDON_OK);
    expect_data(s, 0, false);
    expect_data(s, 1, false);
    expect_data(s, 0, true);
    kernel_stores(s, &pairing_peers[0], 3, 16); /* the central has paired */
    expect_data(s, 0, false);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(tendon_radio_set_pairable(me.radio, false), TENDON_OK);
    expect_data(s, 0, false);
    pairing_scene_drain(s);
    assert_int_equal(tendon_radio_set_pairable(me.radio, true), TENDON_OK);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

/* ---- failures ---- */

static void a_command_that_is_not_sent_fails_the_pairing(void **state) {
    (void)state;
    const tendon_pairing_agent agent = with_data(1);
    for (int at = 0; at < 3; at++) {
        pairing_scene *s = scene_with(1, &agent);
        calls.send = (refused_call){ENOBUFS, at};
        tendon_status status = pairing_scene_pair(s, 0);
        if (at == 0) { /* the data */
            assert_int_equal(status, TENDON_SYSTEM_ERROR(ENOBUFS));
            pairing_scene_expect_nothing(s);
        } else if (at < 2) { /* a setting of the adapter may be rejected */
            assert_int_equal(status, TENDON_OK);
        } else {
            assert_int_equal(status, TENDON_SYSTEM_ERROR(ENOBUFS));
            expect_data(s, 0, true);
            pairing_scene_expect_preparation(s);
            expect_data(s, 0, false);
            pairing_scene_expect_nothing(s);
        }
        pairing_scene_close(s);
    }
}

static void wrong_data_are_no_agent(void **state) {
    (void)state;
    const tendon_pairing_agent good = with_data(1);
    pairing_scene *s = scene_with(0, &good);
    for (int i = 0; i < 6; i++) {
        tendon_pairing_agent agent = with_data(2);
        if (i == 0) {
            memset(data[1].confirm, 0, 16);
        } else if (i == 1) {
            memset(data[1].random, 0, 16);
        } else if (i == 2) {
            data[1].address.type = 2;
        } else if (i == 3) {
            agent.out_of_band = NULL;
        } else if (i == 4) {
            agent.out_of_band_count = TENDON_OUT_OF_BAND_MAX + 1;
        } else {
            agent = (tendon_pairing_agent){.io = 3, .authenticated = true};
        }
        assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_INVALID_ARGUMENT);
    }
    pairing_scene_expect_nothing(s);
    const tendon_pairing_agent nobody = tendon_pairing_agent_out_of_band(NULL, 0);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &nobody), TENDON_OK); /* peers with our data */
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_has_the_data_during_the_pairing_alone),
        cmocka_unit_test(a_failed_pairing_takes_the_data_back),
        cmocka_unit_test(each_end_takes_the_data_back),
        cmocka_unit_test(another_attempt_gives_the_data_again),
        cmocka_unit_test(a_key_of_before_is_removed),
        cmocka_unit_test(a_device_without_data_is_rejected),
        cmocka_unit_test(data_are_never_optional),
        cmocka_unit_test(a_peripheral_has_the_data_while_it_is_pairable),
        cmocka_unit_test(a_command_that_is_not_sent_fails_the_pairing),
        cmocka_unit_test(wrong_data_are_no_agent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
