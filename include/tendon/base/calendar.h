/* SPDX-License-Identifier: MIT */
/* Dates of the Gregorian calendar, also before it began, and times of day. No zones, no leap seconds. */
#ifndef TENDON_BASE_CALENDAR_H
#define TENDON_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_calendar {
    uint16_t year;      /**< 1 to 9999 */
    uint8_t month, day; /**< from 1 */
    uint8_t hour, minute, second;
} tendon_calendar;

/** Sets *out. @param seconds since 1970-01-01T00:00:00. Returns false if the year is not 1 to 9999. */
bool tendon_calendar_from_seconds(int64_t seconds, tendon_calendar *out);
/** Sets *seconds since 1970. Returns false if there is no such date, or no such time of a day. */
bool tendon_calendar_to_seconds(const tendon_calendar *calendar, int64_t *seconds);

#ifdef __cplusplus
}
#endif
#endif
