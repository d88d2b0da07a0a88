/* SPDX-License-Identifier: MIT */
/* Frames, angles, the reference, rate and smoothing, and maps. */
#include "test_bytes.h"

#include "tendon/osc.h"

#include <math.h>

#define RADIANS (3.14159265358979323846 / 180.0)
#define MS UINT64_C(1000000)

static void assert_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
    }
}

/* Rotations by degrees about the axes of the head frame, X front, Y left, Z up. */
static tendon_quaternion about(double x, double y, double z, double degrees) {
    double half = degrees * RADIANS / 2;
    return (tendon_quaternion){x * sin(half), y * sin(half), z * sin(half), cos(half)};
}

static tendon_quaternion times(tendon_quaternion a, tendon_quaternion b) {
    return tendon_quaternion_multiply(a, b);
}

/* Turned to the right, then lifted, then tilted to the left shoulder. */
static tendon_quaternion head(double yaw, double pitch, double roll) {
    return times(about(0, 0, 1, -yaw), times(about(0, 1, 0, -pitch), about(1, 0, 0, -roll)));
}

static void assert_angles(tendon_quaternion q, double yaw, double pitch, double roll) {
    tendon_head_angles angles = tendon_head_angles_of(q);
    assert_near(angles.yaw, yaw, 1e-6);
    assert_near(angles.pitch, pitch, 1e-6);
    assert_near(angles.roll, roll, 1e-6);
}

/* The quaternion of a Bose device whose right, back and down, the axes of its body, point so in the world: x east, y
 * north, z up. From the trace: for heads that turn by less than half a turn from (1, 0, 0, 0) the largest part is x. */
static tendon_quaternion bose_of(const double right[3], const double back[3], const double down[3]) {
    double x = sqrt(1 + right[0] - back[1] - down[2]) / 2;
    return (tendon_quaternion){x, (back[0] + right[1]) / (4 * x), (down[0] + right[2]) / (4 * x),
                               (back[2] - down[1]) / (4 * x)};
}

static void level_head_to_the_north(void **state) {
    (void)state;
    tendon_quaternion q = tendon_head_from_bose((tendon_quaternion){1, 0, 0, 0});
    assert_true(q.x == 0 && q.y == 0 && q.z == 0 && q.w == 1);
}

/* Words about the head, vectors of its axes, and the three angles. */
static void bose_heads_by_their_axes(void **state) {
    (void)state;
    double c = cos(30 * RADIANS), s = sin(30 * RADIANS);
    /* looks 30 degrees east of north: the right ear to the south-east */
    assert_angles(tendon_head_from_bose(bose_of((double[]){c, -s, 0}, (double[]){-s, -c, 0}, (double[]){0, 0, -1})), 30,
                  0, 0);
    /* looks north and up: the back of the head, and the chin below, go down and to the front */
    assert_angles(tendon_head_from_bose(bose_of((double[]){1, 0, 0}, (double[]){0, -c, -s}, (double[]){0, s, -c})), 0,
                  30, 0);
    /* the left ear to the left shoulder: the right ear goes up, what was down goes to the right */
    assert_angles(tendon_head_from_bose(bose_of((double[]){c, 0, s}, (double[]){0, -1, 0}, (double[]){s, 0, -c})), 0, 0,
                  30);
}

/* The same signs as the angles that tendon prints. */
static void signs_are_those_of_the_lines(void **state) {
    (void)state;
    static const tendon_quaternion turns[] = {{1, 0.1, 0, 0}, {1, 0, 0.1, 0}, {1, 0, 0, 0.1}};
    for (size_t i = 0; i < 3; i++) {
        tendon_quaternion q;
        assert_int_equal(tendon_quaternion_normalize(turns[i], &q), TENDON_OK);
        tendon_angles lines = tendon_euler_head(q);
        assert_angles(tendon_head_from_bose(q), lines.yaw / RADIANS, lines.pitch / RADIANS, lines.roll / RADIANS);
    }
}

/* Roll is about the nose, wherever that points: a head that has turned and nods does not roll. */
static void order_of_the_angles(void **state) {
    (void)state;
    assert_angles(head(20, 40, 60), 20, 40, 60);
    assert_angles(head(-170, -80, 179), -170, -80, 179);
    /* that of tendon_euler_head() is another: roll before pitch */
    tendon_quaternion q = head(20, 40, 60), bose = {q.w, q.z, -q.x, q.y};
    tendon_quaternion back = tendon_head_from_bose(bose);
    assert_near(fabs(back.x * q.x + back.y * q.y + back.z * q.z + back.w * q.w), 1, 1e-12);
    assert_true(fabs(tendon_euler_head(bose).roll / RADIANS - 60) > 1);
}

static tendon_orientation started(tendon_orientation_settings settings) {
    tendon_orientation o;
    tendon_orientation_init(&o, settings);
    return o;
}

static void without_settings_all_goes_through(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){0});
    tendon_quaternion out;
    for (unsigned i = 0; i < 10; i++) {
        assert_true(tendon_orientation_take(&o, head(10 * i, 5, 0), 1000 * MS, &out));
        assert_angles(out, 10 * i, 5, 0);
    }
}

static void what_is_no_rotation_is_ignored(void **state) {
    (void)state;
    static const tendon_quaternion wrong[] = {{0, 0, 0, 0},   {0, 0, 0, 0.89},     {0, 0, 0, 1.11},
                                              {NAN, 0, 0, 1}, {0, INFINITY, 0, 0}, {1, 1, 1, 1}};
    tendon_orientation o = started((tendon_orientation_settings){0});
    tendon_quaternion out;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(tendon_orientation_take(&o, wrong[i], 0, &out));
    }
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_ERROR_WRONG_STATE);
    assert_true(tendon_orientation_take(&o, (tendon_quaternion){0, 0, 0, 0.95}, 0, &out));
    assert_near(out.w, 1, 1e-12); /* of norm 1 */
}

static void recenter_makes_the_newest_the_reference(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){0});
    tendon_quaternion out;
    assert_true(tendon_orientation_take(&o, head(70, 20, -10), 0, &out));
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_OK);
    assert_true(tendon_orientation_take(&o, head(70, 20, -10), 20 * MS, &out));
    assert_angles(out, 0, 0, 0);
    /* Seen from the reference: what the head does from there on. */
    assert_true(tendon_orientation_take(&o, times(head(70, 20, -10), head(15, -5, 25)), 40 * MS, &out));
    assert_angles(out, 15, -5, 25);
    /* The next one replaces it; it is no turn from the one before. */
    assert_true(tendon_orientation_take(&o, head(90, 0, 0), 60 * MS, &out));
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_OK);
    assert_true(tendon_orientation_take(&o, head(100, 0, 0), 80 * MS, &out));
    assert_angles(out, 10, 0, 0);
}

static void recenter_of_the_yaw_alone(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){.yaw_only = true});
    tendon_quaternion out;
    assert_true(tendon_orientation_take(&o, head(70, 20, -10), 0, &out));
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_OK);
    assert_true(tendon_orientation_take(&o, head(70, 20, -10), 20 * MS, &out));
    assert_angles(out, 0, 20, -10);
    assert_true(tendon_orientation_take(&o, head(-100, 5, 6), 40 * MS, &out));
    assert_angles(out, -170, 5, 6);
}

/* The reference is of the world: it outlives a connection. Smoothing does not. */
static void a_pause_keeps_the_reference(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){.smoothing_ms = 100});
    tendon_quaternion out;
    assert_true(tendon_orientation_take(&o, head(70, 0, 0), 0, &out));
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_OK);
    tendon_orientation_pause(&o);
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_ERROR_WRONG_STATE);
    assert_true(tendon_orientation_take(&o, head(90, 0, 0), 5000 * MS, &out));
    assert_angles(out, 20, 0, 0);
}

/* @param period of the samples, in ms; jitter: each second one is early by so much, in ms */
static unsigned sent_in_a_second(uint32_t rate, unsigned period, unsigned jitter) {
    tendon_orientation o = started((tendon_orientation_settings){.rate = rate});
    tendon_quaternion out;
    unsigned sent = 0;
    for (unsigned i = 0; i * period < 1000; i++) {
        uint64_t time = (1000 + i * period - (i % 2 == 1 ? jitter : 0)) * MS;
        sent += tendon_orientation_take(&o, head(i, 0, 0), time, &out);
    }
    return sent;
}

static void rates(void **state) {
    (void)state;
    assert_int_equal(sent_in_a_second(0, 5, 0), 200);
    assert_int_equal(sent_in_a_second(50, 20, 0), 50);
    assert_int_equal(sent_in_a_second(50, 20, 4), 50); /* jitter drops none */
    assert_int_equal(sent_in_a_second(25, 20, 4), 25);
    assert_int_equal(sent_in_a_second(100, 20, 0), 50);
    assert_in_range(sent_in_a_second(60, 5, 0), 58, 62); /* no divisor of the sensor's: the mean holds */
    assert_in_range(sent_in_a_second(30, 20, 3), 28, 32);
    assert_int_equal(sent_in_a_second(1, 20, 0), 1);
}

static void after_a_gap_the_rate_begins_again(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){.rate = 10});
    tendon_quaternion out;
    assert_true(tendon_orientation_take(&o, head(0, 0, 0), 1000 * MS, &out));
    assert_true(tendon_orientation_take(&o, head(0, 0, 0), 9000 * MS, &out));
    assert_false(tendon_orientation_take(&o, head(0, 0, 0), 9020 * MS, &out)); /* no burst for what was missed */
    assert_true(tendon_orientation_take(&o, head(0, 0, 0), 9100 * MS, &out));
}

/* A step of 90 degrees through a low pass of first order: after one time constant two thirds are there. */
static void smoothing_is_a_low_pass(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){.smoothing_ms = 100});
    tendon_quaternion out;
    assert_true(tendon_orientation_take(&o, head(0, 0, 0), 0, &out));
    for (unsigned ms = 10; ms <= 100; ms += 10) {
        assert_true(tendon_orientation_take(&o, head(90, 0, 0), ms * MS, &out));
    }
    double yaw = tendon_head_angles_of(out).yaw;
    assert_true(yaw > 50 && yaw < 65);
    for (unsigned ms = 110; ms <= 1000; ms += 10) {
        assert_true(tendon_orientation_take(&o, head(90, 0, 0), ms * MS, &out));
        assert_true(tendon_head_angles_of(out).yaw >= yaw);
        yaw = tendon_head_angles_of(out).yaw;
    }
    assert_near(yaw, 90, 0.1);
    /* the same time again moves nothing; recentering forgets the past */
    assert_true(tendon_orientation_take(&o, head(0, 0, 0), 1000 * MS, &out));
    assert_near(tendon_head_angles_of(out).yaw, yaw, 1e-9);
    assert_int_equal(tendon_orientation_recenter(&o), TENDON_OK);
    assert_true(tendon_orientation_take(&o, head(0, 0, 0), 1010 * MS, &out));
    assert_near(tendon_head_angles_of(out).yaw, 0, 1e-9);
}

/* q and -q are one rotation: a device that changes the sign does not turn the head. */
static void smoothing_takes_the_short_way(void **state) {
    (void)state;
    tendon_orientation o = started((tendon_orientation_settings){.smoothing_ms = 50});
    tendon_quaternion out, q = head(30, 0, 0), negative = {-q.x, -q.y, -q.z, -q.w};
    assert_true(tendon_orientation_take(&o, q, 0, &out));
    for (unsigned i = 1; i < 50; i++) {
        assert_true(tendon_orientation_take(&o, i % 2 ? negative : q, i * 10 * MS, &out));
        assert_angles(out, 30, 0, 0);
    }
}

static void assert_map(const char *text, tendon_status expected, size_t where) {
    block copy = block_copy(text, strlen(text));
    tendon_osc_map map;
    size_t offset = 999;
    tendon_status status = tendon_osc_map_parse((const char *)copy.data, copy.length, &map, &offset);
    if (status != expected || (status < 0 && offset != where)) {
        fail_msg("%s: %d at %zu", text, status, offset);
    }
    free(copy.data);
}

static void maps_are_read(void **state) {
    (void)state;
    assert_map("w,x,y,z", 4, 0);
    assert_map(" yaw , -pitch,roll ", 3, 0);
    assert_map("scene:-yaw,-pitch,-roll", 3, 0);
    assert_map("0,0,0,0,-pitch,-yaw,-roll,w", 8, 0);
    assert_map("", TENDON_ERROR_MALFORMED, 0);
    assert_map("scene:", TENDON_ERROR_MALFORMED, 6);
    assert_map("scene", TENDON_ERROR_MALFORMED, 0);
    assert_map("w,", TENDON_ERROR_MALFORMED, 2);
    assert_map("w,,x", TENDON_ERROR_MALFORMED, 2);
    assert_map("w x", TENDON_ERROR_MALFORMED, 2);
    assert_map("w,ya", TENDON_ERROR_MALFORMED, 2);
    assert_map("w,--x", TENDON_ERROR_MALFORMED, 2);
    assert_map("yawn", TENDON_ERROR_MALFORMED, 0);
    assert_map("Yaw", TENDON_ERROR_MALFORMED, 0);
    assert_map("1", TENDON_ERROR_MALFORMED, 0);
    assert_map("w,w,w,w,w,w,w,w,w", TENDON_ERROR_TABLE_FULL, 16);
}

static void maps_choose_and_sign(void **state) {
    (void)state;
    tendon_osc_map map;
    double out[TENDON_OSC_TERMS];
    assert_int_equal(tendon_osc_map_parse("0,-pitch,roll,yaw,-w,z,-0", 25, &map, NULL), 7);
    tendon_quaternion q = head(20, 40, 60);
    tendon_osc_map_values(&map, q, out);
    const double expected[] = {0, -40, 60, 20, -q.w, q.z, 0};
    for (size_t i = 0; i < 7; i++) {
        assert_near(out[i], expected[i], 1e-6);
        assert_false(out[i] == 0 && signbit(out[i]));
    }
}

/* Two sensors of a device have different fronts: that of the absolute one counts while it comes. */
static void one_front_of_a_head(void **state) {
    (void)state;
    const uint64_t ms = 1000000;
    tendon_osc_head h;
    tendon_quaternion out;
    tendon_osc_head_init(&h, (tendon_orientation_settings){0});
    assert_true(tendon_osc_head_take(&h, false, head(10, 0, 0), 5 * ms, &out));
    assert_true(tendon_osc_head_take(&h, true, head(20, 0, 0), 10 * ms, &out));
    assert_near(tendon_head_angles_of(out).yaw, 20, 1e-6);
    assert_false(tendon_osc_head_take(&h, false, head(30, 0, 0), 11 * ms, &out));
    assert_false(tendon_osc_head_take(&h, false, head(30, 0, 0), 1010 * ms - 1, &out));
    assert_true(tendon_osc_head_take(&h, false, head(30, 0, 0), 1010 * ms, &out));
    assert_near(tendon_head_angles_of(out).yaw, 30, 1e-6);
    /* What was not taken does not become the reference. */
    assert_true(tendon_osc_head_take(&h, true, head(40, 0, 0), 1020 * ms, &out));
    assert_false(tendon_osc_head_take(&h, false, head(90, 0, 0), 1021 * ms, &out));
    assert_int_equal(tendon_orientation_recenter(&h.orientation), TENDON_OK);
    assert_true(tendon_osc_head_take(&h, true, head(40, 0, 0), 1040 * ms, &out));
    assert_near(tendon_head_angles_of(out).yaw, 0, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_head_to_the_north),
        cmocka_unit_test(bose_heads_by_their_axes),
        cmocka_unit_test(signs_are_those_of_the_lines),
        cmocka_unit_test(order_of_the_angles),
        cmocka_unit_test(without_settings_all_goes_through),
        cmocka_unit_test(what_is_no_rotation_is_ignored),
        cmocka_unit_test(recenter_makes_the_newest_the_reference),
        cmocka_unit_test(recenter_of_the_yaw_alone),
        cmocka_unit_test(a_pause_keeps_the_reference),
        cmocka_unit_test(rates),
        cmocka_unit_test(after_a_gap_the_rate_begins_again),
        cmocka_unit_test(smoothing_is_a_low_pass),
        cmocka_unit_test(smoothing_takes_the_short_way),
        cmocka_unit_test(one_front_of_a_head),
        cmocka_unit_test(maps_are_read),
        cmocka_unit_test(maps_choose_and_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
