/* SPDX-License-Identifier: MIT */
/* Activ5 session against simulated trainers: from the search to the force, refusals, ends at every moment. */
#include "activ5_fixture.h"

#include "tendon/simulate/activ5.h"
#include "tendon/simulate/memory_radio.h"

typedef struct world {
    activ5_fixture *f;
    uint64_t now;
    tendon_memory_radio air;
    tendon_memory_radio_device in_air;
    tendon_simulated_activ5 trainer;
    tendon_activ5_session session;
    size_t forces, motions;
    tendon_status reason; /* of the last end */
} world;

static world *the_world; /* for the fixture's hook: one at a time */

static void hook(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    world *w = the_world;
    (void)now;
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        w->forces++;
        break;
    case TENDON_ACTIV5_EVENT_IMU:
        w->motions++;
        break;
    case TENDON_ACTIV5_EVENT_DISCONNECTED:
    case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
        w->reason = event->status;
        break;
    default:
        break;
    }
    if (w->forces > 20) {
        activ5_forget(f); /* a stream; it is counted */
    }
}

static world *fresh(const tendon_simulated_activ5_options *options) {
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    the_world = w;
    w->f = activ5_new();
    w->f->hook = hook;
    w->now = 100000;
    assert_int_equal(tendon_simulated_activ5_init(&w->trainer, options), TENDON_OK);
    w->in_air = (tendon_memory_radio_device){.device = tendon_simulated_activ5_device(&w->trainer),
                                             .address = {{0xC5, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                             .rssi = -50,
                                             .present = true};
    tendon_memory_radio_init(&w->air, &w->in_air, 1);
    tendon_memory_radio_set_target(&w->air, &w->in_air.address);
    const tendon_session_link link = tendon_memory_radio_link(&w->air);
    w->f->device.on_request = NULL; /* alone: the session stays with it */
    assert_int_equal(tendon_activ5_session_init(&w->session, &link, &w->f->device), TENDON_OK);
    tendon_memory_radio_attach(&w->air, &tendon_activ5_session_inputs, &w->session);
    return w;
}

static void run(world *w, uint64_t ms) {
    uint64_t end = w->now + ms;
    for (int steps = 0; tendon_memory_radio_deadline(&w->air) <= end; steps++) {
        assert_true(steps < 1000000);
        uint64_t due = tendon_memory_radio_deadline(&w->air);
        w->now = due > w->now ? due : w->now;
        tendon_memory_radio_tick(&w->air, w->now);
    }
    w->now = end;
}

static void done(world *w) {
    free(w->f);
    free(w);
}

static world *ready(const tendon_simulated_activ5_options *options) {
    world *w = fresh(options);
    assert_int_equal(tendon_activ5_device_connect(&w->f->device, w->now), TENDON_OK);
    run(w, 1000);
    assert_true(w->f->device.initialized);
    activ5_forget(w->f);
    return w;
}

static const tendon_simulated_activ5_options legacy = {.legacy = true};

/* ---- the course ---- */

static void a_new_trainer_from_link_to_force_and_motion(void **state) {
    (void)state;
    world *w = fresh(NULL);
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    run(w, 500);
    activ5_expect(w->f, "deviceConnected done:subscribe:5A01:OK didReceiveMessage:uuid1 done:read:F0F7:OK "
                        "didReceiveMessage:uuid2 done:read:F0F8:OK deviceInitialized didReceiveMessage:serialNumber "
                        "didReceiveSerialNumber:A5-000123 done:read:2A25:OK didReceiveMessage:initialMessage "
                        "done:write:5A02:OK");
    assert_true(d->uses_new_protocol && d->initialized);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    uint8_t uuid[128];
    assert_int_equal(tendon_activ5_device_get_uuid(d, uuid, sizeof uuid), 14);
    assert_memory_equal(uuid, "00112233445566", 14);
    assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_start_imu(d, w->now), TENDON_OK);
    run(w, 1100);
    assert_in_range(w->forces, 9, 12);
    assert_in_range(w->motions, 24, 28);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_ISOMETRIC);
    assert_int_equal(tendon_activ5_device_stop(d, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_stop_imu(d, w->now), TENDON_OK);
    run(w, 100);
    size_t forces = w->forces;
    run(w, 1000);
    assert_int_equal(w->forces, forces);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    activ5_forget(w->f);
    assert_int_equal(tendon_activ5_device_get_battery(d, w->now), TENDON_ACTIV5_ERROR_BATTERY_LEVEL_NOT_READABLE);
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 50, w->now), TENDON_OK);
    run(w, 100);
    activ5_expect(w->f, "didReceiveMessage:battery didReceiveBattery:75 done:read:2A19:OK done:write:F0FA:OK");
    assert_int_equal(tendon_activ5_device_get_battery(d, w->now), 75);
    assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
    run(w, 100);
    activ5_expect(w->f, "deviceDisconnected");
    assert_int_equal(w->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
    /* and again, with the same session */
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    run(w, 500);
    assert_true(d->initialized);
    done(w);
}

static void a_legacy_trainer_speaks_text(void **state) {
    (void)state;
    const tendon_simulated_activ5_options variants[] = {
        {.legacy = true}, {.legacy = true, .stale_tails = true}, {.legacy = true, .split_frames = true}};
    for (size_t i = 0; i < 3; i++) {
        world *w = ready(&variants[i]);
        tendon_activ5_device *d = &w->f->device;
        run(w, 500);
        activ5_forget(w->f);
        assert_false(d->uses_new_protocol);
        assert_true(d->sn1.known && d->sn2.known && d->uuid1.known && d->uuid2.known);
        assert_memory_equal(d->sn1.bytes, "A5-000", 6);
        assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
        run(w, 12000); /* of the script: the double squeeze */
        assert_in_range(w->forces, 117, 122);
        assert_int_equal(d->counters.squeezes, 2);
        assert_int_equal(d->counters.double_squeezes, 1);
        assert_int_equal(d->counters.errors, 0);
        assert_int_equal(tendon_activ5_device_start_imu(d, w->now), TENDON_ACTIV5_ERROR_IMU_UNSUPPORTED);
        done(w);
    }
}

static void tare_takes_the_load_away(void **state) {
    (void)state;
    world *w = ready(&(tendon_simulated_activ5_options){.no_script = true});
    tendon_activ5_device *d = &w->f->device;
    tendon_simulated_activ5_load(&w->trainer, 200);
    assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
    run(w, 500);
    assert_true(d->squeeze.squeezed);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    run(w, 500);
    assert_false(d->squeeze.squeezed);
    done(w);
}

/* ---- evergreen ---- */

static void a_trainer_in_stop_switches_itself_off_unless_evergreen(void **state) {
    (void)state;
    for (int evergreen = 0; evergreen <= 1; evergreen++) {
        for (int old = 0; old <= 1; old++) {
            world *w = ready(old ? &legacy : NULL);
            tendon_activ5_device *d = &w->f->device;
            assert_int_equal(tendon_activ5_device_stop(d, w->now), TENDON_OK);
            tendon_activ5_device_set_evergreen(d, evergreen, w->now);
            run(w, 3600000);
            assert_int_equal(tendon_activ5_device_connected(d), evergreen);
            assert_int_equal(w->trainer.counters.switch_offs, !evergreen);
            if (evergreen) {
                assert_in_range(w->trainer.counters.stops, 59, 61);
            }
            done(w);
        }
    }
}

/* ---- what devices lack and refuse ---- */

static void each_characteristic_may_be_missing(void **state) {
    (void)state;
    for (unsigned lacking = 0; lacking < TENDON_SIMULATED_ACTIV5_CHARACTERISTICS; lacking++) {
        world *w = fresh(&(tendon_simulated_activ5_options){.lacks = 1u << lacking});
        tendon_activ5_device *d = &w->f->device;
        assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
        run(w, 1000);
        assert_true(tendon_activ5_device_connected(d));
        assert_int_equal(tendon_activ5_device_has(d, TENDON_ACTIV5_WRITE), lacking != TENDON_SIMULATED_ACTIV5_COMMAND);
        tendon_status status = tendon_activ5_device_start_isometric(d, w->now);
        assert_int_equal(status, TENDON_OK);
        run(w, 1000);
        /* without 5A01 nobody greets, so nobody shakes hands, and the trainer keeps its force */
        assert_int_equal(w->forces > 0, lacking != TENDON_SIMULATED_ACTIV5_TEXT);
        assert_int_equal(d->initialized,
                         lacking != TENDON_SIMULATED_ACTIV5_ID1 && lacking != TENDON_SIMULATED_ACTIV5_ID2);
        done(w);
    }
}

static void a_refused_command_is_told_and_the_queue_goes_on(void **state) {
    (void)state;
    world *w = fresh(&(tendon_simulated_activ5_options){.silent = true});
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    run(w, 500);
    activ5_forget(w->f);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK); /* before the handshake */
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 30000, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_DO_HANDSHAKE, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    run(w, 100);
    activ5_expect(w->f, "done:write:5A02:ATT_WRITE_REQUEST_REJECTED done:write:F0FA:ATT_VALUE_NOT_ALLOWED "
                        "done:write:5A02:OK done:write:5A02:OK didReceiveMessage:initialMessage done:write:5A02:OK");
    done(w);
}

static void the_queue_has_its_limit(void **state) {
    (void)state;
    world *w = ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    for (int i = 0; i < TENDON_ACTIV5_QUEUE_SIZE; i++) {
        assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    }
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    run(w, 100);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    run(w, 100);
    assert_int_equal(w->trainer.counters.commands, 1 + TENDON_ACTIV5_QUEUE_SIZE + 1);
    done(w);
}

static void mal_I02_I05_bad_values_are_told_and_the_stream_goes_on(void **state) {
    (void)state;
    for (int old = 0; old <= 1; old++) {
        for (int kind = 0; kind < TENDON_ACTIV5_MALFORM_COUNT; kind++) {
            world *w = ready(old ? &legacy : NULL);
            tendon_activ5_device *d = &w->f->device;
            assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
            if (!old) {
                assert_int_equal(tendon_activ5_device_start_imu(d, w->now), TENDON_OK);
            }
            run(w, 350);
            tendon_simulated_activ5_inject(&w->trainer, (tendon_simulated_activ5_malformation)kind, 3);
            run(w, 3000);
            assert_true(tendon_activ5_device_connected(d));
            assert_true(w->forces > 20);
            assert_true(d->counters.errors > 0 || w->trainer.counters.malformed == 0 ||
                        kind == TENDON_ACTIV5_MALFORM_UNKNOWN || kind == TENDON_ACTIV5_MALFORM_GARBAGE);
            done(w);
        }
    }
}

/* ---- the end of the link at every moment ---- */

static void a_link_lost_at_every_moment_is_told_once(void **state) {
    (void)state;
    for (int old = 0; old <= 1; old++) {
        for (unsigned steps = 1; steps < 60; steps++) {
            world *w = fresh(old ? &legacy : NULL);
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
            run(w, 1000);
            activ5_expect(w->f, up ? "deviceDisconnected" : "");
            if (!up) {
                assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
                run(w, 1000);
                activ5_expect(w->f, "deviceDisconnected");
            }
            assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
            tendon_memory_radio_set_present(&w->air, &w->in_air, true, w->now);
            assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
            run(w, 1000);
            assert_true(d->initialized);
            done(w);
        }
    }
}

/* ---- what is queued when a device goes, or is silent ---- */

/* Each accepted request ends once, with the reason, before DISCONNECTED; the application may call from within. */
static void hook_that_calls(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    hook(f, event, now);
    if (event->kind == TENDON_ACTIV5_EVENT_DONE && event->status < 0) {
        assert_int_equal(tendon_activ5_device_tare(event->device, now), TENDON_ERROR_DISCONNECTED);
    }
}

static void what_is_queued_ends_with_the_connection(void **state) {
    (void)state;
    for (int asked = 0; asked <= 1; asked++) {
        world *w = ready(NULL);
        tendon_activ5_device *d = &w->f->device;
        w->f->hook = asked ? hook : hook_that_calls;
        assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
        assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
        assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
        if (asked) {
            assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
        } else {
            tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
        }
        run(w, 100);
        activ5_expect(w->f, asked ? "done:read:2A19:ERROR_CANCELLED done:write:5A02:ERROR_CANCELLED "
                                    "done:subscribe:F0FE:ERROR_CANCELLED deviceDisconnected"
                                  : "done:read:2A19:RADIO_ERROR_OUT_OF_RANGE done:write:5A02:RADIO_ERROR_OUT_OF_RANGE "
                                    "done:subscribe:F0FE:RADIO_ERROR_OUT_OF_RANGE deviceDisconnected");
        assert_int_equal(w->session.waiting, 0);
        tendon_memory_radio_set_present(&w->air, &w->in_air, true, w->now);
        w->f->hook = hook;
        assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
        run(w, 1000);
        assert_true(d->initialized);
        done(w);
    }
}

/* Ends the connection from within the end of the first request. */
static void hook_that_disconnects(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    hook(f, event, now);
    if (event->kind == TENDON_ACTIV5_EVENT_DONE && event->status < 0) {
        (void)tendon_activ5_device_disconnect(event->device, now);
    }
}

static void a_handler_disconnects_while_the_queue_fails(void **state) {
    (void)state;
    world *w = ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    w->f->hook = hook_that_disconnects;
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
    run(w, 100);
    activ5_expect(w->f, "done:write:5A02:RADIO_ERROR_OUT_OF_RANGE done:write:5A02:RADIO_ERROR_OUT_OF_RANGE "
                        "deviceDisconnected");
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
    done(w);
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
    world *w = fresh(NULL);
    tendon_peripheral_ops ops = *w->in_air.device.ops;
    ops.connected = mute_connected;
    w->in_air.device.ops = &ops;
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    run(w, 1000);
    assert_true(d->initialized);
    activ5_forget(w->f);
    mute.silent = true;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
    }
    run(w, TENDON_ACTIV5_OPERATION_TIMEOUT_MS - 1);
    activ5_expect(w->f, "");
    run(w, 1);
    activ5_expect(w->f, "done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT "
                        "done:read:2A19:ERROR_TIMEOUT");
    assert_true(tendon_activ5_device_connected(d));
    done(w);
}

/* Tares from within the first timeout: what is queued then is none of those that fail, and is sent. */
static unsigned tares;

static void hook_that_tares(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    hook(f, event, now);
    if (event->kind == TENDON_ACTIV5_EVENT_DONE && event->status == TENDON_ERROR_TIMEOUT && tares == 0) {
        tares++;
        assert_int_equal(tendon_activ5_device_tare(event->device, now), TENDON_OK);
    }
}

static void what_is_queued_after_a_timeout_is_sent(void **state) {
    (void)state;
    world *w = fresh(NULL);
    tendon_peripheral_ops ops = *w->in_air.device.ops;
    ops.connected = mute_connected;
    w->in_air.device.ops = &ops;
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    run(w, 1000);
    activ5_forget(w->f);
    w->f->hook = hook_that_tares;
    tares = 0;
    mute.silent = true;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
    }
    run(w, TENDON_ACTIV5_OPERATION_TIMEOUT_MS);
    activ5_expect(w->f, "done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT done:read:2A19:ERROR_TIMEOUT");
    uint64_t commands = w->trainer.counters.commands;
    mute.silent = false;
    assert_int_equal(mute.io.send(mute.io.context, mute.held, mute.length), TENDON_OK); /* late */
    run(w, 100);
    activ5_expect(w->f, "done:write:5A02:OK");
    assert_int_equal(w->trainer.counters.commands, commands + 1);
    done(w);
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
    the_world = calloc(1, sizeof *the_world);
    disconnects = 0;
    tendon_activ5_session_inputs.disconnected(session, TENDON_RADIO_ERROR_PEER_CLOSED, 8);
    activ5_expect(f, "deviceConnected done:subscribe:5A01:RADIO_ERROR_PEER_CLOSED deviceDisconnected");
    assert_int_equal(disconnects, 0);
    tendon_gatt_client_disconnected(&client, TENDON_RADIO_ERROR_PEER_CLOSED, 8);
    free(the_world);
    free(session);
    free(f);
}

/* ---- with a manager ---- */

typedef struct managed {
    world *w;
    size_t connects;
} managed;

static managed scene;

static tendon_status manager_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    world *w = scene.w;
    (void)now;
    assert_ptr_equal(context, w->f);
    const tendon_session_link link = tendon_memory_radio_link(&w->air);
    switch (request->kind) {
    case TENDON_ACTIV5_REQUEST_SCAN_START:
    case TENDON_ACTIV5_REQUEST_SCAN_STOP:
        tendon_memory_radio_scan(&w->air, request->kind == TENDON_ACTIV5_REQUEST_SCAN_START);
        return TENDON_OK;
    case TENDON_ACTIV5_REQUEST_CONNECT:
        scene.connects++;
        assert_int_equal(tendon_activ5_session_init(&w->session, &link, request->device), TENDON_OK);
        return link.connect(link.context);
    default:
        fail_msg("a request of a connected device did not go to its session");
        return TENDON_OK;
    }
}

static void report(void *context, const tendon_ad_report *r, uint64_t now) {
    world *w = context;
    (void)tendon_activ5_manager_on_advertisement(&w->f->manager, r, now);
}

static void manage(world *w, uint64_t ms) {
    for (uint64_t end = w->now + ms; w->now < end;) {
        run(w, 10);
        tendon_activ5_manager_tick(&w->f->manager, w->now);
    }
}

static void a_lost_trainer_is_found_and_connected_again(void **state) {
    (void)state;
    world *w = fresh(&(tendon_simulated_activ5_options){.switch_off_ms = UINT32_MAX});
    scene = (managed){.w = w};
    tendon_activ5_manager *m = &w->f->manager;
    tendon_activ5_manager_init(m, w->f->devices, ACTIV5_DEVICES, m->on_event, manager_request, w->f);
    w->air.on_report = report;
    w->air.report_context = w;
    assert_int_equal(tendon_activ5_manager_scan(m, w->now), TENDON_OK);
    manage(w, 500);
    tendon_activ5_device *d = tendon_activ5_manager_find(m, "ACTIV5-AC-0001", 14);
    assert_non_null(d);
    assert_true(d->rssi == -50 && tendon_address_equal(&d->peer, &w->in_air.address));
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    manage(w, 1000);
    assert_true(d->initialized);
    for (int i = 1; i <= 5; i++) {
        tendon_memory_radio_set_present(&w->air, &w->in_air, false, w->now);
        manage(w, 2000);
        assert_null(tendon_activ5_manager_find(m, "ACTIV5-AC-0001", 14));
        assert_true(m->scanning);
        tendon_memory_radio_set_present(&w->air, &w->in_air, true, w->now);
        manage(w, 2000);
        d = tendon_activ5_manager_find(m, "ACTIV5-AC-0001", 14);
        assert_non_null(d);
        assert_true(d->initialized);
        assert_int_equal(scene.connects, 1 + i);
    }
    manage(w, 40000);
    assert_false(m->scanning);
    /* asked for: the entry stays, and has its manager's handler again */
    assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
    manage(w, 1000);
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    manage(w, 1000);
    assert_true(d->initialized);
    assert_int_equal(scene.connects, 7);
    tendon_activ5_manager_disconnect_all(m, w->now);
    manage(w, 1000);
    assert_null(tendon_activ5_manager_find(m, "ACTIV5-AC-0001", 14));
    assert_false(m->scanning);
    done(w);
}

/* Devices that are none: they answer that many requests, with errors, and then nothing more. */
typedef struct stranger {
    unsigned answers;
    tendon_bearer_io io;
} stranger;

static tendon_status few_answers(void *context, const uint8_t *pdu, size_t length) {
    stranger *s = context;
    if (s->answers == 0) {
        return TENDON_OK;
    }
    s->answers--;
    return s->io.send(s->io.context, pdu, length);
}

static tendon_status stranger_connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    stranger *s = context;
    (void)now;
    s->io = bearer->io;
    bearer->io = (tendon_bearer_io){s, few_answers};
    return TENDON_OK;
}

static void stranger_gone(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    (void)context, (void)bearer, (void)reason, (void)now;
}

static void stranger_tick(void *context, uint64_t now) {
    (void)context, (void)now;
}

static uint64_t stranger_deadline(const void *context) {
    (void)context;
    return UINT64_MAX;
}

static void a_device_that_is_none_is_left_and_the_reason_told(void **state) {
    (void)state;
    static const struct {
        unsigned answers;
        uint64_t after; /* ms */
        tendon_status reason;
    } cases[] = {
        {0, TENDON_ACTIV5_OPERATION_TIMEOUT_MS, TENDON_ERROR_TIMEOUT},
        {1, TENDON_ACTIV5_DISCOVERY_TIMEOUT_MS, TENDON_ERROR_TIMEOUT}, /* of the whole discovery */
        {9, 0, TENDON_ATT_ERROR(TENDON_ATT_REQUEST_NOT_SUPPORTED)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        world *w = fresh(NULL);
        stranger s = {.answers = cases[i].answers};
        tendon_peripheral_ops ops = *w->in_air.device.ops;
        w->in_air.device = (tendon_peripheral_device){&ops, &s};
        ops.connected = stranger_connected;
        ops.disconnected = stranger_gone;
        ops.tick = stranger_tick;
        ops.writable = stranger_tick;
        ops.deadline = stranger_deadline;
        assert_int_equal(tendon_activ5_device_connect(&w->f->device, w->now), TENDON_OK);
        run(w, 20); /* the link takes that long */
        if (cases[i].after > 0) {
            run(w, cases[i].after - 100);
            activ5_expect(w->f, "deviceConnected");
        }
        run(w, 200);
        activ5_expect(w->f, cases[i].after > 0 ? "deviceDisconnected" : "deviceConnected deviceDisconnected");
        assert_int_equal(w->reason, cases[i].reason);
        done(w);
    }
}

static void init_refuses_what_cannot_work(void **state) {
    (void)state;
    world *w = ready(NULL);
    tendon_session_link link = tendon_memory_radio_link(&w->air);
    tendon_activ5_session *other = calloc(1, sizeof *other);
    assert_int_equal(tendon_activ5_session_init(other, &link, &w->f->device), TENDON_ERROR_INVALID_ARGUMENT);
    link.connect = NULL;
    assert_int_equal(tendon_activ5_session_init(other, &link, w->f->devices), TENDON_ERROR_INVALID_ARGUMENT);
    free(other);
    done(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_trainer_from_link_to_force_and_motion),
        cmocka_unit_test(a_legacy_trainer_speaks_text),
        cmocka_unit_test(tare_takes_the_load_away),
        cmocka_unit_test(a_trainer_in_stop_switches_itself_off_unless_evergreen),
        cmocka_unit_test(each_characteristic_may_be_missing),
        cmocka_unit_test(a_refused_command_is_told_and_the_queue_goes_on),
        cmocka_unit_test(the_queue_has_its_limit),
        cmocka_unit_test(mal_I02_I05_bad_values_are_told_and_the_stream_goes_on),
        cmocka_unit_test(a_link_lost_at_every_moment_is_told_once),
        cmocka_unit_test(what_is_queued_ends_with_the_connection),
        cmocka_unit_test(a_handler_disconnects_while_the_queue_fails),
        cmocka_unit_test(a_silent_device_fails_the_queue_once),
        cmocka_unit_test(what_is_queued_after_a_timeout_is_sent),
        cmocka_unit_test(p12_the_client_ends_after_the_session),
        cmocka_unit_test(a_lost_trainer_is_found_and_connected_again),
        cmocka_unit_test(a_device_that_is_none_is_left_and_the_reason_told),
        cmocka_unit_test(init_refuses_what_cannot_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
