/* SPDX-License-Identifier: MIT */
/*
 * The state table that scanning and advertising share; docs/bluez-states.md has it as text. The state of an activity in
 * the controller and its demand determine the next command.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

enum {
    OFF = TENDON_BLUEZ_OFF,
    READY = TENDON_BLUEZ_READY,
    ON = TENDON_BLUEZ_ON,
    STALE = TENDON_BLUEZ_STALE,
    NOTHING = TENDON_BLUEZ_SEND_NOTHING,
    CONFIGURATION = TENDON_BLUEZ_SEND_CONFIGURATION,
    ENABLE = TENDON_BLUEZ_SEND_ENABLE,
    DISABLE = TENDON_BLUEZ_SEND_DISABLE
};

/* The state after an input; the columns are tendon_bluez_activity_inputs. */
static const uint8_t next_state[TENDON_BLUEZ_ACTIVITY_STATES][TENDON_BLUEZ_ACTIVITY_INPUTS] = {
    /* clang-format off */
    /*          configured, all,   enabled, disabled, rejected, unanswered, restarted, overwritten, stopped, reset */
    [OFF] =   { OFF,        READY, ON,      OFF,      OFF,      STALE,      OFF,       OFF,         OFF,     OFF },
    [READY] = { READY,      READY, ON,      OFF,      OFF,      STALE,      OFF,       OFF,         READY,   OFF },
    [ON] =    { ON,         ON,    ON,      OFF,      ON,       STALE,      STALE,     ON,          OFF,     OFF },
    [STALE] = { STALE,      STALE, STALE,   OFF,      STALE,    STALE,      STALE,     STALE,       STALE,   OFF },
    /* clang-format on */
};

/* The next command; the columns are tendon_bluez_demand. */
static const uint8_t next_request[TENDON_BLUEZ_ACTIVITY_STATES][TENDON_BLUEZ_DEMANDS] = {
    /* clang-format off */
    /*          halt,    wait,    run */
    [OFF] =   { NOTHING, NOTHING, CONFIGURATION },
    [READY] = { NOTHING, NOTHING, ENABLE },
    [ON] =    { DISABLE, NOTHING, NOTHING },
    [STALE] = { DISABLE, DISABLE, DISABLE },
    /* clang-format on */
};

void tendon_bluez_activity_input(tendon_bluez_activity *activity, tendon_bluez_activity_inputs input) {
    activity->state = next_state[activity->state][input];
    if (input == TENDON_BLUEZ_CONFIGURED) {
        activity->step++;
    } else if (activity->state == TENDON_BLUEZ_OFF) {
        activity->step = 0; /* configuration starts again with the first command */
    }
    if (input == TENDON_BLUEZ_ENABLED && activity->state == TENDON_BLUEZ_ON) {
        activity->confirmed = true;
        activity->retries = activity->unanswered = 0;
        activity->retry_at = 0;
    }
}

tendon_bluez_request tendon_bluez_activity_request(const tendon_bluez_activity *activity, tendon_bluez_demand demand) {
    return (tendon_bluez_request)next_request[activity->state][demand];
}

void tendon_bluez_activity_start(tendon_bluez_radio *radio, tendon_bluez_activity *activity) {
    /* A command in flight belongs to the start before this one. */
    bool in_flight = tendon_bluez_in_flight(radio, activity) && radio->command.request != TENDON_BLUEZ_SEND_ADDRESS;
    tendon_bluez_activity_input(activity, in_flight ? TENDON_BLUEZ_UNANSWERED : TENDON_BLUEZ_RESTARTED);
    activity->requested = true;
    activity->confirmed = activity->cleared = false;
    activity->retries = activity->unanswered = 0;
    activity->retry_at = 0;
    activity->failure = TENDON_OK;
}

void tendon_bluez_activity_retry(tendon_bluez_radio *radio, tendon_bluez_activity *activity, uint64_t time) {
    activity->retry_at = time;
    tendon_bluez_wake_at(radio, time);
}

/*
 * Some controllers have extended scan commands in their list, and reject them; the kernel has a list of these and uses
 * the legacy commands. A controller that has got legacy commands rejects the extended ones with Command Disallowed
 * until it is reset, and the other way round (Core Spec Vol 4 Part E 3.1.1): so the legacy ones do no harm where they
 * are wrong.
 */
bool tendon_bluez_activity_changes_set(tendon_bluez_activity *activity, bool *extended, uint8_t *status, bool fits) {
    if (*status == 0) {
        activity->set = TENDON_BLUEZ_SET_PROVEN;
        return false;
    }
    if (activity->set == TENDON_BLUEZ_SET_TRIED) {
        activity->set = TENDON_BLUEZ_SET_UNPROVEN;
        *extended = true;
        *status = HCI_COMMAND_DISALLOWED_ERROR;
        return false;
    }
    bool unknown = *status == HCI_UNKNOWN_COMMAND_ERROR;
    bool tries = unknown || (*status == HCI_COMMAND_DISALLOWED_ERROR && fits);
    if (activity->set == TENDON_BLUEZ_SET_PROVEN || !*extended || !tries) {
        return false;
    }
    activity->set = unknown ? TENDON_BLUEZ_SET_PROVEN : TENDON_BLUEZ_SET_TRIED;
    *extended = false;
    return fits;
}

void tendon_bluez_activity_rejected(tendon_bluez_radio *radio, tendon_bluez_activity *activity, uint8_t code,
                                    bool has_other_user, uint64_t now) {
    if (!activity->requested) {
        return;
    }
    if (activity->confirmed && activity->retries < TENDON_BLUEZ_RETRIES) {
        activity->retries++; /* it worked before: most likely the kernel is busy with a connection */
        tendon_bluez_activity_retry(radio, activity, now + TENDON_BLUEZ_RETRY_MS);
        return;
    }
    if (code == HCI_COMMAND_DISALLOWED_ERROR && !activity->confirmed && !activity->cleared && !has_other_user &&
        tendon_bluez_users(radio) == 0) {
        activity->cleared = true; /* no other program has the adapter open: one that was killed has left it enabled */
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_UNANSWERED);
        return;
    }
    activity->requested = false;
    activity->failure = code == HCI_COMMAND_DISALLOWED_ERROR ? TENDON_RADIO_ERROR_ADAPTER_BUSY : TENDON_HCI_ERROR(code);
}

#endif
