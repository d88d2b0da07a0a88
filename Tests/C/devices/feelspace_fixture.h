/* SPDX-License-Identifier: MIT */
/*
 * A feelSpace session over a real GATT client and bearer, and a scripted belt
 * that answers from a literal attribute table. The belt knows nothing of our
 * server code; time stands still until a test moves it.
 */
#ifndef TENDON_TESTS_FEELSPACE_FIXTURE_H
#define TENDON_TESTS_FEELSPACE_FIXTURE_H

#include "../test_bytes.h"
#include "tendon/devices/feelspace.h"

/* Handles of the belt's fixed profile. */
enum {
    H_FIRMWARE = 31,
    H_KEEP_ALIVE = 33,
    H_VIBRATION = 36,
    H_BUTTON = 38,
    H_REQUEST = 41,
    H_PARAMETER = 43,
    H_BUZZER = 46,
    H_BATTERY = 51,
    H_ORIENTATION = 60,
    H_DEBUG_INPUT = 75,
    H_DEBUG_OUTPUT = 77
};

enum { BELT_EVENTS_MAX = 512, BELT_LOG_MAX = 2048, BELT_ATTRIBUTES_MAX = 64, BELT_NOTICES_MAX = 64 };

typedef struct belt_attribute {
    uint16_t handle, type;
    uint8_t value[32];
    size_t length;
} belt_attribute;

/* One event, copied out of the callback. */
typedef struct belt_seen {
    tendon_feelspace_event event; /* pointers in it are stale */
    tendon_feelspace_state state;
    uint8_t mode;
    char name[32];
} belt_seen;

/* A request that the belt saw. */
typedef struct belt_asked {
    uint8_t opcode;
    uint16_t handle;
    uint8_t value[32];
    size_t length;
    uint64_t at;
} belt_asked;

typedef struct belt {
    tendon_feelspace_session session;
    tendon_feelspace_session_config config;
    tendon_feelspace_navigation navigation;
    bool navigates;
    tendon_feelspace_navigation_event told[BELT_EVENTS_MAX];
    size_t told_count;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[2]; /* as a connection has them */
    tendon_gatt_subscription subscriptions[16];
    uint64_t now;
    /* the link */
    bool up, is_bonded, scanning;
    int connects, disconnects, pairs;
    tendon_status connect_result, pair_result, scan_result;
    /* the belt */
    belt_attribute attributes[BELT_ATTRIBUTES_MAX];
    size_t attribute_count;
    bool blocked;       /* the link takes nothing now */
    bool mute;          /* requests stay unanswered */
    bool silent;        /* parameter requests are acknowledged, not answered */
    bool answers_early; /* ... answered before the write response */
    int answer_limit;   /* answers so many requests, then goes mute; < 0: no limit */
    int fail_at;        /* the request of this number (from 0) is answered with ... */
    uint8_t fail_code;  /* ... this error; < 0: none */
    uint8_t mode, intensity, accuracy;
    uint8_t pending[64];
    size_t pending_length;
    struct {
        uint16_t handle;
        uint8_t value[24];
        size_t length;
    } notices[BELT_NOTICES_MAX]; /* to be notified after the response */
    size_t notice_count;
    belt_asked log[BELT_LOG_MAX];
    size_t log_count;
    belt_seen events[BELT_EVENTS_MAX];
    size_t event_count;
    void (*hook)(struct belt *b, const tendon_feelspace_event *event);
    void (*nav_hook)(struct belt *b, const tendon_feelspace_navigation_event *event);
    int hooked;
} belt;

extern const tendon_address belt_address;

int belt_setup(void **state);
int belt_teardown(void **state);
/* Makes the session anew from b->config, as a test has changed it. */
void belt_init(belt *b);
/* A navigation controller on top; the session's events go there too. */
void belt_navigate(belt *b);

belt_attribute *belt_attribute_of(belt *b, uint16_t handle);
void belt_set(belt *b, uint16_t handle, const char *hex);
/* Attributes from first to last are not there. */
void belt_remove(belt *b, uint16_t first, uint16_t last);

/* The link comes up, whatever the session thinks of it. */
void belt_link_up(belt *b);
void belt_lose(belt *b, tendon_status reason);
/* connect(), and the link comes up. */
void belt_connect(belt *b);
/* Answers until nothing is left to do, or the state is reached. */
void belt_run(belt *b);
void belt_run_until(belt *b, tendon_feelspace_state state);
bool belt_answer_one(belt *b);
/* Connects wholly. */
void belt_open(belt *b);
/* Whatever state it is, the session gets there from its beginning. */
void belt_reach(belt *b, tendon_feelspace_state state);
/* Moves the time from deadline to deadline, ticking. */
void belt_advance(belt *b, uint64_t ms);
void belt_notify(belt *b, uint16_t handle, const char *hex);
void belt_notify_bytes(belt *b, uint16_t handle, const uint8_t *bytes, size_t length);
/* FE06: the belt is in this mode. */
void belt_mode(belt *b, uint8_t mode);
void belt_press(belt *b, uint8_t button, uint8_t code, uint8_t previous, uint8_t mode);

size_t belt_count(const belt *b, tendon_feelspace_event_kind kind);
const belt_seen *belt_last(const belt *b, tendon_feelspace_event_kind kind);
/* The last change of state was this. */
void belt_expect_state(const belt *b, tendon_feelspace_state previous, tendon_feelspace_state state,
                       tendon_feelspace_connection_event event, tendon_feelspace_connection_error error);
/* Writes to a handle, so far. */
size_t belt_writes(const belt *b, uint16_t handle);
/* The newest write to a handle was this. */
void belt_expect_write(const belt *b, uint16_t handle, const char *hex);

#endif
