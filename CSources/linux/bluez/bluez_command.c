/* SPDX-License-Identifier: MIT */
/*
 * The command queue of the HCI raw socket. One command of ours is in flight at a time; bluez_scan.c and
 * bluez_advertise.c choose the next one.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>

/** Reads of the raw socket before a command counts as unanswered. */
#define DRAIN_ROUNDS 256
/** Maximum number of consecutive sends that the kernel rejects because the adapter is off, and the pause after each. */
#define REFUSED_SENDS_MAX 10
#define REFUSED_PAUSE_MS 200u
#define READ_LOCAL_VERSION_INFORMATION 0x1001

enum {
    IDLE = TENDON_BLUEZ_IDLE,
    IN_FLIGHT = TENDON_BLUEZ_IN_FLIGHT,
    PAUSED = TENDON_BLUEZ_PAUSED,
};

enum { NOTHING = 0, COUNT_SENT, PAUSE, DELIVER, RESYNC, FAIL };

typedef struct transition {
    uint8_t next, action;
} transition;

/* The columns are tendon_bluez_queue_inputs. A command is sent in IDLE only. */
static const transition table[TENDON_BLUEZ_QUEUE_STATES][TENDON_BLUEZ_QUEUE_INPUTS] = {
    /* clang-format off */
    /*              sent,                    adapter is off,    not sent,           answered,             timeout,             timer,                reset */
    [IDLE] =      { {IN_FLIGHT, COUNT_SENT}, {PAUSED, PAUSE},   {IDLE, FAIL},       {IDLE, NOTHING},      {IDLE, NOTHING},     {IDLE, NOTHING},      {IDLE, NOTHING} },
    [IN_FLIGHT] = { {IN_FLIGHT, NOTHING},    {IN_FLIGHT, NOTHING}, {IN_FLIGHT, NOTHING}, {IDLE, DELIVER}, {IDLE, RESYNC},      {IN_FLIGHT, NOTHING}, {IDLE, NOTHING} },
    [PAUSED] =    { {PAUSED, NOTHING},       {PAUSED, NOTHING},  {PAUSED, NOTHING},  {PAUSED, NOTHING},   {PAUSED, NOTHING},    {IDLE, NOTHING},      {IDLE, NOTHING} },
    /* clang-format on */
};

bool tendon_bluez_send_command(int fd, const tendon_bluez_command *command) {
    size_t length = (size_t)command->length;
    uint16_t opcode = (uint16_t)(command->bytes[0] | (unsigned)command->bytes[1] << 8);
    /* libbluetooth adds the packet type byte and takes the parameters apart. */
    uint8_t parameters[255];
    memcpy(parameters, command->bytes + 3, length - 3);
    return hci_send_cmd(fd, cmd_opcode_ogf(opcode), cmd_opcode_ocf(opcode), (uint8_t)(length - 3), parameters) >= 0;
}

void tendon_bluez_send_and_forget(tendon_bluez_radio *radio, const tendon_bluez_command *command) {
    if (command->length > 0) {
        (void)tendon_bluez_send_command(radio->hci.fd, command);
    }
}

/** The outcome of the command in flight is unknown: its activity starts again from a known state. */
static void resync(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_queue *queue = &radio->command;
    radio->counters.unanswered++;
    queue->unanswered++;
    if (queue->request == TENDON_BLUEZ_SEND_PROBE) { /* every controller has this command, and nothing else came */
        tendon_bluez_watch_commands(radio, now);
        return;
    }
    if (queue->request != TENDON_BLUEZ_SEND_ADDRESS) { /* that one is sent again by itself */
        queue->activity->unanswered++;
        tendon_bluez_activity_input(queue->activity, TENDON_BLUEZ_UNANSWERED);
    }
    if (queue->unanswered >= TENDON_BLUEZ_UNANSWERED_MAX ||
        queue->activity->unanswered >= TENDON_BLUEZ_UNANSWERED_MAX) {
        tendon_bluez_watch_commands(radio, now);
        return;
    }
    tendon_bluez_wake_at(radio, 0);
}

/** A slow response counts for the next few: on a busy machine they vary. */
static void note_response(tendon_bluez_queue *queue, uint64_t now) {
    uint32_t took = (uint32_t)(now - queue->sent_at);
    uint32_t before = queue->response_ms - (queue->response_ms + 7) / 8;
    queue->response_ms = took > before ? took : before;
}

/** @param number errno of a failed send, or HCI error code of a response. */
static void input(tendon_bluez_radio *radio, tendon_bluez_queue_inputs what, int number, uint64_t now) {
    tendon_bluez_queue *queue = &radio->command;
    const transition *found = &table[queue->state][what];
    queue->state = found->next;
    if (queue->state != IN_FLIGHT) {
        queue->opcode = 0;
        radio->hci.deadline = UINT64_MAX;
    }
    switch (found->action) {
    case COUNT_SENT:
        queue->refused = 0;
        queue->sent_at = now;
        radio->counters.commands++;
        radio->hci.deadline = now + TENDON_BLUEZ_COMMAND_TIMEOUT_MS;
        break;
    case PAUSE: /* for a reset, or permanently: the management socket is about to report which */
        if (queue->refused == REFUSED_SENDS_MAX) {
            tendon_bluez_fail(radio, tendon_bluez_socket_status(number));
            break;
        }
        queue->refused++;
        queue->retry_at = now + REFUSED_PAUSE_MS;
        tendon_bluez_wake_at(radio, queue->retry_at);
        break;
    case DELIVER:
        queue->unanswered = 0;
        note_response(queue, now);
        if (queue->request == TENDON_BLUEZ_SEND_ADDRESS) {
            tendon_bluez_address_done(radio, (uint8_t)number, now);
        } else if (queue->request == TENDON_BLUEZ_SEND_PROBE) {
            break;
        } else if (queue->activity == &radio->scan.activity) {
            tendon_bluez_scan_done(radio, (tendon_bluez_request)queue->request, (uint8_t)number, now);
        } else {
            tendon_bluez_advertise_done(radio, (tendon_bluez_request)queue->request, (uint8_t)number, now);
        }
        break;
    case RESYNC:
        resync(radio, now);
        break;
    case FAIL:
        tendon_bluez_fail(radio, tendon_bluez_socket_status(number));
        break;
    default:
        break;
    }
}

bool tendon_bluez_in_flight(const tendon_bluez_radio *radio, const tendon_bluez_activity *activity) {
    return radio->command.opcode != 0 && radio->command.activity == activity;
}

void tendon_bluez_queue_reset(tendon_bluez_radio *radio) {
    input(radio, TENDON_BLUEZ_QUEUE_RESET, 0, 0);
}

void tendon_bluez_queue_timer(tendon_bluez_radio *radio, uint64_t now) {
    if (radio->command.state != PAUSED) {
        return;
    }
    if (now >= radio->command.retry_at) {
        input(radio, TENDON_BLUEZ_QUEUE_TIMER, 0, now);
    } else {
        tendon_bluez_wake_at(radio, radio->command.retry_at);
    }
}

static tendon_bluez_request probe(tendon_bluez_radio *radio, tendon_bluez_command *out) {
    if (!radio->probe_requested) {
        return TENDON_BLUEZ_SEND_NOTHING;
    }
    radio->probe_requested = false;
    out->length = tendon_hci_command_plain(READ_LOCAL_VERSION_INFORMATION, out->bytes, sizeof out->bytes);
    return TENDON_BLUEZ_SEND_PROBE;
}

/** Returns the purpose of the next command, and sets the activity that it belongs to; NULL: none. */
static tendon_bluez_request choose(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out,
                                   tendon_bluez_activity **activity) {
    *activity = &radio->scan.activity;
    tendon_bluez_request request = tendon_bluez_scan_next(radio, now, out);
    if (request == TENDON_BLUEZ_SEND_NOTHING) {
        *activity = &radio->advertising.activity;
        request = tendon_bluez_advertise_next(radio, now, out);
    }
    if (request == TENDON_BLUEZ_SEND_NOTHING) {
        *activity = NULL;
        return probe(radio, out);
    }
    if (request != TENDON_BLUEZ_SEND_NOTHING && tendon_bluez_address_next(radio, *activity, out)) {
        return TENDON_BLUEZ_SEND_ADDRESS;
    }
    return request;
}

/** The adapter is off, or the kernel has no memory for the packet at this time. */
static bool is_passing(int number) {
    return number == ENETDOWN || number == ENOBUFS || number == ENOMEM || number == EAGAIN;
}

void tendon_bluez_step(tendon_bluez_radio *radio) {
    tendon_bluez_queue *queue = &radio->command;
    bool powered = radio->power.state == TENDON_BLUEZ_POWERED || radio->power.state == TENDON_BLUEZ_RECOVERING;
    uint64_t now = tendon_monotonic_ms();
    if (!radio->opened || !powered || queue->state != IDLE) {
        return;
    }
    tendon_bluez_command command = {.length = 0};
    tendon_bluez_activity *activity = NULL;
    tendon_bluez_request request = choose(radio, now, &command, &activity);
    if (request == TENDON_BLUEZ_SEND_NOTHING) {
        return;
    }
    if (command.length < 0) {
        tendon_bluez_fail(radio, command.length); /* arguments are checked before: an error of our own */
        return;
    }
    bool sent = tendon_bluez_send_command(radio->hci.fd, &command);
    int number = sent ? 0 : errno;
    if (sent) {
        queue->opcode = (uint16_t)(command.bytes[0] | (unsigned)command.bytes[1] << 8);
        queue->request = (uint8_t)request;
        queue->activity = activity;
    }
    input(radio,
          sent                 ? TENDON_BLUEZ_QUEUE_SENT
          : is_passing(number) ? TENDON_BLUEZ_QUEUE_ADAPTER_OFF
                               : TENDON_BLUEZ_QUEUE_NOT_SENT,
          number, now);
}

void tendon_bluez_answered(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now) {
    if (opcode != 0 && opcode == radio->command.opcode) {
        input(radio, TENDON_BLUEZ_QUEUE_ANSWERED, status, now);
    }
}

/** The command that timed out is still in flight; the next command has its own deadline. */
static bool is_late(const tendon_bluez_radio *radio) {
    return radio->command.state == IN_FLIGHT && radio->hci.deadline == UINT64_MAX;
}

void tendon_bluez_hci_expired(void *context, uint64_t now) {
    tendon_bluez_radio *radio = context;
    radio->hci.deadline = UINT64_MAX;
    /* If the process could not run for a while, the response can be in its socket, after earlier packets. */
    for (int i = 0; i < DRAIN_ROUNDS && is_late(radio); i++) {
        if (!tendon_bluez_wait_readable(radio->hci.fd, tendon_monotonic_ms() + 1)) {
            break;
        }
        tendon_bluez_hci_ready(radio, TENDON_READABLE, now);
    }
    if (is_late(radio)) {
        input(radio, TENDON_BLUEZ_QUEUE_TIMEOUT, 0, now);
    }
}

#else
typedef int tendon_bluez_command_nothing; /* ISO C requires a declaration in every file */
#endif
