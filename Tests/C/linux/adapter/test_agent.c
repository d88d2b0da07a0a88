/* SPDX-License-Identifier: MIT */
/* The pairing agent over the management socket, PDU by PDU: questions and answers, and agents that are none. */
#include "agent_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- questions ---- */

static void a_fixed_passkey_is_entered(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(PASSKEY);
    pairing_scene *s = scene_with(2, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    kernel_wants_passkey(s, 0);
    expect_passkey(s, 0, PASSKEY);
    kernel_wants_passkey(s, 1); /* connected, but another program pairs with it */
    kernel_wants_passkey(s, 2); /* not connected */
    pairing_scene_expect_nothing(s);
    kernel_stores(s, &pairing_peers[0], 3, 16);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_true(s->ends[0].end.link.encrypted);
    assert_int_equal(s->bonds.items[0].type, 3);
    pairing_scene_close(s);
}

static void a_user_answers_at_once_or_later(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_ask(ask, &me);
    static const struct {
        uint8_t event;
        tendon_pairing_question question;
        uint32_t passkey;
        bool accepts;
        int reply; /**< 0: the kernel waits for none */
    } cases[] = {{CONFIRM, TENDON_PAIRING_COMPARE, PASSKEY, true, YES},
                 {CONFIRM, TENDON_PAIRING_COMPARE, PASSKEY, false, NO},
                 {PASSKEY_REQUEST, TENDON_PAIRING_ENTER, 0, true, ENTERED},
                 {PASSKEY_REQUEST, TENDON_PAIRING_ENTER, 0, false, NO_PASSKEY},
                 {NOTIFY, TENDON_PAIRING_SHOW, PASSKEY, true, 0}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        size_t n = i / 2;
        bool later = i % 2 != 0;
        pairing_scene *s = scene_with(1, &agent);
        begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
        me.answers = !later && cases[n].reply != 0;
        me.accepts = cases[n].accepts;
        me.says = PASSKEY;
        if (cases[n].event == CONFIRM) {
            kernel_confirms(s, 0, 0);
        } else if (cases[n].event == NOTIFY) {
            kernel_shows(s, 0, 0);
            kernel_shows(s, 0, 1); /* the peer's user enters digits: not shown again */
        } else {
            kernel_wants_passkey(s, 0);
        }
        assert_int_equal(me.asked, 1);
        assert_int_equal(me.question, cases[n].question);
        assert_int_equal(me.passkey, cases[n].passkey);
        if (later && cases[n].reply != 0) {
            pairing_scene_expect_nothing(s);
            assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[1], true, 0, 0),
                             TENDON_ERROR_WRONG_STATE); /* another peer */
            tendon_status wrong = tendon_radio_answer_pairing(me.radio, &pairing_peers[0], true, 1000000, 0);
            if (cases[n].question == TENDON_PAIRING_ENTER) {
                assert_int_equal(wrong, TENDON_ERROR_INVALID_ARGUMENT);
                assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[0], cases[n].accepts, PASSKEY, 0),
                                 TENDON_OK);
            } else {
                assert_int_equal(wrong, TENDON_OK); /* the number is not part of this answer */
                if (!cases[n].accepts) {
                    pairing_scene_drain(s);
                    pairing_scene_close(s);
                    continue;
                }
            }
        }
        if (cases[n].reply == ENTERED) {
            expect_passkey(s, 0, PASSKEY);
        } else if (cases[n].reply != 0) {
            pairing_scene_expect(s, (uint8_t)cases[n].reply, 0, -1);
        }
        assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[0], true, 0, 0),
                         TENDON_ERROR_WRONG_STATE); /* answered */
        pairing_scene_expect_nothing(s);
        pairing_scene_close(s);
    }
}

/* The owner answers a question whose procedure has ended meanwhile: the kernel might have one of another program. */
static void an_answer_after_the_end_is_no_answer(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_ask(ask, &me);
    for (int way = 0; way < 3; way++) {
        pairing_scene *s = scene_with(1, &agent);
        me.answers = false;
        begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
        kernel_wants_passkey(s, 0);
        assert_int_equal(me.asked, 1);
        if (way == 2) {
            tendon_link_close(&s->ends[0].end.link); /* its end is told in the loop's next step */
        } else if (way == 1) {
            s->service->cancel(s->service->context, &pairing_peers[0]);
        } else {
            pairing_scene_complete(s, 0, TENDON_MANAGEMENT_TIMEOUT);
            assert_int_equal(s->ends[0].paired, 1);
        }
        pairing_scene_drain(s);
        assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[0], true, PASSKEY, 0),
                         TENDON_ERROR_WRONG_STATE);
        pairing_scene_expect_nothing(s);
        pairing_scene_close(s);
    }
}

static void without_an_answer_the_pairing_is_rejected(void **state) {
    (void)state;
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_DISPLAY};
    pairing_scene *s = scene_with(1, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
    kernel_confirms(s, 0, 0);
    pairing_scene_expect(s, NO, 0, -1);
    kernel_wants_passkey(s, 0);
    pairing_scene_expect(s, NO_PASSKEY, 0, -1);
    kernel_shows(s, 0, 0); /* nothing to reject: the peer gives up */
    pairing_scene_expect_nothing(s);
    kernel_confirms(s, 0, 1); /* it accepts Just Works */
    pairing_scene_expect(s, YES, 0, -1);
    pairing_scene_close(s);
}

static void events_cut_at_every_position_ask_nothing(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_ask(ask, &me);
    static const struct { uint8_t code, length; } events[] = {{CONFIRM, 12}, {PASSKEY_REQUEST, 7}, {NOTIFY, 12}};
    pairing_scene *s = scene_with(1, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
    uint64_t malformed = 0;
    for (size_t e = 0; e < sizeof events / sizeof events[0]; e++) {
        for (uint8_t length = 0; length < events[e].length; length++) {
            const uint8_t *a = pairing_peers[0].bytes;
            uint8_t pdu[6 + 12] = {events[e].code, 0, 7, 0, length, 0, a[5], a[4], a[3], a[2], a[1], a[0], 2};
            pairing_scene_kernel_sends(s, pdu, 6u + length);
            malformed++;
            assert_int_equal(s->b->radio.radio.malformed, malformed);
        }
    }
    assert_int_equal(me.asked, 0);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* ---- agents that are none ---- */

static void wrong_agents_change_nothing(void **state) {
    (void)state;
    const tendon_pairing_agent good = tendon_pairing_agent_passkey(PASSKEY);
    static const tendon_pairing_agent wrong[] = {
        {.io = 5},
        {.io = TENDON_PAIRING_NO_INPUT_NO_OUTPUT, .authenticated = true},
        {.io = TENDON_PAIRING_KEYBOARD_ONLY, .key_size_min = 6},
        {.io = TENDON_PAIRING_KEYBOARD_ONLY, .key_size_min = 17},
        {.io = TENDON_PAIRING_KEYBOARD_ONLY, .has_passkey = true, .passkey = 1000000}};
    pairing_scene *s = scene_with(0, &good);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &wrong[i]), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(me.radio->agent.io, TENDON_PAIRING_KEYBOARD_ONLY);
    }
    pairing_scene_expect_nothing(s);
    fake.refuse[FAKE_SEND] = (fake_refusal){.number = ENOBUFS};
    assert_true(tendon_radio_set_pairing_agent(me.radio, NULL) < 0); /* the kernel does not take the command */
    assert_int_equal(me.radio->agent.io, TENDON_PAIRING_KEYBOARD_ONLY);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, NULL), TENDON_OK);
    assert_int_equal(me.radio->agent.io, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

/* ---- the file of passkeys ---- */

static void write_file(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void the_file_answers_for_its_devices(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int peer;
        int64_t passkey; /**< -1: rejected */
    } cases[] = {
        {"C0:01:02:03:04:05 123456\n", 0, 123456},
        {"# a comment\n\n  c0:01:02:03:04:05\t000001 # of the label\r\n", 0, 1},
        {"4A:01:02:03:04:06 111111\nC0:01:02:03:04:05 222222", 0, 222222}, /* without a newline at the end */
        {"4A:01:02:03:04:06 111111\n", 0, -1},
        {"* 333333\n4A:01:02:03:04:06 111111\n", 0, 333333},
        {"C0:01:02:03:04:05 222222\n* 333333\n", 0, 222222},
        {"* 333333\nC0:01:02:03:04:05 222222\n", 0, 222222},
        {"", 0, -1},
    };
    char path[] = "/tmp/tendon-passkeys-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(path, cases[i].text, 0600);
        const tendon_pairing_agent agent = tendon_pairing_agent_file(path);
        pairing_scene *s = scene_with(1, &agent);
        begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
        kernel_wants_passkey(s, 0);
        if (cases[i].passkey < 0) {
            pairing_scene_expect(s, NO_PASSKEY, 0, -1);
        } else {
            expect_passkey(s, 0, (uint32_t)cases[i].passkey);
        }
        pairing_scene_close(s);
    }
    unlink(path);
}

static void a_file_that_is_none_is_an_error_at_once(void **state) {
    (void)state;
    static const char *const malformed[] = {
        "C0:01:02:03:04:05",     "C0:01:02:03:04:05 12345",    "C0:01:02:03:04:05 1234567", "C0:01:02:03:04:05 12345x",
        "C0:01:02:03:04 123456", "C0:01:02:03:04:05 123456 7", "* 123456\nnonsense\n"};
    const tendon_pairing_agent good = tendon_pairing_agent_passkey(PASSKEY);
    char path[] = "/tmp/tendon-passkeys-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const tendon_pairing_agent agent = tendon_pairing_agent_file(path);
    pairing_scene *s = scene_with(0, &good);
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        write_file(path, malformed[i], 0600);
        assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_MALFORMED);
    }
    write_file(path, "* 123456\n", 0644);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_FILE_PERMISSION);
    static char longer[8194];
    memset(longer, '\n', sizeof longer - 1);
    write_file(path, longer, 0600);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_OVERFLOW);
    longer[8192] = '\0';
    write_file(path, longer, 0600);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_OK);
    unlink(path);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_NOT_FOUND);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fixed_passkey_is_entered),
        cmocka_unit_test(a_user_answers_at_once_or_later),
        cmocka_unit_test(an_answer_after_the_end_is_no_answer),
        cmocka_unit_test(without_an_answer_the_pairing_is_rejected),
        cmocka_unit_test(events_cut_at_every_position_ask_nothing),
        cmocka_unit_test(wrong_agents_change_nothing),
        cmocka_unit_test(the_file_answers_for_its_devices),
        cmocka_unit_test(a_file_that_is_none_is_an_error_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
