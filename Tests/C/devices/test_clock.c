/* SPDX-License-Identifier: MIT */
#include "clock_course.h"
#include "test_bytes.h"

#include <math.h>

/* A device that samples every 10 ms; its clock has shown 5 s when that of the machine shows 1,000 s. */
enum { MS = 1000000, PERIOD = 10 };
#define SECOND UINT64_C(1000000000)
#define DEVICE_BEGIN (5 * SECOND)
#define HOST_BEGIN (1000 * SECOND)

typedef struct world {
    tendon_clock clock;
    uint64_t device, host; /* of the next sample */
} world;

static world begin(void) {
    return (world){.device = DEVICE_BEGIN, .host = HOST_BEGIN};
}

static tendon_clock_time sample(world *w, uint64_t delay_ns) {
    tendon_clock_take(&w->clock, w->device, w->host + delay_ns, 0);
    tendon_clock_time time = tendon_clock_at(&w->clock, w->device, w->host + delay_ns);
    w->device += PERIOD * MS;
    w->host += PERIOD * MS;
    return time;
}

/* Seconds in which each sample arrives 1 ms after it was measured. */
static void run(world *w, unsigned seconds) {
    for (unsigned i = 0; i < seconds * 1000 / PERIOD; i++) {
        (void)sample(w, MS);
    }
}

static int64_t error_of(const world *w, tendon_clock_time time) {
    return (int64_t)(time.sampled_at - (w->host - PERIOD * MS)); /* of the sample that was taken last */
}

static void assert_within_bound(const world *w, tendon_clock_time time) {
    assert_true(llabs(error_of(w, time)) <= (int64_t)time.error_us * 1000);
}

/* Noise of 0.7 ms, its middle; 2 ms for rounding, and 100 ms because all samples so far can have been sent again. */
static void the_first_sample_has_a_wide_bound(void **state) {
    (void)state;
    world w = begin();
    tendon_clock_time time = sample(&w, MS);
    assert_int_equal(error_of(&w, time), MS - 350000);
    assert_int_equal(time.error_us, 350 + 2000 + 100000);
    for (int i = 0; i < 62; i++) {
        assert_true(sample(&w, MS).error_us > 100000);
    }
    assert_in_range(sample(&w, MS).error_us, 2000, 3000);
}

static void late_packets_have_the_time_of_their_sample(void **state) {
    (void)state;
    static const unsigned delays[] = {3, 7, 31, 90, 101, 450, 999};
    world w = begin();
    run(&w, 60);
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        tendon_clock_time time = sample(&w, (uint64_t)delays[i] * MS);
        assert_in_range(llabs(error_of(&w, time)), 0, MS);
        assert_in_range(time.error_us, 2000, 3000);
    }
}

/* Nothing arrives for 600 ms, then all in one connection event. */
static void a_burst_has_the_times_of_its_samples(void **state) {
    (void)state;
    world w = begin();
    run(&w, 60);
    for (uint64_t left = 600; left > 0; left -= PERIOD) {
        tendon_clock_time time = sample(&w, left * MS);
        assert_in_range(llabs(error_of(&w, time)), 0, MS);
        assert_in_range(time.error_us, 2000, 3000);
    }
}

static void an_older_sample_of_a_notification(void **state) {
    (void)state;
    world w = begin();
    run(&w, 60);
    tendon_clock_take(&w.clock, w.device, w.host + MS, 0);
    tendon_clock_time newest = tendon_clock_at(&w.clock, w.device, w.host + MS);
    tendon_clock_time older = tendon_clock_at(&w.clock, w.device - 40 * MS, w.host + MS);
    assert_in_range(newest.sampled_at - older.sampled_at, 40 * MS - 20000, 40 * MS + 20000); /* 500 ppm at most */
}

static void no_sample_is_later_than_its_arrival(void **state) {
    (void)state;
    world w = begin();
    run(&w, 10);
    const uint64_t arrival = w.host + MS;
    tendon_clock_time time = tendon_clock_at(&w.clock, w.device + 20 * MS, arrival);
    assert_int_equal(time.sampled_at, arrival);
}

/* The device's clock is slow by 200 ppm: 12 ms a minute. */
static void drift_is_learned(void **state) {
    (void)state;
    world w = begin();
    tendon_clock_time time = {0};
    for (unsigned i = 0; i < 12000; i++) {
        time = sample(&w, MS);
        w.host += PERIOD * MS / 5000;
    }
    w.host -= PERIOD * MS / 5000;
    assert_in_range(llabs(error_of(&w, time)), 0, MS);
    /* Without samples the bound grows with what is not known of the drift. */
    w.host += PERIOD * MS / 5000 + 600 * SECOND + 600 * SECOND / 5000;
    w.device += 600 * SECOND;
    tendon_clock_time later = tendon_clock_at(&w.clock, w.device, w.host + MS);
    assert_true(later.error_us > time.error_us);
    assert_true(llabs((int64_t)(later.sampled_at - w.host)) <= (int64_t)later.error_us * 1000);
}

/* As after a suspend of the machine, in which its clock stands still: the sample is from the future of the model. */
static void a_clock_that_stood_still_starts_the_model_again(void **state) {
    (void)state;
    world w = begin();
    run(&w, 60);
    w.device += 3600 * SECOND;
    tendon_clock_time time = sample(&w, MS);
    assert_in_range(llabs(error_of(&w, time)), 0, 2 * MS);
    assert_true(time.error_us > 100000);
}

/* The device's clock is set back: its samples seem to be late. The bound covers both until it is certain. */
static void a_clock_that_was_set_back_starts_the_model_again(void **state) {
    (void)state;
    world w = begin();
    run(&w, 60);
    w.device -= 4 * SECOND;
    for (unsigned ms = 0; ms <= 8000; ms += PERIOD) {
        tendon_clock_time time = sample(&w, MS);
        assert_within_bound(&w, time);
        assert_true(time.error_us > 3900000);
    }
    for (int i = 0; i < 2; i++) {
        assert_in_range(llabs(error_of(&w, sample(&w, MS))), 0, 2 * MS);
    }
    run(&w, 60);
    assert_in_range(sample(&w, MS).error_us, 2000, 3000);
}

static void it_goes_on_after_a_reconnection(void **state) {
    (void)state;
    world w = begin();
    run(&w, 60);
    w.device += 30 * SECOND;
    w.host += 30 * SECOND;
    tendon_clock_reconnected(&w.clock);
    tendon_clock_time time = sample(&w, 31 * MS);
    assert_in_range(llabs(error_of(&w, time)), 0, MS);
    assert_in_range(time.error_us, 2000, 5000);
}

/* Its clock begins at 0: earlier than the model's first sample, or not. */
static void a_device_that_was_restarted(void **state) {
    (void)state;
    static const uint64_t shown[] = {0, 6 * SECOND, 20 * SECOND, 500 * SECOND};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        world w = begin();
        run(&w, 60);
        w.host += 30 * SECOND;
        w.device = shown[i];
        tendon_clock_reconnected(&w.clock);
        tendon_clock_time time = sample(&w, MS);
        assert_in_range(llabs(error_of(&w, time)), 0, 2 * MS);
        assert_true(time.error_us > 100000);
    }
}

/* In step with the connection nothing is known about the shortest delay but that it is shorter than the step. */
static void sampling_in_step_has_the_step_in_its_bound(void **state) {
    (void)state;
    const clock_course in_step = {30, 30, 0, 0, 0, 1, 120, 1}, not_in_step = {30.3, 30, 0, 0, 0, 1, 120, 1};
    clock_result result = run_course(&in_step);
    assert_true(result.bound_ms > 15 && result.over == 0 && result.over_before == 0);
    result = run_course(&not_in_step);
    assert_true(result.bound_ms < 4 && result.over == 0 && result.over_before == 0);
}

/* A new interval has other phases. */
static void the_interval_of_a_connection_changes(void **state) {
    (void)state;
    world w = begin();
    for (unsigned i = 0; i < 6000; i++) {
        uint64_t arrival = w.host + (i < 3000 ? PERIOD * MS - i % 3 * 3 * MS : MS);
        tendon_clock_take(&w.clock, w.device, arrival, i < 3000 ? 30000 : 7500);
        tendon_clock_time time = tendon_clock_at(&w.clock, w.device, arrival);
        assert_true(llabs((int64_t)(time.sampled_at - w.host)) <= (int64_t)time.error_us * 1000);
        w.device += PERIOD * MS;
        w.host += PERIOD * MS;
    }
}

/* The limits of docs/device-clock.md; Bench/device_clock.sh has all courses. */
static void limits(void **state) {
    (void)state;
    static const double intervals[] = {7.5, 11.25, 15, 18.75, 30, 37.5, 48.75, 50};
    static const double periods[] = {5, 20, 40}, drifts[] = {-200, -20, 0, 60, 200};
    const uint64_t seed = 1;
    print_message("# seed %d\n", (int)seed);
    uint64_t number = 0;
    for (size_t i = 0; i < 8 * 3 * 5 * 2; i++) {
        const bool in_step = i % 2 == 0;
        const clock_course course = {.period_ms = periods[i / 16 % 3] * (in_step ? 1 : 1.011),
                                     .interval_ms = intervals[i / 2 % 8],
                                     .drift_ppm = drifts[i / 48],
                                     .loss = 0.02,
                                     .bursts = 1,
                                     .resolution_ms = 1,
                                     .seconds = 180,
                                     .seed = seed + ++number * 7919};
        clock_result result = run_course(&course);
        if (result.over > 0.001 || (!in_step && result.p99_ms >= 2)) {
            fail_msg("period %g, interval %g, drift %g: 99 %% under %.3f ms, over the bound %.3f %%", course.period_ms,
                     course.interval_ms, course.drift_ppm, result.p99_ms, result.over * 100);
        }
    }
}

/* Whatever the device states: a time that is not later than the arrival, and a bound. */
static void hostile_times(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int course = 0; course < 200; course++) {
        tendon_clock clock = {0};
        uint64_t device = (uint64_t)(course_random(&random) * 1e19), host = SECOND;
        for (int i = 0; i < 500; i++) {
            double kind = course_random(&random);
            device = kind < 0.1   ? (uint64_t)(course_random(&random) * 1.8e19)
                     : kind < 0.2 ? device - (uint64_t)(course_random(&random) * 1e10)
                                  : device + (uint64_t)(course_random(&random) * (kind < 0.4 ? 1e12 : 2e7));
            host += (uint64_t)(course_random(&random) * (kind < 0.3 ? 1e11 : 2e7));
            tendon_clock_take(&clock, device, host, kind < 0.5 ? 30000 : 0);
            tendon_clock_time time = tendon_clock_at(&clock, device, host);
            assert_true(time.sampled_at <= host && time.error_us >= 2000);
            time = tendon_clock_at(&clock, (uint64_t)(course_random(&random) * 1.8e19), host);
            assert_true(time.sampled_at <= host && time.error_us >= 2000);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_sample_has_a_wide_bound),
        cmocka_unit_test(late_packets_have_the_time_of_their_sample),
        cmocka_unit_test(a_burst_has_the_times_of_its_samples),
        cmocka_unit_test(an_older_sample_of_a_notification),
        cmocka_unit_test(no_sample_is_later_than_its_arrival),
        cmocka_unit_test(drift_is_learned),
        cmocka_unit_test(a_clock_that_stood_still_starts_the_model_again),
        cmocka_unit_test(a_clock_that_was_set_back_starts_the_model_again),
        cmocka_unit_test(it_goes_on_after_a_reconnection),
        cmocka_unit_test(a_device_that_was_restarted),
        cmocka_unit_test(sampling_in_step_has_the_step_in_its_bound),
        cmocka_unit_test(the_interval_of_a_connection_changes),
        cmocka_unit_test(limits),
        cmocka_unit_test(hostile_times),
    };
    return cmocka_run_group_tests_name("devices_clock", tests, NULL, NULL);
}
