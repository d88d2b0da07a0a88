/* SPDX-License-Identifier: MIT */
/*
 * The adapter's power: handling of hardware errors, power-off and power-on, and the end of the radio. The kernel resets
 * a controller that reports a hardware error: it powers the adapter off and on. So does this radio with one that does
 * nothing more, see watchdog.c.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <sys/ioctl.h>
#include <unistd.h>

/** How long a controller that reported a hardware error gets no commands: the kernel is about to reset it. */
#define FAULT_PAUSE_MS 500u
/** How long a reset may take. */
#define RESET_LIMIT_MS 10000u

enum {
    POWERED = TENDON_BLUEZ_POWERED,
    FAULTY = TENDON_BLUEZ_FAULTY,
    RECOVERING = TENDON_BLUEZ_RECOVERING,
    RESETTING = TENDON_BLUEZ_RESETTING,
    CYCLING = TENDON_BLUEZ_CYCLING,
    FAILED = TENDON_BLUEZ_FAILED
};

enum { NOTHING = 0, PAUSE, HOLD, RESUME, SWITCH_OFF, SWITCH_ON, GIVE_UP, FAIL };

typedef struct transition {
    uint8_t next, action;
} transition;

/* The columns are tendon_bluez_power_inputs. */
static const transition table[TENDON_BLUEZ_POWER_STATES][TENDON_BLUEZ_POWER_INPUTS] = {
    /* clang-format off */
    /*               hardware error,     switched off,           switched on,          deadline,             lost,             stalled */
    [POWERED] =    { {FAULTY, PAUSE},    {FAILED, GIVE_UP},      {POWERED, NOTHING},   {POWERED, NOTHING},   {FAILED, FAIL},   {CYCLING, SWITCH_OFF} },
    [FAULTY] =     { {FAULTY, PAUSE},    {RESETTING, HOLD},      {FAULTY, NOTHING},    {RECOVERING, RESUME}, {FAILED, FAIL},   {FAULTY, NOTHING} },
    [RECOVERING] = { {FAULTY, PAUSE},    {RESETTING, HOLD},      {RECOVERING, NOTHING},{POWERED, NOTHING},   {FAILED, FAIL},   {CYCLING, SWITCH_OFF} },
    [RESETTING] =  { {RESETTING, HOLD},  {RESETTING, NOTHING},   {POWERED, RESUME},    {FAILED, GIVE_UP},    {FAILED, FAIL},   {RESETTING, NOTHING} },
    [CYCLING] =    { {CYCLING, NOTHING}, {RESETTING, SWITCH_ON}, {CYCLING, NOTHING},   {FAILED, GIVE_UP},    {FAILED, FAIL},   {CYCLING, NOTHING} },
    [FAILED] =     { {FAILED, NOTHING},  {FAILED, NOTHING},      {FAILED, NOTHING},    {FAILED, NOTHING},    {FAILED, NOTHING}, {FAILED, NOTHING} },
    /* clang-format on */
};

/** After a reset nothing is enabled, and the command in flight gets no response. */
static void forget_state(tendon_bluez_radio *radio) {
    tendon_bluez_queue_reset(radio);
    tendon_bluez_kernel_reset(&radio->kernel);
    radio->address_state = TENDON_BLUEZ_ADDRESS_UNKNOWN;
    radio->data_watched = radio->probe_requested = false;
    radio->signal_until = 0;
    memset(radio->timings, 0, sizeof radio->timings);
    radio->scan.joined = false;
    radio->advertising.set_made = false;
    tendon_bluez_activity_input(&radio->scan.activity, TENDON_BLUEZ_RESET);
    tendon_bluez_activity_input(&radio->advertising.activity, TENDON_BLUEZ_RESET);
}

static void set_deadline(tendon_bluez_radio *radio, uint64_t time) {
    radio->power.deadline = time;
    if (time != UINT64_MAX) {
        tendon_bluez_wake_at(radio, time);
    }
}

static void end_radio(tendon_bluez_radio *radio, tendon_status status) {
    radio->power.status = status;
    tendon_bluez_release_held(radio);
    radio->scan.activity.requested = radio->advertising.activity.requested = false;
    tendon_bluez_queue_reset(radio);
    tendon_bluez_close_sockets(radio); /* the next radio may be opened before the owner closes this one */
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        if (radio->attempts[i].link != NULL) {
            tendon_socket_link_fail(radio->attempts[i].link, status);
        }
    }
    radio->timer.deadline = 0; /* on_failure is called from the loop, because this may be a call of the owner's */
}

static void input(tendon_bluez_radio *radio, tendon_bluez_power_inputs what, tendon_status status, uint64_t now);

static void set_powered(tendon_bluez_radio *radio, uint8_t powered, uint64_t now) {
    if (tendon_bluez_management_send(radio, TENDON_MANAGEMENT_SET_POWERED, &powered, 1) < 0) {
        input(radio, TENDON_BLUEZ_POWER_DEADLINE, TENDON_OK, now);
    }
}

static bool take_down(int fd, uint16_t index) {
    return ioctl(fd, (tendon_ioctl_request)HCIDEVDOWN, (unsigned long)index) == 0;
}

/** Set Powered over a socket of its own: that of the radio gets the response to one of before, or is closed. */
static void set_powered_and_wait(uint16_t index, uint8_t powered) {
    uint32_t settings;
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd >= 0) {
        (void)tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_POWERED, index, powered, &settings);
        close(fd);
    }
}

static void power_off(uint16_t index) {
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_RAW);
    bool is_down = fd >= 0 && take_down(fd, index);
    if (fd >= 0) {
        close(fd);
    }
    if (!is_down) {
        set_powered_and_wait(index, 0);
    }
}

static void power_on(uint16_t index) {
    set_powered_and_wait(index, 1);
}

void tendon_bluez_end_cycle(tendon_bluez_radio *radio) {
    if (radio->worker != NULL) {
        radio->worker(radio->worker_context, power_on, radio->index);
    } else {
        power_on(radio->index);
    }
}

/* Asked with Set Powered, the kernel first ends each connection by a command, and waits 2 s for a controller that does
 * not answer. Taken down it forgets them; the management socket reports that. Blocks while a command of the kernel's
 * waits for its response, up to 2 s: other radios of this loop would wait, too, so a worker does it if there is one. */
static void switch_off(tendon_bluez_radio *radio, uint64_t now) {
    if (radio->worker != NULL) {
        radio->worker(radio->worker_context, power_off, radio->index);
    } else if (!take_down(radio->hci.fd, radio->index)) {
        set_powered(radio, 0, now);
    }
}

static void begin_cycle(tendon_bluez_radio *radio, tendon_status cause, uint64_t now) {
    tendon_bluez_power *power = &radio->power;
    forget_state(radio);
    radio->command.unanswered = radio->scan.activity.unanswered = radio->advertising.activity.unanswered = 0;
    tendon_bluez_kernel_forget_discovery(&radio->kernel);
    tendon_bluez_attempts_wait(radio);
    radio->counters.power_cycles++;
    if (power->cycles++ == 0) {
        power->cycled_since = now;
    }
    power->cause = cause;
    power->reset_until = now + TENDON_BLUEZ_CYCLE_LIMIT_MS;
    set_deadline(radio, power->reset_until);
    switch_off(radio, now);
}

/** @param status for TENDON_BLUEZ_POWER_LOST and _STALLED: why. */
static void input(tendon_bluez_radio *radio, tendon_bluez_power_inputs what, tendon_status status, uint64_t now) {
    tendon_bluez_power *power = &radio->power;
    const transition *found = &table[power->state][what];
    power->state = found->next;
    switch (found->action) {
    case PAUSE:
        forget_state(radio);
        power->reset_until = now + RESET_LIMIT_MS;
        set_deadline(radio, now + FAULT_PAUSE_MS);
        break;
    case HOLD:
        forget_state(radio);
        set_deadline(radio, power->reset_until);
        break;
    case RESUME:
        set_deadline(radio, power->state == RECOVERING ? power->reset_until : UINT64_MAX);
        power->cause = TENDON_OK;
        radio->scan.activity.retry_at = radio->advertising.activity.retry_at = 0; /* all that is requested starts */
        break;
    case SWITCH_OFF:
        begin_cycle(radio, status, now);
        break;
    case SWITCH_ON:
        set_powered(radio, 1, now);
        break;
    case GIVE_UP:
        end_radio(radio, power->cause != TENDON_OK ? power->cause : tendon_bluez_why_off(radio->index));
        break;
    case FAIL:
        end_radio(radio, status);
        break;
    default:
        if (what == TENDON_BLUEZ_POWER_DEADLINE) {
            set_deadline(radio, UINT64_MAX);
        }
        break;
    }
}

void tendon_bluez_fail(tendon_bluez_radio *radio, tendon_status status) {
    if (radio->opened) {
        input(radio, TENDON_BLUEZ_POWER_LOST, status, 0);
    }
}

void tendon_bluez_set_worker(tendon_bluez_radio *radio, void *context, tendon_bluez_worker worker) {
    radio->worker_context = context;
    radio->worker = worker;
}

static bool may_cycle(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_power *power = &radio->power;
    if (now - power->cycled_since >= TENDON_BLUEZ_CYCLES_WINDOW_MS) {
        power->cycles = 0;
    }
    return !radio->unprivileged && radio->use != TENDON_BLUEZ_OBSERVER && power->cycles < TENDON_BLUEZ_CYCLES_MAX &&
           tendon_bluez_may_administer() && tendon_bluez_users(radio) == 0;
}

bool tendon_bluez_cycle(tendon_bluez_radio *radio, tendon_status cause, uint64_t now) {
    if (!may_cycle(radio, now)) {
        return false;
    }
    input(radio, TENDON_BLUEZ_POWER_STALLED, cause, now);
    return true;
}

/* The socket that has sent Set Powered gets its response only, and no New Settings. */
void tendon_bluez_power_answered(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    if (radio->power.cause == TENDON_OK) {
        return; /* this radio does not power it off and on */
    }
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    uint32_t settings = tendon_read_u32le(&reader);
    if (event->status != TENDON_MANAGEMENT_SUCCESS || !tendon_reader_ok(&reader)) {
        input(radio, TENDON_BLUEZ_POWER_DEADLINE, TENDON_OK, now);
        return;
    }
    radio->settings = settings;
    tendon_bluez_powered(radio, (settings & TENDON_MANAGEMENT_POWERED) != 0, now);
}

void tendon_bluez_hardware_error(tendon_bluez_radio *radio, uint64_t now) {
    input(radio, TENDON_BLUEZ_HARDWARE_ERROR, TENDON_OK, now);
}

void tendon_bluez_powered(tendon_bluez_radio *radio, bool powered, uint64_t now) {
    input(radio, powered ? TENDON_BLUEZ_SWITCHED_ON : TENDON_BLUEZ_SWITCHED_OFF, TENDON_OK, now);
}

void tendon_bluez_power_timer(tendon_bluez_radio *radio, uint64_t now) {
    if (now >= radio->power.deadline) {
        input(radio, TENDON_BLUEZ_POWER_DEADLINE, TENDON_OK, now);
    } else if (radio->power.deadline != UINT64_MAX) {
        tendon_bluez_wake_at(radio, radio->power.deadline);
    }
}

#endif
