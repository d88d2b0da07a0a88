/* SPDX-License-Identifier: MIT */
/* Texts: UTF-8, the content of a frame. */
#include "codec_parts.h"

/* ---- UTF-8, RFC 3629 section 4 ---- */

/* Texts are an array, an index and an end, which Tests/Proof can analyze. */

/* Bytes of the sequence that starts there, 0 when it is none. */
static size_t sequence_length(const uint8_t *text, size_t at, size_t end) {
    uint8_t first = text[at];
    if (first < 0x80) {
        return 1;
    }
    size_t count = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4 || at + count > end) {
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

static bool is_utf8(const uint8_t *text, size_t at, size_t end) {
    while (at < end) {
        size_t count = sequence_length(text, at, end);
        if (count == 0) {
            return false;
        }
        at += count;
    }
    return true;
}

bool tendon_activ5_is_utf8(const uint8_t *text, size_t length) {
    return is_utf8(text, 0, length);
}

/* ---- content ---- */

size_t tendon_activ5_find_byte(const uint8_t *text, size_t at, size_t end, uint8_t wanted) {
    while (at < end && text[at] != wanted) {
        at++;
    }
    return at;
}

/* Every "IS" left out, once and from the left; then [+-]digits[.digits] up to the first '/', and nothing else. */
static tendon_status isometric(const uint8_t *text, size_t at, size_t end, tendon_activ5_message *out) {
    double value = 0;
    double scale = 1;
    size_t digits = 0;
    bool negative = false;
    enum { START, WHOLE, FRACTION } part = START;
    /* No text is longer than that here; the second check bounds the value too. */
    //@ loop unroll TENDON_ACTIV5_CONTENT_MAX;
    for (size_t i = 0; i < TENDON_ACTIV5_CONTENT_MAX && at < end; i++, at++) {
        uint8_t c = text[at];
        if (c == 'I' && at + 1 < end && text[at + 1] == 'S') {
            at++;
            continue;
        }
        if (c == '/' && digits > 0) {
            out->type = TENDON_ACTIV5_MESSAGE_ISOMETRIC;
            out->raw = (negative ? -value : value) / scale;
            out->newtons = tendon_activ5_to_newtons_legacy(out->raw);
            return TENDON_OK;
        }
        if (c >= '0' && c <= '9') {
            value = value * 10 + (c - '0');
            scale = part == FRACTION ? scale * 10 : 1;
            part = part == START ? WHOLE : part;
            digits++;
        } else if (c == '.' && part == WHOLE && digits > 0) {
            part = FRACTION;
            digits = 0;
        } else if (part == START && (c == '+' || c == '-')) {
            part = WHOLE;
            negative = c == '-';
        } else {
            break;
        }
    }
    return TENDON_ACTIV5_ERROR_MALFORMED;
}

/* The field that starts at *position, which moves on to the next; its place counts from the content's start. */
static tendon_activ5_field next_field(const uint8_t *text, size_t start, size_t end, size_t *position) {
    size_t at = *position;
    if (at > end) {
        return (tendon_activ5_field){0, 0, false};
    }
    size_t stop = tendon_activ5_find_byte(text, at, end, ';');
    *position = stop + 1;
    return (tendon_activ5_field){(uint16_t)(at - start), (uint16_t)(stop - at), true};
}

static tendon_status initial(const uint8_t *text, size_t start, size_t end, size_t position,
                             tendon_activ5_message *out) {
    tendon_activ5_field version = next_field(text, start, end, &position);
    if (!version.present) {
        return TENDON_ACTIV5_ERROR_MALFORMED;
    }
    out->type = TENDON_ACTIV5_MESSAGE_INITIAL;
    out->version = version;
    out->field2 = next_field(text, start, end, &position);
    out->battery_status = next_field(text, start, end, &position);
    tendon_activ5_put_text(out, text, start, end);
    return TENDON_OK;
}

/* The kind of the field, and where its value starts; the first character of a serial or id part is not checked. */
static size_t classify(const uint8_t *text, size_t at, size_t end, tendon_activ5_message_type *type) {
    enum { WHOLE_KINDS = 2 };
    static const struct {
        char text[5];
        uint8_t length, type;
    } kinds[] = {
        {"TC5k", 4, TENDON_ACTIV5_MESSAGE_INITIAL}, {"IS", 2, TENDON_ACTIV5_MESSAGE_ISOMETRIC},
        {"i", 1, TENDON_ACTIV5_MESSAGE_UUID1},      {"I", 1, TENDON_ACTIV5_MESSAGE_UUID2},
        {"SN1", 3, TENDON_ACTIV5_MESSAGE_SN1},      {"SN2", 3, TENDON_ACTIV5_MESSAGE_SN2},
    };
    size_t next = at < end ? at + sequence_length(text, at, end) : at;
    //@ loop unroll 6;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t from = i < WHOLE_KINDS ? at : next;
        if (from + kinds[i].length <= end && memcmp(text + from, kinds[i].text, kinds[i].length) == 0) {
            *type = (tendon_activ5_message_type)kinds[i].type;
            return from + kinds[i].length;
        }
    }
    *type = TENDON_ACTIV5_MESSAGE_UNKNOWN;
    return end;
}

tendon_activ5_message_type tendon_activ5_classify(const uint8_t *field, size_t length) {
    tendon_activ5_message_type type;
    (void)classify(field, 0, length, &type);
    return type;
}

void tendon_activ5_put_text(tendon_activ5_message *out, const uint8_t *text, size_t at, size_t end) {
    bool dense = out->type == TENDON_ACTIV5_MESSAGE_UUID2; /* its padding is no part of it, wherever it stands */
    size_t count = 0;
    for (; at < end && count < TENDON_ACTIV5_TEXT_MAX; at++) {
        if (text[at] != 0 || !dense) {
            out->text[count] = text[at];
            count++;
        }
    }
    out->text_length = (uint16_t)count;
}

tendon_status tendon_activ5_parse_content(const uint8_t *text, size_t start, size_t end, tendon_activ5_message *out) {
    activ5_clear(out);
    if (end - start > TENDON_ACTIV5_CONTENT_MAX) {
        return TENDON_ACTIV5_ERROR_OVERFLOW;
    }
    if (!is_utf8(text, start, end)) {
        return TENDON_ACTIV5_ERROR_BAD_ENCODING;
    }
    size_t stop = tendon_activ5_find_byte(text, start, end, ';');
    if (stop == start) {
        return TENDON_ACTIV5_ERROR_EMPTY;
    }
    tendon_activ5_message_type type;
    size_t value = classify(text, start, stop, &type);
    if (type == TENDON_ACTIV5_MESSAGE_INITIAL) {
        return initial(text, start, end, stop + 1, out);
    }
    if (type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        return isometric(text, start, stop, out);
    }
    out->type = type;
    tendon_activ5_put_text(out, text, value, stop);
    return TENDON_OK;
}

tendon_status tendon_activ5_parse_text(const uint8_t *content, size_t length, tendon_activ5_message *out) {
    return tendon_activ5_parse_content(content, 0, length, out);
}
