/* SPDX-License-Identifier: MIT */
/* By counting: small rather than fast. 400 years are a whole number of days, so at most 399 years are counted. */
#include "tendon/base/calendar.h"

enum { DAY = 86400, DAYS_OF_400_YEARS = 146097 };
/* 0001-01-01T00:00:00, 9999-12-31T23:59:59 */
#define EARLIEST (-INT64_C(62135596800))
#define LATEST INT64_C(253402300799)

static unsigned days_of_month(unsigned year, unsigned month) {
    if (month == 2) {
        return (year % 100 == 0 ? year % 16 : year % 4) == 0 ? 29 : 28; /* of whole hundreds those that are 400 * n */
    }
    return 30 + ((month + (month >> 3)) & 1);
}

static unsigned days_of_year(unsigned year) {
    return 337 + days_of_month(year, 2);
}

bool tendon_calendar_from_seconds(int64_t seconds, tendon_calendar *out) {
    if (seconds < EARLIEST || seconds > LATEST) {
        return false;
    }
    uint64_t all = (uint64_t)(seconds - EARLIEST);
    uint32_t days = (uint32_t)(all / DAY), of_day = (uint32_t)(all % DAY);
    unsigned year = 1 + days / DAYS_OF_400_YEARS * 400, month = 1;
    for (days %= DAYS_OF_400_YEARS; days >= days_of_year(year); year++) {
        days -= days_of_year(year);
    }
    for (; days >= days_of_month(year, month); month++) {
        days -= days_of_month(year, month);
    }
    *out = (tendon_calendar){(uint16_t)year,
                             (uint8_t)month,
                             (uint8_t)(days + 1),
                             (uint8_t)(of_day / 3600),
                             (uint8_t)(of_day / 60 % 60),
                             (uint8_t)(of_day % 60)};
    return true;
}

bool tendon_calendar_to_seconds(const tendon_calendar *calendar, int64_t *seconds) {
    uint32_t before = calendar->year - 1U, days = before * 365 + before / 4 - before / 100 + before / 400;
    if (before > 9998 || calendar->month - 1U > 11 ||
        calendar->day - 1U >= days_of_month(calendar->year, calendar->month) || calendar->hour > 23 ||
        calendar->minute > 59 || calendar->second > 59) {
        return false;
    }
    for (unsigned month = 1; month < calendar->month; month++) {
        days += days_of_month(calendar->year, month);
    }
    days += calendar->day - 1U;
    *seconds = EARLIEST + (int64_t)days * DAY + calendar->hour * 3600 + calendar->minute * 60 + calendar->second;
    return true;
}
