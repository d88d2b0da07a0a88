/* SPDX-License-Identifier: MIT */
/* The Activ5 manager's search: service and name in one report or in two, what is left out, the state of the radio. */
#include "activ5_fixture.h"

static tendon_activ5_device *named(activ5_fixture *f, const char *name) {
    return tendon_activ5_manager_find(&f->manager, name, strlen(name));
}

/* ---- service and name, together and apart ---- */

static tendon_activ5_device *reported(activ5_fixture *f, uint32_t number, tendon_address_type type, const char *hex) {
    block b = block_hex(hex);
    const tendon_ad_report report = {
        .address = {{(uint8_t)number, (uint8_t)(number >> 8), 3, 4, 5, 0xC6}, (uint8_t)type},
        .rssi = -70,
        .data = b.data,
        .length = b.length};
    tendon_activ5_device *device = tendon_activ5_manager_on_advertisement(&f->manager, &report, 1);
    free(b.data);
    return device;
}

#define SERVICE "03 03 00 50 "
#define NAME_A "02 09 61 "
#define PUBLIC TENDON_ADDRESS_TYPE_PUBLIC
#define RANDOM TENDON_ADDRESS_TYPE_RANDOM

static void service_and_name_come_together_or_apart(void **state) {
    (void)state;
    for (int order = 0; order < 3; order++) {
        activ5_fixture *f = activ5_new();
        assert_null(reported(f, 1, RANDOM, SERVICE NAME_A)); /* not scanning */
        assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
        activ5_forget(f);
        if (order > 0) {
            assert_null(reported(f, 1, RANDOM, order == 1 ? SERVICE : NAME_A));
        }
        tendon_activ5_device *d = reported(f, 1, RANDOM, order == 0 ? SERVICE NAME_A : order == 1 ? NAME_A : SERVICE);
        assert_non_null(d);
        assert_ptr_equal(named(f, "a"), d);
        assert_true(d->rssi == -70 && d->peer.type == RANDOM && d->peer.bytes[0] == 1);
        if (order > 0) { /* each part alone is the device again, also a report that has neither */
            assert_ptr_equal(reported(f, 1, RANDOM, "02 01 06"), d);
            assert_null(reported(f, 1, PUBLIC, "02 01 06")); /* the same number, another device */
        }
        activ5_expect(f, order > 0 ? "deviceFound again" : "deviceFound");
        free(f);
    }
}

static void the_parts_of_two_addresses_are_no_device(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    assert_null(reported(f, 1, RANDOM, SERVICE));
    assert_null(reported(f, 1, PUBLIC, NAME_A));
    assert_null(reported(f, 2, RANDOM, NAME_A));
    activ5_expect(f, "scan_start");
    free(f);
}

/* Names of 1,000 other devices do not push out a trainer whose name is still to come; services do, the oldest first. */
static void strangers_do_not_displace_a_trainer(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    assert_null(reported(f, 1, RANDOM, SERVICE));
    for (uint32_t i = 2; i < 1000; i++) {
        assert_null(reported(f, i, RANDOM, "02 09 62"));
    }
    assert_non_null(reported(f, 1, RANDOM, NAME_A));
    assert_null(reported(f, 2, RANDOM, SERVICE)); /* its name is long gone */
    assert_non_null(reported(f, 999, RANDOM, SERVICE));
    for (uint32_t i = 2000; i < 2000 + TENDON_ACTIV5_PARTIAL_SIZE; i++) {
        assert_null(reported(f, i, RANDOM, SERVICE));
    }
    assert_null(reported(f, 2, RANDOM, NAME_A));
    /* A report with both takes no place among them, however short the name is. */
    for (uint32_t i = 3000; i < 3000 + TENDON_ACTIV5_PARTIAL_SIZE; i++) {
        assert_null(reported(f, i, RANDOM, SERVICE));
    }
    assert_non_null(reported(f, 4000, RANDOM, SERVICE "02 09 63"));
    assert_non_null(reported(f, 3000, RANDOM, "02 09 64"));
    free(f);
}

/* An address of zeros is an address: its place is taken, and strangers do not get it. */
static void a_trainer_with_an_address_of_zeros_keeps_its_place(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_ad_report report = {.address.type = PUBLIC, .data = (const uint8_t *)"\3\3\0\x50", .length = 4};
    assert_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    for (uint32_t i = 0; i < TENDON_ACTIV5_PARTIAL_SIZE; i++) {
        assert_null(reported(f, i, RANDOM, "02 09 62"));
    }
    report.data = (const uint8_t *)"\2\x09z";
    report.length = 3;
    assert_non_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    free(f);
}

/* Each place of the table is looked at: as many trainers as it holds are found, whichever part came first. */
static void as_many_partial_reports_as_there_are_places(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    for (uint32_t i = 0; i < TENDON_ACTIV5_PARTIAL_SIZE; i++) {
        assert_null(reported(f, i, RANDOM, SERVICE));
    }
    assert_non_null(reported(f, TENDON_ACTIV5_PARTIAL_SIZE - 1, RANDOM, NAME_A)); /* in the last one */
    assert_non_null(reported(f, 0, RANDOM, "02 09 62"));                          /* in the first one */
    free(f);
}

static void a_name_that_is_too_long_is_left_out(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    uint8_t data[4 + 2 + TENDON_ACTIV5_NAME_SIZE + 1] = {3, 3, 0x00, 0x50, TENDON_ACTIV5_NAME_SIZE + 2, 9};
    memset(data + 6, 'n', TENDON_ACTIV5_NAME_SIZE + 1);
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_ad_report report = {.rssi = TENDON_RSSI_UNKNOWN, .data = data, .length = sizeof data};
    assert_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    report.data += 4, report.length -= 4;
    assert_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    report.data -= 4, report.length = 4;
    assert_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    report.data += 4, report.length = sizeof data - 4;
    assert_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    assert_int_equal(f->manager.left_out, 2);
    data[4]--;
    report.length--;
    tendon_activ5_device *d = tendon_activ5_manager_on_advertisement(&f->manager, &report, 1);
    assert_non_null(d);
    assert_true(d->rssi == 0 && d->name_length == TENDON_ACTIV5_NAME_SIZE);
    report.address.bytes[5]++; /* another one, whose name comes first */
    assert_null(tendon_activ5_manager_on_advertisement(&f->manager, &report, 1));
    report.data -= 4, report.length = 4;
    d = tendon_activ5_manager_on_advertisement(&f->manager, &report, 1);
    assert_non_null(d);
    assert_int_equal(d->name_length, TENDON_ACTIV5_NAME_SIZE);
    free(f);
}

static void a_removed_device_is_found_again(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 0);
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    tendon_activ5_manager_remove(&f->manager, d);
    assert_null(named(f, "a"));
    assert_int_equal(d->link, TENDON_ACTIV5_LINK_UP);
    assert_ptr_equal(activ5_found(f, "a", 1), d);
    activ5_expect(f, "deviceFound");
    free(f);
}

static void a_removed_device_is_not_connected_again(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 0);
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 1);
    tendon_activ5_manager_remove(&f->manager, d);
    (void)activ5_found(f, "a", 2);
    activ5_expect(f, "deviceDisconnected scan_start deviceFound");
    free(f);
}

/* One that was lost is in no list and has no link; its place is not given to others while it is sought. */
static void a_lost_device_keeps_its_place(void **state) {
    (void)state;
    activ5_fixture *f = activ5_new();
    assert_int_equal(tendon_activ5_manager_scan(&f->manager, 0), TENDON_OK);
    tendon_activ5_device *d = activ5_found(f, "a", 0);
    activ5_reach(f, d, ACTIV5_LEGACY, 0);
    tendon_activ5_device_link_down(d, TENDON_RADIO_ERROR_PEER_CLOSED, 1);
    assert_null(named(f, "a"));
    for (int i = 1; i < ACTIV5_DEVICES; i++) {
        assert_non_null(activ5_found(f, (const char *[]){"b", "c", "d"}[i - 1], 2));
    }
    assert_null(activ5_found(f, "e", 2));
    assert_int_equal(f->manager.left_out, 1);
    activ5_forget(f);
    assert_ptr_equal(activ5_found(f, "a", 3), d);
    activ5_expect(f, "deviceFound connect");
    free(f);
}

/* ---- the radio ---- */

static void every_status_of_a_radio_is_a_state(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        tendon_activ5_radio_state state;
    } table[] = {
        {TENDON_OK, TENDON_ACTIV5_RADIO_POWERED_ON},
        {TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_ACTIV5_RADIO_UNSUPPORTED},
        {TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, TENDON_ACTIV5_RADIO_UNSUPPORTED},
        {TENDON_ERROR_UNSUPPORTED, TENDON_ACTIV5_RADIO_UNSUPPORTED},
        {TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_ACTIV5_RADIO_UNAUTHORIZED},
        {TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN, TENDON_ACTIV5_RADIO_UNAUTHORIZED},
        {TENDON_ERROR_FILE_PERMISSION, TENDON_ACTIV5_RADIO_UNAUTHORIZED},
        {TENDON_RADIO_ERROR_RFKILL, TENDON_ACTIV5_RADIO_POWERED_OFF},
        {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_ACTIV5_RADIO_POWERED_OFF},
        {TENDON_RADIO_ERROR_COMMAND_TIMEOUT, TENDON_ACTIV5_RADIO_RESETTING},
        {TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_ACTIV5_RADIO_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        activ5_fixture *f = activ5_new();
        assert_int_equal(tendon_activ5_radio_state_of(table[i].status), table[i].state);
        tendon_activ5_manager_set_radio(&f->manager, table[i].status, 1);
        assert_int_equal(f->manager.radio_status, table[i].status);
        assert_int_equal(f->manager.powered, i == 0);
        activ5_expect(f, i == 0 ? "didChangeBluetoothState:on" : "didChangeBluetoothState:off");
        free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(service_and_name_come_together_or_apart),
        cmocka_unit_test(the_parts_of_two_addresses_are_no_device),
        cmocka_unit_test(strangers_do_not_displace_a_trainer),
        cmocka_unit_test(a_trainer_with_an_address_of_zeros_keeps_its_place),
        cmocka_unit_test(as_many_partial_reports_as_there_are_places),
        cmocka_unit_test(a_name_that_is_too_long_is_left_out),
        cmocka_unit_test(a_removed_device_is_found_again),
        cmocka_unit_test(a_lost_device_keeps_its_place),
        cmocka_unit_test(a_removed_device_is_not_connected_again),
        cmocka_unit_test(every_status_of_a_radio_is_a_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
