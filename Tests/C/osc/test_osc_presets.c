/* SPDX-License-Identifier: MIT */
/*
 * What each receiver does with the numbers of its preset: the matrix that its documentation or source states is
 * computed from them, and must bring a source of the world to where the head hears it. Then the packets, byte by byte.
 */
#include "test_bytes.h"

#include "tendon/osc.h"

#include <math.h>

#define RADIANS (3.14159265358979323846 / 180.0)

typedef struct matrix {
    double m[3][3];
} matrix;

static matrix product(matrix a, matrix b) {
    matrix out = {{{0}}};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++) {
            for (unsigned k = 0; k < 3; k++) {
                out.m[i][j] += a.m[i][k] * b.m[k][j];
            }
        }
    }
    return out;
}

static matrix transposed(matrix a) {
    matrix out;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++) {
            out.m[i][j] = a.m[j][i];
        }
    }
    return out;
}

/* Right-handed, degrees. */
static matrix about_x(double degrees) {
    double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS);
    return (matrix){{{1, 0, 0}, {0, c, -s}, {0, s, c}}};
}

static matrix about_y(double degrees) {
    double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS);
    return (matrix){{{c, 0, s}, {0, 1, 0}, {-s, 0, c}}};
}

static matrix about_z(double degrees) {
    double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS);
    return (matrix){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}

static matrix of_quaternion(double w, double x, double y, double z) {
    return (matrix){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                     {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                     {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

static void assert_same(matrix a, matrix b, const char *preset) {
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++) {
            if (!(fabs(a.m[i][j] - b.m[i][j]) <= 1e-9)) {
                fail_msg("%s: element %u %u is %g, not %g", preset, i, j, a.m[i][j], b.m[i][j]);
            }
        }
    }
}

/* How the receiver brings a direction of the world (X front, Y left, Z up) to one of the head. */
static matrix hears(const char *preset, const double v[]) {
    if (strcmp(preset, "iem") == 0) { /* the quaternion turns the scene */
        return of_quaternion(v[0], v[1], v[2], v[3]);
    }
    if (strcmp(preset, "iem-ypr") == 0) { /* the scene turns by roll, pitch, yaw about axes that hold still */
        return product(about_z(v[0]), product(about_y(v[1]), about_x(v[2])));
    }
    if (strcmp(preset, "sparta") == 0) { /* Rx Ry Rz, each of the frame: the transposed of a turn of the vector */
        return product(transposed(about_x(v[2])), product(transposed(about_y(v[1])), transposed(about_z(v[0]))));
    }
    if (strcmp(preset, "adm") == 0) { /* the head: yaw to the left, pitch up, roll to the right */
        return transposed(product(about_z(v[0]), product(about_y(-v[1]), about_x(v[2]))));
    }
    if (strcmp(preset, "virtuoso") == 0) { /* the head */
        return transposed(of_quaternion(v[0], v[1], v[2], v[3]));
    }
    assert_string_equal(preset, "opentrack"); /* the head: yaw to the right, pitch up, roll to the left */
    return transposed(product(about_z(-v[0]), product(about_y(-v[1]), about_x(-v[2]))));
}

static void each_preset_brings_sources_to_the_head(void **state) {
    (void)state;
    dice d = {7};
    for (unsigned run = 0; run < 1000; run++) {
        /* Any head, as a Bose device reports it: body X right, Y back, Z down, to world X east, Y north, Z up. */
        tendon_quaternion bose = {(double)(roll(&d) % 2001) - 1000, (double)(roll(&d) % 2001) - 1000,
                                  (double)(roll(&d) % 2001) - 1000, (double)(roll(&d) % 2001) - 1000};
        if (tendon_quaternion_normalize(bose, &bose) != TENDON_OK) {
            continue;
        }
        matrix device = of_quaternion(bose.w, bose.x, bose.y, bose.z);
        const matrix body_of_head = {{{0, -1, 0}, {-1, 0, 0}, {0, 0, -1}}}; /* front is -Y, left -X, up -Z */
        const matrix front_left_up = {{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};  /* north is front, west left */
        matrix head = product(front_left_up, product(device, body_of_head));
        const tendon_osc_preset *preset;
        for (size_t i = 1; (preset = tendon_osc_preset_at(i)) != NULL; i++) {
            tendon_osc_map map;
            double values[TENDON_OSC_TERMS];
            assert_true(tendon_osc_map_parse(preset->map, strlen(preset->map), &map, NULL) > 0);
            tendon_osc_map_values(&map, tendon_head_from_bose(bose), values);
            assert_same(hears(preset->name, values), transposed(head), preset->name);
        }
    }
}

static void presets_by_name(void **state) {
    (void)state;
    size_t count = 0;
    for (; tendon_osc_preset_at(count) != NULL; count++) {
        const tendon_osc_preset *preset = tendon_osc_preset_at(count);
        assert_ptr_equal(tendon_osc_preset_named(preset->name, strlen(preset->name)), preset);
        assert_null(tendon_osc_preset_named(preset->name, strlen(preset->name) - 1));
    }
    assert_int_equal(count, 7);
    assert_null(tendon_osc_preset_at(SIZE_MAX));
    assert_null(tendon_osc_preset_named("", 0));
}

/* A head that has turned 90 degrees to the right, level: w = z = the root of one half, 3f3504f3 as a float. */
static tendon_quaternion to_the_right(void) {
    return (tendon_quaternion){0, 0, -sqrt(0.5), sqrt(0.5)};
}

static void assert_packet(const char *name, tendon_quaternion head, const char *hex) {
    const tendon_osc_preset *preset = tendon_osc_preset_named(name, strlen(name));
    assert_non_null(preset);
    tendon_osc_map map;
    assert_true(tendon_osc_map_parse(preset->map, strlen(preset->map), &map, NULL) > 0);
    uint8_t out[TENDON_OSC_ORIENTATION_MAX];
    tendon_status length = tendon_osc_orientation(preset->format, preset->address, &map, head, out, sizeof out);
    assert_true(length > 0);
    assert_hex(out, (size_t)length, hex);
    for (size_t capacity = 0; capacity < (size_t)length; capacity++) {
        block small = block_copy(out, 0);
        free(small.data);
        small.data = malloc(capacity);
        assert_int_equal(tendon_osc_orientation(preset->format, preset->address, &map, head, small.data, capacity),
                         TENDON_ERROR_BUFFER_TOO_SMALL);
        free(small.data);
    }
}

static void packets_of_a_head_to_the_right(void **state) {
    (void)state;
    /* "/SceneRotator/quaternions" ",ffff": the scene turns to the left, z positive */
    assert_packet("iem", to_the_right(),
                  "2f536365 6e65526f 7461746f 722f7175 61746572 6e696f6e 73000000 2c666666 66000000"
                  "3f3504f3 00000000 00000000 3f3504f3");
    /* "/SceneRotator/ypr" ",fff": 90 */
    assert_packet("iem-ypr", to_the_right(),
                  "2f536365 6e65526f 7461746f 722f7970 72000000 2c666666 00000000 42b40000 00000000 00000000");
    /* "/ypr": -90 */
    assert_packet("sparta", to_the_right(), "2f797072 00000000 2c666666 00000000 c2b40000 00000000 00000000");
    /* "/adm/lis/ypr": -90 */
    assert_packet("adm", to_the_right(),
                  "2f61646d 2f6c6973 2f797072 00000000 2c666666 00000000 c2b40000 00000000 00000000");
    /* "/Virtuoso/quat": z negative */
    assert_packet("virtuoso", to_the_right(),
                  "2f566972 74756f73 6f2f7175 61740000 2c666666 66000000"
                  "3f3504f3 00000000 00000000 bf3504f3");
    /* x y z, then the yaw as a double, least significant byte first: of a head that looks back, which is exact */
    assert_packet(
        "opentrack", (tendon_quaternion){0, 0, -1, 0},
        "0000000000000000 0000000000000000 0000000000000000 00000000008066c0 0000000000000000 0000000000000000");
}

static void opentrack_pose(void **state) {
    (void)state;
    uint8_t out[TENDON_OPENTRACK_SIZE];
    const double pose[6] = {1, -2.5, 100, 45, -30.25, 180};
    tendon_opentrack_encode(pose, out);
    assert_hex(out, sizeof out,
               "000000000000f03f 00000000000004c0 0000000000005940 0000000000804640 0000000000403ec0 0000000000806640");
    const double none[6] = {NAN, -NAN, 0, 0, 0, 0};
    tendon_opentrack_encode(none, out);
    assert_hex(out, 24, "000000000000f87f 000000000000f87f 0000000000000000");
}

static void opentrack_has_three_terms(void **state) {
    (void)state;
    tendon_osc_map map;
    uint8_t out[64];
    assert_int_equal(tendon_osc_map_parse("w,x,y,z", 7, &map, NULL), 4);
    assert_int_equal(tendon_osc_orientation(TENDON_OSC_OPENTRACK, NULL, &map, to_the_right(), out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_osc_orientation(TENDON_OSC_RAW, "/a", &map, to_the_right(), out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

static void samples_are_floats(void **state) {
    (void)state;
    uint8_t out[512];
    const double values[] = {1.5, -0.1, NAN};
    assert_int_equal(tendon_osc_sample("/tendon/head/gyroscope", values, 3, out, sizeof out), 44);
    assert_hex(out, 44,
               "2f74656e 646f6e2f 68656164 2f677972 6f73636f 70650000 2c666666 00000000"
               "3fc00000 bdcccccd 7fc00000");
    const double many[TENDON_OSC_SAMPLE_MAX + 1] = {0};
    assert_int_equal(tendon_osc_sample("/a", many, TENDON_OSC_SAMPLE_MAX, out, sizeof out), 4 + 68 + 256);
    assert_int_equal(tendon_osc_sample("/a", many, TENDON_OSC_SAMPLE_MAX + 1, out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_osc_sample("/a", NULL, 0, out, sizeof out), 8);
}

static void levels_of_an_address(void **state) {
    (void)state;
    char address[32] = "/tendon";
    assert_int_equal(tendon_osc_append_level(address, 7, sizeof address, "Bose 1/2*\xc3\xa4#", 12), 20);
    assert_string_equal(address, "/tendon/Bose_1_2____");
    assert_int_equal(tendon_osc_append_level(address, 20, sizeof address, "0123456789", 10), 31);
    assert_int_equal(tendon_osc_append_level(address, 20, sizeof address, "0123456789a", 11),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_osc_append_level(address, 31, sizeof address, "", 0), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_osc_append_level(address, 7, sizeof address, "a", SIZE_MAX), TENDON_ERROR_BUFFER_TOO_SMALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_preset_brings_sources_to_the_head),
        cmocka_unit_test(presets_by_name),
        cmocka_unit_test(packets_of_a_head_to_the_right),
        cmocka_unit_test(opentrack_pose),
        cmocka_unit_test(opentrack_has_three_terms),
        cmocka_unit_test(samples_are_floats),
        cmocka_unit_test(levels_of_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
