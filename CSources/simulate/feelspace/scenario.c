/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: the commands of scenarios. */
#include "feelspace_parts.h"

static const char *const commands[] = {"press", "mode",      "battery", "heading", "turn", "accurate",
                                       "error", "malformed", "silent",  "swapped", "deaf"};
enum command { PRESS, MODE, BATTERY, HEADING, TURN, ACCURATE, ERROR, MALFORMED, SILENT, SWAPPED, DEAF, COMMANDS };

static const char *const switches[] = {"off", "on"};
static const char *const buttons[] = {"power", "pause", "compass", "home"};
static const char *const presses[] = {"short", "long", "double"};
static const char *const modes[MODE_COUNT] = {"standby", "wait", "compass", "app", "pause", "calibration", "crossing"};
static const char *const powers[] = {"unknown", "on_battery", "charging", "external"};
static const char *const kinds[TENDON_FEELSPACE_MALFORM_COUNT] = {"empty", "cut", "bad_value", "garbage"};

/** What the words of a command are: names, or numbers up to a maximum, or either. */
static const struct {
    const char *const *names;
    uint32_t count, maximum; /**< maximum 0: no numbers */
    const char *const *more; /**< of the second argument; NULL with more_maximum 0: there is none */
    uint32_t more_count, more_maximum;
} grammar[COMMANDS] = {
    [PRESS] = {buttons, 4, 0, presses, 3, 0},
    [MODE] = {modes, MODE_COUNT, MODE_COUNT - 1, NULL, 0, 0},
    [BATTERY] = {NULL, 0, 100, powers, 4, 0},
    [HEADING] = {NULL, 0, 359, NULL, 0, 0},
    [TURN] = {NULL, 0, 359, NULL, 0, 0},
    [ACCURATE] = {switches, 2, 0, NULL, 0, 0},
    [ERROR] = {NULL, 0, UINT32_MAX, NULL, 0, 0},
    [MALFORMED] = {kinds, TENDON_FEELSPACE_MALFORM_COUNT, 0, NULL, 0, UINT32_MAX},
    [SILENT] = {switches, 2, 0, NULL, 0, 0},
    [SWAPPED] = {switches, 2, 0, NULL, 0, 0},
    [DEAF] = {switches, 2, 0, NULL, 0, 0},
};

static bool take_word(const tendon_scenario_event *event, size_t index, const char *const *names, uint32_t count,
                      uint32_t maximum, uint32_t *out) {
    return (count > 0 && tendon_scenario_word_among(event, index, names, count, out)) ||
           (maximum > 0 && tendon_scenario_word_number(event, index, maximum, out));
}

/** The command's number, its two arguments; UINT32_MAX: the second is not there. */
static tendon_status understand(const tendon_scenario_event *event, uint32_t out[3], size_t *wrong) {
    *wrong = 0;
    if (!tendon_scenario_word_among(event, 0, commands, COMMANDS, &out[0])) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    *wrong = 1;
    uint32_t kind = out[0];
    if (!take_word(event, 1, grammar[kind].names, grammar[kind].count, grammar[kind].maximum, &out[1])) {
        return TENDON_ERROR_MALFORMED;
    }
    *wrong = 2;
    out[2] = UINT32_MAX;
    if (event->count > 2 &&
        !take_word(event, 2, grammar[kind].more, grammar[kind].more_count, grammar[kind].more_maximum, &out[2])) {
        return TENDON_ERROR_MALFORMED;
    }
    *wrong = 3;
    return event->count > 3 ? TENDON_ERROR_MALFORMED : TENDON_OK;
}

static void perform_fault(tendon_simulated_feelspace *belt, uint32_t command, const uint32_t words[3]) {
    bool on = words[1] != 0;
    if (command == MALFORMED) {
        tendon_simulated_feelspace_inject(belt, (tendon_simulated_feelspace_malformation)words[1],
                                          words[2] == UINT32_MAX ? 1 : words[2]);
    } else if (command == SILENT) {
        belt->silent = on;
    } else if (command == SWAPPED) {
        belt->swapped = on;
    } else {
        belt->deaf = on;
    }
}

static tendon_status perform(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now) {
    tendon_simulated_feelspace *belt = context;
    uint32_t words[3] = {0};
    tendon_status status = understand(event, words, wrong);
    if (status != TENDON_OK || dry_run) {
        return status;
    }
    bool has_second = words[2] != UINT32_MAX;
    switch (words[0]) {
    case PRESS:
        tendon_simulated_feelspace_press_button(
            belt, (uint8_t)(words[1] + 1),
            has_second ? (tendon_simulated_feelspace_press)words[2] : TENDON_FEELSPACE_PRESS_SHORT, now);
        break;
    case MODE:
        tendon_simulated_feelspace_change_mode(belt, (uint8_t)words[1], now);
        break;
    case BATTERY:
        tendon_simulated_feelspace_set_battery(belt, has_second ? (uint8_t)words[2] : belt->power_status,
                                               (uint8_t)words[1], now);
        break;
    case HEADING:
        tendon_simulated_feelspace_set_heading(belt, (uint16_t)words[1], 0, now);
        break;
    case TURN:
        tendon_simulated_feelspace_set_heading(belt, tendon_simulated_feelspace_heading(belt, now), (uint16_t)words[1],
                                               now);
        break;
    case ACCURATE:
        tendon_simulated_feelspace_set_accurate(belt, words[1] != 0);
        break;
    case ERROR:
        tendon_simulated_feelspace_raise_error(belt, words[1], now);
        break;
    default:
        perform_fault(belt, words[0], words);
        break;
    }
    return TENDON_OK;
}

tendon_scenario_actor tendon_simulated_feelspace_actor(tendon_simulated_feelspace *belt) {
    return (tendon_scenario_actor){belt, perform};
}
