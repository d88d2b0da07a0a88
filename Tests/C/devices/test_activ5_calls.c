/* SPDX-License-Identifier: MIT */
/* Activ5: the time of every call, calls that are refused, and what is left of a connection when it has ended. */
#include "activ5_world.h"

/* ---- time ---- */

static tendon_status call(tendon_activ5_device *d, unsigned which, uint64_t now) {
    switch (which) {
    case 0:
        return tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_SN1, now);
    case 1:
        return tendon_activ5_device_send_text(d, "hello", 5, now);
    case 2:
        return tendon_activ5_device_start_isometric(d, now);
    case 3:
        return tendon_activ5_device_stop(d, now);
    case 4:
        return tendon_activ5_device_tare(d, now);
    case 5:
        return tendon_activ5_device_start_imu(d, now);
    case 6:
        return tendon_activ5_device_stop_imu(d, now);
    case 7:
        return tendon_activ5_device_set_sample_rate(d, 50, now);
    case 8:
        return tendon_activ5_device_get_battery(d, now);
    case 9:
        return tendon_activ5_device_send(d, TENDON_ACTIV5_DO_HANDSHAKE, now);
    case 10:
        return tendon_activ5_device_start_isometric_when_ready(d, now);
    default:
        return tendon_activ5_device_disconnect(d, now);
    }
}

/* The session begins the limit of a request with the time that comes with it. */
static void every_call_requests_with_its_own_time(void **state) {
    (void)state;
    static const struct {
        const char *words;
        tendon_status status;
    } rows[] = {
        {"write:SN1!@5000", 0},
        {"write:hello@5000", 0},
        {"subscribe:F0FE@5000", 0},
        {"unsubscribe:F0FE@5000", 0},
        {"write:TARE!@5000", 0},
        {"subscribe:F0F5@5000", 0},
        {"unsubscribe:F0F5@5000", 0},
        {"write:F0FA:3200@5000", 0},
        {"read:2A19@5000", TENDON_ACTIV5_ERROR_BATTERY_LEVEL_NOT_READABLE},
        {"write:TVGTIME@5000", 0},
        {"subscribe:F0FE@5000", 0},
        {"disconnect@5000", 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        activ5_fixture *f = activ5_new();
        f->timed = true;
        activ5_reach(f, &f->device, ACTIV5_NEW, 7);
        f->device.version.known = true; /* greeted: nothing waits */
        assert_int_equal(call(&f->device, i, 5000), rows[i].status);
        activ5_expect(f, rows[i].words);
        free(f);
    }
    activ5_fixture *f = activ5_new();
    f->timed = true;
    assert_int_equal(tendon_activ5_device_connect(&f->device, 5000), TENDON_OK);
    activ5_expect(f, "connect@5000");
    tendon_activ5_device_link_up(&f->device, 6000);
    activ5_expect(f, "deviceConnected@6000 discover@6000");
    tendon_activ5_device_discovered(&f->device, false, activ5_all, ACTIV5_LEGACY, 7000);
    activ5_expect(f, "subscribe:5A01@7000");
    tendon_activ5_device_link_down(&f->device, TENDON_ERROR_DISCONNECTED, 8000);
    activ5_expect(f, "deviceDisconnected@8000");
    assert_int_equal(tendon_activ5_device_open(&f->device, 9000), TENDON_OK);
    activ5_expect(f, "connect@9000");
    tendon_activ5_device_link_failed(&f->device, TENDON_ERROR_TIMEOUT, 9500);
    activ5_expect(f, "didFailToConnect@9500");
    free(f);
}

/* Evergreen mode counts its minute from the call, and from the connection. */
static void the_minute_of_evergreen_begins_with_the_call_or_the_connection(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    activ5_reach(f, &f->device, ACTIV5_LEGACY, 1000);
    f->device.evergreen = true;
    assert_int_equal(tendon_activ5_device_deadline(&f->device), 61000);
    tendon_activ5_device_set_evergreen(&f->device, true, 5000);
    assert_int_equal(tendon_activ5_device_deadline(&f->device), 65000);
    tendon_activ5_device_set_evergreen(&f->device, false, 6000);
    assert_true(tendon_activ5_device_deadline(&f->device) == UINT64_MAX);
    free(f);
}

/* ---- opening ---- */

static activ5_fixture *waiting(uint64_t now) {
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_device_open(&f->device, now), TENDON_OK);
    tendon_activ5_device_link_up(&f->device, now);
    tendon_activ5_device_discovered(&f->device, false, activ5_all, ACTIV5_LEGACY, now);
    activ5_forget(f);
    return f;
}

/* However often a program opens a device, the limit stays where the first call has put it. */
static void opening_again_does_not_prolong_the_limit(void **state) {
    (void)state;
    for (int force = 0; force <= 1; force++) {
        activ5_fixture *f = waiting(1000);
        tendon_activ5_device *d = &f->device;
        f->options.auto_handshake = false;
        for (uint64_t now = 2000; now < 11000; now += 1000) {
            activ5_say(d, "hello", now);
            assert_int_equal(force ? tendon_activ5_device_start_isometric_when_ready(d, now + 1)
                                   : tendon_activ5_device_open(d, now + 1),
                             TENDON_OK);
            uint64_t silence = now + 1500;
            assert_int_equal(tendon_activ5_device_deadline(d), silence < 11000 ? silence : 11000);
        }
        free(f);
    }
}

/* Before the discovery there is nothing to wait for: the limit of the session applies. */
static void opening_before_the_discovery_sets_no_limit(void **state) {
    (void)state;
    for (int force = 0; force <= 1; force++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
        tendon_activ5_device_link_up(d, 0);
        d->silence_deadline = d->greeting_deadline = 77;
        assert_int_equal(
            force ? tendon_activ5_device_start_isometric_when_ready(d, 5) : tendon_activ5_device_open(d, 5), TENDON_OK);
        assert_int_equal(d->silence_deadline, 77);
        assert_int_equal(d->greeting_deadline, 77);
        assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX);
        free(f);
    }
}

/* ---- refusals ---- */

/* A handshake whose first write is refused writes nothing else. */
static void a_refused_handshake_ends_with_its_first_write(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    activ5_reach(f, &f->device, ACTIV5_LEGACY, 0);
    f->refuse = TENDON_GATT_ERROR_QUEUE_FULL;
    assert_int_equal(tendon_activ5_device_send(&f->device, TENDON_ACTIV5_DO_HANDSHAKE, 1),
                     TENDON_GATT_ERROR_QUEUE_FULL);
    activ5_expect(f, "write:TVGTIME");
    free(f);
}

/* What was asked for after disconnect() is not sent, also when a response comes before the end. */
static void nothing_is_sent_between_disconnect_and_the_end(void **state) {
    (void)state;
    activ5_world *w = activ5_world_ready(NULL);
    tendon_activ5_device *d = &w->f->device;
    uint8_t level = d->battery;
    assert_int_equal(tendon_activ5_device_send(d, TENDON_ACTIV5_ASK_BATTERY, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 50, w->now), TENDON_OK);
    assert_int_equal(tendon_activ5_device_disconnect(d, w->now), TENDON_OK);
    assert_int_equal(w->session.waiting, 2);
    const tendon_gatt_result response = {.status = TENDON_OK, .request = w->session.engine.op.request, .now = w->now};
    w->session.engine.op.rules->done(w->session.engine.op.context, &response);
    assert_int_equal(w->session.engine.op.kind, 0); /* the sample rate stays where it is */
    assert_int_equal(w->session.waiting, 1);
    assert_int_equal(d->battery, level);
    activ5_world_run(w, 1000);
    assert_int_equal(w->session.waiting, 0);
    activ5_world_free(w);
}

/* Both halves of the id, whichever comes first. */
static void an_id_has_two_halves(void **state) {
    (void)state;
    for (int first = 0; first <= 1; first++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        uint8_t id[2 * TENDON_ACTIV5_KEPT_SIZE];
        activ5_reach(f, d, ACTIV5_NEW, 0);
        activ5_value(d, first ? TENDON_ACTIV5_UUID2 : TENDON_ACTIV5_UUID1, "6162", 1);
        assert_int_equal(tendon_activ5_device_get_uuid(d, id, sizeof id), TENDON_ACTIV5_ERROR_NOT_READY);
        activ5_value(d, first ? TENDON_ACTIV5_UUID1 : TENDON_ACTIV5_UUID2, "6364", 2);
        assert_int_equal(tendon_activ5_device_get_uuid(d, id, sizeof id), 4);
        assert_memory_equal(id, first ? "cdab" : "abcd", 4);
        free(f);
    }
}

/* ---- the list ---- */

/* What a program took out of the list does not come back when all are disconnected. */
static void a_removed_device_stays_removed(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *removed = activ5_found(f, "ACTIV5-1", 1), *kept = activ5_found(f, "ACTIV5-2", 1),
                         *idle = activ5_found(f, "ACTIV5-3", 1);
    assert_true(removed != NULL && kept != NULL && idle != NULL);
    assert_int_equal(tendon_activ5_device_connect(removed, 2), TENDON_OK);
    assert_int_equal(tendon_activ5_device_connect(kept, 2), TENDON_OK);
    tendon_activ5_manager_remove(&f->manager, removed);
    assert_false(removed->listed || removed->reconnects);
    tendon_activ5_manager_disconnect_all(&f->manager, 3);
    assert_false(removed->listed);
    assert_true(removed->forget && kept->listed && kept->forget);
    assert_false(idle->listed || idle->forget);
    free(f);
}

/* ---- the end ---- */

/* Each member that belongs to a connection, set and then looked at. */
static void nothing_of_a_connection_is_left_after_its_end(void **state) {
    (void)state;
    for (int again = 0; again <= 1; again++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        activ5_reach(f, d, ACTIV5_NEW, 10);
        d->rssi = -40;
        d->opening = d->starts_force = d->offered = d->initialized = true;
        d->version.known = d->serial_number.known = d->sn1.known = d->sn2.known = true;
        d->uuid1.known = d->uuid2.known = d->has_battery = true;
        static const uint8_t begun[] = {0x12, 'T'};
        tendon_activ5_device_value(d, TENDON_ACTIV5_TEXT_OUTPUT, begun, sizeof begun, 11);
        assert_true(d->deframer.collecting);
        memset(&d->squeeze, 1, sizeof d->squeeze);
        tendon_activ5_device_link_down(d, TENDON_ERROR_DISCONNECTED, 20);
        assert_int_equal(d->state, TENDON_ACTIV5_STATE_DISCONNECTED);
        assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
        assert_int_equal(d->rssi, 0);
        assert_false(d->opening || d->starts_force || d->offered || d->initialized || d->discovered);
        assert_false(d->deframer.collecting);
        assert_int_equal(d->deframer.length, 0);
        assert_int_equal(d->characteristics, 0);
        const tendon_activ5_squeeze none = {0};
        assert_memory_equal(&d->squeeze, &none, sizeof none);
        assert_true(d->version.known && d->uuid1.known && d->has_battery); /* may be read until the next connection */
        assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX);
        if (again) {
            assert_int_equal(tendon_activ5_device_connect(d, 30), TENDON_OK);
            d->uses_new_protocol = true;
            tendon_activ5_device_link_up(d, 30);
            assert_false(d->version.known || d->serial_number.known || d->sn1.known || d->sn2.known);
            assert_false(d->uuid1.known || d->uuid2.known || d->has_battery || d->uses_new_protocol);
        }
        free(f);
    }
}

/* Inputs that no state expects are counted, and change nothing. */
static void what_comes_without_a_connection_is_counted(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    tendon_activ5_device_link_up(d, 1);
    tendon_activ5_device_link_down(d, TENDON_ERROR_DISCONNECTED, 1);
    tendon_activ5_device_discovered(d, true, activ5_all, ACTIV5_NEW, 1);
    activ5_value(d, TENDON_ACTIV5_FORCE, "0100", 1);
    activ5_expect(f, "");
    assert_int_equal(d->counters.ignored, 4);
    assert_int_equal(d->counters.values, 0);
    assert_int_equal(d->characteristics, 0);
    activ5_reach(f, d, ACTIV5_NEW, 2);
    activ5_value(d, TENDON_ACTIV5_FORCE, "0100", 3);
    activ5_value(d, TENDON_ACTIV5_FORCE, "01", 3);
    assert_int_equal(d->counters.values, 2);
    assert_int_equal(d->counters.messages, 1);
    assert_int_equal(d->counters.errors, 1);
    assert_int_equal(d->counters.ignored, 4);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_requests_with_its_own_time),
        cmocka_unit_test(the_minute_of_evergreen_begins_with_the_call_or_the_connection),
        cmocka_unit_test(opening_again_does_not_prolong_the_limit),
        cmocka_unit_test(opening_before_the_discovery_sets_no_limit),
        cmocka_unit_test(a_refused_handshake_ends_with_its_first_write),
        cmocka_unit_test(nothing_is_sent_between_disconnect_and_the_end),
        cmocka_unit_test(an_id_has_two_halves),
        cmocka_unit_test(a_removed_device_stays_removed),
        cmocka_unit_test(nothing_of_a_connection_is_left_after_its_end),
        cmocka_unit_test(what_comes_without_a_connection_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
