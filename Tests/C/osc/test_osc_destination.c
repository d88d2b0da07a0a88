/* SPDX-License-Identifier: MIT */
/* Destinations as people write them, and which devices a name means: docs/osc.md. */
#include "test_bytes.h"

#include "tendon/osc.h"

static tendon_status parse(const char *text, tendon_osc_destination *out) {
    return tendon_osc_destination_parse(text, strlen(text), out);
}

static void assert_destination(const char *text, const char *host, uint16_t port, const char *preset,
                               const char *device) {
    tendon_osc_destination to;
    assert_int_equal(parse(text, &to), TENDON_OK);
    assert_string_equal(to.endpoint.host, host);
    assert_int_equal(to.endpoint.port, port);
    assert_int_equal(to.preset_length, strlen(preset));
    assert_memory_equal(text + to.preset_at, preset, to.preset_length);
    assert_string_equal(to.device, device);
}

static void a_host_a_port_a_preset_a_device(void **state) {
    (void)state;
    assert_destination("127.0.0.1:7000/iem", "127.0.0.1", 7000, "iem", "");
    assert_destination("[::1]:4242/opentrack/AA:BB:CC:DD:EE:FF", "::1", 4242, "opentrack", "AA:BB:CC:DD:EE:FF");
    assert_destination("studio.local:65535", "studio.local", 65535, "", "");
    assert_destination("[fe80::1%eth0]:1/raw/a/b", "fe80::1%eth0", 1, "raw", "a/b");
    assert_destination("127.0.0.1:9000/custom/left ear", "127.0.0.1", 9000, "custom", "left ear");
}

static void what_a_preset_says(void **state) {
    (void)state;
    tendon_osc_destination to;
    assert_int_equal(parse("127.0.0.1:1", &to), TENDON_OK);
    assert_int_equal(to.format, TENDON_OSC_RAW);
    assert_null(to.address);
    assert_int_equal(parse("127.0.0.1:1/sparta", &to), TENDON_OK);
    assert_int_equal(to.format, TENDON_OSC_ORIENTATION);
    assert_string_equal(to.address, "/ypr");
    assert_int_equal(to.map.count, 3);
    assert_false(to.is_custom);
    assert_int_equal(parse("127.0.0.1:1/opentrack", &to), TENDON_OK);
    assert_int_equal(to.format, TENDON_OSC_OPENTRACK);
    assert_int_equal(parse("127.0.0.1:1/custom", &to), TENDON_OK);
    assert_true(to.is_custom);
    assert_int_equal(to.format, TENDON_OSC_ORIENTATION);
    assert_null(to.address);
    assert_int_equal(to.map.count, 0);
    assert_int_equal(parse("127.0.0.1:1/iam/device", &to), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(to.preset_at, 12);
    assert_int_equal(to.preset_length, 3);
    assert_int_equal(parse("127.0.0.1:1/IEM", &to), TENDON_ERROR_NOT_FOUND);
}

static void what_is_no_destination(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "127.0.0.1:0",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:99999999999999999999",
                                        "127.0.0.1:70a",
                                        "127.0.0.1:-1",
                                        ":9000",
                                        "[]:9000",
                                        "::1:9000",
                                        "[127.0.0.1]:9000",
                                        "[::1:9000",
                                        "::1]:9000",
                                        "a b:9000",
                                        "/iem",
                                        "127.0.0.1:9000/",
                                        "127.0.0.1:9000/iem/",
                                        "127.0.0.1:9000//device"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tendon_osc_destination to;
        assert_int_equal(parse(wrong[i], &to), TENDON_ERROR_MALFORMED);
        /* Nothing beyond its end is read. */
        block exact = block_copy((const uint8_t *)wrong[i], strlen(wrong[i]));
        assert_int_equal(tendon_osc_destination_parse((const char *)exact.data, exact.length, &to),
                         TENDON_ERROR_MALFORMED);
        free(exact.data);
    }
    tendon_osc_destination to;
    assert_int_equal(tendon_osc_destination_parse("1.1.1.1:1/raw/a\0b", 17, &to), TENDON_ERROR_MALFORMED);
}

static void names_have_a_longest(void **state) {
    (void)state;
    char text[600];
    tendon_osc_destination to;
    char endpoint[TENDON_OSC_ENDPOINT_SIZE];
    memset(text, 'a', sizeof text);
    memcpy(text + 255, ":65535", 7);
    assert_int_equal(parse(text, &to), TENDON_OK);
    assert_int_equal(strlen(to.endpoint.host), 255);
    assert_string_equal(tendon_osc_endpoint_format(&to.endpoint, endpoint), text);
    memcpy(text, "a:1/raw/", 8);
    memset(text + 8, 'd', 248);
    text[256] = 0;
    assert_int_equal(parse(text, &to), TENDON_OK);
    assert_int_equal(strlen(to.device), 248);
    text[256] = 'd';
    text[257] = 0;
    assert_int_equal(parse(text, &to), TENDON_ERROR_MALFORMED);
    memset(text, 'a', 256);
    memcpy(text + 256, ":1", 3);
    assert_int_equal(parse(text, &to), TENDON_ERROR_MALFORMED);
}

static void an_endpoint_as_people_read_it(void **state) {
    (void)state;
    static const char *const texts[] = {"127.0.0.1:7000", "[::1]:1", "studio.local:65535", "[fe80::1%eth0]:42"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tendon_osc_endpoint endpoint;
        char text[TENDON_OSC_ENDPOINT_SIZE];
        assert_int_equal(tendon_osc_endpoint_parse(texts[i], strlen(texts[i]), &endpoint), TENDON_OK);
        assert_string_equal(tendon_osc_endpoint_format(&endpoint, text), texts[i]);
    }
}

static bool means(const char *wanted, const char *name) {
    return tendon_osc_means(wanted, strlen(wanted), name, strlen(name), "C0:00:00:00:00:0F");
}

static void a_name_means_a_device(void **state) {
    (void)state;
    assert_true(means("left ear", "left ear"));
    assert_true(means("left_ear", "left ear")); /* as addresses have it */
    assert_false(means("left ear", "left_ear"));
    assert_false(means("left", "left ear"));
    assert_true(means("C0:00:00:00:00:0F", "left ear"));
    assert_true(means("c0:00:00:00:00:0f", ""));
    assert_false(means("C0:00:00:00:00:0E", ""));
    assert_false(means("C0:00:00:00:00:0", ""));
    assert_false(means("C0:00:00:00:00:0F1", ""));
    assert_false(means("", ""));
    assert_false(tendon_osc_means("a", 1, NULL, 0, "C0:00:00:00:00:0F"));
}

static bool means_typed(const char *wanted) {
    return tendon_osc_means(wanted, strlen(wanted), "ear", 3, "C0:00:00:00:00:0F/random_identity");
}

static void an_address_may_have_its_type(void **state) {
    (void)state;
    assert_true(means_typed("C0:00:00:00:00:0F"));
    assert_true(means_typed("c0:00:00:00:00:0f/random"));
    assert_true(means_typed("C0:00:00:00:00:0F/random_identity"));
    assert_false(means_typed("C0:00:00:00:00:0F/public"));
    assert_false(means_typed("C0:00:00:00:00:0F/"));
    assert_false(means_typed("C0:00:00:00:00:0"));
    assert_false(means_typed("C0:00:00:00:00:0F/random_identity_"));
    assert_false(means("C0:00:00:00:00:0F/random", ""));
}

static void addresses_of_samples(void **state) {
    (void)state;
    char out[TENDON_OSC_ADDRESS_MAX + 1], name[300];
    tendon_osc_sample_address("my head", 7, "C0:00:00:00:00:0F", "rotation", 8, out);
    assert_string_equal(out, "/tendon/my_head/rotation");
    tendon_osc_sample_address(NULL, 0, "C0:00:00:00:00:0F", "force", 5, out);
    assert_string_equal(out, "/tendon/C0:00:00:00:00:0F/force");
    memset(name, 'n', sizeof name);
    tendon_osc_sample_address(name, sizeof name, "C0:00:00:00:00:0F", "force", 5, out);
    assert_string_equal(out, "/tendon/force");
}

static void an_address_that_can_be_sent(void **state) {
    (void)state;
    assert_true(tendon_osc_is_address("/head"));
    assert_true(tendon_osc_is_address("/"));
    static const char *const wrong[] = {"", "head", "/he ad", "/a#", "/a,b"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(tendon_osc_is_address(wrong[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_a_port_a_preset_a_device), cmocka_unit_test(what_a_preset_says),
        cmocka_unit_test(what_is_no_destination),          cmocka_unit_test(names_have_a_longest),
        cmocka_unit_test(an_endpoint_as_people_read_it),   cmocka_unit_test(a_name_means_a_device),
        cmocka_unit_test(an_address_may_have_its_type),    cmocka_unit_test(addresses_of_samples),
        cmocka_unit_test(an_address_that_can_be_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
