/* SPDX-License-Identifier: MIT */
/* The time of day as text, in several zones. */
#include "test_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tendon/base.h"
#include "tendon/linux/time.h"

/* POSIX zones have the sign of what is added to the local time. */
static void the_time_of_this_place(void **state) {
    static const struct {
        const char *zone, *suffix;
        int seconds;
    } rows[] = {{"UTC0", "+00:00", 0}, {"IST-5:30", "+05:30", 19800}, {"NST3:30", "-03:30", -12600}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TENDON_LOCAL_TIME_SIZE];
        assert_int_equal(setenv("TZ", rows[i].zone, 1), 0);
        tzset();
        int64_t before = (int64_t)(tendon_realtime_us() / 1000000), seconds = 0;
        assert_ptr_equal(tendon_local_time(text), text);
        assert_int_equal(strlen(text), 25);
        assert_string_equal(text + 19, rows[i].suffix);
        unsigned parts[6];
        assert_int_equal(
            sscanf(text, "%4u-%2u-%2uT%2u:%2u:%2u", &parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &parts[5]),
            6);
        const tendon_calendar date = {(uint16_t)parts[0], (uint8_t)parts[1], (uint8_t)parts[2],
                                      (uint8_t)parts[3],  (uint8_t)parts[4], (uint8_t)parts[5]};
        assert_true(tendon_calendar_to_seconds(&date, &seconds));
        seconds -= rows[i].seconds;
        assert_true(seconds >= before && seconds <= (int64_t)(tendon_realtime_us() / 1000000));
    }
    unsetenv("TZ");
    tzset();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_time_of_this_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
