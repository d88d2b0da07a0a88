/* SPDX-License-Identifier: MIT */
/* Fjorden grip: derives events from the positions of the controls and from time, as firmware and simulator do. */
#ifndef TENDON_SIMULATE_FJORDEN_GESTURE_H
#define TENDON_SIMULATE_FJORDEN_GESTURE_H

#include "tendon/devices/fjorden_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_FJORDEN_RESET_MS 5000
#define TENDON_FJORDEN_NEVER UINT64_MAX

typedef enum tendon_fjorden_control {
    TENDON_FJORDEN_CONTROL_NONE = 0,    /**< time passes */
    TENDON_FJORDEN_CONTROL_SHUTTER,     /**< 0 released, 1 half, 2 full */
    TENDON_FJORDEN_CONTROL_FN,          /**< 0 or 1 */
    TENDON_FJORDEN_CONTROL_DIAL_BUTTON, /**< 0 or 1 */
    TENDON_FJORDEN_CONTROL_DIAL,        /**< detents, positive clockwise; -32768 to 32767 */
    TENDON_FJORDEN_CONTROL_LEVER        /**< -1, 0, 1 */
} tendon_fjorden_control;

/** Returns the control named "shutter", "fn", "dial_button", "dial" or "lever", or -1. */
int tendon_fjorden_control_named(const char *name, size_t length);

typedef struct tendon_fjorden_gesture_event {
    uint64_t time_ms;
    uint8_t event;  /**< tendon_fjorden_event */
    uint32_t count; /**< dial: detents after division; else 1 */
} tendon_fjorden_gesture_event;

/** Maximum number of events of one input: four timers, then two of the control. */
#define TENDON_FJORDEN_GESTURES_MAX 6

typedef struct tendon_fjorden_gestures {
    tendon_fjorden_gesture_event events[TENDON_FJORDEN_GESTURES_MAX];
    size_t count;
} tendon_fjorden_gestures;

/** Timers. Timers with the same deadline fire in this order. */
typedef enum tendon_fjorden_timer {
    TENDON_FJORDEN_TIMER_FN = 0,
    TENDON_FJORDEN_TIMER_DIAL,
    TENDON_FJORDEN_TIMER_LEVER,
    TENDON_FJORDEN_TIMER_RESET,
    TENDON_FJORDEN_TIMER_COUNT
} tendon_fjorden_timer;

typedef struct tendon_fjorden_gesture_engine {
    uint8_t shutter;
    int8_t lever;
    bool fn, dial_button;
    bool fn_pending, dial_pending; /**< down, and neither long pressed nor cancelled */
    bool lever_held;
    bool combined;     /**< shutter and fn were down together and are not both up */
    bool reset_done;   /**< in this combination */
    int32_t remainder; /**< detents not yet reported */
    tendon_fjorden_config config;
    uint64_t due[TENDON_FJORDEN_TIMER_COUNT];
} tendon_fjorden_gesture_engine;

/** Returns the defaults: 500 ms, 400 ms, 1. */
tendon_fjorden_config tendon_fjorden_config_default(void);
/** @return TENDON_OK or FJORDEN_ERROR_RANGE (divider 0: nothing is changed). Other limits are not checked. */
tendon_status tendon_fjorden_gesture_init(tendon_fjorden_gesture_engine *engine, const tendon_fjorden_config *config);
/** Processes expired timers first, then the control. @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (value; the
 * timers were processed). */
tendon_status tendon_fjorden_gesture_input(tendon_fjorden_gesture_engine *engine, uint64_t now,
                                           tendon_fjorden_control control, int32_t value, tendon_fjorden_gestures *out);
/** Returns the deadline of the next timer, or TENDON_FJORDEN_NEVER. */
uint64_t tendon_fjorden_gesture_deadline(const tendon_fjorden_gesture_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
