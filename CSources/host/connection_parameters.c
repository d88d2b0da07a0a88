/* SPDX-License-Identifier: MIT */
#include "tendon/host/connection_parameters.h"

enum {
    TIMEOUT_DEFAULT = 400,
    TIMEOUT_MAX = 3200,
    TIMEOUT_MIN = 10,
    INTERVAL_MAX = 3200,
    OCTETS_MIN = 27,
    OCTETS_MAX = 251
};

static const struct profile {
    const char *name;
    tendon_connection_parameters parameters;
} profiles[] = {{"fast", {.min_interval = 6, .max_interval = 12, .timeout = 400}},
                {"balanced", {.min_interval = 24, .max_interval = 40, .timeout = 400}},
                {"low-power", {.min_interval = 80, .max_interval = 100, .latency = 2, .timeout = 600}}};
static const char *const phys[] = {"1m", "2m", "coded"};

bool tendon_connection_parameters_valid(const tendon_connection_parameters *parameters) {
    if (parameters->min_interval < 6 || parameters->max_interval > INTERVAL_MAX ||
        parameters->min_interval > parameters->max_interval || parameters->latency > 499 ||
        parameters->timeout < TIMEOUT_MIN || parameters->timeout > TIMEOUT_MAX || parameters->phy > TENDON_PHY_CODED ||
        (parameters->tx_octets != 0 && (parameters->tx_octets < OCTETS_MIN || parameters->tx_octets > OCTETS_MAX))) {
        return false;
    }
    /* 10 ms * timeout > (1 + latency) * 1.25 ms * interval * 2 */
    return (uint32_t)parameters->timeout * 4 > (1u + parameters->latency) * (uint32_t)parameters->max_interval;
}

/** Six of the longest silences: a packet that is lost, or five, end nothing. */
static uint16_t default_timeout(const tendon_connection_parameters *p) {
    uint32_t needed = (1u + p->latency) * (uint32_t)p->max_interval * 6 / 8;
    uint32_t chosen = needed > TIMEOUT_DEFAULT ? needed : TIMEOUT_DEFAULT;
    return (uint16_t)(chosen < TIMEOUT_MAX ? chosen : TIMEOUT_MAX);
}

/** In 1.25 ms: the longest packet in one direction, and an empty one in the other. */
static size_t event_length(uint8_t phy) {
    return phy == TENDON_PHY_CODED ? 15 : 2;
}

tendon_status tendon_connection_parameters_plan(tendon_connection_parameters *parameters, size_t links) {
    const size_t event = event_length(parameters->phy);
    tendon_connection_parameters planned = *parameters;
    if (links == 0 || links > INTERVAL_MAX / event || !tendon_connection_parameters_valid(parameters)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint16_t shortest = (uint16_t)(links * event);
    planned.min_interval = planned.min_interval > shortest ? planned.min_interval : shortest;
    planned.max_interval = planned.max_interval > shortest ? planned.max_interval : shortest;
    if (!tendon_connection_parameters_valid(&planned)) {
        planned.timeout = default_timeout(&planned);
    }
    if (!tendon_connection_parameters_valid(&planned)) { /* no supervision timeout is long enough */
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *parameters = planned;
    return TENDON_OK;
}

typedef struct cursor {
    const char *text;
    size_t length, at;
    bool wrong;
} cursor;

static bool is_digit(const cursor *c) {
    return c->at < c->length && c->text[c->at] >= '0' && c->text[c->at] <= '9';
}

/** At most six digits: no number in range has more. */
static uint32_t digits(cursor *c) {
    uint32_t value = 0;
    size_t first = c->at;
    for (; is_digit(c) && c->at - first < 6; c->at++) {
        value = value * 10 + (uint32_t)(c->text[c->at] - '0');
    }
    c->wrong = c->wrong || c->at == first || is_digit(c);
    return value;
}

static bool take(cursor *c, char wanted) {
    bool found = !c->wrong && c->at < c->length && c->text[c->at] == wanted;
    c->at += found ? 1 : 0;
    return found;
}

/** Milliseconds with up to two decimals, in units of 1.25 ms; too long ones are out of range. */
static uint16_t interval(cursor *c) {
    size_t first = c->at;
    uint32_t hundredths = digits(c) * 100;
    if (take(c, '.')) {
        size_t begin = c->at;
        uint32_t decimals = digits(c);
        size_t count = c->at - begin;
        c->wrong = c->wrong || count > 2;
        hundredths += count == 1 ? decimals * 10 : decimals;
    }
    if (!c->wrong && hundredths % 125 != 0) {
        c->wrong = true;
        c->at = first;
    }
    uint32_t units = hundredths / 125;
    return units <= UINT16_MAX ? (uint16_t)units : UINT16_MAX;
}

static uint16_t timeout(cursor *c) {
    size_t first = c->at;
    uint32_t ms = digits(c);
    if (!c->wrong && ms % 10 != 0) {
        c->wrong = true;
        c->at = first;
    }
    return ms / 10 <= UINT16_MAX ? (uint16_t)(ms / 10) : UINT16_MAX;
}

/** True if this word is next; it is taken then. */
static bool take_word(cursor *c, const char *word) {
    size_t i = 0;
    while (word[i] != '\0' && c->at + i < c->length && c->text[c->at + i] == word[i]) {
        i++;
    }
    bool found = !c->wrong && word[i] == '\0';
    c->at += found ? i : 0;
    return found;
}

/** A comma before a number; another one is before a word. */
static bool take_separator(cursor *c) {
    bool word = c->at + 1 < c->length && (c->text[c->at + 1] == 'p' || c->text[c->at + 1] == 'l');
    return !word && take(c, ',');
}

static uint16_t number(cursor *c) {
    uint32_t value = digits(c);
    return value <= UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

static void parse_intervals(cursor *c, tendon_connection_parameters *p) {
    p->min_interval = interval(c);
    c->wrong = c->wrong || !take(c, '-');
    p->max_interval = c->wrong ? 0 : interval(c);
    if (take_separator(c)) {
        p->latency = number(c);
    }
    bool has_timeout = take_separator(c);
    if (has_timeout) {
        p->timeout = timeout(c);
    }
    p->timeout = has_timeout ? p->timeout : default_timeout(p);
}

static void parse_phy(cursor *c, tendon_connection_parameters *p) {
    for (uint8_t i = 0; i < sizeof phys / sizeof phys[0]; i++) {
        if (take_word(c, phys[i])) {
            p->phy = (uint8_t)(i + 1);
            return;
        }
    }
    c->wrong = true;
}

static tendon_status parse(cursor *c, tendon_connection_parameters *p) {
    size_t i = 0;
    while (i < sizeof profiles / sizeof profiles[0] && !take_word(c, profiles[i].name)) {
        i++;
    }
    if (i < sizeof profiles / sizeof profiles[0]) {
        *p = profiles[i].parameters;
    } else {
        parse_intervals(c, p);
    }
    if (take_word(c, ",phy=")) {
        parse_phy(c, p);
    }
    if (take_word(c, ",length=")) {
        p->tx_octets = number(c);
        c->wrong = c->wrong || p->tx_octets == 0;
    }
    uint16_t links = 0;
    if (take_word(c, ",links=")) {
        links = number(c);
        c->wrong = c->wrong || links == 0;
    }
    if (c->wrong || c->at != c->length) {
        return TENDON_ERROR_MALFORMED;
    }
    if (links != 0) {
        return tendon_connection_parameters_plan(p, links);
    }
    return tendon_connection_parameters_valid(p) ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT;
}

tendon_status tendon_connection_parameters_parse(const char *text, size_t length, tendon_connection_parameters *out,
                                                 size_t *offset) {
    tendon_connection_parameters parsed = {0};
    cursor c = {.text = text, .length = length};
    tendon_status status = parse(&c, &parsed);
    if (status == TENDON_OK) {
        *out = parsed;
    } else if (offset != NULL) {
        *offset = c.at;
    }
    return status;
}
