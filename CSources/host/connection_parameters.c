/* SPDX-License-Identifier: MIT */
#include "tendon/host/connection_parameters.h"

enum { TIMEOUT_DEFAULT = 400, TIMEOUT_MAX = 3200, TIMEOUT_MIN = 10 };

static const struct profile {
    const char *name;
    tendon_connection_parameters parameters;
} profiles[] = {{"fast", {6, 12, 0, 400}}, {"balanced", {24, 40, 0, 400}}, {"low-power", {80, 100, 2, 600}}};

bool tendon_connection_parameters_valid(const tendon_connection_parameters *parameters) {
    if (parameters->min_interval < 6 || parameters->max_interval > 3200 ||
        parameters->min_interval > parameters->max_interval || parameters->latency > 499 ||
        parameters->timeout < TIMEOUT_MIN || parameters->timeout > TIMEOUT_MAX) {
        return false;
    }
    /* 10 ms * timeout > (1 + latency) * 1.25 ms * interval * 2 */
    return (uint32_t)parameters->timeout * 4 > (1u + parameters->latency) * (uint32_t)parameters->max_interval;
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

/** Six of the longest silences: a packet that is lost, or five, end nothing. */
static uint16_t default_timeout(const tendon_connection_parameters *p) {
    uint32_t needed = (1u + p->latency) * (uint32_t)p->max_interval * 6 / 8;
    uint32_t chosen = needed > TIMEOUT_DEFAULT ? needed : TIMEOUT_DEFAULT;
    return (uint16_t)(chosen < TIMEOUT_MAX ? chosen : TIMEOUT_MAX);
}

static tendon_status parse_values(cursor *c, tendon_connection_parameters *out) {
    tendon_connection_parameters p = {.min_interval = interval(c)};
    c->wrong = c->wrong || !take(c, '-');
    p.max_interval = c->wrong ? 0 : interval(c);
    if (take(c, ',')) {
        uint32_t latency = digits(c);
        p.latency = latency <= UINT16_MAX ? (uint16_t)latency : UINT16_MAX;
    }
    bool has_timeout = take(c, ',');
    if (has_timeout) {
        p.timeout = timeout(c);
    }
    if (c->wrong || c->at != c->length) {
        return TENDON_ERROR_MALFORMED;
    }
    p.timeout = has_timeout ? p.timeout : default_timeout(&p);
    if (!tendon_connection_parameters_valid(&p)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *out = p;
    return TENDON_OK;
}

static bool is_name(const char *name, const char *text, size_t length) {
    size_t i = 0;
    while (i < length && name[i] != '\0' && name[i] == text[i]) {
        i++;
    }
    return i == length && name[i] == '\0';
}

tendon_status tendon_connection_parameters_parse(const char *text, size_t length, tendon_connection_parameters *out,
                                                 size_t *offset) {
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (is_name(profiles[i].name, text, length)) {
            *out = profiles[i].parameters;
            return TENDON_OK;
        }
    }
    cursor c = {.text = text, .length = length};
    tendon_status status = parse_values(&c, out);
    if (status < 0 && offset != NULL) {
        *offset = c.at;
    }
    return status;
}
