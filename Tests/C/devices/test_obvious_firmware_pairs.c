/* SPDX-License-Identifier: MIT */
/* Obvious manager: every pair of a state of an upgrade and an input. */
#include "obvious_firmware_world.h"

/* ---- every pair of state and input ---- */

enum { CLOUD = 1, ABSENT = 2, STAYS = 4, LEAVES = 8, TRIAL = 16, LOST_END = 32, CHECKS = 64, ACTIVATED = 128 };

static const struct {
    uint8_t mute;
    unsigned how;
} parks[] = {
    {0, ABSENT},
    {TENDON_OBVIOUS_GET_DEVICE_INFO, 0},
    {TENDON_OBVIOUS_FW_STATE, 0},
    {TENDON_OBVIOUS_FW_STATE, CHECKS},
    {0, CLOUD},
    {0, CLOUD | CHECKS},
    {TENDON_OBVIOUS_XFER_BEGIN, 0},
    {TENDON_OBVIOUS_XFER_DATA, 0},
    {TENDON_OBVIOUS_XFER_END, 0},
    {TENDON_OBVIOUS_XFER_STATUS, LOST_END},
    {TENDON_OBVIOUS_XFER_ABORT, 0}, /* after an error of XFER_END */
    {TENDON_OBVIOUS_FW_ACTIVATE, 0},
    {0, STAYS},  /* DOWN */
    {0, LEAVES}, /* JOINING */
    {TENDON_OBVIOUS_FW_CONFIRM, 0},
    {TENDON_OBVIOUS_FW_CONFIRM, CHECKS | TRIAL},
    {TENDON_OBVIOUS_FW_STATE, ACTIVATED},
    {TENDON_OBVIOUS_GET_DEVICE_INFO, ACTIVATED}, /* SELF_TEST */
};
enum { PARKS = sizeof parks / sizeof parks[0] };

static void park(size_t which) {
    unsigned how = parks[which].how;
    begin();
    w.silent_cloud = (how & CLOUD) != 0;
    f->device.reboots = (how & STAYS) == 0;
    f->device.on_reset = (how & LEAVES) != 0 ? leaves : (how & ACTIVATED) != 0 ? boot_and_mute : boot_staged;
    mute_after_reset = parks[which].mute;
    f->device.swallows_end = (how & LOST_END) != 0;
    f->device.active_state = (how & TRIAL) != 0 ? 2 : 1;
    f->devices[0].present = (how & ABSENT) == 0;
    if ((how & ABSENT) == 0) {
        fixture_open(f);
    }
    f->device.mute[parks[which].mute] = (how & ACTIVATED) == 0;
    if (parks[which].mute == TENDON_OBVIOUS_XFER_ABORT) {
        f->device.error[TENDON_OBVIOUS_XFER_END] = 21;
    }
    static const tendon_obvious_record activated = {.state = TENDON_OBVIOUS_JOURNAL_REJOIN,
                                                    .version = OLD,
                                                    .serial = 0x1122334455667788,
                                                    .counter = 41,
                                                    .before = 41,
                                                    .caps = 0xFF};
    start_from((how & CHECKS) != 0 ? TENDON_OBVIOUS_CHECK_FIRMWARE : TENDON_OBVIOUS_UPGRADE_FIRMWARE,
               (how & TRIAL) != 0 ? &activated : NULL);
    fixture_run(f, (how & LOST_END) != 0 ? 122000 : 2000);
    trace[0] = '\0';
}

enum { NOTHING, LOSE, CANCEL, ANSWER, SILENCE, DISCONNECT, RESPONSE, ROLL_BACK, OTHER_DEVICE, INPUTS };

static void input(unsigned which) {
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
        (void)tendon_obvious_manager_give(&w.manager, &w.download, f->now);
        break;
    case SILENCE:
        f->devices[0].silent = true;
        break;
    case DISCONNECT:
        tendon_obvious_session_disconnect(&f->session, f->now);
        break;
    case RESPONSE: /* it speaks again, and the request is repeated */
        memset(f->device.mute, 0, sizeof f->device.mute);
        f->device.swallows_end = false;
        break;
    case ROLL_BACK:
        f->device.active = f->device.fw = OLD;
        f->device.active_state = 1;
        roll_back(f);
        break;
    case OTHER_DEVICE: /* the same, with another serial number: where it is read, the session ends by itself */
        memset(f->device.mute, 0, sizeof f->device.mute);
        f->device.swallows_end = false;
        f->device.serial++;
        break;
    default:
        break;
    }
}

static void every_pair_of_state_and_input(void **state) {
    (void)state;
    bool seen[64] = {false};
    unsigned states = 0, good = 0;
    for (size_t which = 0; which < PARKS; which++) {
        for (unsigned i = 0; i < INPUTS; i++) {
            park(which);
            assert_int_not_equal(w.manager.operation, 0);
            states += !seen[w.manager.state];
            seen[w.manager.state] = true;
            input(i);
            bool ends_soon = i == OTHER_DEVICE && (parks[which].how & CLOUD) == 0;
            fixture_run(f, ends_soon ? 400000 : 2000000);
            if (w.done != 1) {
                fail_msg("park %zu, input %u: %u, state %u", which, i, w.done, w.manager.state);
            }
            assert_int_equal(w.manager.operation, 0);
            assert_false(f->session.keep_alive);
            good += strstr(trace, "done:0/OK") != NULL;
            trace[0] = '\0';
            start_from(TENDON_OBVIOUS_GET_INFO, NULL);
            fixture_run(f, 2000000);
            assert_int_equal(w.done, 2);
            fixture_free(f);
        }
    }
    printf("# %u states, %u pairs, %u of them ended well\n", states, (unsigned)PARKS * INPUTS, good);
    assert_true(states >= 15);
    assert_true(good >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_state_and_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
