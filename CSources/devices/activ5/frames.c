/* SPDX-License-Identifier: MIT */
/* Text frames over notifications. */
#include "codec_parts.h"

enum { FRAME_START = 0x12, FRAME_END = 0x13 };

/* The frames, the handler, and the time of the input. */
typedef struct sink {
    tendon_activ5_deframer *deframer;
    tendon_activ5_on_text on_text;
    void *context;
    uint64_t now;
} sink;

static void fail(const sink *to, tendon_status status) {
    to->on_text(to->context, status, NULL, to->now);
}

/* Nothing is collected afterwards: it was reported here, or there was nothing. A force is complete at its '/', so it
 * counts without an end; all else does not. */
static void deliver(const sink *to, const uint8_t *text, size_t start, size_t end, bool ended) {
    tendon_activ5_message message;
    tendon_status status = tendon_activ5_parse_content(text, start, end, &message);
    tendon_activ5_deframer_reset(to->deframer);
    if (!ended && (status != TENDON_OK || message.type != TENDON_ACTIV5_MESSAGE_ISOMETRIC)) {
        status = TENDON_ACTIV5_ERROR_TRUNCATED;
    }
    to->on_text(to->context, status, status < 0 ? NULL : &message, to->now);
}

static void deliver_collected(const sink *to, bool ended) {
    deliver(to, to->deframer->buffer, 0, to->deframer->length, ended);
}

/* Returns false if it is too long, after reporting this. */
static bool collect(const sink *to, const uint8_t *data, size_t at, size_t end) {
    tendon_activ5_deframer *deframer = to->deframer;
    for (; at < end; at++) {
        if (deframer->length >= TENDON_ACTIV5_CONTENT_MAX) {
            tendon_activ5_deframer_reset(deframer);
            fail(to, TENDON_ACTIV5_ERROR_OVERFLOW);
            return false;
        }
        deframer->buffer[deframer->length++] = data[at];
    }
    deframer->collecting = true;
    deframer->last = to->now;
    return true;
}

/* All frames from @p at on. Bytes before a start are from an older message. */
static void scan(const sink *to, const uint8_t *data, size_t at, size_t length) {
    at = tendon_activ5_find_byte(data, at, length, FRAME_START);
    while (at < length) {
        size_t start = at + 1;
        size_t end = tendon_activ5_find_byte(data, start, length, FRAME_END);
        size_t nested = tendon_activ5_find_byte(data, start, end, FRAME_START);
        if (nested < end) {
            fail(to, TENDON_ACTIV5_ERROR_TRUNCATED);
            while (nested < end) {
                start = nested + 1;
                nested = tendon_activ5_find_byte(data, start, end, FRAME_START);
            }
        }
        if (end == length) {
            (void)collect(to, data, start, end);
            return;
        }
        deliver(to, data, start, end, true);
        at = tendon_activ5_find_byte(data, end, length, FRAME_START);
    }
}

static void feed_collecting(const sink *to, const uint8_t *data, size_t length) {
    size_t end = tendon_activ5_find_byte(data, 0, length, FRAME_END);
    if (tendon_activ5_find_byte(data, 0, end, FRAME_START) < end) {
        deliver_collected(to, false);
        scan(to, data, 0, length);
        return;
    }
    if (!collect(to, data, 0, end)) {
        /* An end within the notification belonged to the dropped bytes. */
        scan(to, data, end, length);
        return;
    }
    if (end < length) {
        deliver_collected(to, true);
        scan(to, data, end, length);
    }
}

void tendon_activ5_deframer_feed(tendon_activ5_deframer *deframer, const uint8_t *data, size_t length, uint64_t now,
                                 tendon_activ5_on_text on_text, void *context) {
    tendon_activ5_deframer_tick(deframer, now, on_text, context);
    sink to = {deframer, on_text, context, now};
    if (length == 0) {
        fail(&to, TENDON_ACTIV5_ERROR_EMPTY);
    } else if (deframer->collecting) {
        feed_collecting(&to, data, length);
    } else if (tendon_activ5_find_byte(data, 0, length, FRAME_START) == length) {
        deliver(&to, data, 0, tendon_activ5_find_byte(data, 0, length, FRAME_END), true);
    } else {
        scan(&to, data, 0, length);
    }
}

void tendon_activ5_deframer_tick(tendon_activ5_deframer *deframer, uint64_t now, tendon_activ5_on_text on_text,
                                 void *context) {
    uint64_t deadline = tendon_activ5_deframer_deadline(deframer);
    if (now >= deadline) {
        tendon_activ5_deframer_flush(deframer, deadline, on_text, context);
    }
}

void tendon_activ5_deframer_flush(tendon_activ5_deframer *deframer, uint64_t now, tendon_activ5_on_text on_text,
                                  void *context) {
    if (deframer->collecting) {
        sink to = {deframer, on_text, context, now};
        deliver_collected(&to, false);
    }
}

void tendon_activ5_deframer_reset(tendon_activ5_deframer *deframer) {
    deframer->collecting = false;
    deframer->length = 0;
}

uint64_t tendon_activ5_deframer_deadline(const tendon_activ5_deframer *deframer) {
    return deframer->collecting ? deframer->last + TENDON_ACTIV5_FRAGMENT_TIMEOUT_MS : UINT64_MAX;
}
