/* SPDX-License-Identifier: MIT */
/* Lines of Activ5 trainers: each kind of event has one, or is said to have none. */
#include "gateway_fixture.h"

static tendon_activ5_event event;
static tendon_activ5_message message;
static tendon_activ5_request request;
static tendon_activ5_device trainer;

static tendon_status write_event(tendon_line *line, void *context) {
    (void)context;
    static const tendon_line_device device = {.family = "activ5"};
    return tendon_activ5_line(line, &device, 0, &event);
}

static const char *line(void) {
    return line_of(write_event, NULL);
}

static int reset(void **state) {
    (void)state;
    message = (tendon_activ5_message){0};
    request = (tendon_activ5_request){0};
    event = (tendon_activ5_event){.message = &message, .request = &request};
    trainer = (tendon_activ5_device){0};
    return 0;
}

static void forces(void **state) {
    (void)state;
    event.kind = TENDON_ACTIV5_EVENT_ISOMETRIC;
    message.newtons = -12.345;
    assert_string_equal(line(), "\"sample\",\"family\":\"activ5\",\"sensor\":\"force\",\"force_n\":-12.35}");
    event.received_at = 1234567890;
    event.sampled_at = 5; /* forces have no time of the device */
    assert_string_equal(line(), "\"sample\",\"family\":\"activ5\",\"sensor\":\"force\",\"force_n\":-12.35,"
                                "\"received_at\":1.234568}");
}

static void motion(void **state) {
    (void)state;
    event.kind = TENDON_ACTIV5_EVENT_IMU;
    event.received_at = 3000000000;
    event.sampled_at = 2998000000;
    event.error_us = 2100;
    message.imu = (tendon_activ5_imu){
        .acceleration = {0.98765, -0.00004, 1}, .gyro = {3.14159, -2, 0.00005}, .timestamp = 1.2345678};
    assert_string_equal(line(), "\"sample\",\"family\":\"activ5\",\"sensor\":\"imu\",\"device_time_ms\":1234.568,"
                                "\"received_at\":3,\"sampled_at\":2.998,\"error_ms\":2.1,"
                                "\"acceleration_g\":[0.9877,0,1],\"rotation_rad_per_s\":[3.1416,-2,0.0001]}");
}

static void states(void **state) {
    (void)state;
    event.kind = TENDON_ACTIV5_EVENT_SQUEEZE;
    event.on = true;
    assert_string_equal(line(), "\"squeeze\",\"family\":\"activ5\",\"state\":\"squeezed\"}");
    event.on = false;
    assert_string_equal(line(), "\"squeeze\",\"family\":\"activ5\",\"state\":\"released\"}");
    event.kind = TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE;
    assert_string_equal(line(), "\"double_squeeze\",\"family\":\"activ5\"}");
    event.kind = TENDON_ACTIV5_EVENT_BATTERY;
    message.percent = 87;
    assert_string_equal(line(), "\"battery\",\"family\":\"activ5\",\"battery_percent\":87}");
}

static void failures(void **state) {
    (void)state;
    event.kind = TENDON_ACTIV5_EVENT_ERROR;
    event.status = TENDON_ACTIV5_ERROR_SHORT;
    event.characteristic = TENDON_ACTIV5_OLD_FORCE;
    assert_string_equal(line(), "\"malformed\",\"family\":\"activ5\",\"characteristic\":\"F0FE\",\"text\":\"parse: "
                                "the value is too short\"}");
    event.characteristic = TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN;
    assert_non_null(strstr(line(), "\"characteristic\":\"FFFF\""));
    event.kind = TENDON_ACTIV5_EVENT_DONE;
    assert_true(event.status < 0);
    request.kind = TENDON_ACTIV5_REQUEST_WRITE;
    request.characteristic = TENDON_ACTIV5_SAMPLE_RATE;
    event.status = TENDON_ATT_ERROR(0x13);
    assert_string_equal(line(), "\"refused\",\"family\":\"activ5\",\"request\":\"write F0FA\",\"text\":\"write: the "
                                "value is not allowed (ATT_VALUE_NOT_ALLOWED, 0x13)\"}");
    request.kind = TENDON_ACTIV5_REQUEST_UNSUBSCRIBE;
    request.characteristic = TENDON_ACTIV5_FORCE;
    event.status = TENDON_ERROR_CANCELLED;
    assert_string_equal(line(), "\"refused\",\"family\":\"activ5\",\"request\":\"unsubscribe F0FE\",\"text\":\"the "
                                "caller cancelled the operation\"}");
    /* a request that succeeded, and one of the connection */
    event.status = TENDON_OK;
    assert_string_equal(line(), "");
    event.status = TENDON_ERROR_TIMEOUT;
    request.kind = TENDON_ACTIV5_REQUEST_CONNECT;
    assert_string_equal(line(), "");
}

static void all_others_have_none(void **state) {
    (void)state;
    static const tendon_activ5_event_kind with[] = {
        TENDON_ACTIV5_EVENT_ISOMETRIC,      TENDON_ACTIV5_EVENT_IMU,
        TENDON_ACTIV5_EVENT_BATTERY,        TENDON_ACTIV5_EVENT_SQUEEZE,
        TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE, TENDON_ACTIV5_EVENT_ERROR,
        TENDON_ACTIV5_EVENT_DONE,
    };
    unsigned found = 0;
    request.kind = TENDON_ACTIV5_REQUEST_READ;
    event.status = TENDON_ERROR_TIMEOUT;
    for (unsigned kind = 0; kind < TENDON_ACTIV5_EVENT_COUNT; kind++) {
        event.kind = (tendon_activ5_event_kind)kind;
        bool is_listed = found < sizeof with / sizeof with[0] && with[found] == event.kind;
        found += is_listed ? 1 : 0;
        assert_int_equal(line()[0] != '\0', is_listed);
    }
    assert_int_equal(found, sizeof with / sizeof with[0]);
}

static tendon_activ5_text text_of(const char *text) {
    tendon_activ5_text made = {.length = (uint8_t)strlen(text), .known = true};
    memcpy(made.bytes, text, strlen(text));
    return made;
}

static tendon_status write_identity(tendon_line *out, void *context) {
    (void)context;
    tendon_line_begin(out, "connected", 0, NULL);
    tendon_activ5_identity(out, &trainer);
    return tendon_line_end(out);
}

static void identity(void **state) {
    (void)state;
    assert_string_equal(line_of(write_identity, NULL),
                        "\"connected\",\"generation\":\"legacy\",\"firmware\":null,\"serial\":null,\"id\":null}");
    trainer.version = text_of("2.1");
    trainer.sn1 = text_of("AB");
    assert_string_equal(line_of(write_identity, NULL),
                        "\"connected\",\"generation\":\"legacy\",\"firmware\":\"2.1\",\"serial\":\"AB\",\"id\":null}");
    trainer.sn2 = text_of("CD\"");
    assert_non_null(strstr(line_of(write_identity, NULL), "\"serial\":\"ABCD\\\"\""));
    trainer.uses_new_protocol = true;
    trainer.serial_number = text_of("0815");
    trainer.uuid1 = text_of("12");
    trainer.uuid2 = text_of("34");
    assert_string_equal(
        line_of(write_identity, NULL),
        "\"connected\",\"generation\":\"new\",\"firmware\":\"2.1\",\"serial\":\"0815\",\"id\":\"1234\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(forces, reset),
        cmocka_unit_test_setup(motion, reset),
        cmocka_unit_test_setup(states, reset),
        cmocka_unit_test_setup(failures, reset),
        cmocka_unit_test_setup(all_others_have_none, reset),
        cmocka_unit_test_setup(identity, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
