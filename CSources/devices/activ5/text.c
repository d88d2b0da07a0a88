/* SPDX-License-Identifier: MIT */
/* Texts: UTF-8, the content of a frame. */
#include "internal.h"

/* ---- UTF-8, RFC 3629 section 4 ---- */

/* Bytes of the sequence that starts there in the text, 0 when it is none. */
static size_t sequence_length(const uint8_t *text, size_t at, size_t length) {
    uint8_t first = text[at];
    if (first < 0x80) {
        return 1;
    }
    size_t count = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4 || count > length - at) {
        return 0;
    }
    /* The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF. */
    uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[at + 1] < low || text[at + 1] > high) {
        return 0;
    }
    for (size_t i = 2; i < count; i++) {
        if ((text[at + i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return count;
}

bool tendon_activ5_is_utf8(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < length) {
        size_t count = sequence_length(text, at, length);
        if (count == 0) {
            return false;
        }
        at += count;
    }
    return true;
}

/* ---- content ---- */

/* Whether the text goes on so from there. */
static bool goes_on(const uint8_t *text, size_t at, size_t length, const char *wanted, size_t count) {
    return at + count <= length && memcmp(text + at, wanted, count) == 0;
}

/* A conversion that is out of range is undefined in C, so the range is checked first. Here, apart from its callers:
 * inline it would be there three times. */
int64_t activ5_truncated(double value) {
    if (value != value) {
        return 0;
    }
    if (value >= 9223372036854775808.0) {
        return INT64_MAX;
    }
    return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

/* [+-]digits[.digits], all of it. */
static bool decimal(const uint8_t *text, size_t length, double *out) {
    size_t at = length > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    double value = 0;
    double scale = 1;
    size_t digits = 0;
    bool fraction = false;
    //@ loop unroll TENDON_ACTIV5_CONTENT_MAX;
    for (; at < length; at++) {
        if (text[at] == '.' && !fraction && digits > 0) {
            fraction = true;
            digits = 0;
            continue;
        }
        if (text[at] < '0' || text[at] > '9') {
            return false;
        }
        value = value * 10 + (text[at] - '0');
        scale = fraction ? scale * 10 : 1;
        digits++;
    }
    *out = (length > 0 && text[0] == '-' ? -value : value) / scale;
    return digits > 0;
}

/* Every "IS" removed, once and from the left, then cut at the first '/'. */
static tendon_status isometric(const uint8_t *field, size_t length, tendon_activ5_message *out) {
    uint8_t number[TENDON_ACTIV5_CONTENT_MAX] = {0};
    size_t count = 0;
    //@ loop unroll TENDON_ACTIV5_CONTENT_MAX;
    for (size_t i = 0; i < length; i++) {
        if (field[i] == '/') {
            double value = 0;
            if (!decimal(number, count, &value)) {
                return TENDON_ACTIV5_ERROR_MALFORMED;
            }
            out->type = TENDON_ACTIV5_MESSAGE_ISOMETRIC;
            out->raw = value;
            out->newtons = tendon_activ5_to_newtons_legacy(value);
            return TENDON_OK;
        }
        if (field[i] == 'I' && i + 1 < length && field[i + 1] == 'S') {
            i++;
        } else {
            number[count++] = field[i];
        }
    }
    return TENDON_ACTIV5_ERROR_MALFORMED;
}

/* The field that starts at *position, which moves on to the next. */
static tendon_activ5_field next_field(const uint8_t *content, size_t length, size_t *position) {
    if (*position > length) {
        return (tendon_activ5_field){0, 0, false};
    }
    size_t start = *position;
    size_t end = start;
    while (end < length && content[end] != ';') {
        end++;
    }
    *position = end + 1;
    return (tendon_activ5_field){(uint16_t)start, (uint16_t)(end - start), true};
}

static tendon_status initial(const uint8_t *content, size_t length, size_t position, tendon_activ5_message *out) {
    tendon_activ5_field version = next_field(content, length, &position);
    if (!version.present) {
        return TENDON_ACTIV5_ERROR_MALFORMED;
    }
    out->type = TENDON_ACTIV5_MESSAGE_INITIAL;
    out->version = version;
    out->field2 = next_field(content, length, &position);
    out->battery_status = next_field(content, length, &position);
    activ5_put_text(out, content, length);
    return TENDON_OK;
}

/* Serial and id parts: one character that nobody looks at, then the kind. 0: none of them. */
static size_t part_prefix(const uint8_t *field, size_t length, tendon_activ5_message_type *type) {
    static const struct {
        char text[4];
        uint8_t length, type;
    } parts[] = {
        {"i", 1, TENDON_ACTIV5_MESSAGE_UUID1},
        {"I", 1, TENDON_ACTIV5_MESSAGE_UUID2},
        {"SN1", 3, TENDON_ACTIV5_MESSAGE_SN1},
        {"SN2", 3, TENDON_ACTIV5_MESSAGE_SN2},
    };
    size_t skipped = length > 0 ? sequence_length(field, 0, length) : 0;
    //@ loop unroll 4;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (goes_on(field, skipped, length, parts[i].text, parts[i].length)) {
            *type = (tendon_activ5_message_type)parts[i].type;
            return skipped + parts[i].length;
        }
    }
    *type = TENDON_ACTIV5_MESSAGE_UNKNOWN;
    return 0;
}

tendon_activ5_message_type tendon_activ5_classify(const uint8_t *field, size_t length) {
    if (goes_on(field, 0, length, "TC5k", 4)) {
        return TENDON_ACTIV5_MESSAGE_INITIAL;
    }
    if (goes_on(field, 0, length, "IS", 2)) {
        return TENDON_ACTIV5_MESSAGE_ISOMETRIC;
    }
    tendon_activ5_message_type type = TENDON_ACTIV5_MESSAGE_UNKNOWN;
    (void)part_prefix(field, length, &type);
    return type;
}

void activ5_put_text(tendon_activ5_message *out, const uint8_t *text, size_t length) {
    bool dense = out->type == TENDON_ACTIV5_MESSAGE_UUID2; /* its padding is no part of it, wherever it stands */
    size_t count = 0;
    for (size_t i = 0; i < length && count < TENDON_ACTIV5_TEXT_MAX; i++) {
        if (text[i] != 0 || !dense) {
            out->text[count] = text[i];
            count++;
        }
    }
    out->text_length = (uint16_t)count;
}

tendon_status tendon_activ5_parse_text(const uint8_t *content, size_t length, tendon_activ5_message *out) {
    activ5_clear(out);
    if (length > TENDON_ACTIV5_CONTENT_MAX) {
        return TENDON_ACTIV5_ERROR_OVERFLOW;
    }
    if (!tendon_activ5_is_utf8(content, length)) {
        return TENDON_ACTIV5_ERROR_BAD_ENCODING;
    }
    size_t position = 0;
    size_t first = next_field(content, length, &position).length;
    if (first == 0) {
        return TENDON_ACTIV5_ERROR_EMPTY;
    }
    tendon_activ5_message_type type = tendon_activ5_classify(content, first);
    if (type == TENDON_ACTIV5_MESSAGE_INITIAL) {
        return initial(content, length, position, out);
    }
    if (type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        return isometric(content, first, out);
    }
    size_t prefix = part_prefix(content, first, &out->type);
    //@ split prefix;
    if (prefix > 0 && prefix <= first) {
        activ5_put_text(out, content + prefix, first - prefix);
    }
    return TENDON_OK;
}
