/* SPDX-License-Identifier: MIT */
/* Every state of a device with every input, and every state of the manager's scan with every input. */
#include "activ5_fixture.h"
#include "activ5_pairs.h"

/* ---- a device ---- */

static void go_to(activ5_fixture *f, where place) {
    tendon_activ5_device *d = &f->device;
    if (place >= AT_CONNECTED) {
        activ5_reach(f, d, ACTIV5_NEW, 10);
    }
    switch (place) {
    case AT_CONNECTING:
        assert_int_equal(tendon_activ5_device_connect(d, 10), TENDON_OK);
        break;
    case AT_ISOMETRIC:
        activ5_say(d, "IS1/IS", 10);
        break;
    case AT_STOP:
        assert_int_equal(tendon_activ5_device_stop(d, 10), TENDON_OK);
        break;
    case AT_CLOSING:
        assert_int_equal(tendon_activ5_device_disconnect(d, 10), TENDON_OK);
        assert_true(d->disconnect_requested && d->should_reconnect);
        break;
    default:
        break;
    }
    d->rssi = -60;
    d->initialized = place >= AT_CONNECTED;
    activ5_forget(f);
}

/* True: taken. */
static bool give(activ5_fixture *f, input what) {
    static const char *const motion = "00000000000000000000000000000000";
    static const tendon_activ5_request read = {.kind = TENDON_ACTIV5_REQUEST_READ};
    tendon_activ5_device *d = &f->device;
    uint64_t ignored = d->counters.ignored;
    tendon_status status = TENDON_OK;
    switch (what) {
    case CONNECT:
        status = tendon_activ5_device_connect(d, 20);
        break;
    case LINK_UP:
        tendon_activ5_device_link_up(d, 20);
        break;
    case LINK_FAILED:
        tendon_activ5_device_link_failed(d, TENDON_ERROR_TIMEOUT, 20);
        break;
    case LINK_DOWN:
        tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 20);
        break;
    case DISCONNECT:
        status = tendon_activ5_device_disconnect(d, 20);
        break;
    case DISCOVERED:
        tendon_activ5_device_discovered(d, true, activ5_all, ACTIV5_NEW, 20);
        break;
    case INITIAL:
        activ5_say(d, "TC5k;1", 20);
        break;
    case INITIAL_ALONE:
        f->options.auto_handshake = false;
        activ5_say(d, "TC5k;1", 20);
        break;
    case FORCE_TEXT:
        activ5_say(d, "IS2/IS", 20);
        break;
    case FORCE_BINARY:
        activ5_value(d, TENDON_ACTIV5_FORCE, "0100", 20);
        break;
    case UNKNOWN_TEXT:
        activ5_say(d, "hello", 20);
        break;
    case UNKNOWN_CHARACTERISTIC:
        activ5_value(d, TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN, "0100", 20);
        break;
    case IMU:
        activ5_value(d, TENDON_ACTIV5_IMU, motion, 20);
        break;
    case SN1:
        activ5_say(d, "ASN1x", 20);
        break;
    case UUID1:
        activ5_say(d, "Aix", 20);
        break;
    case SERIAL:
        activ5_value(d, TENDON_ACTIV5_SERIAL_NUMBER, "41", 20);
        break;
    case BATTERY:
        activ5_value(d, TENDON_ACTIV5_BATTERY, "10", 20);
        break;
    case TIMESTAMP:
        activ5_value(d, TENDON_ACTIV5_TIMESTAMP, "01000000", 20);
        break;
    case BAD_TEXT:
        activ5_say(d, "ISx/IS", 20);
        break;
    case BAD_FORCE:
        activ5_value(d, TENDON_ACTIV5_FORCE, "01", 20);
        break;
    case CALL_START:
        status = tendon_activ5_device_start_isometric(d, 20);
        break;
    case CALL_STOP:
        status = tendon_activ5_device_stop(d, 20);
        break;
    case COMMAND_STOP:
        status = tendon_activ5_device_send(d, TENDON_ACTIV5_STOP, 20);
        break;
    case CALL_TARE:
        status = tendon_activ5_device_tare(d, 20);
        break;
    case TICK:
        tendon_activ5_device_tick(d, 20);
        break;
    default:
        tendon_activ5_device_done(d, &read, TENDON_OK, 20);
        break;
    }
    return status == TENDON_OK && d->counters.ignored == ignored;
}

static void every_state_of_a_device_with_every_input(void **state) {
    (void)state;
    unsigned pairs = 0;
    for (int place = AT_DISCONNECTED; place < PLACES; place++) {
        for (int what = CONNECT; what < INPUTS; what++) {
            activ5_fixture *f = activ5_new();
            go_to(f, (where)place);
            bool told_end = what == LINK_DOWN || what == LINK_FAILED;
            bool taken = give(f, (input)what);
            uint8_t want = expected[what][place];
            /* disconnect() twice is no error */
            bool should_take = (want & X) == 0;
            if (f->device.state != (want & ~X) || taken != should_take) {
                fail_msg("%s, %s: state %d, taken %d", place_names[place], input_names[what], (int)f->device.state,
                         taken);
            }
            if (!taken && what != LINK_UP) {
                activ5_expect(f, "");
            }
            if (told_end && taken) {
                activ5_expect(f, place == AT_CONNECTING ? "didFailToConnect" : "deviceDisconnected");
                assert_false(f->device.initialized);
                assert_true(f->device.rssi == 0 && f->device.link == TENDON_ACTIV5_LINK_NONE);
            }
            pairs++;
            free(f);
        }
    }
    assert_int_equal(pairs, (unsigned)INPUTS * (unsigned)PLACES);
}

/* ---- the scan ---- */

static void every_state_of_the_scan_with_every_input(void **state) {
    (void)state;
    for (int place = OFF; place < SCAN_PLACES; place++) {
        for (size_t row = 0; row < SCAN_ROWS; row++) {
            activ5_fixture *f = activ5_new();
            tendon_activ5_manager *m = &f->manager;
            if (place == OFF) {
                tendon_activ5_manager_set_radio(m, TENDON_RADIO_ERROR_ADAPTER_DOWN, 0);
            } else if (place == SCANNING) {
                assert_int_equal(tendon_activ5_manager_scan(m, 0), TENDON_OK);
            }
            activ5_forget(f);
            switch (row) {
            case 0:
                assert_int_equal(tendon_activ5_manager_scan(m, 5),
                                 place == OFF ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK);
                break;
            case 1:
                tendon_activ5_manager_stop_scanning(m, 5);
                break;
            case 2:
                tendon_activ5_manager_tick(m, 29999);
                activ5_expect(f, "");
                tendon_activ5_manager_tick(m, 30000);
                break;
            case 3:
            case 4:
                (void)activ5_found(f, row == 3 ? "a" : "", 5);
                break;
            case 5:
            case 6:
                tendon_activ5_manager_set_radio(m, row == 6 ? TENDON_OK : TENDON_RADIO_ERROR_ADAPTER_DOWN, 5);
                break;
            default:
                tendon_activ5_manager_disconnect_all(m, 5);
                break;
            }
            activ5_expect(f, scan_rows[row].words[place]);
            scan_place now = !m->powered ? OFF : m->scanning ? SCANNING : IDLE;
            if (now != scan_rows[row].next[place]) {
                fail_msg("%s, %s: %d", scan_names[place], scan_rows[row].name, (int)now);
            }
            assert_int_equal(tendon_activ5_manager_connection_state(m),
                             now == SCANNING ? TENDON_ACTIV5_MANAGER_SEARCHING : TENDON_ACTIV5_MANAGER_DISCONNECTED);
            /* its time starts again with each scan */
            assert_true(tendon_activ5_manager_deadline(m) == (now != SCANNING ? UINT64_MAX : row == 0 ? 30005 : 30000));
            free(f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_of_a_device_with_every_input),
        cmocka_unit_test(every_state_of_the_scan_with_every_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
