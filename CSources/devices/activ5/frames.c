/* SPDX-License-Identifier: MIT */
/* Text frames over notifications. */
#include "internal.h"

enum { FRAME_START = 0x12, FRAME_END = 0x13 };

/* Who is told, and when it happened. */
typedef struct sink {
    tendon_activ5_on_text on_text;
    void *context;
    uint64_t now;
} sink;

static void fail(const sink *to, tendon_status status) {
    to->on_text(to->context, status, NULL, to->now);
}

static void deliver(const sink *to, const uint8_t *content, size_t length) {
    tendon_activ5_message message;
    tendon_status status = tendon_activ5_parse_text(content, length, &message);
    to->on_text(to->context, status, status < 0 ? NULL : &message, to->now);
}

/* The first such byte from @p at on; length: none. */
static size_t find(const uint8_t *data, size_t at, size_t length, uint8_t wanted) {
    while (at < length && data[at] != wanted) {
        at++;
    }
    return at;
}

/* False: too long, and said so. */
static bool collect(tendon_activ5_deframer *deframer, const uint8_t *data, size_t length, const sink *to) {
    if (length > (size_t)TENDON_ACTIV5_CONTENT_MAX - deframer->length) {
        tendon_activ5_deframer_reset(deframer);
        fail(to, TENDON_ACTIV5_ERROR_OVERFLOW);
        return false;
    }
    if (length > 0) {
        memcpy(deframer->buffer + deframer->length, data, length);
    }
    deframer->length = (uint8_t)(deframer->length + length);
    deframer->collecting = true;
    deframer->last = to->now;
    return true;
}

/* All frames from @p at on. What stands before a start is left over from an older message. */
static void scan(tendon_activ5_deframer *deframer, const uint8_t *data, size_t at, size_t length, const sink *to) {
    at = find(data, at, length, FRAME_START);
    while (at < length) {
        size_t start = at + 1;
        size_t end = find(data, start, length, FRAME_END);
        size_t nested = find(data, start, end, FRAME_START);
        if (nested < end) {
            fail(to, TENDON_ACTIV5_ERROR_TRUNCATED);
            while (nested < end) {
                start = nested + 1;
                nested = find(data, start, end, FRAME_START);
            }
        }
        if (end == length) {
            (void)collect(deframer, data + start, end - start, to);
            return;
        }
        deliver(to, data + start, end - start);
        at = find(data, end, length, FRAME_START);
    }
}

/* A force is complete at its '/', so it counts without an end; all else does not. */
static void flush(tendon_activ5_deframer *deframer, const sink *to) {
    tendon_activ5_message message;
    tendon_status status = tendon_activ5_parse_text(deframer->buffer, deframer->length, &message);
    tendon_activ5_deframer_reset(deframer);
    if (status == TENDON_OK && message.type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        to->on_text(to->context, status, &message, to->now);
    } else {
        fail(to, TENDON_ACTIV5_ERROR_TRUNCATED);
    }
}

static void feed_collecting(tendon_activ5_deframer *deframer, const uint8_t *data, size_t length, const sink *to) {
    size_t end = find(data, 0, length, FRAME_END);
    if (find(data, 0, end, FRAME_START) < end) {
        flush(deframer, to);
        scan(deframer, data, 0, length, to);
        return;
    }
    if (!collect(deframer, data, end, to)) {
        /* An end within the notification belonged to what was dropped. */
        scan(deframer, data, end, length, to);
        return;
    }
    if (end < length) {
        uint8_t content[TENDON_ACTIV5_CONTENT_MAX];
        size_t count = deframer->length;
        memcpy(content, deframer->buffer, count);
        tendon_activ5_deframer_reset(deframer);
        deliver(to, content, count);
        scan(deframer, data, end, length, to);
    }
}

void tendon_activ5_deframer_feed(tendon_activ5_deframer *deframer, const uint8_t *data, size_t length, uint64_t now,
                                 tendon_activ5_on_text on_text, void *context) {
    tendon_activ5_deframer_tick(deframer, now, on_text, context);
    sink to = {on_text, context, now};
    if (length == 0) {
        fail(&to, TENDON_ACTIV5_ERROR_EMPTY);
    } else if (deframer->collecting) {
        feed_collecting(deframer, data, length, &to);
    } else if (find(data, 0, length, FRAME_START) == length) {
        deliver(&to, data, find(data, 0, length, FRAME_END));
    } else {
        scan(deframer, data, 0, length, &to);
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
        sink to = {on_text, context, now};
        flush(deframer, &to);
    }
}

void tendon_activ5_deframer_reset(tendon_activ5_deframer *deframer) {
    deframer->collecting = false;
    deframer->length = 0;
}

uint64_t tendon_activ5_deframer_deadline(const tendon_activ5_deframer *deframer) {
    return deframer->collecting ? deframer->last + TENDON_ACTIV5_FRAGMENT_TIMEOUT_MS : UINT64_MAX;
}
