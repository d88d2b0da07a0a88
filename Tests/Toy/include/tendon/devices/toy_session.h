/* SPDX-License-Identifier: MIT */
/* Session of the toy: discovers, subscribes, reports levels. Driven through tendon_toy_session_inputs. */
#ifndef TENDON_DEVICES_TOY_SESSION_H
#define TENDON_DEVICES_TOY_SESSION_H

#include "tendon/devices/engine.h"
#include "tendon/devices/toy_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_toy_event_kind {
    TENDON_TOY_EVENT_OPEN = 0, /**< levels follow */
    TENDON_TOY_EVENT_LEVEL,
    TENDON_TOY_EVENT_REJECTED, /**< a value that breaks its rules: status */
    TENDON_TOY_EVENT_CLOSED    /**< status: why */
} tendon_toy_event_kind;

typedef struct tendon_toy_event {
    tendon_toy_event_kind kind;
    tendon_status status;
    tendon_toy_level level;
} tendon_toy_event;

/** The caller's memory. All but the counters is private. */
typedef struct tendon_toy_session {
    tendon_engine engine;
    tendon_session_link link;
    tendon_profile_found found;
    void *context;
    void (*on_event)(void *context, const tendon_toy_event *event, uint64_t now);
    uint64_t notifications, rejected, illegal_inputs;
} tendon_toy_session;

extern const tendon_session_inputs tendon_toy_session_inputs;

void tendon_toy_session_init(tendon_toy_session *session, tendon_session_link link, void *context,
                             void (*on_event)(void *context, const tendon_toy_event *event, uint64_t now));

#ifdef __cplusplus
}
#endif
#endif
