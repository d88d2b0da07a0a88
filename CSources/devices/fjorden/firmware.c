/* SPDX-License-Identifier: MIT */
#include "tendon/devices/fjorden_firmware.h"

enum { NUMBERS = 3, DIGITS_MAX = 5 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_identifier(char c) {
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-';
}

/* Digits of at most 65535 from *at on. */
static bool take_number(const char *text, size_t length, size_t *at, uint16_t *out) {
    uint32_t value = 0;
    size_t start = *at;
    while (*at < length && is_digit(text[*at])) {
        if (*at - start == DIGITS_MAX) {
            return false;
        }
        value = value * 10 + (uint32_t)(text[*at] - '0');
        ++*at;
    }
    *out = (uint16_t)value;
    return *at > start && value <= UINT16_MAX;
}

static size_t take_identifiers(const char *text, size_t length, size_t *at, const char **out) {
    size_t start = *at;
    while (*at < length && is_identifier(text[*at])) {
        ++*at;
    }
    *out = text + start;
    return *at - start;
}

static bool has_empty_part(const char *text, size_t length) {
    bool empty = true;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && empty) {
            return true;
        }
        empty = text[i] == '.';
    }
    return empty;
}

static bool parse(const char *text, size_t length, tendon_fjorden_version *version) {
    size_t at = length > 0 && (text[0] == 'v' || text[0] == 'V') ? 1 : 0;
    uint16_t numbers[NUMBERS] = {0};
    for (size_t i = 0; i < NUMBERS; i++) {
        if (i > 0) {
            if (at == length || text[at] != '.') {
                break;
            }
            at++;
        }
        if (!take_number(text, length, &at, &numbers[i])) {
            return false;
        }
    }
    version->major = numbers[0];
    version->minor = numbers[1];
    version->patch = numbers[2];
    if (at < length && text[at] == '-') {
        at++;
        version->prerelease_length = take_identifiers(text, length, &at, &version->prerelease);
        if (has_empty_part(version->prerelease, version->prerelease_length)) {
            return false;
        }
    }
    if (at < length && text[at] == '+') {
        at++;
        version->build_length = take_identifiers(text, length, &at, &version->build);
        if (version->build_length == 0) {
            return false;
        }
    }
    return at == length;
}

bool tendon_fjorden_version_parse(const char *text, size_t length, tendon_fjorden_version *out) {
    while (length > 0 && text[length - 1] == 0) {
        length--;
    }
    while (length > 0 && is_blank(text[length - 1])) {
        length--;
    }
    while (length > 0 && is_blank(text[0])) {
        text++;
        length--;
    }
    tendon_fjorden_version version = {0};
    if (!parse(text, length, &version)) {
        return false;
    }
    *out = version;
    return true;
}

/* ---- order ---- */

static int sign_of(size_t a, size_t b) {
    return a < b ? -1 : a > b;
}

static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t common = a_length < b_length ? a_length : b_length;
    int order = memcmp(a, b, common);
    return order != 0 ? (order < 0 ? -1 : 1) : sign_of(a_length, b_length);
}

static bool all_digits(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i])) {
            return false;
        }
    }
    return true;
}

/* By number, of any length: zeros in front do not count, then more digits are more. */
static int compare_numbers(const char *a, size_t a_length, const char *b, size_t b_length) {
    while (a_length > 0 && *a == '0') {
        a++;
        a_length--;
    }
    while (b_length > 0 && *b == '0') {
        b++;
        b_length--;
    }
    return a_length != b_length ? sign_of(a_length, b_length) : compare_bytes(a, a_length, b, b_length);
}

static int compare_part(const char *a, size_t a_length, const char *b, size_t b_length) {
    bool a_number = all_digits(a, a_length), b_number = all_digits(b, b_length);
    if (a_number != b_number) {
        return a_number ? -1 : 1;
    }
    return a_number ? compare_numbers(a, a_length, b, b_length) : compare_bytes(a, a_length, b, b_length);
}

static size_t part_length(const char *text, size_t length) {
    size_t count = 0;
    while (count < length && text[count] != '.') {
        count++;
    }
    return count;
}

static int compare_prereleases(const tendon_fjorden_version *a, const tendon_fjorden_version *b) {
    size_t i = 0, j = 0;
    while (i < a->prerelease_length && j < b->prerelease_length) {
        size_t a_part = part_length(a->prerelease + i, a->prerelease_length - i);
        size_t b_part = part_length(b->prerelease + j, b->prerelease_length - j);
        int order = compare_part(a->prerelease + i, a_part, b->prerelease + j, b_part);
        if (order != 0) {
            return order;
        }
        i += a_part + 1;
        j += b_part + 1;
    }
    return (i < a->prerelease_length) - (j < b->prerelease_length);
}

int tendon_fjorden_version_compare(const tendon_fjorden_version *a, const tendon_fjorden_version *b) {
    const uint16_t left[NUMBERS] = {a->major, a->minor, a->patch}, right[NUMBERS] = {b->major, b->minor, b->patch};
    for (size_t i = 0; i < NUMBERS; i++) {
        if (left[i] != right[i]) {
            return sign_of(left[i], right[i]);
        }
    }
    if (a->prerelease == NULL || b->prerelease == NULL) {
        return (a->prerelease == NULL) - (b->prerelease == NULL);
    }
    return compare_prereleases(a, b);
}

/* ---- text ---- */

static void write_number(tendon_writer *writer, uint16_t number) {
    char digits[DIGITS_MAX];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number = (uint16_t)(number / 10);
    } while (number > 0);
    while (count > 0) {
        tendon_write_u8(writer, (uint8_t)digits[--count]);
    }
}

tendon_status tendon_fjorden_version_format(const tendon_fjorden_version *version, char *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make((uint8_t *)out, capacity);
    write_number(&writer, version->major);
    tendon_write_u8(&writer, '.');
    write_number(&writer, version->minor);
    tendon_write_u8(&writer, '.');
    write_number(&writer, version->patch);
    if (version->prerelease != NULL) {
        tendon_write_u8(&writer, '-');
        tendon_write_bytes(&writer, version->prerelease, version->prerelease_length);
    }
    if (version->build != NULL) {
        tendon_write_u8(&writer, '+');
        tendon_write_bytes(&writer, version->build, version->build_length);
    }
    tendon_write_u8(&writer, 0);
    tendon_status result = tendon_writer_result(&writer);
    return result < 0 ? result : result - 1;
}

tendon_status tendon_fjorden_firmware_check(bool connected, const tendon_fjorden_version *current,
                                            const tendon_fjorden_version *latest) {
    if (!connected) {
        return TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT;
    }
    if (latest == NULL) {
        return TENDON_FJORDEN_ERROR_NO_FIRMWARE_SERVER;
    }
    if (current == NULL) {
        return TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION;
    }
    return tendon_fjorden_version_compare(latest, current) > 0 ? 1 : 0;
}
