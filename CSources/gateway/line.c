/* SPDX-License-Identifier: MIT */
/* One line of JSON, member by member. */
#include "tendon/gateway/line.h"

#include "tendon/base/packed.h"
#include "tendon/devices/family.h"
#include "tendon/host/advertisement.h"

#include <float.h>
#include <math.h>

/* ---- bytes ---- */

static void put(tendon_line *line, const char *text, size_t length) {
    tendon_write_bytes(&line->writer, text, length);
}

static void put_byte(tendon_line *line, char byte) {
    tendon_write_u8(&line->writer, (uint8_t)byte);
}

static void put_word(tendon_line *line, const char *word) {
    put(line, word, tendon_string_length(word));
}

/* Digits of a number, zeros in front of it up to a length. */
static void put_digits(tendon_line *line, uint64_t value, unsigned at_least) {
    char digits[20]; /* of 2^64 - 1 */
    unsigned start = sizeof digits;
    do {
        digits[--start] = (char)('0' + (char)(value % 10));
        value /= 10;
    } while (value > 0 || sizeof digits - start < at_least);
    put(line, digits + start, sizeof digits - start);
}

/* A comma, if it is not the first, and the key, if it is no element. */
static void put_key(tendon_line *line, const char *key) {
    if (!line->is_first) {
        put_byte(line, ',');
    }
    line->is_first = false;
    if (key != NULL) {
        put_byte(line, '"');
        put_word(line, key);
        put(line, "\":", 2);
    }
}

/* ---- time ---- */

#define MICROSECONDS 1000000u
/* 9999-12-31T23:59:59.999999Z: the year has four digits there (RFC 3339). */
#define LATEST 253402300799999999u

static void put_time(tendon_line *line, uint64_t wall_us) {
    uint64_t time = wall_us < LATEST ? wall_us : LATEST;
    tendon_calendar date;
    (void)tendon_calendar_from_seconds((int64_t)(time / MICROSECONDS), &date);
    put_digits(line, date.year, 4);
    put_byte(line, '-');
    put_digits(line, date.month, 2);
    put_byte(line, '-');
    put_digits(line, date.day, 2);
    put_byte(line, 'T');
    put_digits(line, date.hour, 2);
    put_byte(line, ':');
    put_digits(line, date.minute, 2);
    put_byte(line, ':');
    put_digits(line, date.second, 2);
    put_byte(line, '.');
    put_digits(line, time % MICROSECONDS, 6);
    put_byte(line, 'Z');
}

void tendon_line_time(uint64_t wall_us, char out[TENDON_LINE_TIME_SIZE]) {
    tendon_line line;
    tendon_line_init(&line, out, TENDON_LINE_TIME_SIZE, false);
    put_time(&line, wall_us);
}

/* ---- begin and end ---- */

void tendon_line_init(tendon_line *line, char *out, size_t capacity, bool is_exact) {
    *line = (tendon_line){.writer = tendon_writer_make((uint8_t *)out, capacity), .is_exact = is_exact};
}

static void put_device(tendon_line *line, const tendon_line_device *device) {
    char address[TENDON_ADDRESS_STRING_SIZE];
    if (device->family != NULL) {
        tendon_line_word(line, "family", device->family);
    }
    if (device->address == NULL) {
        return;
    }
    tendon_line_word(line, "address", tendon_address_format(device->address, address));
    if (device->address->type != (uint8_t)TENDON_ADDRESS_TYPE_ANONYMOUS) {
        tendon_line_word(line, "address_type", tendon_line_address_type(device->address->type));
    }
    if (device->name != NULL && device->name_length > 0) {
        tendon_line_text(line, "name", device->name, device->name_length);
    }
}

void tendon_line_begin(tendon_line *line, const char *event, uint64_t wall_us, const tendon_line_device *device) {
    line->writer = tendon_writer_make(line->writer.data, line->writer.capacity);
    line->is_sample = false;
    line->is_first = true;
    line->event = event;
    line->wall_us = wall_us;
    if (tendon_line_is_head(line)) {
        return;
    }
    put_byte(line, '{');
    put_key(line, "time");
    put_byte(line, '"');
    put_time(line, wall_us);
    put_byte(line, '"');
    tendon_line_word(line, "event", event);
    if (device != NULL) {
        put_device(line, device);
    }
    line->begun = line->writer.length;
}

tendon_status tendon_line_end(tendon_line *line) {
    put(line, "}\n", 2);
    return tendon_writer_result(&line->writer);
}

/* ---- numbers ---- */

/* Scaled by its decimals: a double resolves a quarter of the last one. */
#define FIXED_BELOW 0x1p51

/* With as many of the decimals as it has. @param value below FIXED_BELOW. */
static void put_fixed(tendon_line *line, double value, unsigned decimals) {
    static const uint32_t scales[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    unsigned length = decimals < TENDON_LINE_DECIMALS ? decimals : TENDON_LINE_DECIMALS;
    double exact = fabs(value) * (double)scales[length];
    for (; exact >= FIXED_BELOW; exact /= 10) {
        length--;
    }
    uint64_t scaled = (uint64_t)exact;
    if (exact - (double)scaled >= 0.5) { /* away from zero */
        scaled++;
    }
    if (value < 0 && scaled != 0) {
        put_byte(line, '-');
    }
    put_digits(line, scaled / scales[length], 1);
    uint64_t fraction = scaled % scales[length];
    if (fraction == 0) {
        return;
    }
    while (fraction % 10 == 0) {
        fraction /= 10;
        length--;
    }
    put_byte(line, '.');
    put_digits(line, fraction, length);
}

static void put_number(tendon_line *line, double value, unsigned decimals) {
    char text[TENDON_LINE_NUMBER_SIZE];
    if (!(fabs(value) <= DBL_MAX)) {
        put(line, "null", 4);
    } else if (!line->is_exact && fabs(value) < FIXED_BELOW) {
        put_fixed(line, value, decimals);
    } else {
        put(line, text, tendon_line_shortest(value, text));
    }
}

void tendon_line_number(tendon_line *line, const char *key, double value, unsigned decimals) {
    put_key(line, key);
    put_number(line, value, decimals);
}

void tendon_line_integer(tendon_line *line, const char *key, int64_t value) {
    put_key(line, key);
    if (value < 0) {
        put_byte(line, '-');
    }
    put_digits(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
}

void tendon_line_count(tendon_line *line, const char *key, uint64_t value) {
    put_key(line, key);
    put_digits(line, value, 1);
}

void tendon_line_numeral(tendon_line *line, const char *key, uint64_t value) {
    put_key(line, key);
    put_byte(line, '"');
    put_digits(line, value, 1);
    put_byte(line, '"');
}

void tendon_line_vector(tendon_line *line, const char *key, const double *values, size_t count, unsigned decimals) {
    tendon_line_open_array(line, key);
    for (size_t i = 0; i < count; i++) {
        tendon_line_number(line, NULL, values[i], decimals);
    }
    tendon_line_close_array(line);
}

/* ---- words and text ---- */

void tendon_line_bool(tendon_line *line, const char *key, bool value) {
    put_key(line, key);
    put_word(line, value ? "true" : "false");
}

void tendon_line_null(tendon_line *line, const char *key) {
    put_key(line, key);
    put(line, "null", 4);
}

void tendon_line_word(tendon_line *line, const char *key, const char *word) {
    put_key(line, key);
    put_byte(line, '"');
    put_word(line, word);
    put_byte(line, '"');
}

/* A character by its number. */
static void put_number_of(tendon_line *line, uint32_t code) {
    static const char digits[] = "0123456789abcdef";
    put(line, "\\u", 2);
    for (unsigned shift = 16; shift > 0; shift -= 4) {
        put_byte(line, digits[code >> (shift - 4) & 15]);
    }
}

/* Characters of a string, escaped where JSON demands it (RFC 8259 section 7). */
static void put_escaped(tendon_line *line, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if ((uint8_t)text[i] < 0x20) {
            put_number_of(line, (uint8_t)text[i]);
            continue;
        }
        if (text[i] == '"' || text[i] == '\\') {
            put_byte(line, '\\');
        }
        put_byte(line, text[i]);
    }
}

void tendon_line_string(tendon_line *line, const char *key, const char *text, size_t length) {
    put_key(line, key);
    put_byte(line, '"');
    put_escaped(line, text, length);
    put_byte(line, '"');
}

/* Bytes that a character has which begins with this one, if it is one. */
static size_t size_of(uint8_t first) {
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* One character. What is unsafe on a terminal is given by its number, so that it is not lost. Returns its bytes; of
 * what is not valid, one. */
static size_t put_character(tendon_line *line, const uint8_t *text, size_t left) {
    enum { CHARACTER = 4, REPLACEMENT = 3 };
    char safe[CHARACTER * REPLACEMENT + 1]; /* each byte can become U+FFFD */
    size_t size = size_of(text[0]) <= left ? size_of(text[0]) : left;
    size_t length = tendon_ad_text(text, size, safe, sizeof safe);
    if (length == size && memcmp(safe, text, size) == 0) {
        put_escaped(line, safe, size);
        return size;
    }
    if (size == 1 && text[0] < 0x80) {
        put_number_of(line, text[0]);
        return 1;
    }
    /* One that is valid is replaced once, of others each byte. A NUL ends the text there. */
    if (size > 1 && length == REPLACEMENT && text[1] != 0) {
        uint32_t code = text[0] & (0x7Fu >> size);
        for (size_t i = 1; i < size; i++) {
            code = code << 6 | (text[i] & 0x3Fu);
        }
        put_number_of(line, code);
        return size;
    }
    put(line, "\xEF\xBF\xBD", REPLACEMENT);
    return 1;
}

void tendon_line_text(tendon_line *line, const char *key, const char *text, size_t length) {
    put_key(line, key);
    put_byte(line, '"');
    for (size_t at = 0; at < length;) {
        at += put_character(line, (const uint8_t *)text + at, length - at);
    }
    put_byte(line, '"');
}

void tendon_line_bytes(tendon_line *line, const char *key, const uint8_t *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    put_key(line, key);
    put_byte(line, '"');
    for (size_t i = 0; i < length; i++) {
        put_byte(line, digits[bytes[i] >> 4]);
        put_byte(line, digits[bytes[i] & 15]);
    }
    put_byte(line, '"');
}

/* ---- arrays and objects ---- */

static void open_with(tendon_line *line, const char *key, char bracket) {
    put_key(line, key);
    put_byte(line, bracket);
    line->is_first = true;
}

static void close_with(tendon_line *line, char bracket) {
    put_byte(line, bracket);
    line->is_first = false;
}

void tendon_line_open_array(tendon_line *line, const char *key) {
    open_with(line, key, '[');
}

void tendon_line_close_array(tendon_line *line) {
    close_with(line, ']');
}

void tendon_line_open_object(tendon_line *line, const char *key) {
    open_with(line, key, '{');
}

void tendon_line_close_object(tendon_line *line) {
    close_with(line, '}');
}

/* ---- members that many lines have ---- */

void tendon_line_times(tendon_line *line, uint64_t received_at, uint64_t sampled_at, uint32_t error_us) {
    if (received_at == 0) {
        return;
    }
    tendon_line_number(line, "received_at", (double)received_at / 1e9, 6);
    if (sampled_at != 0) {
        tendon_line_number(line, "sampled_at", (double)sampled_at / 1e9, 6);
        tendon_line_number(line, "error_ms", (double)error_us / 1e3, 1);
    }
}

void tendon_line_error(tendon_line *line, tendon_status status) {
    tendon_line_word(line, "error", tendon_family_status_name(status));
    switch (TENDON_STATUS_LAYER(status)) {
    case TENDON_LAYER_ATT:
    case TENDON_LAYER_HCI:
    case TENDON_LAYER_L2CAP:
    case TENDON_LAYER_MANAGEMENT:
    case TENDON_LAYER_SYSTEM:
        tendon_line_integer(line, "error_number", TENDON_STATUS_CODE(status));
        break;
    default:
        break;
    }
}

void tendon_line_sentence(tendon_line *line, const char *operation, const char *text) {
    put_key(line, "text");
    put_byte(line, '"');
    if (operation != NULL) {
        put_word(line, operation);
        put(line, ": ", 2);
    }
    put_word(line, text);
    put_byte(line, '"');
}

void tendon_line_reason(tendon_line *line, const char *operation, tendon_status status) {
    char text[TENDON_STATUS_FORMAT_SIZE];
    if (operation == NULL) {
        tendon_line_sentence(line, NULL, tendon_family_status_text(status));
        return;
    }
    (void)tendon_status_format(status, tendon_family_status_name(status), tendon_family_status_text(status), text,
                               sizeof text);
    tendon_line_sentence(line, operation, text);
}

const char *tendon_line_address_type(uint8_t type) {
    static const char *const names[] = {"public", "random", "public_identity", "random_identity"};
    if (type < sizeof names / sizeof names[0]) {
        return names[type];
    }
    return type == TENDON_ADDRESS_TYPE_ANONYMOUS ? "anonymous" : "unknown";
}
