/* SPDX-License-Identifier: MIT */
#include "tendon/devices/obvious_sender.h"

#include <string.h>

void tendon_obvious_sender_init(tendon_obvious_sender *sender, const tendon_obvious_sender_handler *handler,
                                void *context) {
    memset(sender, 0, sizeof *sender);
    sender->handler = handler;
    sender->context = context;
    sender->window = TENDON_OBVIOUS_WINDOW_DEFAULT;
}

void tendon_obvious_sender_set_window(tendon_obvious_sender *sender, size_t window) {
    sender->window = (uint8_t)window;
}

/* ---- ends ---- */

static void finish(tendon_obvious_sender *sender, tendon_status status) {
    sender->active = false;
    sender->msgseq++;
    sender->handler->on_done(sender->context, status, sender->now);
}

/* Out of tries: both sides start again. */
static void fail(tendon_obvious_sender *sender) {
    uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE];
    const tendon_obvious_control reset = {.msgseq = sender->msgseq,
                                          .type = TENDON_OBVIOUS_RESET,
                                          .reason = TENDON_OBVIOUS_REASON_TIMEOUT,
                                          .credit = sender->window};
    tendon_obvious_encode_control(&reset, out);
    (void)sender->handler->write(sender->context, out, sizeof out);
    sender->msgseq = UINT8_MAX;
    finish(sender, TENDON_OBVIOUS_ERROR_LINK_ERROR);
}

void tendon_obvious_sender_cancel(tendon_obvious_sender *sender) {
    if (sender->active) {
        sender->active = false;
        sender->msgseq++;
    }
}

/* ---- segments ---- */

/** Of an index from next on. */
static bool is_acknowledged(const tendon_obvious_sender *sender, size_t index) {
    return index > sender->next && index - sender->next <= TENDON_OBVIOUS_WINDOW_MAX &&
           (sender->held >> (index - sender->next - 1) & 1u) != 0;
}

static size_t limit_of(const tendon_obvious_sender *sender) {
    size_t ahead = sender->credit < sender->window ? sender->credit : sender->window;
    return sender->next + ahead < sender->count ? sender->next + ahead : sender->count;
}

/* Writes a segment. False if nothing more can be written now. */
static bool write_segment(tendon_obvious_sender *sender, size_t index, bool ack_requested) {
    uint8_t out[TENDON_OBVIOUS_SEGMENT_MAX];
    tendon_status length = tendon_obvious_encode_segment(sender->message, sender->length, sender->size, sender->msgseq,
                                                         index, ack_requested, out);
    tendon_status status = sender->handler->write(sender->context, out, (size_t)length);
    if (status == TENDON_ERROR_WOULD_BLOCK) {
        sender->blocked = true;
        return false;
    }
    sender->blocked = false;
    uint32_t bit = (uint32_t)1 << index % TENDON_OBVIOUS_WINDOW_MAX;
    sender->sent_at[index % TENDON_OBVIOUS_WINDOW_MAX] = (uint32_t)sender->now;
    if (index >= sender->sent) {
        sender->sent = (uint16_t)(index + 1);
        sender->repeated &= ~bit;
    } else {
        sender->repeated |= bit;
    }
    sender->write_failures = status == TENDON_OK ? 0 : (uint8_t)(sender->write_failures + 1);
    if (sender->write_failures == TENDON_OBVIOUS_WRITE_FAILURES) {
        fail(sender);
        return false;
    }
    return true;
}

/* Writes new segments up to the limit. The last one that the credit permits requests an ACK, too: without it nothing
 * would move the limit. */
static void write_new(tendon_obvious_sender *sender) {
    size_t limit = limit_of(sender);
    while (sender->sent < limit) {
        size_t index = sender->sent;
        bool ack = index + 1 == limit || tendon_obvious_segment_requests_ack(index, sender->count, sender->window);
        if (!write_segment(sender, index, ack)) {
            return;
        }
    }
}

/* True if a segment must wait before it is repeated: it may still be in flight, or was repeated a short time ago. A
 * hole, behind which the peer has received a segment, is repeated immediately. */
static bool is_recent(const tendon_obvious_sender *sender, size_t index) {
    uint32_t age = (uint32_t)sender->now - sender->sent_at[index % TENDON_OBVIOUS_WINDOW_MAX];
    bool repeated = (sender->repeated >> index % TENDON_OBVIOUS_WINDOW_MAX & 1u) != 0;
    bool hole = sender->held >> (index - sender->next) != 0;
    return age < TENDON_OBVIOUS_REPEAT_MS && (repeated || !hole);
}

static bool is_missing(const tendon_obvious_sender *sender, size_t index) {
    return !is_acknowledged(sender, index) && !is_recent(sender, index);
}

/* Repeats what the peer lacks; the last repeat requests an ACK: nothing may follow it. False if writing must stop. */
static bool write_missing(tendon_obvious_sender *sender) {
    size_t end = sender->sent < sender->next + TENDON_OBVIOUS_WINDOW_MAX
                     ? sender->sent
                     : (size_t)sender->next + TENDON_OBVIOUS_WINDOW_MAX;
    size_t last = end;
    for (size_t index = sender->next; index < end; index++) {
        last = is_missing(sender, index) ? index : last;
    }
    for (size_t index = sender->next; index < end; index++) {
        if (!is_missing(sender, index)) {
            continue;
        }
        bool ack = index == last || tendon_obvious_segment_requests_ack(index, sender->count, sender->window);
        if (!write_segment(sender, index, ack)) {
            return false;
        }
    }
    return true;
}

static void write_all(tendon_obvious_sender *sender) {
    if (write_missing(sender)) {
        write_new(sender);
    }
}

/* ---- a message ---- */

static void set_timer(tendon_obvious_sender *sender) {
    sender->deadline = sender->now + (TENDON_OBVIOUS_ACK_TIMEOUT_MS << sender->timeouts);
}

/* From index 0, also again. */
static void begin(tendon_obvious_sender *sender) {
    sender->next = 0;
    sender->sent = 0;
    sender->progress = 0;
    sender->held = 0;
    sender->timeouts = 0;
    sender->credit = sender->window;
    sender->paused = false;
    sender->waiting = false;
    set_timer(sender);
    write_new(sender);
}

tendon_status tendon_obvious_sender_start(tendon_obvious_sender *sender, const uint8_t *message, size_t length,
                                          size_t mtu, uint64_t now) {
    sender->now = now;
    if (sender->active) {
        return TENDON_ERROR_BUSY;
    }
    if (length < TENDON_OBVIOUS_FRAME_OVERHEAD || length > TENDON_OBVIOUS_FRAME_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    sender->active = true;
    sender->blocked = false;
    sender->message = message;
    sender->length = (uint16_t)length;
    sender->size = (uint16_t)tendon_obvious_segment_size(mtu);
    sender->count = (uint16_t)tendon_obvious_segment_count(length, sender->size);
    sender->restarts = 0;
    sender->pauses = 0;
    sender->write_failures = 0;
    begin(sender);
    return TENDON_OK;
}

static void suspend(tendon_obvious_sender *sender) {
    if (!sender->paused) {
        sender->paused = true;
        sender->paused_at = sender->now;
    }
    sender->deadline = sender->now + TENDON_OBVIOUS_PROBE_MS;
}

/* An ACK is taken as it is, even if an earlier one reported more: that one may be of an attempt that the peer dropped.
 */
static void acknowledge(tendon_obvious_sender *sender, const tendon_obvious_control *control) {
    if (control->next > sender->sent) {
        return;
    }
    if (control->next == sender->count) {
        finish(sender, TENDON_OK);
        return;
    }
    sender->next = control->next;
    sender->held = control->bitmap;
    sender->credit = (uint8_t)control->credit;
    if (control->credit == 0) {
        suspend(sender);
        return;
    }
    bool resumed = sender->paused;
    sender->paused = false;
    if (control->next > sender->progress || resumed) {
        sender->progress = control->next > sender->progress ? control->next : sender->progress;
        sender->timeouts = 0;
        set_timer(sender);
    }
    write_all(sender);
}

static void stand_by(tendon_obvious_sender *sender, unsigned delay) {
    if (sender->pauses == TENDON_OBVIOUS_PAUSES) {
        fail(sender);
        return;
    }
    sender->pauses++;
    sender->waiting = true;
    sender->paused = false;
    sender->credit = sender->window;
    sender->deadline = sender->now + delay;
}

static void restart(tendon_obvious_sender *sender) {
    if (sender->restarts == TENDON_OBVIOUS_RESTARTS) {
        fail(sender);
        return;
    }
    sender->restarts++;
    begin(sender);
}

static void reject(tendon_obvious_sender *sender, uint8_t reason) {
    switch (reason) {
    case TENDON_OBVIOUS_REASON_VERSION:
        fail(sender);
        break;
    case TENDON_OBVIOUS_REASON_BUSY:
        sender->next = 0;
        sender->sent = 0;
        sender->held = 0;
        stand_by(sender, TENDON_OBVIOUS_BUSY_MS);
        break;
    case TENDON_OBVIOUS_REASON_WINDOW:
        sender->sent = sender->next;
        sender->held = 0;
        stand_by(sender, TENDON_OBVIOUS_WINDOW_MS);
        break;
    case TENDON_OBVIOUS_REASON_FRAME:
        sender->msgseq++;
        restart(sender);
        break;
    default:
        restart(sender);
        break;
    }
}

void tendon_obvious_sender_control(tendon_obvious_sender *sender, const tendon_obvious_control *control, uint64_t now) {
    sender->now = now;
    if (control->type == TENDON_OBVIOUS_RESET) {
        bool active = sender->active;
        sender->msgseq = active ? UINT8_MAX : 0;
        if (active) {
            finish(sender, TENDON_OBVIOUS_ERROR_LINK_ERROR);
        }
        return;
    }
    if (!sender->active || control->msgseq != sender->msgseq) {
        return;
    }
    if (control->type == TENDON_OBVIOUS_NAK) {
        reject(sender, control->reason);
    } else if (sender->waiting) {
        return; /* sent before the NAK */
    } else if (control->type == TENDON_OBVIOUS_WAIT) {
        suspend(sender);
    } else {
        acknowledge(sender, control);
    }
}

void tendon_obvious_sender_writable(tendon_obvious_sender *sender, uint64_t now) {
    sender->now = now;
    if (sender->active && sender->blocked && !sender->waiting && !sender->paused) {
        write_all(sender);
    }
}

static void probe(tendon_obvious_sender *sender) {
    if (sender->now - sender->paused_at >= TENDON_OBVIOUS_PROBES_MS) {
        fail(sender);
        return;
    }
    sender->deadline = sender->now + TENDON_OBVIOUS_PROBE_MS;
    (void)write_segment(sender, sender->next, true);
}

void tendon_obvious_sender_tick(tendon_obvious_sender *sender, uint64_t now) {
    sender->now = now;
    if (now < tendon_obvious_sender_deadline(sender)) {
        return;
    }
    if (sender->waiting) {
        sender->waiting = false;
        set_timer(sender);
        write_new(sender);
    } else if (sender->paused) {
        probe(sender);
    } else if (sender->timeouts == TENDON_OBVIOUS_ACK_TIMEOUTS) {
        fail(sender);
    } else {
        sender->timeouts++;
        set_timer(sender);
        if (write_segment(sender, sender->next, true)) {
            write_new(sender);
        }
    }
}

uint64_t tendon_obvious_sender_deadline(const tendon_obvious_sender *sender) {
    return sender->active ? sender->deadline : UINT64_MAX;
}
