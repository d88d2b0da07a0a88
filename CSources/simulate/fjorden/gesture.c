/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/fjorden_gesture.h"

#include "tendon/base/packed.h"

#include <string.h>

int tendon_fjorden_control_named(const char *name, size_t length) {
    int index =
        tendon_packed_index("shutter\0fn\0dial_button\0dial\0lever", TENDON_FJORDEN_CONTROL_LEVER, name, length);
    return index < 0 ? -1 : index + TENDON_FJORDEN_CONTROL_SHUTTER;
}

tendon_fjorden_config tendon_fjorden_config_default(void) {
    return (tendon_fjorden_config){.long_press_ms = 500, .lever_hold_ms = 400, .dial_divider = 1};
}

tendon_status tendon_fjorden_gesture_init(tendon_fjorden_gesture_engine *engine, const tendon_fjorden_config *config) {
    if (config->dial_divider == 0) {
        return TENDON_FJORDEN_ERROR_RANGE;
    }
    memset(engine, 0, sizeof *engine);
    engine->config = *config;
    memset(engine->due, 0xFF, sizeof engine->due); /* never */
    return TENDON_OK;
}

/* Returns the timer with the earliest deadline. */
static unsigned next_timer(const tendon_fjorden_gesture_engine *engine) {
    unsigned first = 0;
    for (unsigned timer = 1; timer < TENDON_FJORDEN_TIMER_COUNT; timer++) {
        first = engine->due[timer] < engine->due[first] ? timer : first;
    }
    return first;
}

uint64_t tendon_fjorden_gesture_deadline(const tendon_fjorden_gesture_engine *engine) {
    return engine->due[next_timer(engine)];
}

static void start(tendon_fjorden_gesture_engine *engine, tendon_fjorden_timer timer, uint64_t now, uint32_t span) {
    engine->due[timer] = now + span;
}

static void stop(tendon_fjorden_gesture_engine *engine, unsigned timer) {
    engine->due[timer] = TENDON_FJORDEN_NEVER;
}

static void give(tendon_fjorden_gestures *out, uint64_t now, uint8_t event, uint32_t count) {
    if (out->count < TENDON_FJORDEN_GESTURES_MAX) {
        out->events[out->count++] = (tendon_fjorden_gesture_event){.time_ms = now, .event = event, .count = count};
    }
}

/* The earliest timer, if it is due. */
static bool fire(tendon_fjorden_gesture_engine *engine, uint64_t now, tendon_fjorden_gestures *out) {
    unsigned timer = next_timer(engine);
    uint64_t due = engine->due[timer];
    if (due == TENDON_FJORDEN_NEVER || due > now) {
        return false;
    }
    uint8_t event;
    switch (timer) {
    case TENDON_FJORDEN_TIMER_FN:
        engine->fn_pending = false;
        event = TENDON_FJORDEN_FN_LONG_PRESS;
        break;
    case TENDON_FJORDEN_TIMER_DIAL:
        engine->dial_pending = false;
        event = TENDON_FJORDEN_DIAL_LONG_PRESS;
        break;
    case TENDON_FJORDEN_TIMER_LEVER:
        engine->lever_held = true;
        event = engine->lever < 0 ? TENDON_FJORDEN_LEVER_HOLD_LEFT : TENDON_FJORDEN_LEVER_HOLD_RIGHT;
        break;
    default:
        engine->reset_done = true;
        event = TENDON_FJORDEN_BOND_RESET;
        break;
    }
    stop(engine, timer);
    give(out, due, event, 1);
    return true;
}

/* After every change of shutter or fn: the reset combination. */
static void combine(tendon_fjorden_gesture_engine *engine, uint64_t now, bool were_together) {
    bool together = engine->shutter > 0 && engine->fn;
    if (together) {
        engine->combined = true;
        engine->fn_pending = false;
        stop(engine, TENDON_FJORDEN_TIMER_FN);
        if (!were_together && !engine->reset_done) {
            start(engine, TENDON_FJORDEN_TIMER_RESET, now, TENDON_FJORDEN_RESET_MS);
        }
        return;
    }
    stop(engine, TENDON_FJORDEN_TIMER_RESET);
    if (engine->shutter == 0 && !engine->fn) {
        engine->combined = false;
        engine->reset_done = false;
    }
}

static void move_shutter(tendon_fjorden_gesture_engine *engine, uint64_t now, uint8_t position,
                         tendon_fjorden_gestures *out) {
    uint8_t before = engine->shutter;
    bool were_together = before > 0 && engine->fn;
    engine->shutter = position;
    if (before == 0 && position > 0) {
        give(out, now, TENDON_FJORDEN_SHUTTER_HALF_DOWN, 1);
    }
    if (before < 2 && position == 2) {
        give(out, now, TENDON_FJORDEN_SHUTTER_DOWN, 1);
    }
    if (before > 0 && position == 0) {
        give(out, now, TENDON_FJORDEN_SHUTTER_RELEASED, 1);
    }
    combine(engine, now, were_together);
}

static void press_fn(tendon_fjorden_gesture_engine *engine, uint64_t now, bool down, tendon_fjorden_gestures *out) {
    if (engine->fn == down) {
        return;
    }
    bool were_together = engine->shutter > 0 && engine->fn;
    engine->fn = down;
    if (down && !engine->combined) {
        engine->fn_pending = true;
        start(engine, TENDON_FJORDEN_TIMER_FN, now, engine->config.long_press_ms);
    } else if (!down) {
        if (engine->fn_pending) {
            give(out, now, TENDON_FJORDEN_FN_PRESS, 1);
        }
        engine->fn_pending = false;
        stop(engine, TENDON_FJORDEN_TIMER_FN);
    }
    combine(engine, now, were_together);
}

static void press_dial(tendon_fjorden_gesture_engine *engine, uint64_t now, bool down, tendon_fjorden_gestures *out) {
    if (engine->dial_button == down) {
        return;
    }
    engine->dial_button = down;
    if (!down && engine->dial_pending) {
        give(out, now, TENDON_FJORDEN_DIAL_PRESS, 1);
    }
    engine->dial_pending = down;
    stop(engine, TENDON_FJORDEN_TIMER_DIAL);
    if (down) {
        start(engine, TENDON_FJORDEN_TIMER_DIAL, now, engine->config.long_press_ms);
    }
}

static void turn_dial(tendon_fjorden_gesture_engine *engine, uint64_t now, int32_t detents,
                      tendon_fjorden_gestures *out) {
    if (detents == 0) {
        return;
    }
    engine->dial_pending = false;
    stop(engine, TENDON_FJORDEN_TIMER_DIAL);
    if ((detents > 0) != (engine->remainder > 0)) {
        engine->remainder = 0;
    }
    int32_t sum = engine->remainder + detents;
    int32_t count = sum / engine->config.dial_divider;
    engine->remainder = sum % engine->config.dial_divider;
    if (count != 0) {
        give(out, now, count > 0 ? TENDON_FJORDEN_DIAL_CW : TENDON_FJORDEN_DIAL_CCW,
             (uint32_t)(count > 0 ? count : -count));
    }
}

static void move_lever(tendon_fjorden_gesture_engine *engine, uint64_t now, int8_t side, tendon_fjorden_gestures *out) {
    if (engine->lever == side) {
        return;
    }
    if (engine->lever != 0) {
        if (!engine->lever_held) {
            give(out, now, engine->lever < 0 ? TENDON_FJORDEN_LEVER_LEFT : TENDON_FJORDEN_LEVER_RIGHT, 1);
        }
        give(out, now, TENDON_FJORDEN_LEVER_NEUTRAL, 1);
    }
    engine->lever = side;
    engine->lever_held = false;
    stop(engine, TENDON_FJORDEN_TIMER_LEVER);
    if (side != 0) {
        start(engine, TENDON_FJORDEN_TIMER_LEVER, now, engine->config.lever_hold_ms);
    }
}

static bool value_fits(tendon_fjorden_control control, int32_t value) {
    switch (control) {
    case TENDON_FJORDEN_CONTROL_NONE:
        return true;
    case TENDON_FJORDEN_CONTROL_SHUTTER:
        return value >= 0 && value <= 2;
    case TENDON_FJORDEN_CONTROL_FN:
    case TENDON_FJORDEN_CONTROL_DIAL_BUTTON:
        return value == 0 || value == 1;
    case TENDON_FJORDEN_CONTROL_DIAL:
        return value >= INT16_MIN && value <= INT16_MAX;
    case TENDON_FJORDEN_CONTROL_LEVER:
        return value >= -1 && value <= 1;
    }
    return false;
}

tendon_status tendon_fjorden_gesture_input(tendon_fjorden_gesture_engine *engine, uint64_t now,
                                           tendon_fjorden_control control, int32_t value,
                                           tendon_fjorden_gestures *out) {
    out->count = 0;
    while (fire(engine, now, out)) {
    }
    if (!value_fits(control, value)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    switch (control) {
    case TENDON_FJORDEN_CONTROL_NONE:
        break;
    case TENDON_FJORDEN_CONTROL_SHUTTER:
        move_shutter(engine, now, (uint8_t)value, out);
        break;
    case TENDON_FJORDEN_CONTROL_FN:
        press_fn(engine, now, value != 0, out);
        break;
    case TENDON_FJORDEN_CONTROL_DIAL_BUTTON:
        press_dial(engine, now, value != 0, out);
        break;
    case TENDON_FJORDEN_CONTROL_DIAL:
        turn_dial(engine, now, value, out);
        break;
    case TENDON_FJORDEN_CONTROL_LEVER:
        move_lever(engine, now, (int8_t)value, out);
        break;
    }
    return TENDON_OK;
}
