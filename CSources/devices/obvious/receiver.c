/* SPDX-License-Identifier: MIT */
/*
 * The steps are those of docs/protocols/obvious.md. Until segment 0 is held, nothing says where a segment belongs:
 * segments wait in slots of size_max bytes, segment i in slot i, with its length in place of its number and index. With
 * segment 0 they move to their places, which are never behind their slots.
 */
#include "tendon/devices/obvious_receiver.h"

#include "codes.h"
#include "segment.h"
#include <string.h>

enum { INDEX_AT = 2, LENGTH_AT = 1, RESERVED_FLAGS = 3, VERSION_FLAGS = 0xC0, SEQUENCES_AHEAD = 127 };

/* One data segment. */
typedef struct segment {
    const uint8_t *data;
    size_t length, index;
    uint64_t now;
    uint8_t flags;
    bool first, last;
} segment;

void tendon_obvious_receiver_init(tendon_obvious_receiver *receiver, uint8_t *memory, size_t capacity,
                                  const tendon_obvious_receiver_handler *handler, void *context) {
    memset(receiver, 0, sizeof *receiver);
    receiver->memory = memory;
    receiver->capacity = capacity > TENDON_OBVIOUS_WINDOW_MAX * TENDON_OBVIOUS_SEGMENT_MAX
                             ? (uint16_t)(TENDON_OBVIOUS_WINDOW_MAX * TENDON_OBVIOUS_SEGMENT_MAX)
                             : (uint16_t)capacity;
    receiver->handler = handler;
    receiver->context = context;
    tendon_obvious_receiver_set_mtu(receiver, 0);
    tendon_obvious_receiver_set_limits(receiver, TENDON_OBVIOUS_WINDOW_DEFAULT, TENDON_OBVIOUS_FRAME_MAX);
}

void tendon_obvious_receiver_set_mtu(tendon_obvious_receiver *receiver, size_t mtu) {
    receiver->size_next = (uint16_t)tendon_obvious_segment_size(mtu);
    if (!receiver->open) {
        receiver->size_max = receiver->size_next;
    }
}

void tendon_obvious_receiver_set_limits(tendon_obvious_receiver *receiver, size_t window, size_t frame_max) {
    receiver->window = (uint8_t)window;
    receiver->frame_max = frame_max < receiver->capacity ? (uint16_t)frame_max : receiver->capacity;
}

static void error(const tendon_obvious_receiver *receiver, unsigned code) {
    receiver->handler->on_error(receiver->context, status_of(code));
}

/* ---- control segments out ---- */

static void emit(const tendon_obvious_receiver *receiver, const tendon_obvious_control *control) {
    uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE];
    tendon_obvious_encode_control(control, out);
    receiver->handler->send(receiver->context, out);
}

/* About a message as a whole. @p reason above 0: a NAK. */
static void emit_whole(const tendon_obvious_receiver *receiver, unsigned reason, uint8_t msgseq, uint16_t next) {
    const tendon_obvious_control control = {.msgseq = msgseq,
                                            .type = reason != 0 ? TENDON_OBVIOUS_NAK : TENDON_OBVIOUS_ACK,
                                            .reason = (uint8_t)reason,
                                            .next = next,
                                            .credit = receiver->window};
    emit(receiver, &control);
}

bool tendon_obvious_receiver_pending_ack(const tendon_obvious_receiver *receiver, tendon_obvious_control *out) {
    if (!receiver->open) {
        return false;
    }
    *out = (tendon_obvious_control){.msgseq = receiver->msgseq,
                                    .type = TENDON_OBVIOUS_ACK,
                                    .next = receiver->next,
                                    .bitmap = receiver->held,
                                    .credit = receiver->window};
    return true;
}

static void acknowledge(tendon_obvious_receiver *receiver) {
    tendon_obvious_control control;
    if (tendon_obvious_receiver_pending_ack(receiver, &control)) {
        receiver->since_ack = 0;
        emit(receiver, &control);
    }
}

/* ---- contexts ---- */

static void close_context(tendon_obvious_receiver *receiver) {
    receiver->open = false;
    receiver->size_max = receiver->size_next;
}

static void forget(tendon_obvious_receiver *receiver, unsigned code) {
    receiver->has_dead = true;
    receiver->dead = receiver->msgseq;
    close_context(receiver);
    error(receiver, code);
}

/* The reasons 1 to 5 of a NAK have the order of the codes; a first segment that is too short has a bad size. */
static void drop(tendon_obvious_receiver *receiver, unsigned code) {
    unsigned reason = code == CODE_SEG_SHORT ? TENDON_OBVIOUS_REASON_BAD_SIZE
                                             : code - CODE_SEG_BAD_INDEX + TENDON_OBVIOUS_REASON_BAD_INDEX;
    forget(receiver, code);
    emit_whole(receiver, reason, receiver->dead, 0);
}

void tendon_obvious_receiver_reset(tendon_obvious_receiver *receiver) {
    close_context(receiver);
    receiver->has_done = false;
    receiver->has_dead = false;
}

uint64_t tendon_obvious_receiver_deadline(const tendon_obvious_receiver *receiver) {
    if (!receiver->open) {
        return UINT64_MAX;
    }
    uint64_t pause = receiver->stored + TENDON_OBVIOUS_PAUSE_MAX_MS;
    uint64_t whole = receiver->opened + TENDON_OBVIOUS_MESSAGE_MAX_MS;
    return (pause < whole ? pause : whole) + 1;
}

void tendon_obvious_receiver_tick(tendon_obvious_receiver *receiver, uint64_t now) {
    if (now >= tendon_obvious_receiver_deadline(receiver)) {
        drop(receiver, CODE_SEG_TIMEOUT);
    }
}

/* ---- segments that are held ---- */

static bool is_held(const tendon_obvious_receiver *receiver, size_t index) {
    return index < receiver->next || (index > receiver->next && index - receiver->next <= TENDON_OBVIOUS_WINDOW_MAX &&
                                      (receiver->held >> (index - receiver->next - 1) & 1u) != 0);
}

static uint8_t *slot(const tendon_obvious_receiver *receiver, size_t index) {
    return receiver->memory + index * receiver->size_max;
}

static size_t slot_length(const uint8_t *from) {
    return from[LENGTH_AT] | (size_t)from[LENGTH_AT + 1] << 8;
}

/* Length of a segment of the message. */
static size_t length_of(const tendon_obvious_receiver *receiver, size_t index) {
    if (index + 1 < receiver->count) {
        return receiver->size;
    }
    return index == 0 ? receiver->total + (size_t)FIRST_HEADER
                      : receiver->total - segment_start(index, receiver->size) + OTHER_HEADER;
}

/* Whether a segment that is held has the same bytes, the request for an ACK aside. */
static bool is_same(const tendon_obvious_receiver *receiver, const segment *item) {
    if (!receiver->first_held) {
        const uint8_t *from = slot(receiver, item->index);
        return item->last == ((from[0] & TENDON_OBVIOUS_SEGMENT_LAST) != 0) && item->length == slot_length(from) &&
               memcmp(item->data + OTHER_HEADER, from + OTHER_HEADER, item->length - OTHER_HEADER) == 0;
    }
    size_t header = item->index == 0 ? FIRST_HEADER : OTHER_HEADER;
    if (item->last != (item->index + 1u == receiver->count) || item->length != length_of(receiver, item->index) ||
        (item->index == 0 && (item->data[4] | (unsigned)item->data[5] << 8) != receiver->total)) {
        return false;
    }
    return memcmp(item->data + header, receiver->memory + segment_start(item->index, receiver->size),
                  item->length - header) == 0;
}

/* ---- storing ---- */

/* Marks a segment as held. True if it leaves a new hole below it. */
static bool mark(tendon_obvious_receiver *receiver, size_t index) {
    bool hole = index > receiver->highest;
    if (index >= receiver->highest) {
        receiver->highest = (uint16_t)(index + 1);
    }
    if (index != receiver->next) {
        receiver->held |= (uint32_t)1 << (index - receiver->next - 1u);
        return hole;
    }
    bool more;
    do {
        more = (receiver->held & 1u) != 0;
        receiver->held >>= 1;
        receiver->next++;
    } while (more);
    return false;
}

/* Steps 9 and 10 of a segment of a message whose segment 0 is held. */
static unsigned check(const tendon_obvious_receiver *receiver, size_t index, bool last, size_t length) {
    if (index >= receiver->count || last != (index + 1 == receiver->count)) {
        return CODE_SEG_BAD_INDEX;
    }
    return length == length_of(receiver, index) ? CODE_OK : CODE_SEG_BAD_SIZE;
}

static unsigned check_first(tendon_obvious_receiver *receiver, const segment *item) {
    if (item->length < FIRST_HEADER) {
        return CODE_SEG_SHORT;
    }
    size_t total = item->data[4] | (size_t)item->data[5] << 8;
    if (total < TENDON_OBVIOUS_FRAME_OVERHEAD || total > receiver->frame_max) {
        return CODE_SEG_BAD_LEN;
    }
    if (!item->last && item->length < TENDON_OBVIOUS_SEGMENT_MIN) {
        return CODE_SEG_BAD_SIZE;
    }
    receiver->total = (uint16_t)total;
    receiver->size = (uint16_t)item->length;
    receiver->count = item->last ? 1 : (uint16_t)tendon_obvious_segment_count(total, item->length);
    return check(receiver, 0, item->last, item->length);
}

/* Moves the segments that wait in slots to their places, in the order of their indexes. */
static unsigned move_early(tendon_obvious_receiver *receiver) {
    for (size_t index = 1; index < receiver->highest; index++) {
        if (!is_held(receiver, index)) {
            continue;
        }
        const uint8_t *from = slot(receiver, index);
        size_t length = slot_length(from);
        unsigned code = check(receiver, index, (from[0] & TENDON_OBVIOUS_SEGMENT_LAST) != 0, length);
        if (code != CODE_OK) {
            return code;
        }
        memmove(receiver->memory + segment_start(index, receiver->size), from + OTHER_HEADER, length - OTHER_HEADER);
    }
    return CODE_OK;
}

static unsigned store(tendon_obvious_receiver *receiver, const segment *item) {
    if (item->first) {
        unsigned code = check_first(receiver, item);
        if (code == CODE_OK) {
            code = move_early(receiver);
        }
        if (code != CODE_OK) {
            return code;
        }
        receiver->first_held = true;
        memcpy(receiver->memory, item->data + FIRST_HEADER, item->length - FIRST_HEADER);
        return CODE_OK;
    }
    if (receiver->first_held) {
        unsigned code = check(receiver, item->index, item->last, item->length);
        if (code == CODE_OK) {
            memcpy(receiver->memory + segment_start(item->index, receiver->size), item->data + OTHER_HEADER,
                   item->length - OTHER_HEADER);
        }
        return code;
    }
    uint8_t *to = slot(receiver, item->index);
    memcpy(to, item->data, item->length);
    to[LENGTH_AT] = (uint8_t)(item->length & 0xFFu);
    to[LENGTH_AT + 1] = (uint8_t)(item->length >> 8);
    return CODE_OK;
}

/* ---- segments in ---- */

static void complete(tendon_obvious_receiver *receiver, uint64_t now) {
    receiver->has_done = true;
    receiver->done = receiver->msgseq;
    receiver->done_count = receiver->count;
    receiver->has_dead = false;
    close_context(receiver);
    bool valid = receiver->handler->on_message(receiver->context, receiver->memory, receiver->total, now);
    emit_whole(receiver, valid ? TENDON_OBVIOUS_REASON_NONE : TENDON_OBVIOUS_REASON_FRAME, receiver->done,
               valid ? receiver->done_count : 0);
}

/* Step 5: a segment of another message than the open one. True if it opens a context. */
static bool open_context(tendon_obvious_receiver *receiver, const segment *item) {
    uint8_t msgseq = item->data[1];
    if (receiver->has_done && msgseq == receiver->done) {
        error(receiver, CODE_SEG_DUP);
        emit_whole(receiver, TENDON_OBVIOUS_REASON_NONE, msgseq, receiver->done_count);
        return false;
    }
    unsigned ahead = (unsigned)(msgseq - (receiver->open ? receiver->msgseq : receiver->done)) & 0xFFu;
    bool dead = !receiver->open && receiver->has_dead && msgseq == receiver->dead && !item->first;
    if (dead || ((receiver->open || receiver->has_done) && (ahead == 0 || ahead > SEQUENCES_AHEAD))) {
        error(receiver, CODE_SEG_STALE);
        return false;
    }
    if (receiver->open) {
        forget(receiver, CODE_SEG_SUPERSEDED);
    }
    if (item->index >= receiver->window) {
        error(receiver, CODE_SEG_WINDOW);
        return false;
    }
    receiver->open = true;
    receiver->first_held = false;
    receiver->msgseq = msgseq;
    receiver->next = 0;
    receiver->highest = 0;
    receiver->held = 0;
    receiver->since_ack = 0;
    receiver->opened = item->now;
    receiver->stored = item->now;
    receiver->hole_ack = 0;
    return true;
}

/* Steps 6 to 11. */
static void take(tendon_obvious_receiver *receiver, const segment *item) {
    if (item->first != (item->index == 0)) {
        drop(receiver, CODE_SEG_BAD_INDEX);
        return;
    }
    if (is_held(receiver, item->index)) {
        if (!is_same(receiver, item)) {
            drop(receiver, CODE_SEG_CONFLICT);
            return;
        }
        error(receiver, CODE_SEG_DUP);
        if ((item->flags & TENDON_OBVIOUS_SEGMENT_ACKREQ) != 0) {
            acknowledge(receiver);
        }
        return;
    }
    bool has_slot = receiver->first_held || (item->index + 1) * receiver->size_max <= receiver->capacity;
    if (item->index >= (size_t)receiver->next + receiver->window || (!item->first && !has_slot)) {
        error(receiver, CODE_SEG_WINDOW);
        return;
    }
    unsigned code = store(receiver, item);
    if (code != CODE_OK) {
        drop(receiver, code);
        return;
    }
    receiver->stored = item->now;
    bool hole = mark(receiver, item->index);
    receiver->since_ack++;
    if (receiver->first_held && receiver->next == receiver->count) {
        complete(receiver, item->now);
        return;
    }
    bool report_hole = hole && item->now >= receiver->hole_ack;
    if (report_hole) {
        receiver->hole_ack = item->now + TENDON_OBVIOUS_HOLE_ACK_MS;
    }
    if ((item->flags & TENDON_OBVIOUS_SEGMENT_ACKREQ) != 0 || report_hole ||
        receiver->since_ack >= receiver->window / 2) {
        acknowledge(receiver);
    }
}

/* Steps 1 to 3. */
static unsigned check_header(const tendon_obvious_receiver *receiver, const uint8_t *data, size_t length) {
    if (length < OTHER_HEADER) {
        return CODE_SEG_SHORT;
    }
    if (length > receiver->size_max) {
        return CODE_SEG_OVERSIZE;
    }
    if ((data[0] & VERSION_FLAGS) != TENDON_OBVIOUS_SEGMENT_VERSION) {
        return CODE_SEG_BAD_VERSION;
    }
    return (data[0] & RESERVED_FLAGS) != 0 ? CODE_SEG_RESERVED : CODE_OK;
}

void tendon_obvious_receiver_segment(tendon_obvious_receiver *receiver, const uint8_t *data, size_t length,
                                     uint64_t now) {
    tendon_obvious_receiver_tick(receiver, now);
    unsigned code = check_header(receiver, data, length);
    bool control = code == CODE_OK && (data[0] & TENDON_OBVIOUS_SEGMENT_CONTROL) != 0;
    tendon_obvious_control decoded;
    if (control) {
        code = TENDON_STATUS_CODE(tendon_obvious_decode_control(data, length, &decoded));
    }
    if (code != CODE_OK) {
        error(receiver, code);
        return;
    }
    if (control) {
        if (decoded.type == TENDON_OBVIOUS_RESET) {
            tendon_obvious_receiver_reset(receiver);
        }
        receiver->handler->on_control(receiver->context, &decoded, now);
        return;
    }
    const segment item = {.data = data,
                          .length = length,
                          .index = data[INDEX_AT] | (size_t)data[INDEX_AT + 1] << 8,
                          .first = (data[0] & TENDON_OBVIOUS_SEGMENT_FIRST) != 0,
                          .last = (data[0] & TENDON_OBVIOUS_SEGMENT_LAST) != 0,
                          .flags = data[0],
                          .now = now};
    if ((receiver->open && data[1] == receiver->msgseq) || open_context(receiver, &item)) {
        take(receiver, &item);
    }
}
