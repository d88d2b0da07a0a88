/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: its modes and buttons, and calls from outside. */
#include "feelspace_parts.h"

/** Step of the default intensity by the buttons in pause mode. */
enum { INTENSITY_STEP = 10 };
enum { PAIRING_MODE_MS = 60000 };

static void stop_all(tendon_simulated_feelspace *belt) {
    for (size_t i = 0; i < TENDON_SIMULATED_FEELSPACE_CHANNELS; i++) {
        belt->channels[i].active = false;
    }
}

void tendon_simulated_feelspace_enter(tendon_simulated_feelspace *belt, uint8_t mode, uint64_t now) {
    if (belt->mode == mode) {
        return;
    }
    if (mode == MODE_PAUSE) {
        belt->mode_before_pause = belt->mode;
    }
    stop_all(belt); /* vibrations of an application end with its mode */
    if (mode == MODE_CROSSING) {
        belt->crossing_heading = tendon_simulated_feelspace_heading(belt, now);
    }
    if (mode == MODE_STANDBY) { /* settings that are kept until power-off are cleared */
        belt->settings = belt->stored;
        tendon_simulated_feelspace_hang_up(belt, now);
    }
    belt->mode = mode;
}

void tendon_simulated_feelspace_set_intensity(tendon_simulated_feelspace *belt, int intensity) {
    int within = intensity < INTENSITY_LOWEST ? INTENSITY_LOWEST : intensity > 100 ? 100 : intensity;
    belt->settings.intensity = belt->stored.intensity = (uint8_t)within;
    tendon_simulated_feelspace_tell(belt, BASIC_INTENSITY);
}

void tendon_simulated_feelspace_change_mode(tendon_simulated_feelspace *belt, uint8_t mode, uint64_t now) {
    if (mode < MODE_COUNT && mode != belt->mode) {
        tendon_simulated_feelspace_enter(belt, mode, now);
        tendon_simulated_feelspace_tell(belt, BASIC_MODE);
    }
}

/* ---- buttons ---- */

void tendon_simulated_feelspace_report_press(tendon_simulated_feelspace *belt, uint8_t button, uint8_t press_code,
                                             uint8_t previous_mode, uint8_t new_mode, uint64_t now) {
    const uint8_t bytes[5] = {button, press_code, 0x00, previous_mode, new_mode};
    bool changes = new_mode != belt->mode && new_mode < MODE_COUNT;
    if (changes) {
        tendon_simulated_feelspace_enter(belt, new_mode, now);
    }
    if (changes && belt->swapped) {
        tendon_simulated_feelspace_tell(belt, BASIC_MODE);
    }
    tendon_simulated_feelspace_notify(belt, BELT_BUTTON, bytes, sizeof bytes);
    if (changes && !belt->swapped) {
        tendon_simulated_feelspace_tell(belt, BASIC_MODE);
    }
}

/** The mode that a press of the compass button leads to. */
static uint8_t after_compass(const tendon_simulated_feelspace *belt, tendon_simulated_feelspace_press press) {
    if (belt->mode != MODE_WAIT && belt->mode != MODE_APP) {
        return belt->mode;
    }
    if (press == TENDON_FEELSPACE_PRESS_LONG) {
        return MODE_CALIBRATION;
    }
    bool crossing = press == TENDON_FEELSPACE_PRESS_DOUBLE && belt_has(belt, SINCE_PULSE);
    return crossing ? MODE_CROSSING : MODE_COMPASS;
}

/** The mode that a press of the pause button leads to. In app mode, and after it, the application decides. */
static uint8_t after_pause(const tendon_simulated_feelspace *belt) {
    switch (belt->mode) {
    case MODE_WAIT:
    case MODE_COMPASS:
    case MODE_CROSSING:
        return MODE_PAUSE;
    case MODE_PAUSE:
        return belt->mode_before_pause == MODE_APP ? (uint8_t)MODE_PAUSE : belt->mode_before_pause;
    default:
        return belt->mode;
    }
}

static void press_power(tendon_simulated_feelspace *belt, tendon_simulated_feelspace_press press, uint64_t now) {
    if (belt->mode == MODE_STANDBY) {
        if (press == TENDON_FEELSPACE_PRESS_LONG) {
            belt->mode = belt->mode_before_pause = MODE_WAIT;
        }
    } else if (press == TENDON_FEELSPACE_PRESS_LONG) {
        tendon_simulated_feelspace_report_press(belt, BUTTON_POWER, 3, belt->mode, MODE_STANDBY, now);
    } else {
        belt->last_signal = 2; /* the battery signal; it is not reported */
    }
}

void tendon_simulated_feelspace_press_button(tendon_simulated_feelspace *belt, uint8_t button,
                                             tendon_simulated_feelspace_press press, uint64_t now) {
    uint8_t next = belt->mode;
    if (button == BUTTON_POWER || belt->mode == MODE_STANDBY) {
        press_power(belt, button == BUTTON_POWER ? press : TENDON_FEELSPACE_PRESS_SHORT, now);
        return;
    }
    if (button == BUTTON_PAUSE) {
        next = after_pause(belt);
    } else if (button == BUTTON_COMPASS) {
        next = after_compass(belt, press);
    } else if (button == BUTTON_HOME && belt->mode == MODE_CALIBRATION) {
        next = MODE_WAIT;
    } else if (button == BUTTON_HOME && press == TENDON_FEELSPACE_PRESS_LONG && !belt->options.pairing_mode) {
        belt->pairing_until = now + PAIRING_MODE_MS;
    }
    bool louder = button == BUTTON_HOME, paused = belt->mode == MODE_PAUSE && button != BUTTON_PAUSE;
    uint8_t code = press == TENDON_FEELSPACE_PRESS_LONG ? 3 : press == TENDON_FEELSPACE_PRESS_DOUBLE ? 2 : 1;
    tendon_simulated_feelspace_report_press(belt, button, code, belt->mode, next, now);
    if (paused) {
        int step = louder ? INTENSITY_STEP : -INTENSITY_STEP;
        tendon_simulated_feelspace_set_intensity(belt, belt->settings.intensity + step);
    }
}

/* ---- calls from outside ---- */

void tendon_simulated_feelspace_set_battery(tendon_simulated_feelspace *belt, uint8_t power_status,
                                            uint8_t level_percent, uint64_t now) {
    (void)now;
    uint32_t level = level_percent > 100 ? 100 : level_percent;
    belt->power_status = power_status;
    belt->battery_level = (uint16_t)(level * 256);
    belt->battery_time =
        (uint16_t)(power_status == 2 ? (100 - level) * 16 : level * 64); /* 2.5 h to full, 10 h to go */
    uint8_t bytes[20];
    size_t length = tendon_simulated_feelspace_value(belt, BELT_BATTERY, bytes, sizeof bytes);
    tendon_simulated_feelspace_notify(belt, BELT_BATTERY, bytes, length);
}

void tendon_simulated_feelspace_set_heading(tendon_simulated_feelspace *belt, uint16_t heading, uint16_t turn,
                                            uint64_t now) {
    belt->heading = (uint16_t)(heading % 360);
    belt->turn = turn;
    belt->turn_since = now;
}

void tendon_simulated_feelspace_set_accurate(tendon_simulated_feelspace *belt, bool accurate) {
    belt->inaccurate = !accurate;
}

void tendon_simulated_feelspace_raise_error(tendon_simulated_feelspace *belt, uint32_t code, uint64_t now) {
    if (belt->error_count < TENDON_SIMULATED_FEELSPACE_ERRORS) {
        belt->errors[belt->error_count].code = code;
        belt->errors[belt->error_count].ms = (uint32_t)(now & UINT32_MAX);
        belt->error_count++;
    }
    uint8_t bytes[5];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&out, 0xA0);
    tendon_write_u32le(&out, code);
    tendon_simulated_feelspace_notify(belt, BELT_DEBUG_OUTPUT, bytes, sizeof bytes);
}

void tendon_simulated_feelspace_inject(tendon_simulated_feelspace *belt, tendon_simulated_feelspace_malformation kind,
                                       uint32_t count) {
    belt->malformed_kind = kind;
    belt->malformed_next = count;
}
