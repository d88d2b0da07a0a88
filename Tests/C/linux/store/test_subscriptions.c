/* SPDX-License-Identifier: MIT */
/* What bonded centrals subscribe to, over the end of a connection, of the device's program, of the bond, of the table.
 */
#include "../../../../CSources/linux/store/subscriptions.h"
#include "../open_files.h"
#include "../virtual/virtual_fixture.h"
#include "failing_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUE = 0x03, TEMPERATURE = 0x06, CHANGED = 0x0A, TABLE = 220, CCCDS = 3 };

static struct own {
    char directory[64];
    tendon_subscription_store store;
    tendon_bonds bonds, central_bonds;
    tendon_gatt_attribute attributes[TABLE];
    tendon_gatt_server server;
    tendon_gatt_central places[2];
    uint16_t cccds[2 * (TENDON_SUBSCRIPTIONS_MAX + 1)];
    tendon_gatt_device device;
    tendon_peripheral peripheral;
    int subscribed, connected, ended, paired;
    uint16_t handle, value;
    int extra; /**< characteristics behind the others */
    bool busy; /**< of the next connection: an indication is not confirmed */
    link_end central;
} own;

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t value,
                          uint64_t now) {
    (void)context;
    (void)connection;
    (void)now;
    own.subscribed++;
    own.handle = handle;
    own.value = value;
}

static void on_connected(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)context;
    (void)now;
    own.connected++;
    link->bearer.server->indication_outstanding = own.busy;
}

static void on_disconnected(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    (void)context;
    (void)link;
    (void)reason;
    (void)now;
    own.ended++;
}

/** The device of a program: battery level, temperature to be confirmed, Service Changed; another one has one more. */
static void serve(world *w, bool another) {
    const tendon_gatt_handlers handlers = {.subscribed = on_subscribed};
    const tendon_peripheral_callbacks callbacks = {.connected = on_connected, .disconnected = on_disconnected};
    const tendon_uuid service = tendon_uuid_from_u16(0x180F), level = tendon_uuid_from_u16(0x2A19),
                      temperature = tendon_uuid_from_u16(0x2A1C), more = tendon_uuid_from_u16(0x2904);
    tendon_gatt_server_init(&own.server, own.attributes, TABLE, &handlers);
    tendon_gatt_add_service(&own.server, &service, true);
    assert_int_equal(tendon_gatt_add_characteristic(&own.server, &level, TENDON_GATT_NOTIFY, 0), VALUE);
    assert_int_equal(tendon_gatt_add_characteristic(&own.server, &temperature, TENDON_GATT_INDICATE, 0), TEMPERATURE);
    if (another) {
        tendon_gatt_add_descriptor(&own.server, &more, 0);
    }
    tendon_gatt_add_generic_attribute(&own.server);
    assert_int_equal(own.server.service_changed, CHANGED + another);
    for (int i = 0; i < own.extra; i++) {
        (void)tendon_gatt_add_characteristic(&own.server, &level, TENDON_GATT_NOTIFY, 0);
    }
    assert_int_equal(own.server.cccd_count, CCCDS + own.extra);
    const tendon_gatt_device_config config = {
        .advertisement = advertised_flags,
        .advertisement_length = sizeof advertised_flags,
        .pairable = true,
        .centrals = {
            .places = own.places, .capacity = 2, .cccds = own.cccds, .cccd_capacity = TENDON_SUBSCRIPTIONS_MAX + 1}};
    assert_int_equal(tendon_gatt_device_init(&own.device, &own.server, &config), TENDON_OK);
    const tendon_peripheral_device served = tendon_gatt_device_peripheral(&own.device);
    tendon_peripheral_init(&own.peripheral, &w->device.radio, &served, &callbacks);
    tendon_peripheral_keep_subscriptions(&own.peripheral, &own.store);
    assert_int_equal(tendon_peripheral_open(&own.peripheral, 20), TENDON_OK);
}

static int setup(void **state) {
    int result = world_setup(state);
    world *w = *state;
    memset(&own, 0, sizeof own);
    memset(&disk, 0, sizeof disk);
    strcpy(own.directory, "/tmp/tendon-test-XXXXXX");
    assert_non_null(mkdtemp(own.directory));
    assert_int_equal(tendon_subscription_store_open(&own.store, own.directory), TENDON_OK);
    tendon_bonds_init(&own.bonds);
    tendon_bonds_init(&own.central_bonds);
    assert_int_equal(tendon_radio_use_bonds(&w->device.radio, &own.bonds), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&w->central.radio, &own.central_bonds), TENDON_OK);
    serve(w, false);
    link_end_init(&own.central);
    return result;
}

static void hang_up(world *w) {
    int before = own.ended, connected = own.connected;
    tendon_link_close(&own.central.link);
    STEP_UNTIL(&w->loop, own.ended == before + 1 || connected == before);
    link_end_init(&own.central);
}

static void stop(world *w) {
    tendon_link_close(&own.central.link);
    tendon_peripheral_close(&own.peripheral);
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&w->loop, 0);
    }
}

static void path_of(const char *name, char out[128]) {
    snprintf(out, 128, "%s/%s", own.directory, name);
}

/** The file of the central; public address, so the last digit is 0. */
static const char record_name[] = "cccd-c102030405ce-0";

static int teardown(void **state) {
    static const char *const names[] = {"lock", record_name, "cccd-c102030405aa-1"};
    world *w = *state;
    char path[128];
    stop(w);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(names[i], path);
        (void)unlink(path);
    }
    int left = entries(own.directory);
    int removed = rmdir(own.directory);
    return left != 0 || removed != 0 || own.peripheral.timer.added ? -1 : world_teardown(state);
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static bool has_file(const char *name) {
    char path[128];
    struct stat found;
    path_of(name, path);
    return stat(path, &found) == 0;
}

static void dial(world *w) {
    int before = own.connected;
    assert_int_equal(
        tendon_radio_connect(&w->central.radio, &own.central.link, &device_address, tendon_monotonic_ms() + 2000),
        TENDON_OK);
    STEP_UNTIL(&w->loop, own.connected == before + 1 && own.central.connected == 1);
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    assert_int_equal(status, TENDON_OK);
    own.paired++;
}

static void pair(world *w) {
    const tendon_pairing_service *service = tendon_radio_pairing(&w->central.radio);
    int before = own.paired;
    assert_int_equal(service->start(service->context, &device_address, on_paired, NULL, tendon_monotonic_ms()),
                     TENDON_OK);
    STEP_UNTIL(&w->loop, own.paired == before + 1);
}

static void exchange(world *w, const void *pdu, size_t length, const void *answer, size_t answer_length) {
    int before = own.central.received;
    assert_int_equal(link_end_send(&own.central, pdu, length), TENDON_OK);
    STEP_UNTIL(&w->loop, own.central.received == before + 1);
    assert_int_equal(own.central.last_length, answer_length);
    assert_memory_equal(own.central.last, answer, answer_length);
}

static void subscribe(world *w, uint8_t cccd, uint8_t value) {
    const uint8_t pdu[] = {0x12, cccd, 0, value, 0};
    exchange(w, pdu, sizeof pdu, "\x13", 1);
}

static void expect_cccd(world *w, uint8_t cccd, uint8_t value) {
    const uint8_t pdu[] = {0x0A, cccd, 0}, answer[] = {0x0B, value, 0};
    exchange(w, pdu, sizeof pdu, answer, sizeof answer);
}

/** A bonded central that has subscribed to the level and to Service Changed, and is not connected. */
static void bond(world *w) {
    dial(w);
    pair(w);
    subscribe(w, VALUE + 1, 1);
    subscribe(w, CHANGED + 1, 2);
    hang_up(w);
    assert_true(has_file(record_name));
    own.subscribed = 0;
}

static void notified(world *w) {
    int before = own.central.received;
    assert_int_equal(tendon_gatt_device_notify(&own.device, VALUE, (const uint8_t *)"c", 1, NULL), 1);
    STEP_UNTIL(&w->loop, own.central.received == before + 1);
    assert_memory_equal(own.central.last,
                        "\x1B\x03\x00"
                        "c",
                        4);
}

static void a_bonded_central_is_notified_again(void **state) {
    world *w = *state;
    bond(w);
    dial(w);
    STEP_UNTIL(&w->loop, own.subscribed == 2);
    notified(w);
    expect_cccd(w, VALUE + 1, 1);
    expect_cccd(w, TEMPERATURE + 1, 0);
    expect_cccd(w, CHANGED + 1, 2);
    assert_int_equal(own.subscribed, 2); /* once */
    assert_int_equal(own.store.status, TENDON_OK);
    /* It ends what it does not need: that is kept too. */
    subscribe(w, VALUE + 1, 0);
    hang_up(w);
    dial(w);
    expect_cccd(w, VALUE + 1, 0);
    expect_cccd(w, CHANGED + 1, 2);
    subscribe(w, CHANGED + 1, 0);
    assert_false(has_file(record_name)); /* nothing is left to be kept */
}

static void also_by_another_process(void **state) {
    world *w = *state;
    bond(w);
    stop(w);
    link_end_init(&own.central);
    serve(w, false);
    dial(w);
    STEP_UNTIL(&w->loop, own.subscribed == 2);
    notified(w);
}

/** The handler learns the handle of the value, and the bits. */
static void the_program_learns_what_is_restored(void **state) {
    world *w = *state;
    dial(w);
    pair(w);
    subscribe(w, TEMPERATURE + 1, 2);
    hang_up(w);
    own.subscribed = own.handle = own.value = 0;
    own.server.handlers.subscribed = on_subscribed;
    dial(w);
    STEP_UNTIL(&w->loop, own.subscribed == 1);
    assert_int_equal(own.handle, TEMPERATURE);
    assert_int_equal(own.value, 2);
    hang_up(w);
    own.server.handlers.subscribed = NULL;
    dial(w);
    expect_cccd(w, TEMPERATURE + 1, 2);
}

/** What it writes before it pairs is kept as well. */
static void subscriptions_from_before_the_pairing(void **state) {
    world *w = *state;
    dial(w);
    subscribe(w, VALUE + 1, 1);
    assert_false(has_file(record_name));
    pair(w);
    STEP_UNTIL(&w->loop, has_file(record_name));
    hang_up(w);
    dial(w);
    expect_cccd(w, VALUE + 1, 1);
}

static void without_a_bond_or_a_store_nothing_is_kept(void **state) {
    world *w = *state;
    dial(w);
    subscribe(w, VALUE + 1, 1);
    hang_up(w);
    dial(w);
    expect_cccd(w, VALUE + 1, 0);
    pair(w);
    own.peripheral.subscriptions = NULL;
    subscribe(w, VALUE + 1, 1);
    hang_up(w);
    dial(w);
    expect_cccd(w, VALUE + 1, 0);
    assert_false(has_file(record_name));
}

/** The same address with another key: a bond that is new begins without subscriptions. */
static void another_pairing_begins_anew(void **state) {
    world *w = *state;
    bond(w);
    assert_int_equal(tendon_radio_forget_all(&w->device.radio), 1);
    assert_int_equal(tendon_radio_forget(&w->central.radio, &device_address), TENDON_OK);
    dial(w);
    pair(w);
    expect_cccd(w, VALUE + 1, 0);
    expect_cccd(w, CHANGED + 1, 0);
    subscribe(w, TEMPERATURE + 1, 2);
    hang_up(w);
    dial(w);
    expect_cccd(w, VALUE + 1, 0);
    expect_cccd(w, TEMPERATURE + 1, 2);
}

static const char indicated[] = "\x1D\x0B\x00\x01\x00\xFF\xFF";

static void expect_indication(world *w) {
    STEP_UNTIL(&w->loop, own.central.received == 1);
    assert_int_equal(own.central.last_length, sizeof indicated - 1);
    assert_memory_equal(own.central.last, indicated, sizeof indicated - 1);
}

static void confirm(world *w) {
    assert_int_equal(link_end_send(&own.central, "\x1E", 1), TENDON_OK);
    STEP_UNTIL(&w->loop, !own.peripheral.links[0].kept.announced);
}

/** Another table: its CCCDs are 0, and the central is told so, until it has confirmed it. */
static void service_changed_is_indicated_to_a_bonded_central(void **state) {
    world *w = *state;
    bond(w);
    stop(w);
    link_end_init(&own.central);
    serve(w, true);
    for (int time = 0; time < 2; time++) { /* the first time it hangs up before it confirms */
        dial(w);
        expect_indication(w);
        if (time == 0) {
            hang_up(w);
        }
    }
    assert_int_equal(own.subscribed, 2); /* to Service Changed, twice */
    assert_int_equal(own.handle, CHANGED + 1);
    confirm(w);
    expect_cccd(w, VALUE + 1, 0);
    hang_up(w);
    dial(w);
    expect_cccd(w, CHANGED + 2, 2); /* the first that it receives */
}

/** One indication at a time (Vol 3 Part F 3.3.3): the program's own is confirmed first. */
static void service_changed_waits_for_its_turn(void **state) {
    world *w = *state;
    bond(w);
    stop(w);
    link_end_init(&own.central);
    serve(w, true);
    own.busy = true;
    dial(w);
    STEP_UNTIL(&w->loop, own.peripheral.links[0].kept.announces);
    expect_cccd(w, VALUE + 1, 0);
    own.central.received = 0;
    assert_int_equal(link_end_send(&own.central, "\x1E", 1), TENDON_OK);
    expect_indication(w);
    confirm(w);
}

/** Without a subscription to Service Changed the central learns it by its Database Hash, and from nothing else. */
static void another_table_without_service_changed(void **state) {
    world *w = *state;
    dial(w);
    pair(w);
    subscribe(w, VALUE + 1, 1);
    hang_up(w);
    stop(w);
    link_end_init(&own.central);
    serve(w, true);
    dial(w);
    expect_cccd(w, VALUE + 1, 0);
    STEP_UNTIL(&w->loop, !has_file(record_name));
}

/** Of each call that writes: the status tells it, and the end of the connection tries again. */
static void a_full_disk_costs_no_subscription(void **state) {
    world *w = *state;
    refused *const calls[] = {&disk.open, &disk.write, &disk.fsync, &disk.rename};
    bond(w);
    dial(w);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        uint8_t value = (uint8_t)(i % 2);
        STEP_UNTIL(&w->loop, own.peripheral.links[0].kept.bonded);
        calls[i]->number = ENOSPC;
        int open = open_descriptors();
        subscribe(w, VALUE + 1, value);
        assert_int_equal(own.store.status, TENDON_SYSTEM_ERROR(ENOSPC));
        assert_int_equal(open_descriptors(), open);
        hang_up(w);
        assert_int_equal(own.store.status, TENDON_OK);
        dial(w);
        expect_cccd(w, VALUE + 1, value);
    }
}

/** A call that fails once does not lose what is kept. */
static void a_record_that_cannot_be_read_is_read_again(void **state) {
    world *w = *state;
    refused *const calls[] = {&disk.open, &disk.fstat, &disk.read};
    bond(w);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        calls[i]->number = EMFILE;
        dial(w);
        STEP_UNTIL(&w->loop, own.store.status == TENDON_SYSTEM_ERROR(EMFILE));
        expect_cccd(w, VALUE + 1, 1);
        assert_int_equal(own.store.status, TENDON_OK);
        hang_up(w);
        own.subscribed = 0;
    }
}

/** Unreadable to the end, and then not: the record stays if there is one, else this connection makes one. */
static void a_record_that_is_read_at_the_end(void **state) {
    world *w = *state;
    bond(w);
    for (int i = 0; i < 2; i++) {
        disk.read.number = EIO;
        dial(w);
        STEP_UNTIL(&w->loop, own.store.status == TENDON_SYSTEM_ERROR(EIO));
        disk.open.number = EMFILE; /* of the first PDU */
        subscribe(w, TEMPERATURE + 1, 2);
        assert_int_equal(own.store.status, TENDON_SYSTEM_ERROR(EMFILE));
        if (i == 1) {
            char path[128];
            path_of(record_name, path);
            assert_int_equal(unlink(path), 0);
        }
        hang_up(w);
        assert_int_equal(own.store.status, TENDON_OK);
        dial(w);
        expect_cccd(w, VALUE + 1, i == 0);
        expect_cccd(w, TEMPERATURE + 1, i == 0 ? 0 : 2);
        hang_up(w);
    }
}

static void put_file(const char *name, const uint8_t *bytes, size_t length) {
    char path[128];
    path_of(name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

/** A file that is no record, or one that others may read, counts as none, and is replaced. */
static void a_file_that_is_no_record(void **state) {
    world *w = *state;
    static const uint8_t too_long[5000] = "TSUB";
    bond(w);
    for (int i = 0; i < 2; i++) {
        put_file(record_name, too_long, i == 0 ? 4 : sizeof too_long);
        dial(w);
        expect_cccd(w, VALUE + 1, 0);
        assert_int_equal(own.store.status, TENDON_OK);
        subscribe(w, VALUE + 1, 1);
        hang_up(w);
        dial(w);
        expect_cccd(w, VALUE + 1, 1);
        hang_up(w);
        own.subscribed = 0;
    }
}

/** A stranger that pairs again and again with other addresses leaves no more files than there are bonds. */
static void centrals_without_a_bond_leave_no_file(void **state) {
    world *w = *state;
    put_file("cccd-c102030405aa-1", (const uint8_t *)"", 0);
    put_file("cccd-c102030405ce-0.new", (const uint8_t *)"", 0);
    put_file("cccd-", (const uint8_t *)"", 0);
    put_file("gatt-c102030405ab-1", (const uint8_t *)"", 0);
    bond(w);
    assert_true(has_file(record_name));
    assert_false(has_file("cccd-c102030405aa-1") || has_file("cccd-c102030405ce-0.new"));
    static const char *const others[] = {"gatt-c102030405ab-1", "cccd-"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char path[128];
        path_of(others[i], path);
        assert_int_equal(unlink(path), 0);
    }
}

/** As many CCCDs as a record takes, and one more: of such a server nothing is kept. */
static void as_many_cccds_as_are_kept(void **state) {
    world *w = *state;
    for (int more = 0; more < 2; more++) {
        stop(w);
        link_end_init(&own.central);
        own.extra = TENDON_SUBSCRIPTIONS_MAX - CCCDS + more;
        serve(w, false);
        dial(w);
        if (more == 0) {
            pair(w);
        }
        subscribe(w, VALUE + 1, 1);
        subscribe(w, (uint8_t)(own.server.count), 1); /* the last one */
        hang_up(w);
        dial(w);
        expect_cccd(w, VALUE + 1, more == 0);
        expect_cccd(w, (uint8_t)own.server.count, more == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_bonded_central_is_notified_again),
        TEST(also_by_another_process),
        TEST(the_program_learns_what_is_restored),
        TEST(subscriptions_from_before_the_pairing),
        TEST(without_a_bond_or_a_store_nothing_is_kept),
        TEST(another_pairing_begins_anew),
        TEST(service_changed_is_indicated_to_a_bonded_central),
        TEST(service_changed_waits_for_its_turn),
        TEST(another_table_without_service_changed),
        TEST(a_full_disk_costs_no_subscription),
        TEST(a_record_that_cannot_be_read_is_read_again),
        TEST(a_record_that_is_read_at_the_end),
        TEST(a_file_that_is_no_record),
        TEST(centrals_without_a_bond_leave_no_file),
        TEST(as_many_cccds_as_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
