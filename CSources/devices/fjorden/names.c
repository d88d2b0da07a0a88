/* SPDX-License-Identifier: MIT */
#include "names.h"
#include "tendon/base/packed.h"

#define NUMBER(name, code, word, text) TENDON_LAYER_FJORDEN * 256 + (code),
#define WORD(name, code, word, text) word "\0"
#define TEXT(name, code, word, text) text "\0"

static const uint16_t numbers[] = {TENDON_FJORDEN_STATUS_LIST(NUMBER)};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0] };

const char *tendon_fjorden_status_name(tendon_status status) {
    return tendon_packed_status(TENDON_FJORDEN_STATUS_LIST(WORD), numbers, NUMBER_COUNT, status, tendon_status_name);
}

const char *tendon_fjorden_status_text(tendon_status status) {
    return tendon_packed_status(TENDON_FJORDEN_STATUS_LIST(TEXT), numbers, NUMBER_COUNT, status, tendon_status_text);
}

/* The last one is the name of all that are not known. */
#define EVENTS(X)                                                                                                      \
    X(SHUTTER_HALF_DOWN, "shutterButtonHalfDown")                                                                      \
    X(SHUTTER_DOWN, "shutterButtonDown")                                                                               \
    X(SHUTTER_RELEASED, "shutterButtonReleased")                                                                       \
    X(DIAL_CW, "dialButtonCW")                                                                                         \
    X(DIAL_CCW, "dialButtonCCW")                                                                                       \
    X(DIAL_PRESS, "dialButtonPress")                                                                                   \
    X(DIAL_LONG_PRESS, "dialButtonLongPress")                                                                          \
    X(FN_PRESS, "fnButtonPress")                                                                                       \
    X(FN_LONG_PRESS, "fnButtonLongPress")                                                                              \
    X(LEVER_LEFT, "zoomLeverLeft")                                                                                     \
    X(LEVER_RIGHT, "zoomLeverRight")                                                                                   \
    X(LEVER_HOLD_LEFT, "zoomLeverHoldLeft")                                                                            \
    X(LEVER_HOLD_RIGHT, "zoomLeverHoldRight")                                                                          \
    X(LEVER_NEUTRAL, "zoomLeverNeutral")                                                                               \
    X(BATTERY_LOW, "batteryLow")                                                                                       \
    X(POWERING_OFF, "poweringOff")                                                                                     \
    X(BOND_RESET, "bondReset")                                                                                         \
    X(CUSTOM_PRESS, "customButtonPress")                                                                               \
    X(CUSTOM_LONG_PRESS, "customButtonLongPress")                                                                      \
    X(UNKNOWN, "unknown")
#define EVENT(name, word) TENDON_FJORDEN_##name,
#define EVENT_WORD(name, word) word "\0"

static const uint16_t events[] = {EVENTS(EVENT)};
static const char event_words[] = EVENTS(EVENT_WORD);
enum { EVENT_COUNT = sizeof events / sizeof events[0], BUTTONS = 16 };

bool tendon_fjorden_event_is_custom(uint8_t event) {
    return (event & 0xF0) == TENDON_FJORDEN_CUSTOM_PRESS || (event & 0xF0) == TENDON_FJORDEN_CUSTOM_LONG_PRESS;
}

static const char *word_of(uint8_t event) {
    return tendon_packed_string(event_words, events, EVENT_COUNT,
                                tendon_fjorden_event_is_custom(event) ? event & 0xF0u : event);
}

const char *tendon_fjorden_event_name(uint8_t event) {
    const char *word = word_of(event);
    return word != NULL ? word : "unknown";
}

bool tendon_fjorden_event_known(uint8_t event) {
    return event != TENDON_FJORDEN_UNKNOWN && word_of(event) != NULL;
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
    const char *word = event_words;
    for (size_t i = 0; i < EVENT_COUNT; i++) {
        uint8_t event = (uint8_t)events[i];
        size_t known = tendon_string_length(word);
        if (length >= known && memcmp(word, name, known) == 0) {
            if (tendon_fjorden_event_is_custom(event)) {
                int button = button_number(name + known, length - known);
                return button < 0 ? -1 : event + button;
            }
            if (length == known) {
                return event;
            }
        }
        word += known + 1;
    }
    return -1;
}
