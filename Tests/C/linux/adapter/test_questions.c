/* SPDX-License-Identifier: MIT */
/* Questions of the kernel about pairings: of this radio, of another program, and of centrals that have connected. */
#include "pairing_scene.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static void kernel_asks(pairing_scene *s, uint8_t code, const tendon_address *peer, const uint8_t *more,
                        uint8_t length) {
    const uint8_t *a = peer->bytes;
    uint8_t pdu[6 + 7 + 5] = {code,
                              0,
                              7,
                              0,
                              (uint8_t)(7 + length),
                              0,
                              a[5],
                              a[4],
                              a[3],
                              a[2],
                              a[1],
                              a[0],
                              peer->type == TENDON_ADDRESS_TYPE_RANDOM ? 2 : 1};
    memcpy(pdu + 13, more, length);
    pairing_scene_kernel_sends(s, pdu, 13u + length);
}

/* User Confirmation Request: address, type, Confirm_Hint, value. */
static void question_of(pairing_scene *s, const tendon_address *peer, uint8_t hint) {
    const uint8_t more[5] = {hint, 0x40, 0xE2, 0x01, 0};
    kernel_asks(s, 0x0F, peer, more, sizeof more);
}

static void question(pairing_scene *s, int peer, uint8_t hint) {
    question_of(s, &pairing_peers[peer], hint);
}

/* User Passkey Request: address, type. */
static void passkey_question(pairing_scene *s, const tendon_address *peer) {
    kernel_asks(s, 0x10, peer, (const uint8_t *)"", 0);
}

static void only_just_works_of_a_pairing_of_ours_is_confirmed(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    pairing_scene_begin(s, 0);
    question(s, 0, 1);
    pairing_scene_expect(s, 0x1C, 0, -1);
    question(s, 0, 0); /* Numeric Comparison */
    pairing_scene_expect(s, 0x1D, 0, -1);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    pairing_scene_drain(s);
    pairing_scene_add(s, 2, true); /* it has connected to us: the mode decides, not what we have begun */
    question(s, 2, 1);
    pairing_scene_expect(s, 0x1C, 2, -1);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, false), TENDON_OK);
    pairing_scene_drain(s);
    question(s, 2, 1);
    pairing_scene_expect(s, 0x1D, 2, -1);
    passkey_question(s, &pairing_peers[2]);
    pairing_scene_expect(s, 0x1F, 2, -1);
    kernel_asks(s, 0x17, &pairing_peers[2], (const uint8_t[]){0x40, 0xE2, 0x01, 0, 0}, 5); /* shows one: no question */
    pairing_scene_expect_nothing(s);
    static const uint8_t short_question[6 + 7] = {0x0F, 0, 7, 0, 7, 0, 5, 4, 3, 2, 1, 0xC0, 2};
    pairing_scene_kernel_sends(s, short_question, sizeof short_question);
    pairing_scene_expect_nothing(s);
    assert_int_equal(s->b->radio.radio.malformed, 1);
    pairing_scene_close(s);
}

/* Every program with a management socket gets the question. Where no other one can answer, it is rejected. */
static void a_question_of_another_program_is_left_to_it(void **state) {
    (void)state;
    static const struct {
        int programs;
        tendon_bluez_use use;
        bool left;
    } rows[] = {{1, TENDON_BLUEZ_SHARED, true},
                {-1, TENDON_BLUEZ_SHARED, true}, /* not known */
                {0, TENDON_BLUEZ_SHARED, false},
                {1, TENDON_BLUEZ_SOLE, false},
                {-1, TENDON_BLUEZ_SOLE, false}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        pairing_scene *s = pairing_scene_open(2);
        fake.programs = rows[i / 2].programs;
        s->b->radio.use = (uint8_t)rows[i / 2].use;
        pairing_scene_begin(s, 0);
        assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, i % 2 == 1), TENDON_OK);
        pairing_scene_drain(s);
        for (int peer = 1; peer < 3; peer++) { /* the same 48 bits, connected, but it does not pair; not connected */
            for (uint8_t hint = 0; hint < 3; hint++) {
                if (hint < 2) {
                    question(s, peer, hint);
                } else {
                    passkey_question(s, &pairing_peers[peer]);
                }
                if (!rows[i / 2].left) {
                    pairing_scene_expect(s, hint < 2 ? 0x1D : 0x1F, peer, -1);
                }
                pairing_scene_expect_nothing(s);
            }
        }
        question(s, 0, 1);
        pairing_scene_expect(s, 0x1C, 0, -1);
        pairing_scene_close(s);
    }
}

/* The kernel may not have cancelled it yet; later it is the procedure of another program. */
static void only_a_cancelled_procedure_has_its_question_rejected(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    s->service->cancel(s->service->context, &pairing_peers[0]);
    pairing_scene_expect(s, 0x1A, 0, -1);
    question(s, 0, 1);
    pairing_scene_expect(s, 0x1D, 0, -1);
    const uint64_t deadline = s->ends[0].end.link.pairing.deadline;
    static const uint8_t just_works[] = {0x0F, 0, 7, 0, 12, 0, 5, 4, 3, 2, 1, 0xC0, 2, 1, 0, 0, 0, 0};
    for (uint64_t now = deadline - 1; now <= deadline; now++) {
        assert_int_equal(send(s->b->kernel, just_works, sizeof just_works, 0), (ssize_t)sizeof just_works);
        s->b->radio.management.ready(s->b->radio.management.context, TENDON_READABLE, now);
        if (now < deadline) {
            pairing_scene_expect(s, 0x1D, 0, -1);
        }
        pairing_scene_expect_nothing(s);
    }
    pairing_scene_begin(s, 0);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_BUSY); /* another program pairs with this peer */
    question(s, 0, 1);
    pairing_scene_expect_nothing(s);
    s->b->radio.radio.pairing_timer.expired(&s->b->radio.radio, s->ends[0].end.link.pairing.retry_at);
    pairing_scene_drain(s);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_AUTHENTICATION_FAILED); /* it has ended */
    assert_int_equal(s->ends[0].paired, 1);
    question(s, 0, 1);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* ---- a central whose connection waits for accept() ---- */

static const tendon_address central = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_RANDOM};

static tendon_link *accept_central(void *context, const tendon_address *peer, uint64_t now) {
    (void)peer;
    (void)now;
    return context;
}

/** The last command must be this one, about the central; @p length bytes with what follows the address. */
static void expect_of_central(pairing_scene *s, uint8_t opcode, ssize_t length) {
    static const uint8_t peer[7] = {0x02, 0x53, 0x00, 0x5E, 0x00, 0x00, 2};
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), length);
    assert_int_equal(pdu[0], opcode);
    assert_memory_equal(pdu + 6, peer, sizeof peer);
}

/* The question is in the management socket before the loop has read the listener, or opened the accepted link. */
static void a_central_is_answered_before_its_link_is_open(void **state) {
    (void)state;
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .has_passkey = true, .passkey = 123456};
    for (int i = 0; i < 4; i++) {
        pairing_scene *s = pairing_scene_open(0);
        link_end *end = &s->ends[2].end;
        tendon_listener listener = {.context = &end->link, .accept = accept_central};
        link_end_init(end);
        assert_int_equal(tendon_radio_set_pairing_agent(&s->b->radio.radio, &agent), TENDON_OK);
        assert_int_equal(tendon_radio_listen(&s->b->radio.radio, &listener), TENDON_OK);
        assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
        pairing_scene_drain(s);
        fake.centrals = 1;
        if (i % 2 == 1) {
            listener.source.ready(&listener, TENDON_READABLE, tendon_monotonic_ms());
            assert_int_equal(end->link.state, TENDON_LINK_CONNECTED);
        }
        if (i < 2) {
            question_of(s, &central, 1);
            expect_of_central(s, 0x1C, 13);
        } else {
            passkey_question(s, &central);
            expect_of_central(s, 0x1E, 17);
        }
        assert_int_equal(end->connected, 1);
        assert_int_equal(end->link.state, TENDON_LINK_OPEN);
        assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
        assert_int_equal(end->connected, 1);
        pairing_scene_expect_nothing(s);
        pairing_scene_close(s);
    }
}

/* The question is about a connection that is open: what else waits is opened in its turn. */
static void a_question_about_an_open_connection_opens_no_other(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    link_end *end = &s->ends[2].end;
    tendon_listener listener = {.context = &end->link, .accept = accept_central};
    link_end_init(end);
    assert_int_equal(tendon_radio_listen(&s->b->radio.radio, &listener), TENDON_OK);
    pairing_scene_begin(s, 0);
    fake.centrals = 1;
    question(s, 0, 1);
    pairing_scene_expect(s, 0x1C, 0, -1);
    assert_int_equal(fake.centrals, 1);
    pairing_scene_close(s);
}

static tendon_link *accept_next(void *context, const tendon_address *peer, uint64_t now) {
    pairing_scene *s = context;
    (void)peer;
    (void)now;
    return &s->ends[s->b->radio.radio.links == NULL ? 0 : 1].end.link;
}

static void answer_at_once(void *context, const tendon_address *peer, tendon_pairing_question question,
                           uint32_t passkey, uint64_t now) {
    pairing_scene *s = context;
    (void)passkey;
    assert_int_equal(question, TENDON_PAIRING_ENTER);
    assert_int_equal(tendon_radio_answer_pairing(&s->b->radio.radio, peer, true, 123456, now), TENDON_OK);
}

/* Two have connected, and the loop has opened neither; the question is about the one that was first. */
static void each_central_that_waits_is_opened_before_the_answer(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .context = s, .ask = answer_at_once};
    tendon_listener listener = {.context = s, .accept = accept_next};
    for (int i = 0; i < 2; i++) {
        link_end_init(&s->ends[i].end);
    }
    assert_int_equal(tendon_radio_set_pairing_agent(&s->b->radio.radio, &agent), TENDON_OK);
    assert_int_equal(tendon_radio_listen(&s->b->radio.radio, &listener), TENDON_OK);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    pairing_scene_drain(s);
    fake.centrals = 2;
    listener.source.ready(&listener, TENDON_READABLE, tendon_monotonic_ms());
    tendon_link *second = &s->ends[1].end.link;
    assert_int_equal(second->state, TENDON_LINK_CONNECTED);
    second->peer.bytes[5] = second->identity.bytes[5] = 3;
    passkey_question(s, &central);
    expect_of_central(s, 0x1E, 17);
    pairing_scene_expect_nothing(s);
    assert_int_equal(s->ends[0].end.connected + s->ends[1].end.connected, 2);
    pairing_scene_close(s);
}

/* The owner has no link for it: nothing pairs, and only a sole owner says so. */
static void a_central_that_is_not_accepted_gets_no_key(void **state) {
    (void)state;
    for (int sole = 0; sole < 2; sole++) {
        pairing_scene *s = pairing_scene_open(0);
        tendon_listener listener = {.context = NULL, .accept = accept_central};
        s->b->radio.use = sole ? TENDON_BLUEZ_SOLE : TENDON_BLUEZ_SHARED;
        assert_int_equal(tendon_radio_listen(&s->b->radio.radio, &listener), TENDON_OK);
        assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
        pairing_scene_drain(s);
        for (int n = 0; n < 2; n++) { /* the second time no descriptor is left for it */
            fake.centrals = 1;
            fake.refuse[FAKE_ACCEPT].number = n == 0 ? 0 : EMFILE;
            question_of(s, &central, 1);
            if (sole) {
                expect_of_central(s, 0x1D, 13);
            }
            pairing_scene_expect_nothing(s);
        }
        pairing_scene_close(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_just_works_of_a_pairing_of_ours_is_confirmed),
        cmocka_unit_test(a_question_of_another_program_is_left_to_it),
        cmocka_unit_test(only_a_cancelled_procedure_has_its_question_rejected),
        cmocka_unit_test(a_central_is_answered_before_its_link_is_open),
        cmocka_unit_test(a_question_about_an_open_connection_opens_no_other),
        cmocka_unit_test(each_central_that_waits_is_opened_before_the_answer),
        cmocka_unit_test(a_central_that_is_not_accepted_gets_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
