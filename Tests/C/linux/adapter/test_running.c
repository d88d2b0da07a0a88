/* SPDX-License-Identifier: MIT */
/* What the controller, the kernel and other programs do while a radio is open, over the kernel of fake_kernel.h. */
#include "../file_tree.h"
#include "../open_files.h"
#include "adapter_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A wearable that leaves the house: the adapter is not powered off and on for that, however often. */
static void the_silence_of_one_device_is_its_own(void **state) {
    (void)state;
    const fake_adapter *a = fake_add(0, true);
    fake_device *device = fake_advertiser(1, 100);
    adapter_open(NULL);
    adapter_scan();
    for (int i = 0; i < 3; i++) {
        device->interval = 100;
        device->next = fake.now;
        fake_pass(&own.loop, 10000);
        device->interval = 0;
        fake_pass(&own.loop, 10 * TENDON_BLUEZ_SILENCE_MS);
        assert_int_equal(a->powered_off, 0);
        assert_int_equal(own.radio.counters.scan_restarts, i + 1); /* that costs nothing */
    }
    assert_int_equal(own.failures, 0);
}

/** Devices that leave one after the other, the last one alone; and several at once, which is the controller. */
static void the_silence_of_several_at_once_is_the_controllers(void **state) {
    (void)state;
    const fake_adapter *a = fake_add(0, true);
    for (int at_once = 0; at_once < 2; at_once++) {
        for (int i = 1; i <= 4; i++) {
            (void)fake_advertiser(i, 100u + (unsigned)i);
        }
        if (!at_once) {
            adapter_open(NULL);
            adapter_scan();
        }
        fake_pass(&own.loop, 60000);
        for (int i = 1; i <= 4; i++) {
            fake.devices[i].interval = 0;
            fake_pass(&own.loop, at_once ? 0 : TENDON_BLUEZ_SILENCE_AT_ONCE_MS);
        }
        fake_pass(&own.loop, 10 * TENDON_BLUEZ_SILENCE_MS);
        assert_int_equal(a->powered_off, at_once);
        assert_true(a->powered);
    }
    assert_int_equal(own.failures, 0);
}

/** Each link has the controller's own code, of which the errno has lost one half, however many end at once. */
static void each_of_many_links_has_its_reason(void **state) {
    enum { LINKS = 20 };
    static tendon_link links[LINKS];
    (void)state;
    fake_add(0, false);
    adapter_open(NULL);
    for (int i = 0; i < LINKS; i++) {
        const fake_device *device = fake_advertiser(i + 1, 20);
        assert_int_equal(adapter_connect(&links[i], device), TENDON_OK);
        fake_pass(&own.loop, 200);
        assert_int_equal(own.connected, i + 1);
    }
    for (unsigned i = 0; i < LINKS; i++) {
        fake_leaves(&fake.devices[i + 1], 0x22); /* LL Response Timeout */
        fake.devices[i + 1].interval = 0;
    }
    fake_pass(&own.loop, 100);
    assert_int_equal(own.closed, LINKS);
    for (int i = 0; i < LINKS; i++) {
        assert_int_equal(links[i].reason, TENDON_HCI_ERROR(0x22));
    }
}

/** Another program has the device: that is said, and is no matter of the adapter. */
static void a_device_of_another_program_is_in_use(void **state) {
    static tendon_link link;
    (void)state;
    fake_add(0, false);
    fake_device *device = fake_advertiser(1, 100);
    adapter_open(NULL);
    fake_taken(device, 0);
    assert_int_equal(adapter_connect(&link, device), TENDON_RADIO_ERROR_DEVICE_IN_USE);
    device->of_other = false;
    device->handle = 0;
    fake.refuse[FAKE_CONNECT] = (fake_refusal){.number = EBUSY, .times = 1}; /* the kernel connects to another one */
    assert_int_equal(adapter_connect(&link, device), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_int_equal(adapter_connect(&link, device), TENDON_OK);
    fake_pass(&own.loop, 500);
    assert_int_equal(link.state, TENDON_LINK_OPEN);
    tendon_link_close(&link);
    fake_pass(&own.loop, 3000);
}

/** For its active scan Linux gives the controller an address that it makes up: ours is set before we advertise again.
 */
static void advertising_has_our_address_again(void **state) {
    static const uint8_t made_up[6] = {1, 2, 3, 4, 5, 0x26}, off[] = {0}, scan_on[] = {1, 0}, scan_off[] = {0, 0};
    char directory[FILE_TREE_SIZE];
    (void)state;
    tree_make(directory);
    assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
    fake_adapter *a = fake_add(0, false);
    memset(a->wire, 0, sizeof a->wire);
    adapter_open(NULL);
    adapter_advertise();
    assert_true(a->legacy_on);
    fake_forget_log();
    fake_other(0, 0x200A, off, sizeof off);
    fake_other(0, 0x2005, made_up, sizeof made_up);
    fake_other(0, 0x200C, scan_on, sizeof scan_on);
    fake_pass(&own.loop, 5000);
    assert_false(a->legacy_on); /* no other address than ours: peers know us by it */
    assert_true(fake_sent(" 0:h2005"));
    fake_other(0, 0x200C, scan_off, sizeof scan_off);
    fake_forget_log();
    fake_pass(&own.loop, 2000);
    assert_true(a->legacy_on);
    const char *address = strstr(fake.log, " 0:h2005"), *enable = strstr(fake.log, " 0:h200a=1");
    assert_non_null(address);
    assert_non_null(enable);
    assert_true(address < enable);
    assert_int_equal(own.failures, 0);
    tendon_radio_close(&own.radio.radio);
    tree_remove(directory);
}

/** Linux knows with which address a central has connected to set 0, if that address is random; other programs may have
 * that set. */
static void the_kernel_knows_the_address_of_our_set(void **state) {
    static const uint8_t own_set = TENDON_BLUEZ_ADVERTISING_SET;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool random = (kind & 1) != 0, shared = (kind & 2) != 0;
        char directory[FILE_TREE_SIZE];
        tree_make(directory);
        assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
        fake_adapter *a = fake_add(0, true);
        memset(a->wire, 0, random ? sizeof a->wire : 0);
        fake.programs = shared;
        adapter_open(NULL);
        adapter_advertise();
        assert_int_equal(a->sets_on, UINT64_C(1) << (random && !shared ? 0 : own_set));
        fake.programs = 1; /* one that comes later changes nothing */
        assert_int_equal(tendon_radio_advertise_stop(&own.radio.radio), TENDON_OK);
        fake_pass(&own.loop, 100);
        assert_int_equal(a->sets_on, 0);
        adapter_advertise();
        assert_int_equal(a->sets_on, UINT64_C(1) << (random && !shared ? 0 : own_set));
        tendon_radio_close(&own.radio.radio);
        fake_pass(&own.loop, 10);
        assert_int_equal(a->sets_on, 0);
        fake_remove(0);
        tree_remove(directory);
    }
}

/** LE Set Extended Advertising Enable of another program has a list of sets: ours can stand anywhere in it. */
static void a_list_of_sets_ends_ours_if_it_is_in_it(void **state) {
    static const struct {
        uint8_t parameters[10]; /* off, number of sets, then each with its duration (2) and number of events (1) */
        uint8_t length;
        bool random, ours;
        uint16_t opcode;
    } cases[] = {{{0}, 1, false, false, 0x200A}, /* of the legacy set: not what we advertise with */
                 {{0, 1, 0x1D, 0, 0, 0}, 6, false, true, 0x2039},
                 {{0, 2, 5, 0, 0, 0, 0x1D, 0, 0, 0}, 10, false, true, 0x2039},
                 {{0, 2, 5, 0, 0, 0x1D, 6, 0x1D, 0x1D, 0x1D}, 10, false, false, 0x2039},
                 {{0, 2, 5, 0, 0, 0, 0x1D}, 7, false, false, 0x2039}, /* cut */
                 {{1, 1, 0x1D, 0, 0, 0}, 6, false, false, 0x2039},
                 {{0, 1, 0, 0, 0, 0}, 6, true, true, 0x2039},
                 {{0, 1, 0x1D, 0, 0, 0}, 6, true, false, 0x2039}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char directory[FILE_TREE_SIZE];
        tree_make(directory);
        assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
        fake_adapter *a = fake_add(0, true);
        memset(a->wire, 0, cases[i].random ? sizeof a->wire : 0);
        adapter_open(NULL);
        adapter_advertise();
        fake_forget_log();
        fake_other(0, cases[i].opcode, cases[i].parameters, cases[i].length);
        fake_pass(&own.loop, 2000);
        assert_int_equal(fake_sent(" 0:h2039=1"), cases[i].ours); /* then it is on again */
        tendon_radio_close(&own.radio.radio);
        fake_pass(&own.loop, 10);
        fake_remove(0);
        tree_remove(directory);
    }
}

static struct {
    void (*work)(uint16_t index);
    uint16_t index;
} given;

static void worker(void *context, void (*work)(uint16_t index), uint16_t index) {
    assert_ptr_equal(context, &given);
    given.work = work;
    given.index = index;
}

static uint64_t heard_at, longest_gap;
static void note_gap(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)report;
    longest_gap = now - heard_at > longest_gap ? now - heard_at : longest_gap;
    heard_at = now;
}

/**
 * One of two adapters answers nothing more, is powered off and on, and opens again: the other one goes on meanwhile. A
 * thread of the program's would do what the worker is given, and what prepares the radio.
 */
static void a_broken_adapter_costs_the_others_no_time(void **state) {
    enum { MUTE_MS = 30000 };
    static tendon_bluez_radio second;
    const tendon_scan_parameters parameters = {.active = true};
    (void)state;
    fake_add(0, true);
    fake_adapter *broken = fake_add(1, true);
    fake_advertiser(1, 20);
    adapter_open("hci0");
    own.radio.radio.on_report = note_gap;
    adapter_scan();
    assert_int_equal(tendon_bluez_prepare(&second, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    tendon_bluez_set_worker(&second, &given, worker);
    assert_int_equal(tendon_bluez_attach(&second, &own.loop), TENDON_OK);
    assert_int_equal(tendon_bluez_attach(&second, &own.loop), TENDON_ERROR_WRONG_STATE);
    fake_pass(&own.loop, 1000);
    heard_at = fake.now;
    longest_gap = fake.slept = 0;
    broken->mute = true;
    fake.down_takes = 2000;
    assert_int_equal(tendon_radio_scan_start(&second.radio, &parameters), TENDON_OK);
    fake_pass(&own.loop, MUTE_MS);
    assert_non_null(given.work);
    assert_int_equal(given.index, 1);
    fake_pass(&own.loop, fake.down_takes);
    fake.down_takes = 0; /* these two seconds have passed in the worker */
    given.work(given.index);
    fake_pass(&own.loop, 1000);
    assert_int_equal(broken->powered_off, 1);
    assert_true(broken->powered);
    assert_int_equal(second.power.state, TENDON_BLUEZ_POWERED);
    assert_in_range(fake.slept, 0, 10);
    assert_in_range(longest_gap, 1, 50);
    given.work = NULL;
    broken->mute = true; /* and once more: the radio is closed before the adapter is off */
    assert_int_equal(tendon_radio_scan_stop(&second.radio), TENDON_OK);
    fake_pass(&own.loop, MUTE_MS);
    assert_non_null(given.work);
    assert_in_range(fake.slept, 0, 10);
    fake.refuse[FAKE_IOCTL] = (fake_refusal){.number = EPERM, .times = 1}; /* taken down by the management interface */
    fake_forget_log();
    given.work(given.index);
    assert_string_equal(fake.log, " 1:m0005=0");
    assert_int_equal(broken->powered_off, 2);
    given.work = NULL;
    tendon_radio_close(&second.radio);
    assert_non_null(given.work); /* which powers it on again */
    fake_pass(&own.loop, 10);
}

/** What was prepared can be closed without a loop. */
static void a_radio_may_be_prepared_in_vain(void **state) {
    (void)state;
    fake_add(0, false);
    const int before = open_descriptors();
    assert_int_equal(tendon_bluez_attach(&own.radio, &own.loop), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_bluez_prepare(&own.radio, "hci0", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_true(open_descriptors() > before);
    fake_forget_log();
    adapter_scan(); /* sent once it is with the loop */
    fake_pass(&own.loop, 10);
    assert_string_equal(fake_opcodes(), "");
    tendon_radio_close(&own.radio.radio);
    fake_pass(&own.loop, 10);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(tendon_bluez_attach(&own.radio, &own.loop), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_bluez_prepare(&own.radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_RADIO_ERROR_NO_ADAPTER);
    fake_pass(&own.loop, 10);
    assert_int_equal(open_descriptors(), before);
}

static unsigned arrivals;

static void on_adapter(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    assert_int_equal(status, TENDON_OK);
    arrivals++;
}

static void await_named(tendon_bluez_arrival *arrival, const char *name) {
    arrivals = 0;
    assert_int_equal(tendon_bluez_await_usable_adapter(arrival, &own.loop, name, NULL, on_adapter), TENDON_OK);
}

static void await_usable(tendon_bluez_arrival *arrival) {
    await_named(arrival, "hci0");
}

/** bluetoothd ends, or its user wants it so: the radio ends, and the adapter stays off as long as a program is there
 * that may want it off. */
static void an_adapter_that_is_switched_off_is_waited_for(void **state) {
    static tendon_bluez_arrival arrival;
    (void)state;
    fake_add(0, false);
    fake_add(1, false);
    fake.programs = 1;
    adapter_open("hci0");
    adapter_scan();
    fake_pass(&own.loop, 100);
    fake_power(0, false);
    fake_pass(&own.loop, 100);
    assert_int_equal(own.failures, 1);
    assert_int_equal(own.failure, TENDON_RADIO_ERROR_ADAPTER_DOWN);
    tendon_radio_close(&own.radio.radio);
    await_usable(&arrival);
    fake_pass(&own.loop, 3600000);
    fake_power(1, true); /* not ours */
    fake_pass(&own.loop, 1000);
    assert_int_equal(arrivals, 0);
    fake_power(0, true);
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 1);

    fake_power(0, false);
    await_usable(&arrival);
    fake_pass(&own.loop, 60000);
    assert_int_equal(arrivals, 0);
    fake.programs = 0; /* nobody else would switch it on */
    fake_pass(&own.loop, TENDON_BLUEZ_OFF_CHECK_MS);
    assert_int_equal(arrivals, 1);
    adapter_open("hci0");
    assert_true(fake_of(0)->powered);
    tendon_radio_close(&own.radio.radio);

    fake_remove(0); /* while it is off: waited for as any adapter */
    fake.programs = 1;
    fake_add(0, false);
    await_usable(&arrival);
    fake_pass(&own.loop, 1000);
    fake_remove(0);
    fake_pass(&own.loop, 60000);
    assert_int_equal(arrivals, 0);
    fake_add(0, false)->powered = true;
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 1);
}

/** Without a name, one that may not be switched on does not keep another one from being used. */
static void any_adapter_that_can_be_used_is_enough(void **state) {
    static tendon_bluez_arrival arrival;
    (void)state;
    fake.programs = 1;
    fake_add(0, false);
    await_named(&arrival, NULL);
    fake_pass(&own.loop, 60000);
    assert_int_equal(arrivals, 0);
    fake_add(1, false)->powered = true;
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 1);
}

/** It is told, so that opening it can say what it lacks; later it is waited for until it is configured. */
static void an_unconfigured_adapter_is_not_waited_for_in_silence(void **state) {
    static tendon_bluez_arrival arrival;
    (void)state;
    fake.programs = 1; /* bluetoothd, which cannot switch it on either */
    await_usable(&arrival);
    fake_add_unconfigured(1);
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 0); /* it is not hci0 */
    fake_adapter *a = fake_add_unconfigured(0);
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 1);
    fake.programs = 0;
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, "hci0"), TENDON_RADIO_ERROR_UNCONFIGURED);
    await_usable(&arrival);
    fake_pass(&own.loop, 60000);
    assert_int_equal(arrivals, 0);
    a->present = false;
    fake_add(0, false);
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 1);
}

/** It has no address to be named by, but it is in its USB port. */
static void an_unconfigured_adapter_is_found_in_its_port(void **state) {
    static tendon_bluez_arrival arrival;
    (void)state;
    await_named(&arrival, "1-1.4");
    fake_add_unconfigured(0);
    fake_sysfs(0, "device", "../../../1-1.5:1.0");
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 0); /* another one */
    fake_add_unconfigured(1);
    fake_sysfs(1, "device", "../../../1-1.4:1.0");
    fake_pass(&own.loop, 10);
    assert_int_equal(arrivals, 1);
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, "1-1.4"), TENDON_RADIO_ERROR_UNCONFIGURED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ADAPTER_TEST(a_broken_adapter_costs_the_others_no_time),
        ADAPTER_TEST(a_radio_may_be_prepared_in_vain),
        ADAPTER_TEST(the_kernel_knows_the_address_of_our_set),
        ADAPTER_TEST(a_list_of_sets_ends_ours_if_it_is_in_it),
        ADAPTER_TEST(the_silence_of_one_device_is_its_own),
        ADAPTER_TEST(the_silence_of_several_at_once_is_the_controllers),
        ADAPTER_TEST(each_of_many_links_has_its_reason),
        ADAPTER_TEST(a_device_of_another_program_is_in_use),
        ADAPTER_TEST(advertising_has_our_address_again),
        ADAPTER_TEST(an_adapter_that_is_switched_off_is_waited_for),
        ADAPTER_TEST(any_adapter_that_can_be_used_is_enough),
        ADAPTER_TEST(an_unconfigured_adapter_is_not_waited_for_in_silence),
        ADAPTER_TEST(an_unconfigured_adapter_is_found_in_its_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
