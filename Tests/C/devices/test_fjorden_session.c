/* SPDX-License-Identifier: MIT */
/* Fjorden session: from the search to the events, every way in which a connection fails, and its end. */
#include "fjorden_fixture.h"

static void a_new_grip_is_found_paired_checked_and_kept(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_call(f, TENDON_FJORDEN_CALL_SCAN);
    fjorden_run(f, 1);
    fjorden_assert_outputs(f, ":ready =ready scan_start :scanningForGrips =ok grips grips");
    assert_int_equal(f->session.manager.grip_count, 1);
    assert_string_equal(f->list[0].identifier, "C1:01:02:03:04:05/random");
    assert_string_equal(f->list[0].name, "Fjorden Grip Simulator");
    assert_true(f->list[0].rssi > -51 && f->list[0].rssi < -49);
    fjorden_forget(f);
    fjorden_connect(f, 0);
    fjorden_run(f, 500);
    fjorden_assert_outputs(f, "scan_stop connect :connecting services characteristics pair firmware notify store "
                              ":connected =connected");
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING)->status, TENDON_OK);
    assert_true(f->grips[0].bonded);
    assert_string_equal(f->session.info.strings[TENDON_FJORDEN_STRING_FIRMWARE], "1.2.0");
    fjorden_forget(f);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_DIAL, -3, f->now);
    fjorden_run(f, 10);
    fjorden_assert_events(f, "01 02 12");
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_EVENT)->record.count, 3);
    free(f);
}

static void start_with_a_bond_connects_without_pairing(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 500);
    fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip scan_stop connect :connecting services "
                              "characteristics firmware notify :connected =connected");
    free(f);
}

static void example_28_a_bonded_grip_that_is_not_there(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->devices[0].present = false;
    f->devices[1].present = true;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    uint64_t start = f->now;
    fjorden_run(f, 6000);
    fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip scan_stop :ready =ready");
    assert_int_equal(f->seen[f->count - 1].output.time_ms, start + 5000);
    free(f);
}

/* Whatever is wrong with the grip, the call says it and the manager is ready again. */
static void every_step_that_fails_has_its_error(void **state) {
    (void)state;
    static const struct {
        tendon_simulated_fjorden_options options;
        bool rejects_pairing, bonded_with_another;
        tendon_status error;
    } rows[] = {
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_SERVICE}, .error = TENDON_FJORDEN_ERROR_NO_SERVICE},
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_EVENT}, .error = TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS},
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_STATE}, .error = TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS},
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_CONTROL}, .error = TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS},
        {.rejects_pairing = true, .error = TENDON_FJORDEN_ERROR_PAIRING_DECLINED},
        {.options = {.rejects_pairing = true}, .error = TENDON_FJORDEN_ERROR_PAIRING_DECLINED},
        {.bonded_with_another = true, .error = TENDON_FJORDEN_ERROR_PAIRING_DECLINED},
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_FIRMWARE}, .error = TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION},
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_INFORMATION},
         .error = TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION},
        {.options = {.firmware = "one"}, .error = TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION},
        {.options = {.firmware = ""}, .error = TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION},
        {.options = {.firmware = "0.9.9"}, .error = TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE},
        {.options = {.firmware = "1.0.0-rc.1"}, .error = TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE},
        {.options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_NOTIFY}, .error = TENDON_FJORDEN_ERROR_NO_NOTIFY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fjorden_fixture *f = fjorden_new(&rows[i].options);
        f->devices[0].rejects_pairing = rows[i].rejects_pairing;
        f->grips[0].bonded = rows[i].bonded_with_another;
        fjorden_call(f, TENDON_FJORDEN_CALL_START);
        fjorden_connect(f, 0);
        fjorden_run(f, 1000);
        fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, rows[i].error);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
        assert_null(f->air.peer);
        assert_int_equal(f->session.counters.illegal_inputs, 0);
        free(f);
    }
}

static void what_is_optional_may_be_missing(void **state) {
    (void)state;
    static const tendon_simulated_fjorden_options options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_BATTERY |
                                                                      TENDON_SIMULATED_FJORDEN_NO_STATE |
                                                                      TENDON_SIMULATED_FJORDEN_NO_CONTROL};
    fjorden_fixture *f = fjorden_new(&options);
    f->profile.has_state = f->profile.has_control = false;
    fjorden_reach_connected(f);
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_FJORDEN_ERROR_NO_BATTERY_INFO);
    tendon_fjorden_command ping = {.opcode = TENDON_FJORDEN_PING};
    assert_int_equal(tendon_fjorden_session_request(&f->session, &ping, f->now), TENDON_ERROR_UNSUPPORTED);
    tendon_simulated_fjorden_lose(&f->grips[0], 1);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
    fjorden_run(f, 10);
    fjorden_assert_events(f, "02");
    free(f);
}

/* What a profile does not have is not used, whatever the grip offers. */
static void a_profile_without_state_and_control(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    f->profile.has_state = f->profile.has_control = false;
    fjorden_reach_connected(f);
    tendon_fjorden_command ping = {.opcode = TENDON_FJORDEN_PING};
    assert_int_equal(tendon_fjorden_session_request(&f->session, &ping, f->now), TENDON_ERROR_UNSUPPORTED);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
    tendon_simulated_fjorden_lose(&f->grips[0], 1);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 0, f->now);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_DIAL, 1, f->now);
    fjorden_run(f, 20);
    fjorden_assert_events(f, "01 02 11");
    free(f);
}

/* The key is gone on our side while the bond is stored: the grip refuses its events, the link is asked to pair once. */
static void mal_C12_a_bond_without_a_key_is_tried_once(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->devices[0].bonded = false;
    f->grips[0].bonded = false;
    fjorden_reach_connected(f);
    free(f);
    f = fjorden_new_bonded(NULL);
    f->devices[0].bonded = false; /* the grip keeps its bond: it refuses */
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 1000);
    fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip scan_stop connect :connecting services "
                              "characteristics firmware notify disconnect :ready =ready");
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 1);
    free(f);
}

/* The bond is stored, its key is lost: the budget is paused for this pairing, too, also in a reconnection. */
static void the_budget_rests_for_a_second_pairing(void **state) {
    (void)state;
    for (int reconnection = 0; reconnection < 2; reconnection++) {
        fjorden_fixture *f = fjorden_new_bonded(NULL);
        f->air.pairing_ms = 9000;
        if (reconnection != 0) {
            fjorden_reach_connected(f);
            tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
            fjorden_run(f, 10);
        }
        f->devices[0].bonded = f->grips[0].bonded = false;
        tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
        fjorden_call(f, TENDON_FJORDEN_CALL_START);
        fjorden_run(f, 8000);
        assert_int_equal(f->session.manager.step, TENDON_FJORDEN_STEP_NOTIFY);
        fjorden_run(f, 2000);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
        free(f);
    }
}

static void fall_silent(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_PAIRING) {
        f->devices[0].silent = true;
    }
}

/* It goes on after that pairing: a grip that answers nothing more is given up in time. */
static void the_budget_goes_on_after_a_second_pairing(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->air.pairing_ms = 9000;
    f->devices[0].bonded = f->grips[0].bonded = false;
    f->hook = fall_silent;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 9000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTING);
    fjorden_run(f, 5500);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 1);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
    free(f);
}

static void example_29_the_budget_rests_while_pairing_is_shown(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    f->air.pairing_ms = 9000;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_connect(f, 0);
    fjorden_run(f, 8000);
    assert_int_equal(f->session.manager.step, TENDON_FJORDEN_STEP_PAIRING);
    fjorden_run(f, 2000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    free(f);
}

static void a_grip_out_of_reach_times_out_and_the_attempt_is_taken_back(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_connect(f, 1);
    uint64_t start = f->now;
    fjorden_run(f, 5001);
    fjorden_assert_outputs(f, ":ready =ready connect :connecting disconnect :ready =connectionTimeout");
    assert_int_equal(f->seen[f->count - 1].output.time_ms, start + 5000);
    assert_int_equal(f->session.engine.state, TENDON_ENGINE_AWAY);
    free(f);
}

/* The link to be connected next waits until the one before is down, which the air tells a tick later. */
static void a_connection_after_a_failure_waits_for_the_old_link(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    f->devices[1].present = true;
    fjorden_reach_connected(f);
    fjorden_call(f, TENDON_FJORDEN_CALL_FORGET);
    fjorden_assert_outputs(f, "disconnect remove :ready =ok");
    assert_int_equal(f->session.engine.state, TENDON_ENGINE_CLOSING);
    fjorden_connect(f, 1);
    assert_true(f->session.engine.state == TENDON_ENGINE_CLOSING && f->session.work.connecting);
    fjorden_run(f, 1000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    assert_ptr_equal(f->air.peer, &f->devices[1]);
    assert_int_equal(f->session.counters.illegal_inputs, 0);
    free(f);
}

static void forgotten_grips_stay_bonded_until_they_are_reset(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_reach_connected(f);
    fjorden_call(f, TENDON_FJORDEN_CALL_FORGET);
    assert_int_equal(tendon_memory_radio_forget(&f->air, &f->devices[0].address), TENDON_OK);
    fjorden_run(f, 100);
    fjorden_connect(f, 0);
    fjorden_run(f, 1000);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_PAIRING_DECLINED);
    tendon_simulated_fjorden_reset_bond(&f->grips[0], f->now);
    fjorden_connect(f, 0);
    fjorden_run(f, 1000);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_OK);
    free(f);
}

static void a_lost_grip_is_looked_for_without_an_end(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_reach_connected(f);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    fjorden_run(f, 60000);
    fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip");
    fjorden_forget(f);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
    fjorden_run(f, 1000);
    fjorden_assert_outputs(f, "scan_stop connect :connecting services characteristics firmware notify :connected");
    free(f);
}

static void disconnecting_keeps_the_bond_and_looks_for_nothing(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_reach_connected(f);
    assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
    fjorden_run(f, 20000);
    fjorden_assert_outputs(f, ":ready");
    assert_null(f->air.peer);
    assert_true(f->session.manager.configuration.has_bond && f->session.manager.configuration.auto_reconnect);
    fjorden_connect(f, 1); /* out of reach: ended while it connects */
    fjorden_run(f, 100);
    assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED);
    fjorden_run(f, 100);
    assert_int_equal(f->session.engine.state, TENDON_ENGINE_AWAY);
    free(f);
}

static void power(fjorden_fixture *f, bool on) {
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_ON_POWER, .ok = on};
    assert_int_equal(tendon_fjorden_session_input(&f->session, &input, f->now), TENDON_OK);
}

/* A connection, or a reconnection in progress, that ends with the adapter is looked for again with it. */
static void the_adapter_goes_and_comes(void **state) {
    (void)state;
    for (int away = 0; away < 2; away++) {
        fjorden_fixture *f = fjorden_new(NULL);
        fjorden_reach_connected(f);
        tendon_memory_radio_set_present(&f->air, &f->devices[0], away == 0, f->now);
        fjorden_run(f, 100);
        fjorden_forget(f);
        power(f, false);
        fjorden_run(f, 100);
        assert_null(f->air.peer);
        assert_true(f->session.manager.reconnecting);
        fjorden_assert_outputs(f, ":bluetoothUnavailable");
        fjorden_forget(f);
        tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
        power(f, true);
        fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip");
        fjorden_run(f, 2000);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
        free(f);
    }
}

/* Not if the program wants none, has ended it, or has forgotten the grip. */
static void the_adapter_comes_for_nobody(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        fjorden_fixture *f = fjorden_new(NULL);
        fjorden_reach_connected(f);
        f->session.manager.configuration.auto_reconnect = way != 0;
        power(f, false);
        fjorden_run(f, 100);
        if (way == 1) {
            assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
        } else if (way == 2) {
            fjorden_call(f, TENDON_FJORDEN_CALL_FORGET);
        } else if (way == 3) {
            tendon_fjorden_manager_set_environment(&f->session.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
            tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
            fjorden_forget(f);
            fjorden_call(f, TENDON_FJORDEN_CALL_START); /* a search of the program's own, with its timeout */
            fjorden_run(f, 6000);
            fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip scan_stop :ready =ready");
        }
        assert_false(f->session.manager.reconnecting);
        power(f, true);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
        fjorden_forget(f);
        free(f);
    }
}

/* ---- advertisements ---- */

static bool recognized(const char *hex) {
    block data = block_hex(hex);
    bool result = tendon_fjorden_recognize(NULL, data.data, data.length);
    free(data.data);
    return result;
}

#define SERVICE "1107f2daa8cbffab91b5914cde920100d8b3"

static void grips_are_known_by_service_or_name(void **state) {
    (void)state;
    assert_true(recognized("020106" SERVICE "0303121803 19c003"));
    assert_true(recognized("0d09 466a6f7264656e2047726970"));         /* Fjorden Grip */
    assert_true(recognized("0f08 466a6f7264656e2047726970 2053"));    /* shortened, longer than the prefix */
    assert_false(recognized("0c09 466a6f7264656e20477269"));          /* Fjorden Gri */
    assert_false(recognized("0d09 666a6f7264656e2047726970"));        /* fjorden Grip */
    assert_false(recognized("020106 0303121803 19c003"));             /* HID alone */
    assert_false(recognized("1107f2daa8cbffab91b5914cde920200d8b3")); /* its event characteristic */
    assert_false(recognized(""));                                     /* mal_I01 */
    assert_false(recognized("1107f2daa8cbffab91b5914cde9201 00d8"));  /* mal_G02: cut */
}

static void mal_I02_the_advertisement_cut_at_each_byte(void **state) {
    (void)state;
    block data = block_hex("020106" SERVICE);
    for (size_t length = 0; length <= data.length; length++) {
        block cut = block_copy(data.data, length);
        assert_int_equal(tendon_fjorden_recognize(NULL, cut.data, cut.length), length == data.length);
        free(cut.data);
    }
    free(data.data);
}

/* The name of a bonded grip is the host's: it comes in a scan response that nothing tells to be a grip's. */
static void a_known_grip_is_known_by_its_address(void **state) {
    (void)state;
    static const tendon_simulated_fjorden_options options = {.name = "Somebody's phone"};
    fjorden_fixture *f = fjorden_new(&options);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_call(f, TENDON_FJORDEN_CALL_SCAN);
    fjorden_run(f, 250);
    assert_int_equal(f->session.manager.grip_count, 1);
    assert_string_equal(f->list[0].name, "Somebody's phone");
    tendon_ad_report other = {.address = {{9, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_PUBLIC},
                              .data = (const uint8_t *)"\x02\x01\x06",
                              .length = 3};
    assert_int_equal(tendon_fjorden_session_on_advertisement(&f->session, &other, f->now), TENDON_OK);
    assert_int_equal(f->session.manager.grip_count, 1);
    free(f);
}

static const char *listed_after(fjorden_fixture *f, const uint8_t *data, uint8_t length) {
    tendon_ad_report report = {.address = f->devices[1].address, .data = data, .length = length};
    assert_int_equal(tendon_fjorden_session_on_advertisement(&f->session, &report, f->now), TENDON_OK);
    return f->list[0].name;
}

/* The shortened one in the advertisement, the complete one in the scan response. */
static void a_shortened_name_replaces_none(void **state) {
    (void)state;
    static const uint8_t shortened[] = "\x0D\x08"
                                       "Fjorden Grip",
                         complete[] = "\x0F\x09"
                                      "Fjorden Grip S",
                         other[] = "\x0F\x09"
                                   "Fjorden Grip T",
                         empty[] = "\x01\x09"
                                   "\x0D\x08"
                                   "Fjorden Grip";
    fjorden_fixture *f = fjorden_new(NULL);
    f->devices[0].present = false;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_call(f, TENDON_FJORDEN_CALL_SCAN);
    assert_string_equal(listed_after(f, empty, sizeof empty - 1), "Fjorden Grip");
    for (int i = 0; i < 3; i++) {
        assert_string_equal(listed_after(f, complete, sizeof complete - 1), "Fjorden Grip S");
        assert_string_equal(listed_after(f, shortened, sizeof shortened - 1), "Fjorden Grip S");
        assert_string_equal(listed_after(f, empty, sizeof empty - 1), "Fjorden Grip S");
    }
    assert_string_equal(listed_after(f, other, sizeof other - 1), "Fjorden Grip T");
    assert_int_equal(f->session.manager.grip_count, 1);
    free(f);

    /* A bonded grip keeps the name of its bond. */
    f = fjorden_new_bonded(NULL);
    f->devices[0].present = false;
    memcpy(f->session.manager.configuration.bond.name, "Fjorden Grip S", 15);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    f->devices[0].present = true;
    tendon_ad_report report = {.address = f->devices[0].address, .data = shortened, .length = sizeof shortened - 1};
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
    assert_int_equal(tendon_fjorden_session_on_advertisement(&f->session, &report, f->now), TENDON_OK);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTING);
    assert_string_equal(f->session.manager.grip.name, "Fjorden Grip S");
    free(f);
}

/* A full table: the grip that was not received for the longest time makes room. */
static void advertisers_cannot_hide_a_grip(void **state) {
    (void)state;
    static const uint8_t data[] = "\x0F\x09"
                                  "Fjorden Grip x";
    fjorden_fixture *f = fjorden_new(NULL);
    f->devices[0].present = false;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_call(f, TENDON_FJORDEN_CALL_SCAN);
    static const uint8_t order[] = {1, 2, 3, 4, 1, 5, 6};
    for (size_t i = 0; i < sizeof order; i++) {
        tendon_ad_report report = {.address = {{order[i], 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC}};
        report.data = data;
        report.length = sizeof data - 1;
        assert_int_equal(tendon_fjorden_session_on_advertisement(&f->session, &report, f->now++), TENDON_OK);
    }
    assert_int_equal(f->session.manager.grip_count, 4);
    assert_string_equal(f->list[0].identifier, "01:01:02:03:04:05");
    assert_string_equal(f->list[1].identifier, "04:01:02:03:04:05");
    assert_string_equal(f->list[2].identifier, "05:01:02:03:04:05");
    assert_string_equal(f->list[3].identifier, "06:01:02:03:04:05");
    assert_int_equal(f->session.manager.grips_replaced, 2);
    free(f);
}

/* ---- every state, every input ---- */

static void reach(fjorden_fixture *f, unsigned state) {
    tendon_fjorden_manager *m = &f->session.manager;
    if (state == TENDON_FJORDEN_UNAUTHORIZED) {
        tendon_fjorden_manager_set_environment(m, TENDON_FJORDEN_AUTHORIZATION_DENIED, true);
    } else if (state == TENDON_FJORDEN_UNAVAILABLE) {
        tendon_fjorden_manager_set_environment(m, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, false);
    }
    f->devices[0].present = state != TENDON_FJORDEN_SCANNING_FOR_BONDED;
    if (state != TENDON_FJORDEN_UNINITIALIZED) {
        fjorden_call(f, TENDON_FJORDEN_CALL_START);
    }
    if (state == TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        fjorden_call(f, TENDON_FJORDEN_CALL_SCAN);
    } else if (state == TENDON_FJORDEN_CONNECTING || state == TENDON_FJORDEN_CONNECTED) {
        fjorden_connect(f, 0);
        fjorden_run(f, state == TENDON_FJORDEN_CONNECTED ? 1000 : 0);
    }
    assert_int_equal(m->state, state);
}

/* Inputs of the link beside those of the program. */
enum { LINK_CONNECTED = TENDON_FJORDEN_INPUT_COUNT, LINK_DISCONNECTED, LINK_PAIRED, LINK_TICK, INPUTS };

static void give(fjorden_fixture *f, unsigned input) {
    const tendon_session_inputs *link = &tendon_fjorden_session_inputs;
    switch (input) {
    case LINK_CONNECTED:
        if (f->session.engine.op.client == NULL && f->session.engine.state != TENDON_ENGINE_AWAY) {
            fjorden_run(f, 50); /* a real one */
        } else {
            link->connected(&f->session, &f->air.client, f->now);
        }
        break;
    case LINK_DISCONNECTED:
        if (f->session.engine.state != TENDON_ENGINE_AWAY) {
            tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
        } else {
            link->disconnected(&f->session, TENDON_ERROR_DISCONNECTED, f->now);
        }
        break;
    case LINK_PAIRED:
        link->paired(&f->session, TENDON_OK, f->now);
        break;
    case LINK_TICK:
        link->tick(&f->session, f->now);
        break;
    default: {
        tendon_fjorden_input call = {.kind = (tendon_fjorden_input_kind)input, .ok = true};
        tendon_fjorden_identifier(&f->devices[0].address, call.grip.identifier);
        tendon_status status = tendon_fjorden_session_input(&f->session, &call, f->now);
        assert_int_equal(status, input <= TENDON_FJORDEN_ON_ADVERTISEMENT ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT);
        break;
    }
    }
}

/* Harmless in every pair: the machine goes on, and in the end a grip can be connected. */
static void all_pairs_of_state_and_input(void **state) {
    (void)state;
    unsigned pairs = 0, illegal = 0;
    for (unsigned from = 0; from < TENDON_FJORDEN_STATE_COUNT; from++) {
        for (unsigned input = 0; input < INPUTS; input++) {
            bool bonded = from == TENDON_FJORDEN_SCANNING_FOR_BONDED;
            fjorden_fixture *f = bonded ? fjorden_new_bonded(NULL) : fjorden_new(NULL);
            reach(f, from);
            uint64_t before = f->session.counters.illegal_inputs;
            give(f, input);
            bool link_kind = input > TENDON_FJORDEN_ON_ADVERTISEMENT && input < LINK_CONNECTED;
            bool strange =
                input == LINK_PAIRED || (input == LINK_CONNECTED && from != TENDON_FJORDEN_CONNECTING) ||
                (input == LINK_DISCONNECTED && from != TENDON_FJORDEN_CONNECTING && from != TENDON_FJORDEN_CONNECTED);
            assert_int_equal(f->session.counters.illegal_inputs - before, link_kind || strange ? 1 : 0);
            illegal += link_kind || strange;
            tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
            fjorden_run(f, 20000);
            tendon_fjorden_manager_set_environment(&f->session.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
            fjorden_call(f, TENDON_FJORDEN_ON_POWER);
            fjorden_call(f, TENDON_FJORDEN_CALL_STOP_SCANNING);
            fjorden_call(f, TENDON_FJORDEN_CALL_START);
            if (f->session.manager.state == TENDON_FJORDEN_READY) {
                f->grips[0].bonded = f->devices[0].bonded; /* a forgotten grip was reset by hand */
                fjorden_connect(f, 0);
            }
            fjorden_run(f, 2000);
            if (f->session.manager.state != TENDON_FJORDEN_CONNECTED) {
                print_error("from %u, input %u: ends in %u\n", from, input, f->session.manager.state);
            }
            assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
            free(f);
            pairs++;
        }
    }
    assert_int_equal(pairs, TENDON_FJORDEN_STATE_COUNT * INPUTS);
    assert_true(illegal > 0 && illegal < pairs);
}

static void call_back(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_OUTPUT || notice->kind == TENDON_FJORDEN_SESSION_EVENT_TARGET) {
        assert_int_equal(fjorden_call(f, TENDON_FJORDEN_CALL_STOP_SCANNING), TENDON_ERROR_BUSY);
    }
}

static void calls_from_within_an_output_are_refused(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    f->hook = call_back;
    fjorden_reach_connected(f);
    free(f);
}

static void a_session_needs_its_link_and_profile(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    tendon_fjorden_session_config config = f->session.config;
    config.profile = NULL;
    assert_int_equal(tendon_fjorden_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = f->session.config;
    config.link.connect = NULL;
    assert_int_equal(tendon_fjorden_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = f->session.config;
    config.link.disconnect = NULL;
    assert_int_equal(tendon_fjorden_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = f->session.config;
    config.on_event = NULL;
    assert_int_equal(tendon_fjorden_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    free(f);
}

static tendon_status no_adapter(void *context) {
    (void)context;
    return TENDON_RADIO_ERROR_NO_ADAPTER;
}

/* The radio refuses to connect: the call has its result when it returns, without a tick. */
static void a_connection_that_cannot_begin_fails_in_the_call(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_forget(f);
    f->session.config.link.connect = no_adapter;
    fjorden_connect(f, 0);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_grip_is_found_paired_checked_and_kept),
        cmocka_unit_test(start_with_a_bond_connects_without_pairing),
        cmocka_unit_test(example_28_a_bonded_grip_that_is_not_there),
        cmocka_unit_test(every_step_that_fails_has_its_error),
        cmocka_unit_test(what_is_optional_may_be_missing),
        cmocka_unit_test(a_profile_without_state_and_control),
        cmocka_unit_test(mal_C12_a_bond_without_a_key_is_tried_once),
        cmocka_unit_test(example_29_the_budget_rests_while_pairing_is_shown),
        cmocka_unit_test(a_grip_out_of_reach_times_out_and_the_attempt_is_taken_back),
        cmocka_unit_test(a_connection_after_a_failure_waits_for_the_old_link),
        cmocka_unit_test(forgotten_grips_stay_bonded_until_they_are_reset),
        cmocka_unit_test(a_lost_grip_is_looked_for_without_an_end),
        cmocka_unit_test(disconnecting_keeps_the_bond_and_looks_for_nothing),
        cmocka_unit_test(the_adapter_goes_and_comes),
        cmocka_unit_test(the_adapter_comes_for_nobody),
        cmocka_unit_test(grips_are_known_by_service_or_name),
        cmocka_unit_test(mal_I02_the_advertisement_cut_at_each_byte),
        cmocka_unit_test(a_known_grip_is_known_by_its_address),
        cmocka_unit_test(a_shortened_name_replaces_none),
        cmocka_unit_test(advertisers_cannot_hide_a_grip),
        cmocka_unit_test(the_budget_rests_for_a_second_pairing),
        cmocka_unit_test(the_budget_goes_on_after_a_second_pairing),
        cmocka_unit_test(all_pairs_of_state_and_input),
        cmocka_unit_test(calls_from_within_an_output_are_refused),
        cmocka_unit_test(a_connection_that_cannot_begin_fails_in_the_call),
        cmocka_unit_test(a_session_needs_its_link_and_profile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
