/* SPDX-License-Identifier: MIT */
/* Obvious manager: every pair of a state of an operation and an input. */
#include "obvious_manager_world.h"

/* ---- every pair of state and input ---- */

enum { PROVISIONING = 1, RESETS = 2, STAYS = 4, CLOUD = 8, ABSENT = 16, LEAVES = 32, LATER = 64, LOST_END = 128 };

/* How to stop an update in each state: an opcode without a response, and what else. */
static const struct {
    uint8_t mute;
    unsigned how;
} parks[] = {
    {0, ABSENT},                   /* CONNECT */
    {TENDON_OBVIOUS_HELLO, LATER}, /* HELLO */
    {TENDON_OBVIOUS_GET_DEVICE_INFO, 0},
    {TENDON_OBVIOUS_GET_NONCE, 0},
    {0, CLOUD},                /* FETCH */
    {0, CLOUD | PROVISIONING}, /* PROVISION */
    {TENDON_OBVIOUS_XFER_BEGIN, 0},
    {TENDON_OBVIOUS_XFER_BEGIN, PROVISIONING},
    {TENDON_OBVIOUS_XFER_DATA, 0},
    {TENDON_OBVIOUS_XFER_DATA, PROVISIONING},
    {TENDON_OBVIOUS_XFER_END, 0},
    {TENDON_OBVIOUS_XFER_END, PROVISIONING},
    {TENDON_OBVIOUS_XFER_STATUS, LOST_END},
    {TENDON_OBVIOUS_XFER_ABORT, 0}, /* after an error of XFER_END */
    {TENDON_OBVIOUS_REBOOT, RESETS},
    {0, RESETS | STAYS}, /* RESETTING */
    {TENDON_OBVIOUS_FEATURE_COUNTER, RESETS},
    {0, RESETS | LEAVES}, /* JOINING */
};
enum { PARKS = sizeof parks / sizeof parks[0] };

static void park(size_t which) {
    unsigned how = parks[which].how;
    begin();
    f->device.flags = (how & PROVISIONING) != 0 ? 0 : 1;
    (void)make_package(w.package, 1, 0, 43, 200);
    f->device.end_flags = (how & RESETS) != 0;
    f->device.reboots = (how & STAYS) == 0;
    f->device.on_reset = (how & LEAVES) != 0 ? leave : NULL;
    f->devices[0].present = (how & ABSENT) == 0;
    f->device.swallows_end = (how & LOST_END) != 0;
    w.silent_cloud = (how & CLOUD) != 0;
    if ((how & ABSENT) == 0) {
        fixture_open(f);
    }
    f->device.mute[parks[which].mute] = true;
    if (parks[which].mute == TENDON_OBVIOUS_XFER_ABORT) {
        f->device.error[TENDON_OBVIOUS_XFER_END] = 21;
    }
    start(TENDON_OBVIOUS_UPDATE_FEATURES);
    fixture_run(f, (how & LOST_END) != 0 ? 122000 : 2000);
    trace[0] = '\0';
}

enum { LOSE = 0, CANCEL, ANSWER, SILENCE, DISCONNECT, SECOND_END, OPENED, RESPONSE, TIME, INPUTS };

static void input(unsigned which) {
    const tendon_obvious_session_event closed = {.kind = TENDON_OBVIOUS_SESSION_EVENT_CLOSED,
                                                 .status = TENDON_RADIO_ERROR_PEER_CLOSED};
    const tendon_obvious_session_event opened = {.kind = TENDON_OBVIOUS_SESSION_EVENT_OPENED};
    switch (which) {
    case LOSE:
        if (f->device.bearer != NULL) {
            fixture_drop(f);
        }
        break;
    case CANCEL:
        tendon_obvious_manager_cancel(&w.manager, f->now);
        break;
    case ANSWER:
        (void)tendon_obvious_manager_give(&w.manager, &w.answers[f->device.flags == 0], f->now);
        break;
    case SILENCE:
        f->devices[0].silent = true;
        break;
    case DISCONNECT:
        tendon_obvious_session_disconnect(&f->session, f->now);
        break;
    case SECOND_END:
        if (f->session.state == TENDON_OBVIOUS_SESSION_IDLE) {
            f->session.config.on_event(f->session.config.context, &closed, f->now);
        }
        break;
    case OPENED: /* a second report */
        if (f->session.state == TENDON_OBVIOUS_SESSION_OPEN) {
            f->session.config.on_event(f->session.config.context, &opened, f->now);
        }
        break;
    case RESPONSE: /* it speaks again, and the request is repeated */
        memset(f->device.mute, 0, sizeof f->device.mute);
        f->device.swallows_end = false;
        break;
    default:
        break;
    }
}

/* Whatever comes in whatever state: the operation ends, with one DONE, and the next one can start. */
static void every_pair_of_state_and_input(void **state) {
    (void)state;
    bool seen[64] = {false};
    unsigned states = 0, good = 0;
    for (size_t which = 0; which < PARKS; which++) {
        for (unsigned i = 0; i < INPUTS; i++) {
            park(which);
            states += !seen[w.manager.state];
            seen[w.manager.state] = true;
            input(i);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 1);
            assert_int_equal(w.manager.operation, 0);
            assert_false(f->session.keep_alive);
            good += strstr(trace, "done:0/OK") != NULL;
            trace[0] = '\0';
            start(TENDON_OBVIOUS_GET_INFO);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 2);
            fixture_free(f);
        }
    }
    printf("# %u states, %u pairs, %u of them ended well\n", states, (unsigned)PARKS * INPUTS, good);
    assert_int_equal(states, 15);
    assert_true(good >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_state_and_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
