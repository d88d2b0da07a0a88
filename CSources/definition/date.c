/* SPDX-License-Identifier: MIT */
#include "date.h"

#include "number.h"
#include "tendon/base/calendar.h"

#include <math.h>

enum { DATE_BYTES = 7 };
#define SECONDS_MAX 1e12 /* beyond the year 9999 */

/* Text */

static const char separators[] = "--T::";

static size_t put_number(char *out, size_t length, uint32_t number, unsigned digits) {
    for (unsigned i = digits; i > 0; i--, number /= 10) {
        out[length + i - 1] = (char)('0' + (char)(number % 10));
    }
    return length + digits;
}

static size_t put_date(char *out, const tendon_calendar *date) {
    const uint8_t parts[] = {date->month, date->day, date->hour, date->minute, date->second};
    size_t length = put_number(out, 0, date->year, 4);
    for (unsigned i = 0; i < sizeof parts; i++) {
        out[length++] = separators[i];
        length = put_number(out, length, parts[i], 2);
    }
    return length;
}

/* A text that is read. */
typedef struct scan {
    const char *text;
    size_t length, at;
} scan;

static bool take(scan *s, char c) {
    bool is_it = s->at < s->length && s->text[s->at] == c;
    s->at += is_it ? 1 : 0;
    return is_it;
}

static bool take_number(scan *s, unsigned digits, uint32_t *out) {
    *out = 0;
    for (; digits > 0 && s->at < s->length; digits--, s->at++) {
        uint32_t digit = (uint32_t)(uint8_t)s->text[s->at] - '0';
        if (digit > 9) {
            return false;
        }
        *out = *out * 10 + digit;
    }
    return digits == 0;
}

/* "Z", "+01:00"; nothing is a zone of 0. */
static bool take_zone(scan *s, int32_t *zone) {
    uint32_t hours = 0, minutes = 0;
    bool is_west = s->at < s->length && s->text[s->at] == '-';
    if (take(s, 'Z') || s->at == s->length) {
        return true;
    }
    bool is_zone = (take(s, '-') || take(s, '+')) && take_number(s, 2, &hours) && take(s, ':') &&
                   take_number(s, 2, &minutes) && hours < 24 && minutes < 60;
    int32_t size = (int32_t)(hours * 3600 + minutes * 60);
    *zone = is_west ? -size : size;
    return is_zone;
}

bool tendon_date_parse(const char *text, size_t length, bool is_utc, int64_t *seconds) {
    enum { DAY = 2, MINUTE = 4, PARTS = 6 };
    scan s = {text, length, 0};
    uint32_t parts[PARTS] = {0};
    int32_t zone = 0;
    unsigned last = 0;
    bool is_right = take_number(&s, 4, &parts[0]);
    while (is_right && last + 1 < PARTS && take(&s, separators[last])) {
        is_right = take_number(&s, 2, &parts[++last]);
    }
    const tendon_calendar date = {(uint16_t)parts[0], (uint8_t)parts[1], (uint8_t)parts[2],
                                  (uint8_t)parts[3],  (uint8_t)parts[4], (uint8_t)parts[5]};
    if (!is_right || (last < MINUTE ? last != DAY : is_utc && !take_zone(&s, &zone)) || s.at != length ||
        !tendon_calendar_to_seconds(&date, seconds)) {
        return false;
    }
    *seconds -= zone;
    return true;
}

/* Bytes */

static bool is_big(const tendon_field *field) {
    return (field->flags & TENDON_FIELD_BIG_ENDIAN) != 0;
}

static bool is_utc(const tendon_field *field) {
    return field->type == TENDON_FIELD_EPOCH && (field->flags & TENDON_FIELD_LOCAL) == 0;
}

/* Date Time (GATT Specification Supplement 3.71): year, month, day, hours, minutes, seconds; 0 is a year, a month or a
 * day that is not known. */
static tendon_status decode_date(const tendon_field *field, const uint8_t *bytes, char *out) {
    unsigned high = is_big(field) ? 0 : 1, year = (unsigned)bytes[high] << 8 | bytes[1 - high];
    const tendon_calendar date = {(uint16_t)year, bytes[2], bytes[3], bytes[4], bytes[5], bytes[6]};
    int64_t seconds = 0;
    if (date.year == 0 || date.month == 0 || date.day == 0) {
        return 0;
    }
    return tendon_calendar_to_seconds(&date, &seconds) ? (tendon_status)put_date(out, &date) : TENDON_ERROR_MALFORMED;
}

/* A count since the field's offset, which is that of its epoch: seconds since 1970. */
static tendon_status decode_epoch(const tendon_field *field, const uint8_t *bytes, char *out) {
    tendon_number raw = tendon_number_decode(field, bytes);
    tendon_calendar date;
    double seconds = raw.number * field->factor / field->divisor + field->offset, unit = 1;
    for (unsigned i = 0; i < field->decimals; i++) {
        unit *= 10;
    }
    seconds += 0.5 / unit; /* rounds what is cut below */
    double whole = floor(seconds);
    if (raw.is_nothing || !(whole > -SECONDS_MAX && whole < SECONDS_MAX) ||
        !tendon_calendar_from_seconds((int64_t)whole, &date)) {
        return 0;
    }
    size_t length = put_date(out, &date);
    if (field->decimals > 0) {
        out[length++] = '.';
        length = put_number(out, length, (uint32_t)((seconds - whole) * unit), field->decimals);
    }
    if (is_utc(field)) {
        out[length++] = 'Z';
    }
    return (tendon_status)length;
}

tendon_status tendon_date_decode(const tendon_field *field, const uint8_t *bytes, char out[TENDON_DATE_SIZE]) {
    return field->type == TENDON_FIELD_DATE ? decode_date(field, bytes, out) : decode_epoch(field, bytes, out);
}

bool tendon_date_encode(const tendon_field *field, const char *text, size_t length, uint8_t *out) {
    int64_t seconds = 0;
    tendon_calendar date;
    if (!tendon_date_parse(text, length, is_utc(field), &seconds) || !tendon_calendar_from_seconds(seconds, &date)) {
        return false;
    }
    if (field->type == TENDON_FIELD_EPOCH) {
        return tendon_number_encode(field, (double)seconds, out);
    }
    out[is_big(field) ? 1 : 0] = (uint8_t)date.year;
    out[is_big(field) ? 0 : 1] = (uint8_t)(date.year >> 8);
    const uint8_t rest[DATE_BYTES - 2] = {date.month, date.day, date.hour, date.minute, date.second};
    for (unsigned i = 0; i < sizeof rest; i++) {
        out[2 + i] = rest[i];
    }
    return true;
}
