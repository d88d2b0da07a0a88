/* SPDX-License-Identifier: MIT */
/* Activ5 session against simulated trainers: from the search to the force, refusals, devices that lack something. */
#include "activ5_world.h"

/* ---- the course ---- */

static void a_new_trainer_from_link_to_force_and_motion(void **state) {
    (void)state;
    activ5_world *w = activ5_world_new(NULL);
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 500);
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
    activ5_world_run(w, 1100);
    assert_in_range(w->forces, 9, 12);
    assert_in_range(w->motions, 24, 28);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_ISOMETRIC);
    assert_int_equal(tendon_activ5_device_stop(d, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_stop_imu(d, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    size_t forces = w->forces;
    activ5_world_run(w, 1000);
    assert_int_equal(w->forces, forces);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    activ5_forget(w->f);
    assert_int_equal(tendon_activ5_device_get_battery(d, w->now), TENDON_ACTIV5_ERROR_BATTERY_LEVEL_NOT_READABLE);
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 50, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    activ5_expect(w->f, "didReceiveMessage:battery didReceiveBattery:75 done:read:2A19:OK done:write:F0FA:OK");
    assert_int_equal(tendon_activ5_device_get_battery(d, w->now), 75);
    assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    activ5_expect(w->f, "deviceDisconnected");
    assert_int_equal(w->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
    /* and again, with the same session */
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 500);
    assert_true(d->initialized);
    activ5_world_free(w);
}

static void a_legacy_trainer_speaks_text(void **state) {
    (void)state;
    const tendon_simulated_activ5_options variants[] = {
        {.legacy = true}, {.legacy = true, .stale_tails = true}, {.legacy = true, .split_frames = true}};
    for (size_t i = 0; i < 3; i++) {
        activ5_world *w = activ5_world_ready(&variants[i]);
        tendon_activ5_device *d = &w->f->device;
        activ5_world_run(w, 500);
        activ5_forget(w->f);
        assert_false(d->uses_new_protocol);
        assert_true(d->sn1.known && d->sn2.known && d->uuid1.known && d->uuid2.known);
        assert_memory_equal(d->sn1.bytes, "A5-000", 6);
        assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
        activ5_world_run(w, 12000); /* of the script: the double squeeze */
        assert_in_range(w->forces, 117, 122);
        assert_int_equal(d->counters.squeezes, 2);
        assert_int_equal(d->counters.double_squeezes, 1);
        assert_int_equal(d->counters.errors, 0);
        assert_int_equal(tendon_activ5_device_start_imu(d, w->now), TENDON_ACTIV5_ERROR_IMU_UNSUPPORTED);
        activ5_world_free(w);
    }
}

/* With its first byte and the terminator it has the 20 bytes of the shortest MTU. */
static void the_longest_text_is_written(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(&activ5_legacy);
    activ5_world_run(w, 500);
    activ5_forget(w->f);
    uint64_t before = w->trainer.counters.refused_writes;
    assert_int_equal(tendon_activ5_device_send_text(&w->f->device, "abcdefghijklmnopqr", 18, w->now), TENDON_OK);
    activ5_world_run(w, 500);
    assert_int_equal(w->trainer.counters.refused_writes, before + 1); /* it got there, and is none of its commands */
    activ5_world_free(w);
}

/* The older UUID of the force: the last row of the profile, which has a CCCD too. */
static void a_trainer_with_the_older_force(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.force_is_f0f1 = true};
    activ5_world *w = activ5_world_new(&options);
    tendon_activ5_device *d = &w->f->device;
    w->f->options.accept_f0f1 = true;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 1000);
    assert_true(d->initialized);
    assert_true((d->characteristics >> TENDON_ACTIV5_OLD_FORCE & 1u) != 0);
    assert_true((d->characteristics >> TENDON_ACTIV5_FORCE & 1u) == 0);
    assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
    activ5_world_run(w, 1100);
    assert_in_range(w->forces, 9, 12);
    activ5_world_free(w);
}

static void tare_takes_the_load_away(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(&(tendon_simulated_activ5_options){.no_script = true});
    tendon_activ5_device *d = &w->f->device;
    tendon_simulated_activ5_load(&w->trainer, 200);
    assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
    activ5_world_run(w, 500);
    assert_true(d->squeeze.squeezed);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    activ5_world_run(w, 500);
    assert_false(d->squeeze.squeezed);
    activ5_world_free(w);
}

/* ---- evergreen ---- */

static void a_trainer_in_stop_switches_itself_off_unless_evergreen(void **state) {
    (void)state;
    for (int evergreen = 0; evergreen <= 1; evergreen++) {
        for (int old = 0; old <= 1; old++) {
            activ5_world *w = activ5_world_ready(old ? &activ5_legacy : NULL);
            tendon_activ5_device *d = &w->f->device;
            assert_int_equal(tendon_activ5_device_stop(d, w->now), TENDON_OK);
            tendon_activ5_device_set_evergreen(d, evergreen, w->now);
            activ5_world_run(w, 3600000);
            assert_int_equal(tendon_activ5_device_connected(d), evergreen);
            assert_int_equal(w->trainer.counters.switch_offs, !evergreen);
            if (evergreen) {
                assert_in_range(w->trainer.counters.stops, 59, 61);
            }
            activ5_world_free(w);
        }
    }
}

/* ---- what devices lack and refuse ---- */

/* The process stood still for minutes: a request of that time has its own deadlines, not those of the past. */
static void a_late_evergreen_does_not_end_the_connection(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_stop(d, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    tendon_activ5_device_set_evergreen(d, true, w->now);
    activ5_forget(w->f);
    w->now += 5 * TENDON_ACTIV5_EVERGREEN_MS + 100;
    tendon_memory_radio_tick(&w->air, w->now);
    activ5_world_run(w, 200);
    activ5_expect(w->f, "done:write:5A02:OK");
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_UP);
    activ5_world_free(w);
}

static void each_characteristic_may_be_missing(void **state) {
    (void)state;
    for (unsigned lacking = 0; lacking < TENDON_SIMULATED_ACTIV5_CHARACTERISTICS; lacking++) {
        activ5_world *w = activ5_world_new(&(tendon_simulated_activ5_options){.lacks = 1u << lacking});
        tendon_activ5_device *d = &w->f->device;
        assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
        activ5_world_run(w, 1000);
        assert_true(tendon_activ5_device_connected(d));
        assert_int_equal(tendon_activ5_device_has(d, TENDON_ACTIV5_TEXT_COMMAND),
                         lacking != TENDON_SIMULATED_ACTIV5_COMMAND);
        tendon_status status = tendon_activ5_device_start_isometric(d, w->now);
        assert_int_equal(status, TENDON_OK);
        activ5_world_run(w, 1000);
        /* without 5A01 nobody greets, so nobody shakes hands, and the trainer keeps its force */
        assert_int_equal(w->forces > 0, lacking != TENDON_SIMULATED_ACTIV5_TEXT);
        assert_int_equal(d->initialized,
                         lacking != TENDON_SIMULATED_ACTIV5_ID1 && lacking != TENDON_SIMULATED_ACTIV5_ID2);
        activ5_world_free(w);
    }
}

static void a_refused_command_is_told_and_the_queue_goes_on(void **state) {
    (void)state;
    activ5_world *w = activ5_world_new(&(tendon_simulated_activ5_options){.silent = true});
    tendon_activ5_device *d = &w->f->device;
    assert_int_equal(tendon_activ5_device_connect(d, w->now), TENDON_OK);
    activ5_world_run(w, 500);
    activ5_forget(w->f);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK); /* before the handshake */
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 30000, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_DO_HANDSHAKE, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    activ5_expect(w->f, "done:write:5A02:ATT_WRITE_REQUEST_REJECTED done:write:F0FA:ATT_VALUE_NOT_ALLOWED "
                        "done:write:5A02:OK done:write:5A02:OK didReceiveMessage:initialMessage done:write:5A02:OK");
    activ5_world_free(w);
}

/* The trainer has changed its services while it was connected: the handle is none of those that were discovered. */
static void a_stale_handle_is_reported(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    for (size_t i = 0; i < TENDON_ACTIV5_CHARACTERISTIC_COUNT; i++) {
        w->session.found[i].value = 0x0FFF;
    }
    assert_int_equal(tendon_activ5_device_tare(&w->f->device, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    activ5_expect(w->f, "done:write:5A02:ATT_INVALID_HANDLE");
    assert_true(tendon_activ5_device_connected(&w->f->device));
    activ5_world_free(w);
}

static void the_queue_has_its_limit(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    for (int i = 0; i < TENDON_ACTIV5_QUEUE_SIZE; i++) {
        assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    }
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
    activ5_world_run(w, 100);
    assert_int_equal(tendon_activ5_device_tare(d, w->now), TENDON_OK);
    activ5_world_run(w, 100);
    assert_int_equal(w->trainer.counters.commands, 1 + TENDON_ACTIV5_QUEUE_SIZE + 1);
    activ5_world_free(w);
}

static void mal_I02_I05_bad_values_are_told_and_the_stream_goes_on(void **state) {
    (void)state;
    for (int old = 0; old <= 1; old++) {
        for (int kind = 0; kind < TENDON_ACTIV5_MALFORM_COUNT; kind++) {
            activ5_world *w = activ5_world_ready(old ? &activ5_legacy : NULL);
            tendon_activ5_device *d = &w->f->device;
            assert_int_equal(tendon_activ5_device_start_isometric(d, w->now), TENDON_OK);
            if (!old) {
                assert_int_equal(tendon_activ5_device_start_imu(d, w->now), TENDON_OK);
            }
            activ5_world_run(w, 350);
            tendon_simulated_activ5_inject(&w->trainer, (tendon_simulated_activ5_malformation)kind, 3);
            activ5_world_run(w, 3000);
            assert_true(tendon_activ5_device_connected(d));
            assert_true(w->forces > 20);
            assert_true(d->counters.errors > 0 || w->trainer.counters.malformed == 0 ||
                        kind == TENDON_ACTIV5_MALFORM_UNKNOWN || kind == TENDON_ACTIV5_MALFORM_GARBAGE);
            activ5_world_free(w);
        }
    }
}

/* ---- with a manager ---- */

typedef struct managed {
    activ5_world *w;
    size_t connects;
} managed;

static managed scene;

static tendon_status manager_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    activ5_world *w = scene.w;
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
    activ5_world *w = context;
    (void)tendon_activ5_manager_on_advertisement(&w->f->manager, r, now);
}

static void manage(activ5_world *w, uint64_t ms) {
    for (uint64_t end = w->now + ms; w->now < end;) {
        activ5_world_run(w, 10);
        tendon_activ5_manager_tick(&w->f->manager, w->now);
    }
}

static void a_lost_trainer_is_found_and_connected_again(void **state) {
    (void)state;
    activ5_world *w = activ5_world_new(&(tendon_simulated_activ5_options){.switch_off_ms = UINT32_MAX});
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
    activ5_world_free(w);
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
        activ5_world *w = activ5_world_new(NULL);
        stranger s = {.answers = cases[i].answers};
        tendon_peripheral_ops ops = *w->in_air.device.ops;
        w->in_air.device = (tendon_peripheral_device){&ops, &s};
        ops.connected = stranger_connected;
        ops.disconnected = stranger_gone;
        ops.tick = stranger_tick;
        ops.writable = stranger_tick;
        ops.deadline = stranger_deadline;
        assert_int_equal(tendon_activ5_device_connect(&w->f->device, w->now), TENDON_OK);
        activ5_world_run(w, 20); /* the link takes that long */
        if (cases[i].after > 0) {
            activ5_world_run(w, cases[i].after - 100);
            activ5_expect(w->f, "deviceConnected");
        }
        activ5_world_run(w, 200);
        activ5_expect(w->f, cases[i].after > 0 ? "deviceDisconnected" : "deviceConnected deviceDisconnected");
        assert_int_equal(w->reason, cases[i].reason);
        activ5_world_free(w);
    }
}

static void init_refuses_what_cannot_work(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    tendon_session_link link = tendon_memory_radio_link(&w->air);
    tendon_activ5_session *other = calloc(1, sizeof *other);
    assert_int_equal(tendon_activ5_session_init(other, &link, &w->f->device), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_session_link half = link;
    half.connect = NULL;
    assert_int_equal(tendon_activ5_session_init(other, &half, w->f->devices), TENDON_ERROR_INVALID_ARGUMENT);
    half = link;
    half.disconnect = NULL;
    assert_int_equal(tendon_activ5_session_init(other, &half, w->f->devices), TENDON_ERROR_INVALID_ARGUMENT);
    free(other);
    activ5_world_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_trainer_from_link_to_force_and_motion),
        cmocka_unit_test(a_legacy_trainer_speaks_text),
        cmocka_unit_test(the_longest_text_is_written),
        cmocka_unit_test(a_trainer_with_the_older_force),
        cmocka_unit_test(tare_takes_the_load_away),
        cmocka_unit_test(a_trainer_in_stop_switches_itself_off_unless_evergreen),
        cmocka_unit_test(a_late_evergreen_does_not_end_the_connection),
        cmocka_unit_test(each_characteristic_may_be_missing),
        cmocka_unit_test(a_refused_command_is_told_and_the_queue_goes_on),
        cmocka_unit_test(a_stale_handle_is_reported),
        cmocka_unit_test(the_queue_has_its_limit),
        cmocka_unit_test(mal_I02_I05_bad_values_are_told_and_the_stream_goes_on),
        cmocka_unit_test(a_lost_trainer_is_found_and_connected_again),
        cmocka_unit_test(a_device_that_is_none_is_left_and_the_reason_told),
        cmocka_unit_test(init_refuses_what_cannot_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
