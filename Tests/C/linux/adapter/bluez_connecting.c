/* SPDX-License-Identifier: MIT */
#include "bluez_connecting.h"

#include <sys/socket.h>

const tendon_address bluez_peer = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC};

static bluez_connecting the_bench;

bluez_connecting *bluez_connecting_idle(void) {
    bluez_connecting *l = &the_bench;
    l->b = bluez_open(false, &bluez_public_address);
    tendon_link_init(&l->link, NULL);
    return l;
}

bluez_connecting *bluez_connecting_open(void) {
    bluez_connecting *l = bluez_connecting_idle();
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(fake.connects, 1);
    return l;
}

void bluez_connecting_close(bluez_connecting *l) {
    tendon_link_close(&l->link);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
    assert_null(l->b->radio.attempts[0].link);
    bluez_close(l->b);
}

/** The attempt takes so much time; then the timer fires, if it has expired. */
void bluez_connecting_elapse(bluez_connecting *l, uint64_t ms) {
    const tendon_bluez_radio *radio = &l->b->radio;
    assert_true(radio->timer.deadline <= radio->attempts[0].check_at);
    fake.now += ms;
    bluez_tick(l->b, fake.now);
    assert_true(radio->timer.deadline <= radio->attempts[0].check_at); /* it is looked at again */
}

/** A command of the kernel's, as the raw socket shows it; answered with @p status where that is a Command Complete. */
void bluez_kernel_sends(bluez_connecting *l, uint16_t opcode, uint8_t parameter) {
    bluez_other_sends(l->b, opcode, parameter);
}

void bluez_kernel_scans(bluez_connecting *l, bool on) {
    bluez_kernel_sends(l, TENDON_HCI_LE_SET_SCAN_ENABLE, on);
    bluez_complete(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_read(l->b);
}

void bluez_connection_complete(bluez_connecting *l, uint8_t status, uint8_t role) {
    const uint8_t parameters[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, status, 0x40, 0, role, [12] = 0x18, [16] = 0x2A};
    bluez_event(l->b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read(l->b);
    assert_int_equal(l->b->radio.radio.malformed, 0);
}

/** The attempt's socket is connected. */
bluez_connecting *bluez_connecting_connected(void) {
    bluez_connecting *l = bluez_connecting_open();
    l->link.source.ready(l->link.source.context, TENDON_WRITABLE, tendon_monotonic_ms());
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->link.handle, 0x40);
    return l;
}
