/* SPDX-License-Identifier: MIT */
/*
 * A Bose session over a real GATT client and bearer, and a scripted device that
 * answers from a literal attribute table. The device knows nothing of our server
 * code; time stands still until a test moves it.
 */
#ifndef TENDON_TESTS_BOSE_FIXTURE_H
#define TENDON_TESTS_BOSE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tendon/devices/bose_session.h"

/* Handles of the literal table. */
enum {
    H_DEVICE = 0x12,
    H_SENSORS = 0x15,
    H_SENSOR_CONFIG = 0x17,
    H_SENSOR_DATA = 0x1A,
    H_GESTURES = 0x1D,
    H_GESTURE_CONFIG = 0x1F,
    H_GESTURE_DATA = 0x22,
    H_MODEL = 0x32,
    H_SERIAL = 0x34,
    H_FIRMWARE = 0x36,
};

enum { ATTRIBUTES_MAX = 48, EVENTS_MAX = 256, LOG_MAX = 512 };

typedef struct attribute {
    uint16_t handle;
    uint8_t type[16];
    size_t type_length;
    uint8_t value[600];
    size_t length;
} attribute;

/* One event, copied out of the callback. */
typedef struct seen {
    tendon_bose_event_kind kind;
    tendon_status status;
    tendon_bose_suspension_reason reason;
    tendon_bose_characteristic characteristic;
    size_t offset;
    tendon_uuid service_uuid, characteristic_uuid;
    tendon_bose_sample sample;
    uint64_t device_ms, received_at, sampled_at;
    uint32_t error_us;
    tendon_bose_gesture_data gesture;
    size_t length;
    tendon_bose_intent_check intents;
    uint16_t configuration;
    tendon_bose_state state; /* of the session, during the callback */
    uint64_t at;
} seen;

typedef struct fixture {
    tendon_bose_session session;
    tendon_bose_session_config config;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[8];
    tendon_gatt_subscription subscriptions[16];
    uint64_t now;
    /* the link */
    bool up, connect_asked, disconnect_asked, pair_asked, is_bonded;
    uint64_t disconnect_asked_at;
    tendon_status connect_result, pair_result;
    int pair_calls;
    /* the device */
    attribute attributes[ATTRIBUTES_MAX];
    size_t attribute_count;
    uint16_t mtu;       /* what it answers; 0: it refuses */
    bool mute;          /* requests stay unanswered */
    bool keeps_written; /* false: a written configuration is acknowledged, and reads back as before */
    int answer_limit;   /* answers so many requests, then goes mute; < 0: no limit */
    uint64_t slow_ms;   /* time that passes before every answer */
    struct {
        uint8_t opcode;
        uint16_t handle;
        uint8_t code;
    } failure; /* answered with an error, as long as opcode != 0 */
    int fail_at;
    uint8_t fail_at_code; /* the request of this number (from 0) is answered with this error */
    uint8_t pending[600];
    size_t pending_length;
    uint8_t prepared[128];
    size_t prepared_length;
    uint16_t prepared_handle;
    /* what was asked: opcode << 16 | handle */
    uint32_t log[LOG_MAX];
    size_t log_count;
    /* what the program saw */
    seen events[EVENTS_MAX];
    size_t event_count;
    void (*hook)(struct fixture *f, const tendon_bose_event *event);
} fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Bytes from hex text, spaces allowed; returns their number. */
size_t unhex(const char *text, uint8_t *out, size_t capacity);

/* The device answers one request: writes the response to out (600 bytes), returns its length. */
size_t fixture_answer(fixture *f, const uint8_t *pdu, size_t length, uint8_t *out);
attribute *fixture_attribute(fixture *f, uint16_t handle);
void fixture_set(fixture *f, uint16_t handle, const char *hex);
void fixture_remove(fixture *f, uint16_t first, uint16_t last);
/* Makes the session anew from f->config, as a test has changed it. */
void fixture_init(fixture *f);

/* The link comes up, whatever the session thinks of it. */
void fixture_link_up(fixture *f);
/* Opens and lets the link come up; answers nothing yet. */
void fixture_connect(fixture *f);
/* Answers requests and ticks until nothing is left to do, or the state is reached. */
void fixture_run(fixture *f);
void fixture_run_until(fixture *f, tendon_bose_state state);
/* Connects and opens wholly. */
void fixture_open(fixture *f);
/* Whatever state it is, the session gets there from closed. */
void fixture_reach(fixture *f, tendon_bose_state state);
/* Moves the time in steps of at most a deadline, ticking whoever is due. */
void fixture_advance(fixture *f, uint64_t ms);
void fixture_lose(fixture *f, tendon_status reason);
/* The link does what it was asked for. */
void fixture_disconnect_if_asked(fixture *f);
void fixture_notify(fixture *f, uint16_t handle, const char *hex);
/* A device information notification with this status; none when the link is down. */
void fixture_status(fixture *f, uint16_t status);

size_t fixture_count(const fixture *f, tendon_bose_event_kind kind);
const seen *fixture_last(const fixture *f, tendon_bose_event_kind kind);
/* Requests of this opcode and handle that the device saw. */
size_t fixture_asked(const fixture *f, uint8_t opcode, uint16_t handle);

/** The present configuration with @p sensor enabled. */
tendon_bose_sensor_configuration fixture_enabled(fixture *f, uint8_t sensor, uint16_t period);
void fixture_configure(fixture *f, uint8_t sensor, uint16_t period);
void fixture_configure_gesture(fixture *f, uint8_t gesture, bool on);
/** The value of an attribute of the device. */
void fixture_assert_value(fixture *f, uint16_t handle, const char *hex);

#endif
