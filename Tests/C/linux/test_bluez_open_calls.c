/* SPDX-License-Identifier: MIT */
/* Opening an adapter while each of the system calls fails in turn: nothing stays open, and the next attempt works. */
#include "../test_recording.h"
#include "bluez_kernel.h"
#include "open_files.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static const int numbers[] = {EINTR, EAGAIN, EIO, EPERM, ENODEV, EMFILE, EAFNOSUPPORT, EBUSY};
enum { RUNS = sizeof numbers / sizeof numbers[0] };

static tendon_loop loop;
static tendon_bluez_radio radio;

/** An adapter that is off: all commands of opening are sent. */
static void prepare(bool extended, uint32_t settings) {
    bluez_kernel_close();
    kernel =
        (bluez_kernel){.indexes = {7, 1},
                       .count = 2,
                       .exists = true,
                       .supported = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED | TENDON_MANAGEMENT_BREDR |
                                    TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING | TENDON_MANAGEMENT_SECURE_CONNECTIONS,
                       .settings = settings,
                       .address = {0x42, 0, 0, 1, 0xAA, 0},
                       .extended = extended,
                       .now = 1000};
    calls = (system_calls){.fd = -1, .peer = -1, .central = -1};
}

enum { EXTENDED, LEGACY, UNPRIVILEGED, LIST, SOLE, OBSERVER, KINDS };

static tendon_status open_radio(int kind) {
    switch (kind) {
    case UNPRIVILEGED:
        return tendon_bluez_open_unprivileged(&radio, &loop, "hci7");
    case SOLE:
        return tendon_bluez_open_as(&radio, &loop, NULL, TENDON_BLUEZ_SOLE);
    case OBSERVER:
        return tendon_bluez_open_as(&radio, &loop, NULL, TENDON_BLUEZ_OBSERVER);
    default:
        return tendon_bluez_open(&radio, &loop, NULL);
    }
}

static void open_once(recording *r, int kind, tendon_status *status) {
    memset(&radio, 0x5A, sizeof radio);
    *status = open_radio(kind);
    note(r, "%d;%s; settings %x at %u", *status, kernel.log, (unsigned)kernel.settings, (unsigned)kernel.now);
    if (*status >= 0) {
        const tendon_bluez_limits *l = &radio.limits;
        note(r, "hci%d %d%d, %d %d %d %d %d %d, leases %d%d", radio.index, radio.extended_scan,
             radio.extended_advertising, l->packet_length, l->packets, l->accept_list, l->resolving_list,
             l->advertising_sets, l->advertising_length, radio.leases[0] >= 0, radio.leases[1] >= 0);
        note_bytes(r, "address", radio.radio.address.bytes, 6);
        tendon_radio_close(&radio.radio);
    }
}

static void list_once(recording *r) {
    tendon_bluez_adapter adapters[4] = {{0}};
    tendon_bluez_limits limits = {0};
    tendon_status status = tendon_bluez_list(adapters, 4);
    note(r, "list %d", status);
    for (int i = 0; i < status && i < 4; i++) {
        note(r, "%s %d%d%d", adapters[i].name, adapters[i].powered, adapters[i].low_energy, adapters[i].blocked);
    }
    status = tendon_bluez_read_limits(7, &limits);
    note(r, "limits %d: %d", status, limits.packet_length);
}

/* Run @p number has one error; its lives fail each call in turn. */
static void play(recording *r, unsigned number) {
    static const uint32_t on = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED, off = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        unsigned last = 1;
        for (unsigned at = 0; at <= last; at++) {
            tendon_status status = TENDON_OK;
            prepare(kind == EXTENDED, kind == UNPRIVILEGED || kind == OBSERVER ? on : off);
            int before = open_descriptors();
            calls.refuse_at = at;
            calls.refuse_number = numbers[number];
            note(r, "kind %d, call %u", kind, at);
            if (kind == LIST) {
                kernel.settings = on;
                list_once(r);
            } else {
                open_once(r, kind, &status);
            }
            last = at == 0 ? calls.made : last;
            assert_int_equal(calls.refused, at > 0);
            assert_true(at > 0 || status >= 0);
            bluez_kernel_close();
            assert_int_equal(open_descriptors(), before);
            if (kind != LIST) {
                calls.refuse_at = 0;
                open_once(r, kind, &status);
                assert_int_equal(status, TENDON_OK);
            }
            bluez_kernel_close();
            assert_int_equal(open_descriptors(), before);
        }
        assert_true(last > 2);
    }
}

static void any_call_fails(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x410D0083, 0x81E6EF95, 0x8FC70FFB, 0xF472F61B, 0x57446D6F, 0x0066948D, 0x55F8FC8D, 0xC8C2AAA0,
    };
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    compare_recordings(known, RUNS, play);
    tendon_loop_close(&loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
