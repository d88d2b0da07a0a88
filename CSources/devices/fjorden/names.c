/* SPDX-License-Identifier: MIT */
#include "names.h"

const char *tendon_fjorden_status_name(tendon_status status) {
#define NAME_CASE(name, code, word, text)                                                                              \
    case TENDON_FJORDEN_ERROR_##name:                                                                                  \
        return word;
    switch (status) {
        TENDON_FJORDEN_STATUS_LIST(NAME_CASE)
    default:
        return tendon_status_name(status);
    }
#undef NAME_CASE
}

const char *tendon_fjorden_status_text(tendon_status status) {
#define TEXT_CASE(name, code, word, text)                                                                              \
    case TENDON_FJORDEN_ERROR_##name:                                                                                  \
        return text;
    switch (status) {
        TENDON_FJORDEN_STATUS_LIST(TEXT_CASE)
    default:
        return tendon_status_text(status);
    }
#undef TEXT_CASE
}

size_t tendon_grip_text_length(const char *text) {
    size_t length = 0;
    while (text[length] != 0) {
        length++;
    }
    return length;
}

int tendon_grip_name_index(const char *const *names, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; i++) {
        if (tendon_grip_text_length(names[i]) == length && memcmp(names[i], name, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

typedef struct named_event {
    uint8_t event;
    const char *name;
} named_event;

static const named_event events[] = {
    {TENDON_FJORDEN_SHUTTER_HALF_DOWN, "shutterButtonHalfDown"},
    {TENDON_FJORDEN_SHUTTER_DOWN, "shutterButtonDown"},
    {TENDON_FJORDEN_SHUTTER_RELEASED, "shutterButtonReleased"},
    {TENDON_FJORDEN_DIAL_CW, "dialButtonCW"},
    {TENDON_FJORDEN_DIAL_CCW, "dialButtonCCW"},
    {TENDON_FJORDEN_DIAL_PRESS, "dialButtonPress"},
    {TENDON_FJORDEN_DIAL_LONG_PRESS, "dialButtonLongPress"},
    {TENDON_FJORDEN_FN_PRESS, "fnButtonPress"},
    {TENDON_FJORDEN_FN_LONG_PRESS, "fnButtonLongPress"},
    {TENDON_FJORDEN_LEVER_LEFT, "zoomLeverLeft"},
    {TENDON_FJORDEN_LEVER_RIGHT, "zoomLeverRight"},
    {TENDON_FJORDEN_LEVER_HOLD_LEFT, "zoomLeverHoldLeft"},
    {TENDON_FJORDEN_LEVER_HOLD_RIGHT, "zoomLeverHoldRight"},
    {TENDON_FJORDEN_LEVER_NEUTRAL, "zoomLeverNeutral"},
    {TENDON_FJORDEN_BATTERY_LOW, "batteryLow"},
    {TENDON_FJORDEN_POWERING_OFF, "poweringOff"},
    {TENDON_FJORDEN_BOND_RESET, "bondReset"},
    {TENDON_FJORDEN_CUSTOM_PRESS, "customButtonPress"},
    {TENDON_FJORDEN_CUSTOM_LONG_PRESS, "customButtonLongPress"},
    {TENDON_FJORDEN_UNKNOWN, "unknown"},
};
enum { EVENT_COUNT = sizeof events / sizeof events[0], BUTTONS = 16 };

bool tendon_fjorden_event_is_custom(uint8_t event) {
    return (event & 0xF0) == TENDON_FJORDEN_CUSTOM_PRESS || (event & 0xF0) == TENDON_FJORDEN_CUSTOM_LONG_PRESS;
}

/* The last row is that of all unknown ones. */
static size_t row_of(uint8_t event) {
    uint8_t wanted = tendon_fjorden_event_is_custom(event) ? event & 0xF0 : event;
    size_t row = 0;
    while (row < EVENT_COUNT - 1 && events[row].event != wanted) {
        row++;
    }
    return row;
}

const char *tendon_fjorden_event_name(uint8_t event) {
    return events[row_of(event)].name;
}

bool tendon_fjorden_event_known(uint8_t event) {
    return row_of(event) < EVENT_COUNT - 1;
}

/* "(0)" to "(15)", or -1. */
static int button_number(const char *text, size_t length) {
    if (length < 3 || length > 4 || text[0] != '(' || text[length - 1] != ')') {
        return -1;
    }
    int number = 0;
    for (size_t i = 1; i + 1 < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        number = number * 10 + (text[i] - '0');
    }
    return number < BUTTONS ? number : -1;
}

int tendon_fjorden_event_named(const char *name, size_t length) {
    for (size_t i = 0; i < EVENT_COUNT; i++) {
        size_t known = tendon_grip_text_length(events[i].name);
        if (length < known || memcmp(events[i].name, name, known) != 0) {
            continue;
        }
        if (tendon_fjorden_event_is_custom(events[i].event)) {
            int button = button_number(name + known, length - known);
            return button < 0 ? -1 : events[i].event + button;
        }
        if (length == known) {
            return events[i].event;
        }
    }
    return -1;
}
