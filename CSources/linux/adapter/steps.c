/* SPDX-License-Identifier: MIT */
/*
 * What a radio does next: the command that it sends, what the response changes, and the end of the loop's step, which
 * decides about all that the events before have changed. One command of ours is in flight at a time; scanner.c and
 * advertiser.c say which one they need.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>

/** A response that has come, and was not read, is waited for so long, in ms: the process could not run for a while. */
#define UNREAD_MS 1000u
/** Maximum number of consecutive sends that the kernel rejects because the adapter is off, and the pause after each. */
#define REFUSED_SENDS_MAX 10
#define REFUSED_PAUSE_MS 200u
#define READ_LOCAL_VERSION_INFORMATION 0x1001

enum {
    IDLE = TENDON_BLUEZ_IDLE,
    IN_FLIGHT = TENDON_BLUEZ_IN_FLIGHT,
    PAUSED = TENDON_BLUEZ_PAUSED,
};

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

static void deliver(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    const tendon_bluez_queue *queue = &radio->command;
    if (queue->request == TENDON_BLUEZ_SEND_ADDRESS) {
        tendon_bluez_address_done(radio, status, now);
    } else if (queue->request == TENDON_BLUEZ_SEND_PROBE) {
        return;
    } else if (queue->activity == &radio->scan.activity) {
        tendon_bluez_scan_done(radio, (tendon_bluez_request)queue->request, status, now);
    } else {
        tendon_bluez_advertise_done(radio, (tendon_bluez_request)queue->request, status, now);
    }
}

static void end_pause(tendon_bluez_radio *radio, uint64_t now) {
    if (radio->command.state == PAUSED && now >= radio->command.retry_at) {
        radio->command.state = IDLE;
    } else if (radio->command.state == PAUSED) {
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
    return tendon_bluez_address_next(radio, *activity, out) ? TENDON_BLUEZ_SEND_ADDRESS : request;
}

/** The adapter is off, for a reset or permanently, which the management socket is about to report; or the kernel has no
 * memory for the packet at this time. */
static bool is_passing(int number) {
    return number == ENETDOWN || number == ENOBUFS || number == ENOMEM || number == EAGAIN;
}

/** @param number errno */
static void pause_sending(tendon_bluez_radio *radio, int number, uint64_t now) {
    tendon_bluez_queue *queue = &radio->command;
    if (!is_passing(number) || queue->refused == REFUSED_SENDS_MAX) {
        tendon_bluez_fail(radio, tendon_bluez_socket_status(number));
        return;
    }
    queue->refused++;
    queue->state = PAUSED;
    queue->retry_at = now + REFUSED_PAUSE_MS;
    tendon_bluez_wake_at(radio, queue->retry_at);
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
    if (!tendon_bluez_send_command(radio->hci.fd, &command)) {
        pause_sending(radio, errno, now);
        return;
    }
    *queue = (tendon_bluez_queue){.state = IN_FLIGHT,
                                  .request = (uint8_t)request,
                                  .unanswered = queue->unanswered,
                                  .opcode = (uint16_t)(command.bytes[0] | (unsigned)command.bytes[1] << 8),
                                  .activity = activity,
                                  .sent_at = now,
                                  .response_ms = queue->response_ms};
    radio->counters.commands++;
    radio->hci.deadline = now + TENDON_BLUEZ_COMMAND_TIMEOUT_MS;
}

void tendon_bluez_answered(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now) {
    if (opcode == radio->command.opcode) {
        tendon_bluez_queue_reset(radio);
        radio->command.unanswered = 0;
        note_response(&radio->command, now);
        deliver(radio, status, now);
    }
}

/* The socket was read in this step, unless something has come since. */
void tendon_bluez_hci_expired(void *context, uint64_t now) {
    tendon_bluez_radio *radio = context;
    const uint64_t limit = radio->command.sent_at + TENDON_BLUEZ_COMMAND_TIMEOUT_MS + UNREAD_MS;
    bool waits = now < limit && tendon_bluez_has_unread(radio);
    radio->hci.deadline = waits ? now + 1 : UINT64_MAX;
    if (!waits && radio->command.state == IN_FLIGHT) {
        tendon_bluez_queue_reset(radio);
        resync(radio, now);
    }
}

static void report(tendon_bluez_radio *radio, tendon_status *status, uint64_t now) {
    tendon_status failure = *status;
    *status = TENDON_OK;
    if (failure < 0 && radio->opened && radio->radio.on_failure != NULL) {
        radio->radio.on_failure(radio->radio.report_context, failure, now);
    }
}

void tendon_bluez_timer_expired(void *context, uint64_t now) {
    tendon_bluez_radio *radio = context;
    radio->timer.deadline = UINT64_MAX;
    tendon_bluez_power_timer(radio, now);
    if (tendon_bluez_failed(radio)) {
        tendon_status status = radio->power.failure_reported ? TENDON_OK : radio->power.status;
        radio->timer.deadline = UINT64_MAX;
        radio->power.failure_reported = true;
        radio->radio.scanning = false;
        report(radio, &status, now);
        return;
    }
    radio->radio.scanning = radio->radio.scanning && radio->scan.activity.failure == TENDON_OK;
    report(radio, &radio->scan.activity.failure, now);
    report(radio, &radio->advertising.activity.failure, now);
    end_pause(radio, now);
    tendon_bluez_watch(radio, now);
    if (radio->scan.activity.state == TENDON_BLUEZ_OFF) {
        tendon_bluez_discovery_settle(radio, now); /* what was disabled may begin again only after that */
    }
    tendon_bluez_step(radio);
    tendon_bluez_discovery_settle(radio, now); /* one that was configured may be on by now */
    tendon_bluez_connect_waiting(radio);
}

#endif
