/* SPDX-License-Identifier: MIT */
/* The Activ5 device manager: list by name, reconnection, adapter, handlers that call back. */
#include "activ5_fixture.h"

static tendon_activ5_device *connected(activ5_fixture *f, const char *name, uint64_t now) {
    if (!f->manager.scanning) {
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, now), TENDON_OK);
    }
    tendon_activ5_device *d = activ5_found(f, name, now);
    assert_non_null(d);
    activ5_reach(f, d, ACTIV5_LEGACY, now);
    return d;
}

static tendon_activ5_device *named(activ5_fixture *f, const char *name) {
    return tendon_activ5_manager_find(&f->manager, name, strlen(name));
}

/* ---- the list ---- */

static void an_entry_is_reported_once_per_search_and_keeps_what_the_program_set(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "ACTIV5-AC-0001", 1);
    int mine = 7;
    d->program = &mine;
    d->should_reconnect = false;
    d->counters.values = 5;
    tendon_activ5_device_set_evergreen(d, true, 1);
    const tendon_address peer = {{1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};
    assert_ptr_equal(tendon_activ5_manager_advertised(&f->manager, "ACTIV5-AC-0001", 14, &peer, -50, 2), d);
    assert_ptr_equal(d->program, &mine);
    assert_true(d->evergreen && !d->should_reconnect && d->counters.values == 5);
    assert_true(d->rssi == -50 && tendon_address_equal(&d->peer, &peer));
    activ5_expect(f, "scan_start deviceFound again");
    /* a connected one keeps all but the signal */
    activ5_reach(f, d, ACTIV5_LEGACY, 3);
    d->program = &mine;
    assert_ptr_equal(tendon_activ5_manager_advertised(&f->manager, "ACTIV5-AC-0001", 14, NULL, -40, 4), d);
    assert_ptr_equal(d->program, &mine);
    assert_true(d->rssi == -40 && tendon_address_equal(&d->peer, &peer));
    activ5_expect(f, "again");
    assert_false(d->should_reconnect);
    /* the next search reports it again, also while it is connected */
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 5), TENDON_OK);
    (void)activ5_found(f, "ACTIV5-AC-0001", 6);
    (void)activ5_found(f, "ACTIV5-AC-0001", 7);
    activ5_expect(f, "scan_start deviceFound again");
    assert_ptr_equal(named(f, "ACTIV5-AC-0001"), d);
    assert_null(named(f, "ACTIV5-AC-000"));
    assert_null(named(f, "ACTIV5-AC-00011"));
    free(f);
}

static void mal_I03_names_too_many_and_too_long(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    char longest[TENDON_ACTIV5_NAME_SIZE + 2];
    memset(longest, 'n', sizeof longest);
    longest[TENDON_ACTIV5_NAME_SIZE + 1] = 0;
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    assert_null(activ5_found(f, longest, 1));
    longest[TENDON_ACTIV5_NAME_SIZE] = 0;
    assert_non_null(activ5_found(f, longest, 1));
    assert_non_null(activ5_found(f, "\xFF\n\x1B[2J", 1)); /* bytes are bytes here */
    assert_non_null(activ5_found(f, "c", 1));
    assert_non_null(activ5_found(f, "d", 1));
    assert_null(activ5_found(f, "e", 1)); /* the table is full */
    assert_non_null(activ5_found(f, "d", 1));
    assert_int_equal(f->manager.left_out, 2);
    tendon_activ5_manager_disconnect_all(&f->manager, 2); /* forgets all */
    assert_null(named(f, "c"));
    assert_non_null(activ5_found(f, "e", 3));
    free(f);
}

static void any_of_the_services_matches(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    block ours = block_hex("03 03 00 50"), other = block_hex("03 02 F0 F0");
    assert_true(tendon_activ5_manager_matches(&f->manager, ours.data, ours.length));
    assert_false(tendon_activ5_manager_matches(&f->manager, other.data, other.length));
    f->manager.options.services[1] = tendon_uuid_from_u16(0xF0F0);
    f->manager.options.service_count = 2;
    assert_true(tendon_activ5_manager_matches(&f->manager, other.data, other.length));
    f->manager.options.service_count = 200; /* no more than there are */
    assert_false(tendon_activ5_manager_matches(&f->manager, NULL, 0));
    free(ours.data);
    free(other.data);
    free(f);
}

/* ---- how connections end ---- */

typedef enum cause { LOST, ASKED, ALL, ADAPTER, CAUSES } cause;

/* The table of reconnection: cause of the end, both strategies. */
static void every_cause_of_an_end_with_both_strategies(void **state) {
    (void)state;
    static const struct {
        const char *words, *found; /* at the end; when it is heard again 3 s later */
        bool listed;
    } table[CAUSES][2] = {
        [LOST] = {{"deviceDisconnected scan_start", "deviceFound connect", false},
                  {"deviceDisconnected scan_start", "deviceFound", false}},
        [ASKED] = {{"disconnect deviceDisconnected", "", true}, {"disconnect deviceDisconnected", "", true}},
        [ALL] = {{"disconnect deviceDisconnected", "", false}, {"disconnect deviceDisconnected", "", false}},
        [ADAPTER] = {{"didChangeBluetoothState:off deviceDisconnected", "", false},
                     {"didChangeBluetoothState:off deviceDisconnected", "", false}},
    };
    for (int c = LOST; c < CAUSES; c++) {
        for (int manually = 0; manually <= 1; manually++) {
            activ5_fixture *f = activ5_new();
            f->manager.options.reconnect =
                manually ? TENDON_ACTIV5_RECONNECT_MANUALLY : TENDON_ACTIV5_RECONNECT_AUTOMATICALLY;
            tendon_activ5_device *d = connected(f, "a", 0);
            tendon_activ5_manager_stop_scanning(&f->manager, 1);
            assert_int_equal(tendon_activ5_manager_connection_state(&f->manager), TENDON_ACTIV5_MANAGER_CONNECTED);
            activ5_forget(f);
            if (c == ASKED) {
                assert_int_equal(tendon_activ5_device_disconnect(d, 10), TENDON_OK);
            } else if (c == ALL) {
                tendon_activ5_manager_disconnect_all(&f->manager, 10);
            } else if (c == ADAPTER) {
                tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 10);
            }
            assert_int_equal(d->state, c == LOST ? TENDON_ACTIV5_STATE_CONNECTED : TENDON_ACTIV5_STATE_DISCONNECTED);
            tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 11);
            activ5_expect(f, table[c][manually].words);
            assert_int_equal(named(f, "a") != NULL, table[c][manually].listed);
            (void)activ5_found(f, "a", 3000);
            activ5_expect(f, table[c][manually].found);
            free(f);
        }
    }
}

static void the_wait_for_a_lost_device_ends_with_its_scan(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        activ5_fixture *f = activ5_new();
        tendon_activ5_device *d = connected(f, "a", 0);
        tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 100);
        activ5_expect(f, "deviceDisconnected scan_start"); /* again: a scan was running, its time starts anew */
        assert_int_equal(tendon_activ5_manager_deadline(&f->manager), 30100);
        if (how == 0) {
            tendon_activ5_manager_tick(&f->manager, 30100);
            activ5_expect(f, "scan_stop searchCompleted");
        } else if (how == 1) {
            tendon_activ5_manager_stop_scanning(&f->manager, 200);
            activ5_expect(f, "scan_stop");
        } else {
            tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 200);
            tendon_activ5_manager_set_radio(&f->manager, TENDON_OK, 300);
            activ5_expect(f, "didChangeBluetoothState:off didChangeBluetoothState:on");
        }
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, 40000), TENDON_OK);
        (void)activ5_found(f, "a", 40001);
        activ5_expect(f, "scan_start deviceFound");
        free(f);
    }
}

static void two_lost_devices_both_come_back(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *a = connected(f, "a", 0), *b = connected(f, "b", 0);
    tendon_activ5_device_link_down(a, TENDON_RADIO_ERROR_PEER_CLOSED, 1);
    tendon_activ5_device_link_down(b, TENDON_RADIO_ERROR_PEER_CLOSED, 2);
    activ5_forget(f);
    (void)activ5_found(f, "c", 3); /* takes no place that is kept for one of them */
    (void)activ5_found(f, "b", 4);
    (void)activ5_found(f, "a", 5);
    activ5_expect(f, "deviceFound deviceFound connect deviceFound connect");
    tendon_activ5_device_link_up(named(f, "a"), 6);
    assert_true(named(f, "a")->should_reconnect);
    free(f);
}

static void a_program_may_take_should_reconnect_away(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = connected(f, "a", 0);
    tendon_activ5_manager_stop_scanning(&f->manager, 1);
    d->should_reconnect = false;
    activ5_forget(f);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 2);
    activ5_expect(f, "deviceDisconnected");
    free(f);
}

/* Set before the connection, through advertisements, connections and searches: only the program changes it. */
static void should_reconnect_is_the_programs_word(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 0);
    d->should_reconnect = false;
    for (unsigned round = 0; round < 3; round++) {
        (void)activ5_found(f, "a", 1);
        activ5_reach(f, d, ACTIV5_LEGACY, 2);
        tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 3);
        activ5_expect(f, "deviceDisconnected");
        assert_false(d->should_reconnect);
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, 4), TENDON_OK);
    }
    d->should_reconnect = true;
    activ5_reach(f, d, ACTIV5_LEGACY, 5);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 6);
    activ5_expect(f, "deviceDisconnected scan_start");
    free(f);
}

/* An entry that left the list is another device's only when no unused entry is left. */
static void an_entry_out_of_the_list_is_reused_last(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *a = activ5_found(f, "a", 0);
    a->should_reconnect = false;
    tendon_activ5_manager_disconnect_all(&f->manager, 1);
    assert_null(named(f, "a"));
    assert_ptr_not_equal(activ5_found(f, "b", 2), a);
    assert_ptr_equal(activ5_found(f, "a", 3), a);
    assert_false(a->should_reconnect);
    (void)activ5_found(f, "c", 4);
    (void)activ5_found(f, "d", 4);
    tendon_activ5_manager_disconnect_all(&f->manager, 5);
    tendon_activ5_device *e = activ5_found(f, "e", 6);
    assert_ptr_equal(e, a);
    assert_true(e->should_reconnect);
    free(f);
}

static void a_new_connection_is_to_be_kept_again(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = connected(f, "a", 0);
    assert_int_equal(tendon_activ5_device_disconnect(d, 1), TENDON_OK);
    tendon_activ5_device_link_down(d, TENDON_ERROR_CANCELLED, 2);
    tendon_activ5_manager_stop_scanning(&f->manager, 3);
    activ5_reach(f, d, ACTIV5_LEGACY, 4);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 5);
    activ5_expect(f, "deviceDisconnected scan_start");
    free(f);
}

static void a_failed_attempt_stays_in_the_list(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 0);
    assert_int_equal(tendon_activ5_device_connect(d, 1), TENDON_OK);
    activ5_forget(f);
    tendon_activ5_device_link_failed(d, TENDON_ERROR_TIMEOUT, 2);
    activ5_expect(f, "didFailToConnect");
    assert_ptr_equal(named(f, "a"), d);
    assert_int_equal(tendon_activ5_device_connect(d, 3), TENDON_OK);
    tendon_activ5_manager_disconnect_all(&f->manager, 4); /* an attempt is ended too, and forgotten */
    tendon_activ5_device_link_failed(d, TENDON_ERROR_CANCELLED, 5);
    activ5_expect(f, "connect disconnect deviceDisconnected");
    assert_null(named(f, "a"));
    free(f);
}

static void the_adapter_goes_off_during_an_attempt(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 0);
    assert_int_equal(tendon_activ5_device_connect(d, 1), TENDON_OK);
    activ5_forget(f);
    tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 2);
    activ5_expect(f, "didChangeBluetoothState:off");
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_DISCONNECTED);
    tendon_activ5_device_link_failed(d, TENDON_RADIO_ERROR_ADAPTER_DOWN, 3);
    activ5_expect(f, "didFailToConnect");
    free(f);
}

/* The attempt's own end is late: whoever holds the link says whether it takes another one. */
static void connect_again_before_an_attempt_has_ended(void **state) {
    (void)state;
    for (int off = 0; off <= 1; off++) {
        activ5_fixture *f = activ5_new();
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
        tendon_activ5_device *d = activ5_found(f, "a", 0);
        assert_int_equal(tendon_activ5_device_connect(d, 1), TENDON_OK);
        if (off) {
            tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 2);
            tendon_activ5_manager_set_radio(&f->manager, TENDON_OK, 3);
            assert_int_equal(tendon_activ5_manager_scan(&f->manager, 4), TENDON_OK);
            assert_ptr_equal(activ5_found(f, "a", 5), d);
        }
        tendon_activ5_data_state before = d->state;
        assert_int_equal(before, off ? TENDON_ACTIV5_STATE_DISCONNECTED : TENDON_ACTIV5_STATE_CONNECTING);
        activ5_forget(f);
        f->refuse = TENDON_ERROR_WRONG_STATE;
        assert_int_equal(tendon_activ5_device_connect(d, 6), TENDON_ERROR_WRONG_STATE);
        assert_int_equal(d->state, before);
        assert_int_equal(d->link, TENDON_ACTIV5_LINK_CONNECTING); /* the first is not forgotten */
        f->refuse = TENDON_OK;
        activ5_forget(f);
        assert_int_equal(tendon_activ5_device_connect(d, 7), TENDON_OK);
        assert_int_equal(d->state, TENDON_ACTIV5_STATE_CONNECTING);
        tendon_activ5_device_link_failed(d, TENDON_RADIO_ERROR_ADAPTER_DOWN, 8);
        activ5_expect(f, "connect didFailToConnect");
        assert_int_equal(d->link, TENDON_ACTIV5_LINK_NONE);
        free(f);
    }
}

/* ---- time ---- */

static void timers_strike_in_their_order_with_their_own_time(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *a = connected(f, "a", 0), *b = connected(f, "b", 0);
    f->timed = true;
    tendon_activ5_device_set_evergreen(a, true, 1000);
    tendon_activ5_device_set_evergreen(b, true, 500);
    activ5_value(b, TENDON_ACTIV5_TEXT_OUTPUT, "12 49 53 31 2F", 600); /* a force without its end */
    tendon_activ5_manager_tick(&f->manager, 130000);
    /* b is in an exercise, so its evergreen mode writes nothing */
    activ5_expect(f, "deviceInitialized@1100 didReceiveMessage:isometric@1100 didReceiveIsometric:1.086@1100 "
                     "scan_stop@30000 searchCompleted@30000 write:STOP!@130000");
    assert_int_equal(tendon_activ5_manager_deadline(&f->manager), 180500);
    tendon_activ5_manager_tick(&f->manager, UINT64_MAX - 1); /* a jump by ages ends */
    assert_true(tendon_activ5_manager_deadline(&f->manager) == UINT64_MAX);
    free(f);
}

static void release_on_reset_is_told_by_time(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    f->manager.options.squeeze.release_on_reset = true;
    tendon_activ5_device *d = connected(f, "a", 0);
    tendon_activ5_manager_stop_scanning(&f->manager, 0);
    activ5_say(d, "IS30/IS", 100);
    assert_true(f->manager.squeezed);
    activ5_forget(f);
    f->timed = true;
    tendon_activ5_manager_tick(&f->manager, 9000);
    activ5_expect(f, "depressed@5100");
    assert_false(f->manager.squeezed);
    free(f);
}

/* ---- handlers that call back ---- */

static void connect_when_found_start_when_ready_stop_when_squeezed(activ5_fixture *f, const tendon_activ5_event *event,
                                                                   uint64_t now) {
    (void)f;
    if (event->kind == TENDON_ACTIV5_EVENT_DEVICE_FOUND) {
        assert_int_equal(tendon_activ5_device_connect(event->device, now), TENDON_OK);
    } else if (event->kind == TENDON_ACTIV5_EVENT_INITIALIZED) {
        assert_int_equal(tendon_activ5_device_start_isometric(event->device, now), TENDON_OK);
    } else if (event->kind == TENDON_ACTIV5_EVENT_SQUEEZE) {
        assert_int_equal(tendon_activ5_device_disconnect(event->device, now), TENDON_OK);
    }
}

static void handlers_may_call_anything(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    f->hook = connect_when_found_start_when_ready_stop_when_squeezed;
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 1);
    tendon_activ5_device_link_up(d, 2);
    tendon_activ5_device_discovered(d, false, activ5_all, ACTIV5_LEGACY, 3);
    activ5_forget(f);
    activ5_say(d, "TC5k;1", 4);
    activ5_expect(f, "write:TVGTIME write:ID1! write:ID2! write:SN1! write:SN2! deviceInitialized write:ISOM! "
                     "didReceiveMessage:initialMessage");
    /* the handler ends the link in the middle of a notification: what follows in it is not told */
    activ5_value(d, TENDON_ACTIV5_TEXT_OUTPUT, "12 49 53 33 30 2F 13 12 49 53 31 2F 13 12 49 53 31", 5);
    activ5_expect(f, "didReceiveMessage:isometric didReceiveIsometric:32.588 squeezed disconnect");
    tendon_activ5_device_tick(d, 5000);
    tendon_activ5_device_link_down(d, TENDON_ERROR_CANCELLED, 5001);
    activ5_expect(f, "deviceDisconnected");
    free(f);
}

static void scan_again(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    assert_true(event->kind != TENDON_ACTIV5_EVENT_BLUETOOTH_OFF || f->manager.reporting);
    (void)tendon_activ5_manager_scan(&f->manager, now);
}

static void a_handler_that_always_scans_is_not_called_from_within_itself(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = connected(f, "a", 0);
    tendon_activ5_manager_stop_scanning(&f->manager, 0);
    (void)d;
    activ5_forget(f);
    f->hook = scan_again;
    tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 1);
    activ5_expect(f, "didChangeBluetoothState:off bluetoothIsSwitchedOff deviceDisconnected bluetoothIsSwitchedOff");
    (void)tendon_activ5_manager_scan(&f->manager, 2);
    activ5_expect(f, "bluetoothIsSwitchedOff");
    f->hook = NULL; /* and nothing is left of it */
    tendon_activ5_manager_set_radio(&f->manager, TENDON_OK, 3);
    activ5_expect(f, "didChangeBluetoothState:on");
    free(f);
}

/* The radio is there again while its failure is reported: the search that the handler starts goes on. */
static void radio_again(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    if (event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_STATE && !event->on) {
        tendon_activ5_manager_set_radio(&f->manager, TENDON_OK, now);
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, now), TENDON_OK);
    }
}

static void a_search_started_while_the_failure_is_reported_goes_on(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    activ5_forget(f);
    f->hook = radio_again;
    tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 1);
    activ5_expect(f, "didChangeBluetoothState:off didChangeBluetoothState:on scan_start");
    assert_true(f->manager.scanning);
    free(f);
}

/* The handler tries the radio again, in vain, before it searches: the reports nest, and still end. */
static void radio_in_vain(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    if (event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_OFF) {
        tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, now);
    }
    if (event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_OFF || event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_STATE) {
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, now), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    }
}

static void reports_that_nest_end(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_manager_set_radio(&f->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, 1);
    activ5_forget(f);
    f->hook = radio_in_vain;
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 2), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    activ5_expect(f, "bluetoothIsSwitchedOff didChangeBluetoothState:off");
    free(f);
}

static void reconnect_at_once(activ5_fixture *f, const tendon_activ5_event *event, uint64_t now) {
    (void)f;
    if (event->kind == TENDON_ACTIV5_EVENT_DISCONNECTED) {
        assert_int_equal(tendon_activ5_device_connect(event->device, now), TENDON_OK);
    }
}

static void a_program_may_reconnect_from_the_callback(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    tendon_activ5_device *d = connected(f, "a", 0);
    f->hook = reconnect_at_once;
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 1);
    activ5_expect(f, "deviceDisconnected connect scan_start");
    assert_int_equal(d->state, TENDON_ACTIV5_STATE_CONNECTING);
    assert_ptr_equal(named(f, "a"), d);           /* it is in the list again */
    assert_ptr_equal(activ5_found(f, "a", 2), d); /* and is not connected twice */
    activ5_expect(f, "deviceFound");
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_is_reported_once_per_search_and_keeps_what_the_program_set),
        cmocka_unit_test(mal_I03_names_too_many_and_too_long),
        cmocka_unit_test(any_of_the_services_matches),
        cmocka_unit_test(every_cause_of_an_end_with_both_strategies),
        cmocka_unit_test(the_wait_for_a_lost_device_ends_with_its_scan),
        cmocka_unit_test(two_lost_devices_both_come_back),
        cmocka_unit_test(a_program_may_take_should_reconnect_away),
        cmocka_unit_test(should_reconnect_is_the_programs_word),
        cmocka_unit_test(an_entry_out_of_the_list_is_reused_last),
        cmocka_unit_test(a_new_connection_is_to_be_kept_again),
        cmocka_unit_test(a_failed_attempt_stays_in_the_list),
        cmocka_unit_test(the_adapter_goes_off_during_an_attempt),
        cmocka_unit_test(connect_again_before_an_attempt_has_ended),
        cmocka_unit_test(timers_strike_in_their_order_with_their_own_time),
        cmocka_unit_test(release_on_reset_is_told_by_time),
        cmocka_unit_test(handlers_may_call_anything),
        cmocka_unit_test(a_handler_that_always_scans_is_not_called_from_within_itself),
        cmocka_unit_test(a_search_started_while_the_failure_is_reported_goes_on),
        cmocka_unit_test(reports_that_nest_end),
        cmocka_unit_test(a_program_may_reconnect_from_the_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
