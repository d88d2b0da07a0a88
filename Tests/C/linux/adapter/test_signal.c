/* SPDX-License-Identifier: MIT */
/* The signal strength of connections: Get Connection Information of the management interface (mgmt-api.txt of BlueZ).
 */
#include "pairing_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GET_CONNECTION_INFORMATION = 0x31 };

/** Command Complete: status, address, type, RSSI, transmitted power, its maximum. The PDU has @p length bytes. */
static void answer(pairing_scene *s, int peer, uint8_t status, int8_t rssi, size_t length) {
    const uint8_t *a = pairing_peers[peer].bytes;
    uint8_t pdu[19] = {1,    0,    7,    0,    13,   0,    GET_CONNECTION_INFORMATION, 0, status,
                       a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2,          0, 4,
                       10};
    pdu[16] = (uint8_t)rssi;
    pdu[4] = (uint8_t)(length > 6 ? length - 6 : 0);
    pairing_scene_kernel_sends(s, pdu, length);
}

static int8_t rssi(const pairing_scene *s, int i) {
    return s->ends[i].end.link.rssi;
}

/* With one command at a time. */
static void each_open_link_is_asked_about(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    pairing_scene_add(s, 2, true); /* of a central that has connected to us */
    pairing_scene_drain(s);
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 2, -1);
    pairing_scene_expect_nothing(s);
    answer(s, 2, 0, 20, 19);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 1, -1);
    pairing_scene_expect_nothing(s);
    answer(s, 1, 0, -71, 19);
    assert_int_equal(rssi(s, 0), TENDON_RSSI_UNKNOWN); /* the same address of the other type */
    assert_int_equal(rssi(s, 1), -71);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 0, -1);
    answer(s, 0, 0, -128, 19);
    pairing_scene_expect_nothing(s);
    answer(s, 1, 0, 127, 19); /* the controller does not know */
    assert_int_equal(rssi(s, 0), -128);
    assert_int_equal(rssi(s, 1), TENDON_RSSI_UNKNOWN);
    assert_int_equal(rssi(s, 2), 20);
    pairing_scene_close(s);
}

/* The kernel forgets what it was asked. */
static void after_a_reset_it_is_asked_again(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_drain(s);
    bluez_hardware_error(s->b);
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 0, -1);
    pairing_scene_close(s);
}

/* Its answer is lost in a full receive buffer. */
static void without_an_answer_it_is_asked_again(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 0, -1);
    fake.now += TENDON_BLUEZ_SIGNAL_LIMIT_MS - 1;
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect_nothing(s);
    fake.now += 1;
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 0, -1);
    pairing_scene_close(s);
}

static void failures_leave_no_old_value(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    for (int status = 1; status < 256; status++) {
        answer(s, 0, 0, -60, 19);
        answer(s, 1, 0, -61, 19);
        answer(s, 0, (uint8_t)status, -60, 19);
        assert_int_equal(rssi(s, 0), TENDON_RSSI_UNKNOWN);
        assert_int_equal(rssi(s, 1), -61);
    }
    pairing_scene_close(s);
}

/* Cut before the end of the address it is about nobody; without an RSSI it says that none is known. */
static void answers_cut_at_every_position(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    for (size_t length = 9; length < 17; length++) {
        answer(s, 0, 0, -60, 19);
        answer(s, 0, 0, -50, length);
        assert_int_equal(rssi(s, 0), length < 16 ? -60 : TENDON_RSSI_UNKNOWN);
    }
    answer(s, 0, 0, -50, 17);
    assert_int_equal(rssi(s, 0), -50);
    const uint8_t refused[9] = {2, 0, 7, 0, 3, 0, GET_CONNECTION_INFORMATION, 0, TENDON_MANAGEMENT_PERMISSION_DENIED};
    pairing_scene_kernel_sends(s, refused, sizeof refused);
    assert_int_equal(rssi(s, 0), -50);
    pairing_scene_close(s);
}

/* A question that waits for its turn, until its link has ended. */
static void a_link_that_ends_meanwhile_is_not_asked_about(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect(s, GET_CONNECTION_INFORMATION, 1, -1);
    tendon_link_close(&s->ends[0].end.link);
    pairing_scene_drain(s);
    answer(s, 1, 0, -71, 19);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* A link that is used again begins without a value, and one that ends is not asked about. */
static void a_closed_link_is_forgotten(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    answer(s, 0, 0, -60, 19);
    tendon_link_close(&s->ends[0].end.link);
    pairing_scene_drain(s);
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_OK);
    pairing_scene_expect_nothing(s);
    assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
    answer(s, 0, 0, -50, 19); /* finds nothing any more */
    assert_int_not_equal(rssi(s, 0), -50);
    pairing_scene_add(s, 0, false);
    assert_int_equal(rssi(s, 0), TENDON_RSSI_UNKNOWN);
    pairing_scene_close(s);
}

static void a_socket_that_takes_nothing(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    int fd = s->b->radio.management.fd;
    s->b->radio.management.fd = -1;
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_SYSTEM_ERROR(EBADF));
    s->b->radio.management.fd = fd;
    tendon_radio_ops ops = *s->b->radio.radio.ops;
    const tendon_radio_ops *real = s->b->radio.radio.ops;
    ops.ask_signal = NULL;
    s->b->radio.radio.ops = &ops;
    assert_int_equal(tendon_radio_ask_signals(&s->b->radio.radio), TENDON_ERROR_UNSUPPORTED);
    s->b->radio.radio.ops = real;
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_open_link_is_asked_about),
        cmocka_unit_test(after_a_reset_it_is_asked_again),
        cmocka_unit_test(without_an_answer_it_is_asked_again),
        cmocka_unit_test(failures_leave_no_old_value),
        cmocka_unit_test(answers_cut_at_every_position),
        cmocka_unit_test(a_closed_link_is_forgotten),
        cmocka_unit_test(a_link_that_ends_meanwhile_is_not_asked_about),
        cmocka_unit_test(a_socket_that_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
