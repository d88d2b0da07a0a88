/* SPDX-License-Identifier: MIT */
/* Pairing through the management socket, PDU by PDU: several peers at once, and how procedures end. */
#include "pairing_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static void pass(pairing_scene *s, uint64_t time) {
    const tendon_source *timer = &s->b->radio.radio.pairing_timer;
    timer->expired(timer->context, time);
}

static void several_pair_at_once_and_end_in_any_order(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(3);
    for (int i = 0; i < 3; i++) {
        pairing_scene_begin(s, i);
    }
    assert_int_equal(pairing_scene_pair(s, 1), TENDON_ERROR_BUSY); /* this peer is pairing */
    pairing_scene_expect_nothing(s);
    static const int order[3] = {2, 0, 1};
    for (int i = 0; i < 3; i++) {
        pairing_scene_new_key(s, order[i], (uint8_t)(0x10 + order[i]));
        pairing_scene_complete(s, order[i], 0);
        assert_int_equal(s->ends[order[i]].paired, 1);
        assert_int_equal(s->ends[order[i]].status, TENDON_OK);
        assert_true(s->ends[order[i]].end.link.encrypted);
        assert_int_equal(s->bonds.count, i + 1);
        assert_true(s->b->radio.leases[1] >= 0); /* other processes see that this store has keys */
        assert_true(tendon_address_equal(&s->bonds.items[i].peer, &pairing_peers[order[i]]));
        assert_int_equal(s->bonds.items[i].key[15], 0x10 + order[i]);
    }
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* The kernel encrypts before it has distributed all keys: the pairing ends with the response to Pair Device. */
static void a_key_is_not_the_end_of_a_pairing(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    fake.security_level = BT_SECURITY_MEDIUM;
    pairing_scene_new_key(s, 0, 0x10);
    assert_int_equal(s->bonds.count, 1);
    assert_false(s->ends[0].end.link.encrypted);
    assert_int_equal(s->ends[0].paired, 0);
    pairing_scene_complete(s, 0, 0);
    assert_true(s->ends[0].end.link.encrypted);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    pairing_scene_close(s);
}

/* A central that pairs: its key is there before, or after, the connection is encrypted with it. */
static void the_key_of_a_central_is_no_encryption(void **state) {
    (void)state;
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        pairing_scene *s = pairing_scene_open(0);
        pairing_scene_add(s, 2, true);
        assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
        fake.security_level = encrypted ? BT_SECURITY_MEDIUM : BT_SECURITY_LOW;
        pairing_scene_new_key(s, 2, 0x10);
        assert_int_equal(s->bonds.count, 1);
        assert_int_equal(s->ends[2].end.link.encrypted, encrypted);
        pairing_scene_close(s);
    }
}

/* Just Works, confirmed: that is what was required. */
static void a_pairing_that_was_confirmed_is_good_enough(void **state) {
    (void)state;
    static const uint8_t question[] = {0x0F, 0, 7, 0, 12, 0, 5, 4, 3, 2, 1, 0xC0, 2, 1, 0, 0, 0, 0};
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    pairing_scene_kernel_sends(s, question, sizeof question);
    pairing_scene_expect(s, 0x1C, 0, -1);
    pairing_scene_new_key(s, 0, 0x10);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    pairing_scene_close(s);
}

static void a_silent_peer_is_cancelled_alone(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    pairing_scene_begin(s, 0);
    uint64_t deadline = s->ends[0].end.link.pairing.deadline;
    pairing_scene_begin(s, 1);
    pairing_scene_new_key(s, 1, 1);
    pairing_scene_complete(s, 1, 0);
    assert_int_equal(s->ends[1].status, TENDON_OK);
    pass(s, deadline);
    pairing_scene_expect(s, 0x1A, 0, -1);
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(s->ends[0].status, TENDON_ERROR_TIMEOUT);
    assert_int_equal(s->ends[1].paired, 1);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_CANCELLED); /* the kernel's answer finds nothing any more */
    assert_int_equal(s->ends[0].paired, 1);
    pairing_scene_close(s);
}

/* A cancelled procedure that the kernel has not ended, or another program that pairs with this peer. */
static void a_busy_kernel_is_asked_again(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_BUSY);
    assert_int_equal(s->ends[0].paired, 0);
    uint64_t again = s->ends[0].end.link.pairing.retry_at;
    assert_true(again >= tendon_monotonic_ms() + 400 && again <= tendon_monotonic_ms() + 500);
    assert_true(s->b->radio.radio.pairing_timer.deadline == again);
    pass(s, again - 1);
    pairing_scene_expect_nothing(s);
    pass(s, again);
    pairing_scene_expect_preparation(s);
    pairing_scene_expect(s, 0x19, 0, 3);
    pairing_scene_new_key(s, 0, 1);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    pairing_scene_close(s);
}

static void each_result_of_the_kernel_has_a_meaning(void **state) {
    (void)state;
    static const struct {
        uint8_t status;
        tendon_status result;
    } cases[] = {{TENDON_MANAGEMENT_AUTHENTICATION_FAILED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_FAILED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_TIMEOUT, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_REJECTED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_CANCELLED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_NOT_CONNECTED, TENDON_ERROR_DISCONNECTED},
                 {TENDON_MANAGEMENT_CONNECT_FAILURE, TENDON_ERROR_DISCONNECTED},
                 {TENDON_MANAGEMENT_DISCONNECTED, TENDON_ERROR_DISCONNECTED},
                 {TENDON_MANAGEMENT_NOT_POWERED, TENDON_MANAGEMENT_ERROR(TENDON_MANAGEMENT_NOT_POWERED)}};
    pairing_scene *s = pairing_scene_open(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pairing_scene_begin(s, 0);
        pairing_scene_complete(s, 0, cases[i].status);
        assert_int_equal(s->ends[0].paired, (int)i + 1);
        assert_int_equal(s->ends[0].status, cases[i].result);
        assert_false(s->ends[0].end.link.encrypted);
    }
    pairing_scene_close(s);
}

/* Closed, cancelled or forgotten: the pairing is cancelled in the kernel, and no result is reported. */
static void a_procedure_that_nobody_waits_for_is_cancelled(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(3);
    for (int i = 0; i < 3; i++) {
        pairing_scene_begin(s, i);
    }
    s->service->cancel(s->service->context, &pairing_peers[0]);
    pairing_scene_expect(s, 0x1A, 0, -1);
    assert_int_equal(tendon_radio_forget(&s->b->radio.radio, &pairing_peers[1]), TENDON_ERROR_NOT_FOUND);
    pairing_scene_expect(s, 0x1A, 1, -1);
    pairing_scene_expect(s, 0x1B, 1, 1);
    tendon_link_close(&s->ends[2].end.link);
    assert_int_equal(pairing_scene_pair(s, 2), TENDON_ERROR_WRONG_STATE); /* it is about to close */
    for (int i = 0; i < 3; i++) {
        pairing_scene_complete(s, i, 0);
        assert_int_equal(s->ends[i].paired, 0);
    }
    assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
    assert_int_equal(s->ends[2].end.closed, 1);
    pairing_scene_expect(s, 0x1A, 2, -1);
    pairing_scene_close(s);
}

/* A stranger with the address of a bonded device: it has no key, and gets none without permission. */
static void a_bond_that_does_not_encrypt_is_no_permission(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[0]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    assert_int_equal(pairing_scene_pair(s, 0), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

static void a_command_without_an_address_in_its_answer_ends_all(void **state) {
    (void)state;
    static const uint8_t denied[] = {2, 0, 7, 0, 3, 0, 0x19, 0, TENDON_MANAGEMENT_PERMISSION_DENIED};
    pairing_scene *s = pairing_scene_open(3); /* the third does not pair */
    pairing_scene_begin(s, 0);
    pairing_scene_begin(s, 1);
    pairing_scene_kernel_sends(s, denied, sizeof denied);
    assert_int_equal(s->ends[2].paired, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s->ends[i].paired, 1);
        assert_int_equal(s->ends[i].status, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN);
    }
    pairing_scene_close(s);
}

static int turns;

static void pair_again(void *context, tendon_status status, uint64_t now) {
    pairing_scene *s = context;
    assert_int_equal(status, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN);
    turns++;
    assert_true(turns < 10);
    assert_int_equal(s->service->start(s->service->context, &pairing_peers[0], pair_again, s, now), TENDON_OK);
}

/* One that the owner starts when the rejected one ends has sent another command; a bonded device needs none. */
static void only_what_ran_ends_with_a_rejected_command(void **state) {
    (void)state;
    static const uint8_t denied[] = {2, 0, 7, 0, 3, 0, 0x19, 0, TENDON_MANAGEMENT_PERMISSION_DENIED};
    pairing_scene *s = pairing_scene_open(3);
    const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                              .initiator = true,
                              .key_size = 16,
                              .own = bluez_public_address,
                              .peer = pairing_peers[1]};
    turns = 0;
    assert_int_equal(s->service->start(s->service->context, &pairing_peers[0], pair_again, s, tendon_monotonic_ms()),
                     TENDON_OK);
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    s->ends[1].end.link.encrypted = true;
    assert_int_equal(pairing_scene_pair(s, 1), TENDON_OK);
    assert_int_equal(s->ends[1].end.link.pairing.state, TENDON_PAIRING_ENDED);
    pairing_scene_kernel_sends(s, denied, sizeof denied);
    assert_int_equal(turns, 1);
    assert_int_equal(s->ends[0].end.link.pairing.state, TENDON_PAIRING_RUNNING);
    assert_int_equal(s->ends[1].paired, 0);
    STEP_UNTIL(&s->b->loop, s->ends[1].paired == 1);
    assert_int_equal(s->ends[1].status, TENDON_OK);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

/* Its timer is with the loop, which lives longer. */
static void a_radio_that_closes_leaves_no_procedure(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    assert_true(s->b->radio.radio.pairing_timer.added);
    tendon_radio_close(&s->b->radio.radio);
    assert_false(s->b->radio.radio.pairing_timer.added);
    assert_int_equal(s->ends[0].paired, 0);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_pair_at_once_and_end_in_any_order),
        cmocka_unit_test(a_key_is_not_the_end_of_a_pairing),
        cmocka_unit_test(the_key_of_a_central_is_no_encryption),
        cmocka_unit_test(a_pairing_that_was_confirmed_is_good_enough),
        cmocka_unit_test(a_silent_peer_is_cancelled_alone),
        cmocka_unit_test(a_busy_kernel_is_asked_again),
        cmocka_unit_test(each_result_of_the_kernel_has_a_meaning),
        cmocka_unit_test(a_procedure_that_nobody_waits_for_is_cancelled),
        cmocka_unit_test(a_bond_that_does_not_encrypt_is_no_permission),
        cmocka_unit_test(a_command_without_an_address_in_its_answer_ends_all),
        cmocka_unit_test(only_what_ran_ends_with_a_rejected_command),
        cmocka_unit_test(a_radio_that_closes_leaves_no_procedure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
