/* SPDX-License-Identifier: MIT */
/* Faults between a simulated device's bearer and its link. */
#include "tendon/simulate/fault.h"

#define PPM 1000000u

static const char *const names[TENDON_FAULT_COUNT] = {"drop",     "delay",   "duplicate",
                                                      "truncate", "garbage", "disconnect"};

const char *tendon_fault_name(tendon_fault_kind kind) {
    return (unsigned)kind < TENDON_FAULT_COUNT ? names[kind] : "unknown";
}

/* ---- settings ---- */

/** The text up to a separator; advances past it. */
typedef struct tendon_fault_cursor {
    const char *text;
    size_t length, position;
} tendon_fault_cursor;

static bool at_digit(const tendon_fault_cursor *cursor) {
    return cursor->position < cursor->length && cursor->text[cursor->position] >= '0' &&
           cursor->text[cursor->position] <= '9';
}

/** Consumes @p word if it is the next whole word. */
static bool take_word(tendon_fault_cursor *cursor, const char *word) {
    size_t i = cursor->position, j = 0;
    while (word[j] != 0 && i < cursor->length && cursor->text[i] == word[j]) {
        i++;
        j++;
    }
    bool whole = word[j] == 0 && (i == cursor->length || cursor->text[i] == '=' || cursor->text[i] == ',');
    cursor->position = whole ? i : cursor->position;
    return whole;
}

static bool take_character(tendon_fault_cursor *cursor, char c) {
    bool here = cursor->position < cursor->length && cursor->text[cursor->position] == c;
    cursor->position += here ? 1 : 0;
    return here;
}

static tendon_status take_number(tendon_fault_cursor *cursor, uint32_t *out) {
    uint64_t value = 0;
    if (!at_digit(cursor)) {
        return TENDON_ERROR_MALFORMED;
    }
    while (at_digit(cursor)) {
        value = value * 10 + (uint64_t)(cursor->text[cursor->position] - '0');
        if (value > UINT32_MAX) {
            return TENDON_ERROR_OVERFLOW;
        }
        cursor->position++;
    }
    *out = (uint32_t)value;
    return TENDON_OK;
}

/** "0.015", "1", "1.5%": parts of a million. */
static tendon_status take_rate(tendon_fault_cursor *cursor, uint32_t *ppm) {
    uint32_t whole = 0;
    size_t start = cursor->position;
    tendon_status status = take_number(cursor, &whole);
    if (status != TENDON_OK) {
        return status;
    }
    uint64_t value = (uint64_t)whole * PPM;
    if (take_character(cursor, '.')) {
        if (!at_digit(cursor)) {
            return TENDON_ERROR_MALFORMED;
        }
        for (uint32_t unit = PPM / 10; at_digit(cursor); unit /= 10) { /* unit 0: digits that mean nothing any more */
            value += (uint64_t)unit * (uint64_t)(cursor->text[cursor->position] - '0');
            cursor->position++;
        }
    }
    if (take_character(cursor, '%')) {
        value /= 100;
    }
    if (value > PPM) {
        cursor->position = start;
        return TENDON_ERROR_OVERFLOW;
    }
    *ppm = (uint32_t)value;
    return TENDON_OK;
}

static tendon_status take_setting(tendon_fault_options *options, tendon_fault_cursor *cursor) {
    if (take_word(cursor, "notifications_only")) {
        options->notifications_only = true;
        return TENDON_OK;
    }
    bool seed = take_word(cursor, "seed");
    if (seed || take_word(cursor, "delay_ms")) {
        uint32_t *value = seed ? &options->seed : &options->delay_ms;
        return take_character(cursor, '=') ? take_number(cursor, value) : TENDON_ERROR_MALFORMED;
    }
    for (size_t kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        if (take_word(cursor, names[kind])) {
            return take_character(cursor, '=') ? take_rate(cursor, &options->rate_ppm[kind]) : TENDON_ERROR_MALFORMED;
        }
    }
    return TENDON_ERROR_MALFORMED;
}

static bool rates_fit(const tendon_fault_options *options) {
    uint64_t sum = 0;
    for (size_t kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        sum += options->rate_ppm[kind];
    }
    return sum <= PPM;
}

tendon_status tendon_fault_parse(tendon_fault_options *options, const char *text, size_t length, size_t *offset) {
    tendon_fault_options parsed = *options;
    tendon_fault_cursor cursor = {text, length, 0};
    tendon_status status;
    do {
        size_t start = cursor.position;
        status = take_setting(&parsed, &cursor);
        if (status == TENDON_OK && !rates_fit(&parsed)) {
            cursor.position = start;
            status = TENDON_ERROR_OVERFLOW;
        }
    } while (status == TENDON_OK && take_character(&cursor, ','));
    if (status == TENDON_OK && cursor.position != length) {
        status = TENDON_ERROR_MALFORMED;
    }
    if (status == TENDON_OK) {
        *options = parsed;
    } else if (offset != NULL) {
        *offset = cursor.position;
    }
    return status;
}

/* ---- the filter ---- */

void tendon_fault_init(tendon_fault *fault, const tendon_fault_options *options) {
    memset(fault, 0, sizeof *fault);
    fault->options = *options;
    fault->options.delay_ms = options->delay_ms != 0 ? options->delay_ms : 100;
    fault->random = options->seed != 0 ? options->seed : 1;
}

static uint32_t next_random(tendon_fault *fault) {
    uint32_t state = fault->random;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    fault->random = state;
    return state;
}

/** Returns the fault of the next PDU; TENDON_FAULT_COUNT if it has none. */
static tendon_fault_kind draw(tendon_fault *fault, uint8_t opcode) {
    bool notification = opcode == TENDON_ATT_HANDLE_VALUE_NOTIFICATION ||
                        opcode == TENDON_ATT_HANDLE_VALUE_INDICATION ||
                        opcode == TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION;
    if (fault->options.notifications_only && !notification) {
        return TENDON_FAULT_COUNT;
    }
    uint32_t lot = (uint32_t)((uint64_t)next_random(fault) * PPM >> 32);
    for (unsigned kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        if (lot < fault->options.rate_ppm[kind]) {
            return (tendon_fault_kind)kind;
        }
        lot -= fault->options.rate_ppm[kind];
    }
    return TENDON_FAULT_COUNT;
}

/** Room was checked. */
static void enqueue(tendon_fault *fault, const uint8_t *pdu, size_t length, uint64_t due) {
    size_t place = (fault->head + (size_t)fault->count) % TENDON_FAULT_QUEUE;
    fault->queue[place].due = due;
    fault->queue[place].length = (uint16_t)length;
    memcpy(fault->queue[place].pdu, pdu, length);
    fault->count++;
}

/** Sends delayed PDUs whose time has come, in order, until the link is full. */
static void drain(tendon_fault *fault) {
    while (fault->count > 0 && !fault->blocked && fault->queue[fault->head].due <= fault->now) {
        tendon_status status =
            fault->link.send(fault->link.context, fault->queue[fault->head].pdu, fault->queue[fault->head].length);
        if (status == TENDON_ERROR_WOULD_BLOCK) {
            fault->blocked = true;
            return;
        }
        fault->head = (uint8_t)((fault->head + 1u) % TENDON_FAULT_QUEUE);
        fault->count--;
    }
}

/** Applies the fault to the copy of a PDU. @return its new length. */
static size_t spoil(tendon_fault *fault, tendon_fault_kind kind, uint8_t *pdu, size_t length) {
    if (kind == TENDON_FAULT_TRUNCATE && length > 1) {
        return 1 + next_random(fault) % (length - 1);
    }
    if (kind == TENDON_FAULT_GARBAGE) {
        for (size_t i = 1; i < length; i++) {
            pdu[i] = (uint8_t)(next_random(fault) >> 24);
        }
    }
    return length;
}

static tendon_status fault_send(void *context, const uint8_t *pdu, size_t length) {
    tendon_fault *fault = context;
    if (length == 0 || length > TENDON_ATT_MTU_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    drain(fault);
    if (fault->count + 2u >
        TENDON_FAULT_QUEUE) { /* a duplicate requires two slots; a rejected PDU uses no random number */
        fault->refused = true;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    tendon_fault_kind kind = draw(fault, pdu[0]);
    if (kind == TENDON_FAULT_COUNT) {
        fault->passed++;
    } else {
        fault->struck[kind]++;
    }
    if (kind == TENDON_FAULT_DROP || kind == TENDON_FAULT_DISCONNECT) {
        fault->disconnect = fault->disconnect || kind == TENDON_FAULT_DISCONNECT;
        return TENDON_OK;
    }
    uint8_t copy[TENDON_ATT_MTU_MAX];
    memcpy(copy, pdu, length);
    length = spoil(fault, kind, copy, length);
    enqueue(fault, copy, length, kind == TENDON_FAULT_DELAY ? fault->now + fault->options.delay_ms : fault->now);
    if (kind == TENDON_FAULT_DUPLICATE) {
        enqueue(fault, copy, length, fault->now);
    }
    drain(fault);
    return TENDON_OK;
}

static tendon_bearer_io wrap(void *context, tendon_bearer_io link) {
    tendon_fault *fault = context;
    fault->link = link;
    fault->count = 0;
    fault->disconnect = false;
    fault->blocked = false;
    fault->refused = false;
    return (tendon_bearer_io){fault, fault_send};
}

static void writable(void *context, uint64_t now) {
    tendon_fault *fault = context;
    fault->now = now;
    fault->blocked = false;
    drain(fault);
}

static void tick(void *context, uint64_t now) {
    tendon_fault *fault = context;
    fault->now = now;
    drain(fault);
}

static uint64_t deadline(const void *context) {
    const tendon_fault *fault = context;
    return fault->count == 0 || fault->blocked ? UINT64_MAX : fault->queue[fault->head].due;
}

static bool take_writable(void *context) {
    tendon_fault *fault = context;
    bool again = fault->refused && fault->count + 2u <= TENDON_FAULT_QUEUE;
    fault->refused = fault->refused && !again;
    return again;
}

static bool take_disconnect(void *context) {
    tendon_fault *fault = context;
    bool disconnect = fault->disconnect;
    fault->disconnect = false;
    return disconnect;
}

tendon_bearer_filter tendon_fault_filter(tendon_fault *fault) {
    return (tendon_bearer_filter){fault, wrap, writable, tick, deadline, take_writable, take_disconnect};
}
