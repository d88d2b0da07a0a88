/* SPDX-License-Identifier: MIT */
/* Adapters as they are found on real machines, through the public functions, over the kernel of fake_kernel.h. */
#include "../open_files.h"
#include "adapter_fixture.h"
#include "privileges.h"
#include "tendon/tools/doctor.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

static const tendon_finding *examine(tendon_finding_kind kind) {
    static tendon_finding findings[TENDON_FINDING_COUNT];
    tendon_doctor_examine(NULL, findings);
    return &findings[kind];
}

static void a_device_is_found_and_connected(void **state) {
    (void)state;
    static tendon_link link;
    fake_add(0, false);
    fake_device *device = fake_advertiser(1, 100);
    adapter_open(NULL);
    adapter_scan();
    fake_pass(&own.loop, 1000);
    assert_in_range(own.reports, 8, 10);
    assert_int_equal(adapter_connect(&link, device), TENDON_OK);
    fake_pass(&own.loop, 1000);
    assert_int_equal(own.connected, 1);
    fake_leaves(device, 0x13);
    fake_pass(&own.loop, 100);
    assert_int_equal(own.closed, 1);
    assert_int_equal(own.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(own.failures, 0);
}

/** The kernel disables all advertising before it connects: it is on again after that, with either set of commands. */
static void advertising_goes_on_after_a_connection(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        const fake_adapter *a = fake_add((uint16_t)extended, extended);
        fake_device *device = fake_advertiser(1, 100);
        adapter_open(extended ? "hci1" : "hci0");
        adapter_advertise();
        assert_true(extended ? a->sets_on != 0 : a->legacy_on);
        static tendon_link link;
        assert_int_equal(adapter_connect(&link, device), TENDON_OK);
        fake_pass(&own.loop, 200);
        assert_int_equal(link.state, TENDON_LINK_OPEN);
        assert_false(extended ? a->sets_on != 0 : a->legacy_on);
        fake_pass(&own.loop, 1500);
        assert_true(extended ? a->sets_on != 0 : a->legacy_on);
        /* Another program ends it; its own sets are its own business. */
        static const uint8_t off[] = {0}, off_other[] = {0, 1, 5, 0, 0, 0}, off_all[] = {0, 0};
        fake_forget_log();
        fake_other(a->index, extended ? 0x2039 : 0x200A, extended ? off_all : off, extended ? 2 : 1);
        fake_pass(&own.loop, 1500);
        assert_true(extended ? a->sets_on != 0 : a->legacy_on);
        if (extended) {
            fake_forget_log();
            fake_other(a->index, 0x2039, off_other, sizeof off_other);
            fake_pass(&own.loop, 1500);
            assert_false(fake_sent("h2039"));
        }
        tendon_link_close(&link);
        tendon_radio_advertise_stop(&own.radio.radio);
        fake_pass(&own.loop, 3000);
        tendon_radio_close(&own.radio.radio);
        assert_int_equal(own.failures, 0);
    }
}

/** The kernel has no memory for a command, or its queue is full: that passes. */
static void a_command_that_cannot_be_sent_now_is_sent_later(void **state) {
    static const int numbers[] = {ENOBUFS, ENOMEM, ENETDOWN};
    const tendon_scan_parameters parameters = {.active = true};
    (void)state;
    fake_add(0, false);
    fake_advertiser(1, 100);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        adapter_open(NULL);
        own.reports = 0;
        fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = numbers[i], .times = 3};
        assert_int_equal(tendon_radio_scan_start(&own.radio.radio, &parameters), TENDON_OK);
        fake_pass(&own.loop, 2000);
        assert_int_equal(fake.refuse[FAKE_COMMAND].number, 0);
        assert_int_equal(own.failures, 0);
        assert_true(own.reports > 5);
        tendon_radio_close(&own.radio.radio);
        fake_pass(&own.loop, 10);
    }
    adapter_open(NULL); /* one that stays is an end */
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENOBUFS, .times = 1000};
    assert_int_equal(tendon_radio_scan_start(&own.radio.radio, &parameters), TENDON_OK);
    fake_pass(&own.loop, 5000);
    assert_int_equal(own.failures, 1);
    assert_int_equal(own.failure, TENDON_SYSTEM_ERROR(ENOBUFS));
    fake.refuse[FAKE_COMMAND] = (fake_refusal){0};
}

/** A controller that has stopped: one command is waited for, and the loop's other radios stand still for no longer. */
static void a_mute_controller_costs_one_command(void **state) {
    (void)state;
    fake_add(0, false)->mute = true;
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, NULL), TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_in_range(fake.slept, TENDON_BLUEZ_COMMAND_TIMEOUT_MS, TENDON_BLUEZ_COMMAND_TIMEOUT_MS + 100);
    fake_remove(0);
    fake_add(0, false); /* or one that stops after the first command */
    fake.answer = (fake_answer){.opcode = 0x2003, .none = true};
    fake.slept = 0;
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, NULL), TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_in_range(fake.slept, TENDON_BLUEZ_COMMAND_TIMEOUT_MS, TENDON_BLUEZ_COMMAND_TIMEOUT_MS + 100);
}

/** Some controllers never answer what they do not have: nothing of that is asked. */
static void only_commands_of_the_controller_are_sent(void **state) {
    (void)state;
    fake_add(0, false)->answers_listed = true;
    adapter_open(NULL);
    assert_true(fake.slept < 100);
    assert_int_equal(own.radio.limits.packets, 8);
    assert_int_equal(own.radio.limits.resolving_list, 0);
    assert_false(fake_sent(" 0:h202a"));
    tendon_radio_close(&own.radio.radio);
    tendon_bluez_limits limits;
    fake_forget_log();
    assert_int_equal(tendon_bluez_read_limits(0, &limits), TENDON_OK);
    assert_false(fake_sent(" 0:h202a"));
    assert_true(fake.slept < 100);
}

/** Numbers of rfkill are not used again: after some replugs, and with Wi-Fi, they are above any limit. */
static void rfkill_is_read_under_any_number(void **state) {
    static const struct {
        const char *name, *soft, *hard;
        bool blocked, hard_blocked;
    } cases[] = {{"rfkill0", "0\n", "0\n", false, false},        {"rfkill3", "1\n", "0\n", true, false},
                 {"rfkill63", "0\n", "1\n", true, true},         {"rfkill64", "1\n", "0\n", true, false},
                 {"rfkill4294967295", "1\n", "1\n", true, true}, {"rfkill5", "", "", false, false},
                 {"rfkill6", NULL, "1\n", true, true},           {"power", "1\n", "1\n", false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_bluez_adapter found[2];
        const uint16_t index = (uint16_t)i;
        char path[64];
        fake_add(index, false)->blocked = cases[i].blocked;
        for (int hard = 0; hard < 2; hard++) {
            const char *text = hard ? cases[i].hard : cases[i].soft;
            snprintf(path, sizeof path, "%s/%s", cases[i].name, hard ? "hard" : "soft");
            if (text != NULL) {
                fake_sysfs(index, path, text);
            }
        }
        assert_int_equal(tendon_bluez_list(found, 2), 1);
        assert_int_equal(found[0].blocked, cases[i].blocked);
        assert_int_equal(found[0].hard_blocked, cases[i].hard_blocked);
        fake_forget_log();
        tendon_status status = tendon_bluez_open(&own.radio, &own.loop, NULL);
        assert_int_equal(status, cases[i].blocked ? TENDON_RADIO_ERROR_RFKILL : TENDON_OK);
        snprintf(path, sizeof path, " %u:m0005", index); /* Set Powered is not even tried */
        assert_int_equal(fake_sent(path), !cases[i].blocked);
        tendon_radio_close(&own.radio.radio);
        fake_remove(index);
    }
}

/** Some adapters all have one address: Linux would make the connections of one over the other. */
static void of_two_adapters_with_one_address_one_is_used(void **state) {
    (void)state;
    static tendon_bluez_radio second;
    static tendon_link link;
    const fake_adapter *first = fake_add(0, false);
    fake_adapter *other = fake_add(1, false);
    memcpy(other->wire, first->wire, 6);
    adapter_open("hci0");
    assert_int_equal(tendon_bluez_open(&second, &own.loop, "hci1"), TENDON_RADIO_ERROR_SAME_ADDRESS);
    assert_false(other->powered);
    fake_add(2, false); /* with an address of its own */
    fake_power(2, true);
    fake_pass(&own.loop, 10);
    assert_int_equal(own.failures, 0);
    fake_remove(2);
    tendon_link_init(&link, NULL);
    const tendon_address peer = fake_address(fake_advertiser(1, 0)); /* absent */
    assert_int_equal(tendon_radio_connect(&own.radio.radio, &link, &peer, fake.now + 60000), TENDON_OK);
    fake_pass(&own.loop, 61000);
    assert_int_equal(own.failures, 0);
    fake_power(1, true); /* by another program; and off again, before it was looked at */
    fake_power(1, false);
    fake_pass(&own.loop, 10);
    assert_int_equal(own.failures, 0);
    fake_power(1, true);
    fake_pass(&own.loop, 10);
    assert_int_equal(own.failures, 1);
    assert_int_equal(own.failure, TENDON_RADIO_ERROR_SAME_ADDRESS);
    tendon_radio_close(&own.radio.radio);
    static const char *const names[] = {"hci0", "hci1", NULL};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, names[i]), TENDON_RADIO_ERROR_SAME_ADDRESS);
    }
    assert_int_equal(examine(TENDON_FINDING_ADAPTERS)->status, TENDON_RADIO_ERROR_SAME_ADDRESS);
    assert_int_equal(first->powered_off + other->powered_off, 1); /* by the other program */
    fake_power(0, false);
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, NULL), TENDON_OK); /* that of the two which is on */
    assert_int_equal(own.radio.index, 1);
    assert_int_equal(examine(TENDON_FINDING_ADAPTERS)->state, TENDON_FINDING_NOTE);
}

/** The kernel keeps a controller without a valid address apart, and no list of adapters contains it. */
static void an_adapter_without_an_address_is_named(void **state) {
    (void)state;
    tendon_bluez_adapter found[3];
    fake_add(5, false)->unconfigured = true;
    static const char *const names[] = {"hci5", NULL};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, names[i]), TENDON_RADIO_ERROR_UNCONFIGURED);
    }
    assert_int_equal(fake.slept, 0);
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, "hci4"), TENDON_RADIO_ERROR_NO_ADAPTER);
    const tendon_finding *finding = examine(TENDON_FINDING_ADAPTERS);
    assert_int_equal(finding->status, TENDON_RADIO_ERROR_UNCONFIGURED);
    assert_string_equal(finding->remedy, "sudo btmgmt --index hci5 public-addr ADDRESS");
    fake_add(7, false);
    assert_int_equal(tendon_bluez_list(found, 3), 2);
    assert_int_equal(found[0].index, 7);
    assert_int_equal(found[0].status, TENDON_OK);
    assert_int_equal(found[1].index, 5);
    assert_int_equal(found[1].status, TENDON_RADIO_ERROR_UNCONFIGURED);
    assert_string_equal(found[1].name, "hci5");
    adapter_open(NULL);
    assert_int_equal(own.radio.index, 7);
    assert_int_equal(examine(TENDON_FINDING_ADAPTERS)->state, TENDON_FINDING_NOTE);
}

/** In a container without root the process has capabilities, and the kernel does not accept them. */
static void capabilities_are_those_that_the_kernel_grants(void **state) {
    static const struct {
        uint32_t effective;
        bool user_namespace, raw, admin;
        tendon_finding_state found;
    } cases[] = {{0, false, false, false, TENDON_FINDING_LACKING},
                 {1u << CAP_NET_RAW, false, true, false, TENDON_FINDING_NOTE},
                 {1u << CAP_NET_ADMIN, false, false, true, TENDON_FINDING_LACKING},
                 {~0u, false, true, true, TENDON_FINDING_GOOD},
                 {~(1u << CAP_NET_RAW | 1u << CAP_NET_ADMIN), false, false, false, TENDON_FINDING_LACKING},
                 {1u << CAP_NET_ADMIN, true, false, false, TENDON_FINDING_LACKING},
                 {~0u, true, false, false, TENDON_FINDING_LACKING}};
    (void)state;
    fake_add(0, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_bluez_capabilities found;
        memset(&found, 0xFF, sizeof found);
        bluez_privileges.effective = cases[i].effective;
        fake.user_namespace = cases[i].user_namespace;
        tendon_bluez_get_capabilities(&found);
        assert_true(found.kernel_support);
        assert_int_equal(found.net_raw, cases[i].raw);
        assert_int_equal(found.net_admin, cases[i].admin);
        const tendon_finding *finding = examine(TENDON_FINDING_CAPABILITIES);
        assert_int_equal(finding->state, cases[i].found);
        assert_int_equal(strstr(finding->text, "user namespace") != NULL, cases[i].user_namespace);
        tendon_status status = tendon_bluez_open(&own.radio, &own.loop, NULL); /* says the same */
        assert_int_equal(status, finding->status);
        tendon_radio_close(&own.radio.radio);
        /* Without Bluetooth in the kernel, what capget() reports. */
        fake.refuse[FAKE_SOCKET] = (fake_refusal){.number = EAFNOSUPPORT, .times = 1};
        tendon_bluez_get_capabilities(&found);
        assert_false(found.kernel_support);
        assert_int_equal(found.net_raw, (cases[i].effective & 1u << CAP_NET_RAW) != 0);
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)now;
    *(tendon_status *)context = status;
}

/** Other programs have settings for pairing, too: those of bluetoothd are as they were, while and after we pair. */
static void pairing_leaves_the_adapter_as_it_was(void **state) {
    static tendon_bonds bonds;
    static tendon_link link;
    (void)state;
    for (int bondable = 0; bondable < 2; bondable++) {
        fake_adapter *a = fake_add(0, false);
        const uint32_t bit = bondable ? TENDON_MANAGEMENT_BONDABLE : 0;
        a->io = TENDON_PAIRING_DISPLAY_YES_NO;
        a->settings |= bit;
        tendon_status paired = TENDON_OK;
        const tendon_address peer = fake_address(fake_advertiser(1, 100));
        adapter_open(NULL);
        tendon_bonds_init(&bonds);
        assert_int_equal(tendon_radio_use_bonds(&own.radio.radio, &bonds), TENDON_OK);
        tendon_link_init(&link, NULL);
        assert_int_equal(tendon_radio_connect(&own.radio.radio, &link, &peer, fake.now + 5000), TENDON_OK);
        fake_pass(&own.loop, 500);
        const tendon_pairing_service *service = tendon_radio_pairing(&own.radio.radio);
        assert_int_equal(service->start(service->context, &peer, on_paired, &paired, fake.now), TENDON_OK);
        fake_pass(&own.loop, 10);
        assert_true(fake_sent(" 0:m0019"));
        assert_int_equal(a->settings & TENDON_MANAGEMENT_BONDABLE, TENDON_MANAGEMENT_BONDABLE); /* else no bond */
        assert_int_equal(a->io, TENDON_PAIRING_DISPLAY_YES_NO);
        fake_pass(&own.loop, 100);
        assert_int_equal(paired, TENDON_RADIO_ERROR_PAIRING_FAILED);
        assert_int_equal(a->settings & TENDON_MANAGEMENT_BONDABLE, bit);
        assert_int_equal(fake_sent(" 0:m0009"), !bondable);
        /* While centrals may pair with us, they are ours. */
        assert_int_equal(tendon_radio_set_pairable(&own.radio.radio, true), TENDON_OK);
        fake_pass(&own.loop, 10);
        assert_int_equal(a->settings & TENDON_MANAGEMENT_BONDABLE, TENDON_MANAGEMENT_BONDABLE);
        assert_int_equal(a->io, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
        tendon_link_close(&link);
        tendon_radio_close(&own.radio.radio);
        fake_pass(&own.loop, 3000);
        assert_int_equal(a->settings & TENDON_MANAGEMENT_BONDABLE, bit);
        fake_remove(0);
        fake_forget_log();
    }
}

/** What an agent can show or enter is a setting of the adapter; afterwards it is as the kernel begins. */
static void the_io_capability_ends_with_the_radio(void **state) {
    static tendon_bonds bonds;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(123456);
    (void)state;
    const fake_adapter *a = fake_add(0, false);
    adapter_open(NULL);
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_radio_use_bonds(&own.radio.radio, &bonds), TENDON_OK);
    assert_int_equal(tendon_radio_set_pairing_agent(&own.radio.radio, &agent), TENDON_OK);
    fake_pass(&own.loop, 10);
    assert_int_equal(a->io, TENDON_PAIRING_KEYBOARD_ONLY);
    tendon_radio_close(&own.radio.radio);
    fake_pass(&own.loop, 10);
    assert_int_equal(a->io, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
}

/** Beside bluetoothd the kernel has its identity keys, not ours: it would wait for an address that is never used. */
static void a_private_address_that_the_kernel_cannot_resolve(void **state) {
    static const tendon_address rpa = {{0x70, 0x81, 0x94, 0x0D, 0xFB, 0xAA}, TENDON_ADDRESS_TYPE_RANDOM};
    static const tendon_bond bond = {.own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x00}, TENDON_ADDRESS_TYPE_PUBLIC},
                                     .peer = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                     .radio = TENDON_BOND_KERNEL,
                                     .key_size = 16,
                                     .initiator = true,
                                     .has_identity_key = true,
                                     /* Core Spec Vol 3 Part H D.7, least significant byte first */
                                     .identity_key = {0x9B, 0x7D, 0x39, 0x0A, 0xA6, 0x10, 0x10, 0x34, 0x05, 0xAD, 0xC8,
                                                      0x57, 0xA3, 0x34, 0x02, 0xEC}};
    static tendon_bonds bonds;
    static tendon_link link;
    (void)state;
    fake_add(0, false);
    fake.programs = 1;
    adapter_open(NULL);
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&own.radio.radio, &bonds), TENDON_OK);
    tendon_link_init(&link, NULL);
    assert_int_equal(tendon_radio_connect(&own.radio.radio, &link, &rpa, fake.now + 5000),
                     TENDON_RADIO_ERROR_OTHER_BOND_STORE);
    assert_int_equal(tendon_radio_connect_in_background(&own.radio.radio, &link, &rpa),
                     TENDON_RADIO_ERROR_OTHER_BOND_STORE);
    assert_false(fake_sent(" 0:m0030"));
    fake.programs = 0; /* it has ended: the keys are loaded */
    assert_int_equal(tendon_radio_connect(&own.radio.radio, &link, &rpa, fake.now + 5000), TENDON_OK);
    fake_pass(&own.loop, 10);
    assert_true(fake_sent(" 0:m0030"));
    assert_true(tendon_address_equal(&link.peer, &bond.peer));
    tendon_link_close(&link);
    fake_pass(&own.loop, 10);
}

static void on_adapter(void *context, tendon_status status, uint64_t now) {
    (void)now;
    *(tendon_status *)context = status;
}

/** By its index, its address, or the USB port that it is plugged into. */
static void an_adapter_has_three_names(void **state) {
    static const struct {
        const char *name;
        int index; /* or a status */
    } cases[] = {{"hci1", 1},
                 {"1-1.4", 1},
                 {"3-2", 0},
                 {"00:AA:01:00:00:01", 1},
                 {"00:aa:01:00:00:02", 2},
                 {"1-1", TENDON_RADIO_ERROR_NO_ADAPTER},
                 {"1-1.44", TENDON_RADIO_ERROR_NO_ADAPTER},
                 {"00:AA:01:00:00:09", TENDON_RADIO_ERROR_NO_ADAPTER},
                 {"1-1.1.1.1.1.1.1.1.1.1.1", TENDON_RADIO_ERROR_NO_ADAPTER}, /* the longest */
                 {"hci65529", TENDON_RADIO_ERROR_NO_ADAPTER}};
    static const char *const wrong[] = {"",
                                        "hci",
                                        "hci:",
                                        "hci-1",
                                        "hci1 ",
                                        "hc1",
                                        "hci65530",
                                        "usb1",
                                        "1-1.",
                                        "1-",
                                        "-1",
                                        "1.4",
                                        "1-a",
                                        "1-1.4:1.0",
                                        "1--1",
                                        "1-.1",
                                        "1-1.4 ",
                                        "00:AA:01:00:00",
                                        "10-1.1.1.1.1.1.1.1.1.1.1",
                                        "1-1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1"};
    static tendon_bluez_arrival arrival;
    (void)state;
    for (uint16_t i = 0; i < 3; i++) {
        static const char *const devices[] = {"../../../3-2:1.0", "../../../1-1.4:1.0", "../../../serial0-0"};
        fake_add(i, false);
        fake_sysfs(i, "device", devices[i]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_status status = tendon_bluez_open(&own.radio, &own.loop, cases[i].name);
        assert_int_equal(status < 0 ? status : own.radio.index, cases[i].index);
        tendon_radio_close(&own.radio.radio);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, wrong[i]), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_bluez_await_adapter(&arrival, &own.loop, wrong[i], NULL, on_adapter),
                         TENDON_ERROR_INVALID_ARGUMENT);
    }
}

/** The index of an adapter changes when it is plugged in again; address and port do not. */
static void an_adapter_is_followed_by_its_address_or_usb_port(void **state) {
    static tendon_bluez_arrival arrival;
    (void)state;
    fake_add(1, false);
    fake_sysfs(1, "device", "../../../1-1.4:1.0");
    static const char *const names[] = {"1-1.4", "00:AA:01:00:00:09"};
    for (uint16_t i = 0; i < 2; i++) {
        tendon_status arrived = TENDON_ERROR_INCOMPLETE;
        fake_remove(1);
        assert_int_equal(tendon_bluez_await_adapter(&arrival, &own.loop, names[i], &arrived, on_adapter), TENDON_OK);
        fake_pass(&own.loop, 10);
        fake_add(1, false); /* another one has its index now */
        fake_pass(&own.loop, 10);
        assert_int_equal(arrived, TENDON_ERROR_INCOMPLETE);
        fake_adapter *a = fake_add((uint16_t)(7 + i), false);
        fake_sysfs(a->index, "device", i == 0 ? "../../../1-1.4:1.0" : "../../../1-1.5:1.0");
        a->wire[0] = 9;
        fake_pass(&own.loop, 10);
        assert_int_equal(arrived, TENDON_OK);
        assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, names[i]), TENDON_OK);
        assert_int_equal(own.radio.index, 7 + i);
        tendon_radio_close(&own.radio.radio);
        fake_remove((uint16_t)(7 + i));
    }
}

/** Each call in turn, with each number: nothing stays open, and the next attempt works. */
static void any_call_of_opening_may_fail(void **state) {
    static const int numbers[] = {EPERM, ENODEV, ENOMEM, EIO, EBUSY, EINTR, EMFILE, EAFNOSUPPORT};
    (void)state;
    for (unsigned run = 0; run < ADAPTER_KINDS * sizeof numbers / sizeof numbers[0]; run++) {
        const int kind = (int)run % ADAPTER_KINDS;
        fake_add(7, kind == ADAPTER_EXTENDED);
        fake_power(7, kind == ADAPTER_UNPRIVILEGED || kind == ADAPTER_OBSERVER);
        assert_int_equal(adapter_open_as(kind), TENDON_OK); /* what a process does once is done */
        tendon_radio_close(&own.radio.radio);
        fake_pass(&own.loop, 10);
        const int before = open_descriptors();
        unsigned calls = 1;
        for (unsigned at = 0; at <= calls; at++) {
            fake_power(7, kind == ADAPTER_UNPRIVILEGED || kind == ADAPTER_OBSERVER);
            fake.made = fake.refused = 0;
            fake.refuse_at = at;
            fake.refuse_number = numbers[run / ADAPTER_KINDS];
            tendon_status status = adapter_open_as(kind);
            calls = at == 0 ? fake.made : calls;
            assert_true(at > 0 ? fake.refused == 1 : status == TENDON_OK);
            fake.refuse_at = 0;
            tendon_radio_close(&own.radio.radio);
            assert_int_equal(adapter_open_as(kind), TENDON_OK);
            tendon_radio_close(&own.radio.radio);
            fake_pass(&own.loop, 10);
            assert_int_equal(open_descriptors(), before);
        }
        assert_true(calls > 5);
        fake_remove(7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ADAPTER_TEST(advertising_goes_on_after_a_connection),
        ADAPTER_TEST(a_command_that_cannot_be_sent_now_is_sent_later),
        ADAPTER_TEST(a_mute_controller_costs_one_command),
        ADAPTER_TEST(only_commands_of_the_controller_are_sent),
        ADAPTER_TEST(a_device_is_found_and_connected),
        ADAPTER_TEST(any_call_of_opening_may_fail),
        ADAPTER_TEST(rfkill_is_read_under_any_number),
        ADAPTER_TEST(of_two_adapters_with_one_address_one_is_used),
        ADAPTER_TEST(an_adapter_without_an_address_is_named),
        ADAPTER_TEST(capabilities_are_those_that_the_kernel_grants),
        ADAPTER_TEST(pairing_leaves_the_adapter_as_it_was),
        ADAPTER_TEST(the_io_capability_ends_with_the_radio),
        ADAPTER_TEST(a_private_address_that_the_kernel_cannot_resolve),
        ADAPTER_TEST(an_adapter_has_three_names),
        ADAPTER_TEST(an_adapter_is_followed_by_its_address_or_usb_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
