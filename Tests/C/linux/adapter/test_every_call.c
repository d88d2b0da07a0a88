/* SPDX-License-Identifier: MIT */
/*
 * The kernel's radio scans, advertises, accepts a central, connects, transfers, pairs and disconnects; each of its
 * system calls fails in turn, with several errors. Nothing is left, owners are notified exactly once (bluez_lives.c
 * checks both), and what follows works, or the radio has failed and says so.
 */
#include "bluez_lives.h"

#include <errno.h>
#include <sys/socket.h>

static const int numbers[] = {EINTR, EAGAIN, EIO, ENOMEM, ENETDOWN, EPERM, EPIPE, EMFILE, ECONNABORTED};
enum { RUNS = sizeof numbers / sizeof numbers[0] };

static bool is_failed(const world *w) {
    return w->b->radio.power.state == TENDON_BLUEZ_FAILED;
}

/** The controller accepts all commands, until nothing more is sent for a while. */
static void settle(world *w) {
    for (int quiet = 0; quiet < 3; quiet++) {
        for (int i = 0; i < 40 && w->b->radio.command.opcode != 0; i++) {
            world_respond(w, 0);
            quiet = 0;
        }
        bluez_read(w->b);
        world_pass(w, 260);
        bluez_read(w->b);
    }
    world_note(w);
}

static void scan(world *w) {
    static const uint8_t report[] = {2, 1, 0, 1, 1, 2, 3, 4, 5, 0xC0, 3, 2, 1, 6, 0xC4};
    note(w->r, "scan %d", tendon_radio_scan_start(&w->b->radio.radio, &(tendon_scan_parameters){.active = true}));
    settle(w);
    bluez_event(w->b, TENDON_HCI_LE_META, report, sizeof report);
    bluez_read(w->b);
    bluez_read(w->b); /* the first may have been refused */
}

static void connect_to(world *w, int i) {
    tendon_status status = world_connect(w, i, fake.now + 5000);
    note(w->r, "connect %d", status);
    settle(w);
    world_connected(w, i, 0, 0);
    bluez_read(w->b);
    for (int k = 0; k < 2 && tendon_link_is_connecting(&w->ends[i].link); k++) {
        world_ready(w, i, TENDON_WRITABLE);
        world_pass(w, 100);
    }
    world_note(w);
}

static void transfer(world *w, int i) {
    static const uint8_t pdu[] = {0x52, 3, 0, 7}, value[] = {0x1B, 3, 0, 9};
    if (w->ends[i].link.state != TENDON_LINK_OPEN) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        note(w->r, "send %d", tendon_link_send(&w->ends[i].link, pdu, sizeof pdu));
        (void)send(world_far_end(w, i), value, sizeof value, MSG_DONTWAIT | MSG_NOSIGNAL);
        world_ready(w, i, TENDON_READABLE | TENDON_WRITABLE);
        world_pass(w, 20);
    }
    world_note(w);
}

static void pair(world *w, int i) {
    uint8_t key[31] = {1, 2, 1, 16};
    static const uint8_t done[] = {TENDON_MANAGEMENT_PAIR_DEVICE, 0, 0};
    static const uint8_t encrypted[] = {0, 0x40, 0, 1};
    if (w->ends[i].link.state == TENDON_LINK_OPEN) {
        note(w->r, "pair %d", world_pair(w, i));
        world_kernel_about(w, TENDON_MANAGEMENT_NEW_LONG_TERM_KEY, i, key, 1, 1 + 30);
        bluez_read(w->b);
        world_kernel_about(w, TENDON_MANAGEMENT_COMMAND_COMPLETE, i, done, 3, 3);
        bluez_read(w->b);
        bluez_event(w->b, TENDON_HCI_ENCRYPTION_CHANGE, encrypted, sizeof encrypted);
        bluez_read(w->b);
        world_note(w);
        world_pass(w, 40000); /* the limit of a procedure */
    }
}

static void disconnect(world *w, int i) {
    static const uint8_t gone[] = {0, 0x40, 0, 0x16};
    if (w->ends[i].used) {
        tendon_link_close(&w->ends[i].link);
        world_pass(w, 0);
        bluez_event(w->b, TENDON_HCI_DISCONNECTION_COMPLETE, gone, sizeof gone);
        bluez_read(w->b);
        settle(w);
    }
}

static void scenario(world *w) {
    scan(w);
    bluez_request_advertising(w->b);
    settle(w);
    note(w->r, "listen %d", world_listen(w));
    world_central(w);
    world_pass(w, 200);
    connect_to(w, 0);
    transfer(w, 0);
    pair(w, 0);
    disconnect(w, 0);
    connect_to(w, 0); /* with the key */
    disconnect(w, 0);
    note(w->r, "forget %d", tendon_radio_forget(&w->b->radio.radio, &world_peers[0]));
}

/* Without any further failure all of it works. */
static void second_attempt(world *w) {
    fake.refuse_at = 0;
    if (is_failed(w)) {
        world_pass(w, 0);
        assert_int_equal(w->ends_reported, 1);
        assert_true(w->b->radio.power.status < 0);
        assert_int_equal(world_connect(w, 1, UINT64_MAX), w->b->radio.power.status);
        return;
    }
    uint64_t before = w->b->radio.radio.reports;
    settle(w);
    bluez_request_scan(w->b);
    settle(w);
    assert_int_equal(w->b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    scan(w);
    assert_true(w->b->radio.radio.reports > before);
    connect_to(w, 1);
    assert_int_equal(w->ends[1].link.state, TENDON_LINK_OPEN);
    assert_int_equal(world_listen(w), TENDON_OK);
    uint64_t received = w->ends[1].link.received;
    transfer(w, 1);
    assert_int_equal(w->ends[1].link.received, received + 3);
}

/* Run @p number has one error; its life n is that of the call n. */
static void play(recording *r, unsigned number) {
    unsigned last = 1;
    for (unsigned at = 0; at <= last; at++) {
        world *w = world_open(r, number % 2 != 0, &bluez_public_address);
        fake.refuse_number = numbers[number];
        fake.refuse_at = at;
        note(r, "call %u of %d", at, number);
        scenario(w);
        last = at == 0 ? fake.made : last;
        assert_int_equal(fake.refused, at > 0 && fake.made >= at);
        second_attempt(w);
        world_close(w);
    }
    assert_true(last > 60);
}

static void any_call_fails(void **state) {
    (void)state;
    play_recordings(RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
