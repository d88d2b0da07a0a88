/* SPDX-License-Identifier: MIT */
/* Opening an Activ5 device: its first message, the offer after a silence, force requested early. */
#include "activ5_fixture.h"

#define E(name) TENDON_ACTIV5_ERROR_##name

static activ5_fixture *opening(size_t characteristics) {
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    assert_int_equal(tendon_activ5_device_open(d, 0), TENDON_OK);
    assert_int_equal(tendon_activ5_device_open(d, 1), TENDON_OK); /* joins the attempt */
    tendon_activ5_device_link_up(d, 10);
    activ5_expect(f, "connect deviceConnected discover");
    assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX); /* the session limits the discovery */
    tendon_activ5_device_discovered(d, characteristics > ACTIV5_LEGACY, activ5_all, characteristics, 1000);
    activ5_forget(f);
    f->timed = true;
    return f;
}

static void a_legacy_device_is_ready_with_its_first_message(void **state) {
    (void)state;
    activ5_fixture *f = opening(ACTIV5_LEGACY);
    assert_false(tendon_activ5_device_is_ready(&f->device));
    assert_int_equal(tendon_activ5_device_deadline(&f->device), 2500);
    activ5_say(&f->device, "TC5k;1.00", 1200);
    activ5_expect(f, "write:TVGTIME@1200 write:ID1!@1200 write:ID2!@1200 write:SN1!@1200 write:SN2!@1200 "
                     "deviceInitialized@1200 didReceiveMessage:initialMessage@1200 ready:OK@1200");
    assert_true(tendon_activ5_device_is_ready(&f->device));
    assert_true(tendon_activ5_device_deadline(&f->device) == UINT64_MAX);
    activ5_say(&f->device, "TC5k;1.00", 1300); /* once */
    assert_null(strstr(f->words, "ready"));
    free(f);
}

static void a_new_device_is_ready_when_it_has_said_who_it_is(void **state) {
    (void)state;
    activ5_fixture *f = opening(ACTIV5_NEW);
    tendon_activ5_device *d = &f->device;
    activ5_say(d, "TC5k;1.00", 1100);
    activ5_value(d, TENDON_ACTIV5_UUID1, "6162", 1200);
    activ5_value(d, TENDON_ACTIV5_UUID2, "6364", 1300);
    assert_null(strstr(f->words, "ready"));
    activ5_forget(f);
    activ5_value(d, TENDON_ACTIV5_SERIAL_NUMBER, "5831", 1400);
    activ5_expect(f, "deviceInitialized@1400 didReceiveMessage:serialNumber@1400 didReceiveSerialNumber:X1@1400 "
                     "ready:OK@1400");
    free(f);
}

static void a_silent_device_is_offered_the_handshake_once(void **state) {
    (void)state;
    for (int answers = 0; answers <= 1; answers++) {
        activ5_fixture *f = opening(ACTIV5_LEGACY);
        tendon_activ5_device *d = &f->device;
        tendon_activ5_device_tick(d, 2499);
        activ5_expect(f, "");
        tendon_activ5_device_tick(d, 2500);
        activ5_expect(f, "write:TVGTIME@2500 write:ID1!@2500 write:ID2!@2500 write:SN1!@2500 write:SN2!@2500");
        if (answers) {
            activ5_say(d, "TC5k;1.00", 2600); /* its answer: no second handshake */
            activ5_expect(f, "deviceInitialized@2600 didReceiveMessage:initialMessage@2600 ready:OK@2600");
            assert_int_equal(d->state, TENDON_ACTIV5_STATE_STOP);
        } else {
            tendon_activ5_device_tick(d, 9000);
            activ5_expect(f, "ready:OK@4000");
        }
        assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX);
        free(f);
    }
}

static void samples_do_not_prolong_the_silence_and_other_values_do_until_the_limit(void **state) {
    (void)state;
    activ5_fixture *f = opening(ACTIV5_NEW);
    tendon_activ5_device *d = &f->device;
    f->options.auto_handshake = false; /* then nothing is offered */
    activ5_value(d, TENDON_ACTIV5_FORCE, "0100", 2000);
    assert_int_equal(tendon_activ5_device_deadline(d), 2500);
    for (uint64_t now = 2400; now < 11000; now += 1000) {
        activ5_say(d, "hello", now);
    }
    assert_null(strstr(f->words, "ready"));
    activ5_forget(f);
    tendon_activ5_device_tick(d, 11000);
    activ5_expect(f, "ready:OK@11000");
    free(f);
}

/* At the limit nothing is offered any more. */
static void a_device_that_is_never_silent_gets_no_offer(void **state) {
    (void)state;
    activ5_fixture *f = opening(ACTIV5_LEGACY);
    for (uint64_t now = 2400; now < 11000; now += 1000) {
        activ5_say(&f->device, "hello", now);
    }
    activ5_forget(f);
    tendon_activ5_device_tick(&f->device, 11000);
    activ5_expect(f, "ready:OK@11000");
    free(f);
}

static void a_device_without_commands_is_ready_with_its_first_value(void **state) {
    (void)state;
    static const tendon_activ5_characteristic text = TENDON_ACTIV5_TEXT_OUTPUT;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_device_open(&f->device, 0), TENDON_OK);
    tendon_activ5_device_link_up(&f->device, 0);
    tendon_activ5_device_discovered(&f->device, false, &text, 1, 0);
    activ5_forget(f);
    activ5_say(&f->device, "IS1/IS", 100);
    activ5_expect(f, "deviceInitialized didReceiveMessage:isometric didReceiveIsometric:1.086 ready:OK");
    free(f);
}

/* Our design: 10 s to the first message of a device whose characteristics are known already. */
static void the_first_message_has_10_s(void **state) {
    (void)state;
    for (int force = 0; force < 2; force++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
        tendon_activ5_device_link_up(d, 10);
        tendon_activ5_device_discovered(d, false, activ5_all, ACTIV5_LEGACY, 1000);
        if (force) {
            assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 5000), TENDON_OK);
        }
        assert_int_equal(tendon_activ5_device_open(d, force ? 6000 : 5000), TENDON_OK);
        const tendon_activ5_request read = {
            .kind = TENDON_ACTIV5_REQUEST_READ, .device = d, .characteristic = TENDON_ACTIV5_UUID1};
        for (uint64_t now = 6000; now < 15000; now += 1000) { /* it is not silent */
            tendon_activ5_device_done(d, &read, TENDON_OK, now);
        }
        tendon_activ5_device_tick(d, 14999);
        assert_int_equal(tendon_activ5_device_deadline(d), 15000);
        activ5_forget(f);
        tendon_activ5_device_tick(d, 15000);
        assert_string_not_equal(f->words, "");
        free(f);
    }
}

static void a_completed_request_prolongs_the_silence(void **state) {
    (void)state;
    activ5_fixture *f = opening(ACTIV5_NEW);
    const tendon_activ5_request read = {
        .kind = TENDON_ACTIV5_REQUEST_READ, .device = &f->device, .characteristic = TENDON_ACTIV5_UUID1};
    tendon_activ5_device_done(&f->device, &read, TENDON_OK, 2000);
    assert_int_equal(tendon_activ5_device_deadline(&f->device), 3500);
    free(f);
}

/* Texts in either direction, force or motion: any one of them makes it a trainer, no other characteristic does. */
static void a_device_of_another_kind_is_unsupported(void **state) {
    (void)state;
    for (unsigned i = 1; i < TENDON_ACTIV5_CHARACTERISTIC_COUNT; i++) {
        const tendon_activ5_characteristic alone = (tendon_activ5_characteristic)i;
        bool trainer = alone == TENDON_ACTIV5_TEXT_OUTPUT || alone == TENDON_ACTIV5_TEXT_COMMAND ||
                       alone == TENDON_ACTIV5_FORCE || alone == TENDON_ACTIV5_IMU;
        activ5_fixture *f = activ5_new();
        assert_int_equal(tendon_activ5_device_open(&f->device, 0), TENDON_OK);
        tendon_activ5_device_link_up(&f->device, 0);
        tendon_activ5_device_discovered(&f->device, false, &alone, 1, 0);
        tendon_activ5_device_tick(&f->device, 20000);
        const char *ready = strstr(f->words, "ready:");
        assert_non_null(ready);
        assert_int_equal(strncmp(ready, "ready:OK", 8) == 0, trainer);
        assert_int_equal(strncmp(ready, "ready:UNSUPPORTED", 17) == 0, !trainer);
        free(f);
    }
}

static void the_end_of_the_connection_ends_the_opening(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        activ5_fixture *f = how == 0 ? activ5_new() : opening(ACTIV5_LEGACY);
        tendon_activ5_device *d = &f->device;
        if (how == 0) {
            assert_int_equal(tendon_activ5_device_open(d, 0), TENDON_OK);
            tendon_activ5_device_link_failed(d, TENDON_ERROR_TIMEOUT, 10);
            activ5_expect(f, "connect didFailToConnect");
        } else if (how == 1) {
            tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 1100);
            activ5_expect(f, "deviceDisconnected@1100");
        } else {
            assert_int_equal(tendon_activ5_device_disconnect(d, 1100), TENDON_OK);
            assert_int_equal(tendon_activ5_device_open(d, 1101), TENDON_ERROR_WRONG_STATE);
            activ5_expect(f, "disconnect@1100");
        }
        assert_false(d->opening);
        assert_true(tendon_activ5_device_deadline(d) == UINT64_MAX);
        free(f);
    }
}

static void a_refused_connect_is_no_opening(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    f->refuse = TENDON_ERROR_BUSY;
    assert_int_equal(tendon_activ5_device_open(&f->device, 0), TENDON_ERROR_BUSY);
    assert_false(f->device.opening);
    free(f);
}

/* The manager has given the attempt up, and its end is still to come: opening it connects anew. */
static void an_attempt_that_was_given_up_is_connected_again(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_device_connect(&f->device, 0), TENDON_OK);
    activ5_forget(f);
    assert_int_equal(tendon_activ5_device_open(&f->device, 1), TENDON_OK); /* it is under way */
    activ5_expect(f, "");
    f->device.state = TENDON_ACTIV5_STATE_DISCONNECTED;
    assert_int_equal(tendon_activ5_device_open(&f->device, 2), TENDON_OK);
    activ5_expect(f, "connect");
    assert_int_equal(f->device.state, TENDON_ACTIV5_STATE_CONNECTING);
    free(f);
}

static void an_open_device_is_ready_with_the_next_tick(void **state) {
    (void)state;
    activ5_fixture *f = opening(ACTIV5_LEGACY);
    activ5_say(&f->device, "TC5k;1.00", 1200);
    activ5_forget(f);
    assert_int_equal(tendon_activ5_device_open(&f->device, 50000), TENDON_OK);
    activ5_expect(f, "");
    tendon_activ5_device_tick(&f->device, 50000);
    activ5_expect(f, "ready:OK@50000");
    /* connected long ago and never greeted: a silence from now on */
    f->device.version.known = false;
    assert_int_equal(tendon_activ5_device_open(&f->device, 60000), TENDON_OK);
    assert_int_equal(tendon_activ5_device_deadline(&f->device), 61500);
    free(f);
}

/* ---- force requested in CONNECTED, as the vendor's document does ---- */

static void force_requested_early_is_sent_after_the_handshake(void **state) {
    (void)state;
    for (int is_new = 0; is_new <= 1; is_new++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 0), E(NOT_READY)); /* no connection */
        assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
        tendon_activ5_device_link_up(d, 0);
        assert_int_equal(tendon_activ5_device_start_isometric(d, 1), E(NOT_READY));
        assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 1), TENDON_OK);
        tendon_activ5_device_discovered(d, is_new, activ5_all, is_new ? ACTIV5_NEW : ACTIV5_LEGACY, 2);
        activ5_forget(f);
        activ5_say(d, "TC5k;1.00", 3);
        activ5_expect(f, is_new ? "write:TVGTIME didReceiveMessage:initialMessage subscribe:F0FE"
                                : "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2! deviceInitialized "
                                  "didReceiveMessage:initialMessage write:ISOM!");
        assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 4), TENDON_OK); /* greeted: immediately */
        activ5_expect(f, is_new ? "subscribe:F0FE" : "write:ISOM!");
        free(f);
    }
}

static void force_requested_early_starts_the_offer_to_a_silent_device(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 5000), TENDON_OK);
    tendon_activ5_device_tick(d, 6500);
    activ5_expect(f, "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2!");
    tendon_activ5_device_tick(d, 8000);
    activ5_expect(f, "write:ISOM!");
    free(f);
}

static void force_that_cannot_be_started_is_an_error(void **state) {
    (void)state;
    static const tendon_activ5_characteristic text = TENDON_ACTIV5_TEXT_OUTPUT;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
    tendon_activ5_device_link_up(d, 0);
    assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 1), TENDON_OK);
    tendon_activ5_device_discovered(d, false, &text, 1, 2);
    activ5_forget(f);
    tendon_activ5_device_tick(d, 1502);
    activ5_expect(f, "error:NOT_READY");
    assert_int_equal(d->counters.errors, 0); /* no value was rejected */
    free(f);
}

static void stop_and_the_end_of_the_connection_drop_the_force(void **state) {
    (void)state;
    for (int how = 0; how < 2; how++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = &f->device;
        assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
        tendon_activ5_device_link_up(d, 0);
        assert_int_equal(tendon_activ5_device_start_isometric_when_ready(d, 1), TENDON_OK);
        if (how == 0) {
            assert_int_equal(tendon_activ5_device_stop(d, 2), E(NOT_READY));
        } else {
            tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 2);
            assert_int_equal(tendon_activ5_device_connect(d, 3), TENDON_OK);
            tendon_activ5_device_link_up(d, 3);
        }
        tendon_activ5_device_discovered(d, false, activ5_all, ACTIV5_LEGACY, 4);
        activ5_say(d, "TC5k;1.00", 5);
        assert_null(strstr(f->words, "ISOM"));
        free(f);
    }
}

/* Before the discovery nobody knows what the device has. */
static void calls_before_the_discovery_are_not_ready(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = &f->device;
    assert_int_equal(tendon_activ5_device_connect(d, 0), TENDON_OK);
    tendon_activ5_device_link_up(d, 0);
    assert_int_equal(tendon_activ5_device_get_serial_number(d), E(NOT_READY));
    assert_int_equal(tendon_activ5_device_start_imu(d, 1), E(NOT_READY));
    assert_int_equal(tendon_activ5_device_stop_imu(d, 1), E(NOT_READY));
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 50, 1), E(NOT_READY));
    tendon_activ5_device_discovered(d, false, activ5_all, ACTIV5_LEGACY, 2);
    assert_int_equal(tendon_activ5_device_start_imu(d, 3), E(IMU_UNSUPPORTED));
    assert_int_equal(tendon_activ5_device_set_sample_rate(d, 50, 3), E(UNSUPPORTED));
    assert_int_equal(tendon_activ5_device_get_serial_number(d), 0); /* it has none */
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_legacy_device_is_ready_with_its_first_message),
        cmocka_unit_test(a_new_device_is_ready_when_it_has_said_who_it_is),
        cmocka_unit_test(a_silent_device_is_offered_the_handshake_once),
        cmocka_unit_test(samples_do_not_prolong_the_silence_and_other_values_do_until_the_limit),
        cmocka_unit_test(a_device_that_is_never_silent_gets_no_offer),
        cmocka_unit_test(a_device_without_commands_is_ready_with_its_first_value),
        cmocka_unit_test(a_completed_request_prolongs_the_silence),
        cmocka_unit_test(the_first_message_has_10_s),
        cmocka_unit_test(a_device_of_another_kind_is_unsupported),
        cmocka_unit_test(the_end_of_the_connection_ends_the_opening),
        cmocka_unit_test(a_refused_connect_is_no_opening),
        cmocka_unit_test(an_attempt_that_was_given_up_is_connected_again),
        cmocka_unit_test(an_open_device_is_ready_with_the_next_tick),
        cmocka_unit_test(force_requested_early_is_sent_after_the_handshake),
        cmocka_unit_test(force_requested_early_starts_the_offer_to_a_silent_device),
        cmocka_unit_test(force_that_cannot_be_started_is_an_error),
        cmocka_unit_test(stop_and_the_end_of_the_connection_drop_the_force),
        cmocka_unit_test(calls_before_the_discovery_are_not_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
