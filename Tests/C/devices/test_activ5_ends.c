/* SPDX-License-Identifier: MIT */
/* The end of an Activ5 connection: at every moment, with requests in the queue, and of devices that are silent. */
#include "activ5_world.h"

/* ---- the end of the link at every moment ---- */

static void a_link_lost_at_every_moment_is_told_once(void **state) {
    (void)state;
    for (int old = 0; old <= 1; old++) {
        for (unsigned steps = 1; steps < 60; steps++) {
            activ5_world *w = activ5_world_new(old ? &activ5_legacy : NULL);
            tendon_activ5_device *d = &w->f->device;
            assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
            for (unsigned i = 0; i < steps && tendon_memory_radio_deadline(&w->air) < 110000; i++) {
                uint64_t due = tendon_memory_radio_deadline(&w->air);
                w->now = due > w->now ? due : w->now;
                tendon_memory_radio_tick(&w->air, w->now);
            }
            bool up = d->link == TENDON_ACTIV5_LINK_UP;
            activ5_forget(w->f);
            tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
            activ5_world_run(w, 1000);
            activ5_expect(w->f, up ? "deviceDisconnected" : "");
            if (!up) {
                assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
                activ5_world_run(w, 1000);
                activ5_expect(w->f, "deviceDisconnected");
            }
            assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
            tendon_memory_radio_set_present(&w->air, &w->in_air, true, w->now);
            assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
            activ5_world_run(w, 1000);
            assert_true(d->initialized);
            activ5_world_free(w);
        }
    }
}

/* ---- what is queued when a device goes, or is silent ---- */

/* Each accepted request ends once, with the reason, before DISCONNECTED; the application may call from within. */
static void hook_that_calls(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    activ5_world_hook(f, event, now);
    if (event->kind == TENDON_ACTIV5_EVENT_DONE && event->status < 0) {
        assert_int_equal(tendon_activ5_device_tare(event->device, now), TENDON_ERROR_DISCONNECTED);
    }
}

static void what_is_queued_ends_with_the_connection(void **state) {
    (void)state;
    for (int asked = 0; asked <= 1; asked++) {
        activ5_world *w = activ5_world_ready(NULL);
        tendon_activ5_device *d = &w->f->device;
        w->f->hook = asked ? activ5_world_hook : hook_that_calls;
        assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
        assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
        assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
        if (asked) {
            assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
        } else {
            tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
        }
        activ5_world_run(w, 100);
        activ5_expect(w->f, asked ? "done:read:2A19:ERROR_CANCELLED done:write:5A02:ERROR_CANCELLED "
                                    "done:subscribe:F0FE:ERROR_CANCELLED deviceDisconnected"
                                  : "done:read:2A19:RADIO_ERROR_OUT_OF_RANGE done:write:5A02:RADIO_ERROR_OUT_OF_RANGE "
                                    "done:subscribe:F0FE:RADIO_ERROR_OUT_OF_RANGE deviceDisconnected");
        assert_int_equal(w->session.waiting, 0);
        tendon_memory_radio_set_present(&w->air, &w->in_air, true, w->now);
        w->f->hook = activ5_world_hook;
        assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
        activ5_world_run(w, 1000);
        assert_true(d->initialized);
        activ5_world_free(w);
    }
}

/* Ends the connection from within the end of the first request. */
static void hook_that_disconnects(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    activ5_world_hook(f, event, now);
    if (event->kind == TENDON_ACTIV5_EVENT_DONE && event->status < 0) {
        (void)tendon_activ5_device_disconnect(event->device, now);
    }
}

static void a_handler_disconnects_while_the_queue_fails(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    w->f->hook = hook_that_disconnects;
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
    activ5_world_run(w, 100);
    activ5_expect(w->f, "done:write:5A02:RADIO_ERROR_OUT_OF_RANGE done:write:5A02:RADIO_ERROR_OUT_OF_RANGE "
                        "deviceDisconnected");
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
    activ5_world_free(w);
}

/* A trainer whose PDUs are held back while `silent` is set; the latest one can be sent later. */
static struct {
    bool silent;
    tendon_bearer_io io;
    uint8_t held[64];
    size_t length;
} mute;

static tendon_status swallow(void *context, const uint8_t *pdu, size_t length) {
    (void)context, (void)pdu, (void)length;
    return TENDON_OK;
}

static tendon_status send_unless_silent(void *context, const uint8_t *pdu, size_t length) {
    (void)context;
    if (mute.silent && length <= sizeof mute.held) {
        memcpy(mute.held, pdu, length);
        mute.length = length;
    }
    return mute.silent ? TENDON_OK : mute.io.send(mute.io.context, pdu, length);
}

static tendon_status mute_connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    mute.silent = false;
    mute.io = bearer->io;
    bearer->io = (tendon_bearer_io){NULL, send_unless_silent};
    return tendon_simulated_activ5_device(context).ops->connected(context, bearer, now);
}

/* One request without a response: it and all that wait behind it take 5 s together, not 5 s each. */
static void a_silent_device_fails_the_queue_once(void **state) {
    (void)state;
    activ5_world *w = activ5_world_new(NULL);
    tendon_peripheral_ops ops = *w->in_air.device.ops;
    ops.connected = mute_connected;
    w->in_air.device.ops = &ops;
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 1000);
    assert_true(d->initialized);
    activ5_forget(w->f);
    mute.silent = true;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
    }
    activ5_world_run(w, TENDON_ACTIV5_OPERATION_TIMEOUT_MS - 1);
    activ5_expect(w->f, "");
    activ5_world_run(w, 1);
    activ5_expect(w->f, "done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT "
                        "done:read:2A19:ERROR_TIMEOUT");
    assert_true(tendon_activ5_device_connected(d));
    activ5_world_free(w);
}

/* Tares from within the first timeout: what is queued then is none of those that fail, and is sent. */
static unsigned tares;

static void hook_that_tares(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    activ5_world_hook(f, event, now);
    if (event->kind == TENDON_ACTIV5_EVENT_DONE && event->status == TENDON_ERROR_TIMEOUT && tares == 0) {
        tares++;
        assert_int_equal(tendon_activ5_device_tare(event->device, now), TENDON_OK);
    }
}

static void what_is_queued_after_a_timeout_is_sent(void **state) {
    (void)state;
    activ5_world *w = activ5_world_new(NULL);
    tendon_peripheral_ops ops = *w->in_air.device.ops;
    ops.connected = mute_connected;
    w->in_air.device.ops = &ops;
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 1000);
    activ5_forget(w->f);
    w->f->hook = hook_that_tares;
    tares = 0;
    mute.silent = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
    }
    activ5_world_run(w, TENDON_ACTIV5_OPERATION_TIMEOUT_MS);
    activ5_expect(w->f, "done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT");
    uint64_t commands = w->trainer.counters.commands;
    mute.silent = false;
    assert_int_equal(mute.io.send(mute.io.context, mute.held, mute.length), TENDON_OK); /* late */
    activ5_world_run(w, 100);
    activ5_expect(w->f, "done:write:5A02:OK");
    assert_int_equal(w->trainer.counters.commands, commands + 1);
    activ5_world_free(w);
}

/* The manager was told that the radio failed, the link's own end is still to come: a connection now would drop what is
 * queued without its end. */
static void a_link_that_is_still_there_is_not_connected_again(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_ADAPTER_DOWN, w->now); /* as of a manager */
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(w->session.waiting, 2);
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
    tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
    activ5_world_run(w, 100);
    assert_int_equal(w->session.waiting, 0);
    tendon_memory_radio_set_present(&w->air, &w->in_air, true, w->now);
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 1000);
    assert_true(d->initialized);
    activ5_world_free(w);
}

/* A holder of the connection that reports its end before the client's: discovery has ended by then. */
static tendon_status no_call(void *context) {
    (void)context;
    return TENDON_OK;
}

static unsigned disconnects;

static void no_disconnect(void *context) {
    (void)context;
    disconnects++;
}

static void p12_the_client_ends_after_the_session(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[8];
    tendon_gatt_subscription subscriptions[8];
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){NULL, swallow}, 247);
    const tendon_gatt_client_config config = {.bearer = &bearer,
                                              .requests = requests,
                                              .request_capacity = 8,
                                              .subscriptions = subscriptions,
                                              .subscription_capacity = 8};
    tendon_gatt_client_init(&client, &config);
    tendon_activ5_session *session = calloc(1, sizeof *session);
    f->device.on_request = NULL;
    const tendon_session_link link = {.connect = no_call, .disconnect = no_disconnect};
    assert_int_equal(tendon_activ5_session_init(session, &link, &f->device), TENDON_OK);
    assert_int_equal(tendon_activ5_device_connect(&f->device, 1), TENDON_OK);
    tendon_activ5_session_inputs.connected(session, &client, 2);
    static const uint8_t no_mtu[] = {0x01, 0x02, 0x00, 0x00, 0x06}; /* Request Not Supported: discovery begins */
    (void)tendon_att_bearer_receive(&bearer, no_mtu, sizeof no_mtu, 3);
    tendon_activ5_session_inputs.disconnected(session, TENDON_RADIO_ERROR_PEER_CLOSED, 4);
    activ5_expect(f, "deviceConnected deviceDisconnected");
    tendon_gatt_client_disconnected(&client, TENDON_RADIO_ERROR_PEER_CLOSED, 4);
    activ5_expect(f, "");
    /* A handler that disconnects while what is queued fails: the connection is not called, it has ended. */
    tendon_gatt_client_init(&client, &config);
    assert_int_equal(tendon_activ5_device_connect(&f->device, 5), TENDON_OK);
    tendon_activ5_session_inputs.connected(session, &client, 6);
    tendon_activ5_device_discovered(&f->device, false, activ5_all, ACTIV5_LEGACY, 7);
    f->hook = hook_that_disconnects;
    activ5_the_world = calloc(1, sizeof *activ5_the_world);
    disconnects = 0;
    tendon_activ5_session_inputs.disconnected(session, TENDON_RADIO_ERROR_PEER_CLOSED, 8);
    activ5_expect(f, "deviceConnected done:subscribe:5A01:RADIO_ERROR_PEER_CLOSED deviceDisconnected");
    assert_int_equal(disconnects, 0);
    tendon_gatt_client_disconnected(&client, TENDON_RADIO_ERROR_PEER_CLOSED, 8);
    free(activ5_the_world);
    free(session);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_lost_at_every_moment_is_told_once),
        cmocka_unit_test(what_is_queued_ends_with_the_connection),
        cmocka_unit_test(a_handler_disconnects_while_the_queue_fails),
        cmocka_unit_test(a_silent_device_fails_the_queue_once),
        cmocka_unit_test(what_is_queued_after_a_timeout_is_sent),
        cmocka_unit_test(a_link_that_is_still_there_is_not_connected_again),
        cmocka_unit_test(p12_the_client_ends_after_the_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
