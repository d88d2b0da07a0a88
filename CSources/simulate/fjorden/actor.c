/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: scenario commands. */
#include "fjorden_parts.h"

enum { SHUTTER, FN, DIAL_BUTTON, DIAL, LEVER, EVENT, BATTERY, LOSE, DUPLICATE, MALFORMED, RESET_BOND, POWER, PAIRING };
enum { COMMANDS = PAIRING + 1, POSITIONS = 3, DETENTS_MAX = 32767 };

static const char *const commands[COMMANDS] = {[SHUTTER] = "shutter",
                                               [FN] = "fn",
                                               [DIAL_BUTTON] = "dial_button",
                                               [DIAL] = "dial",
                                               [LEVER] = "lever",
                                               [EVENT] = "event",
                                               [BATTERY] = "battery",
                                               [LOSE] = "lose",
                                               [DUPLICATE] = "duplicate",
                                               [MALFORMED] = "malformed",
                                               [RESET_BOND] = "reset_bond",
                                               [POWER] = "power_off",
                                               [PAIRING] = "pairing"};

/** Most words, the command included. */
static const uint8_t most[COMMANDS] = {2, 2, 2, 3, 2, 3, 2, 2, 2, 3, 1, 1, 2};

static const char *const shutter[POSITIONS] = {"released", "half", "full"};
static const char *const buttons[2] = {"up", "down"};
static const char *const turns[2] = {"ccw", "cw"};
static const char *const lever[POSITIONS] = {"left", "neutral", "right"};
static const char *const switches[2] = {"off", "on"};
static const char *const kinds[TENDON_FJORDEN_MALFORM_COUNT] = {"empty", "length", "value", "unknown", "state"};

typedef struct understood {
    uint32_t command, first, second;
} understood;

static bool read_first(const tendon_scenario_event *event, understood *out) {
    uint32_t index = 0;
    bool good;
    switch (out->command) {
    case SHUTTER:
        good = tendon_scenario_word_among(event, 1, shutter, POSITIONS, &index);
        break;
    case FN:
    case DIAL_BUTTON:
        good = tendon_scenario_word_among(event, 1, buttons, 2, &index);
        break;
    case DIAL:
        good = tendon_scenario_word_among(event, 1, turns, 2, &index);
        break;
    case LEVER:
        good = tendon_scenario_word_among(event, 1, lever, POSITIONS, &index);
        break;
    case PAIRING:
        good = tendon_scenario_word_among(event, 1, switches, 2, &index);
        break;
    case MALFORMED:
        good = tendon_scenario_word_among(event, 1, kinds, TENDON_FJORDEN_MALFORM_COUNT, &index);
        break;
    case RESET_BOND:
    case POWER:
        return true;
    default:
        return tendon_scenario_word_number(event, 1,
                                           out->command == EVENT     ? 0xFF
                                           : out->command == BATTERY ? 100
                                                                     : UINT32_MAX,
                                           &out->first);
    }
    out->first = index;
    return good;
}

static tendon_status understand(const tendon_scenario_event *event, understood *out, size_t *wrong) {
    *wrong = 0;
    if (!tendon_scenario_word_among(event, 0, commands, COMMANDS, &out->command)) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    *wrong = 1;
    bool good = read_first(event, out);
    bool wants_second =
        out->command == DIAL || ((out->command == EVENT || out->command == MALFORMED) && event->count > 2);
    out->second = out->command == MALFORMED ? 1 : 0;
    if (good && wants_second) {
        *wrong = 2;
        uint32_t limit = out->command == EVENT ? INT8_MAX : out->command == DIAL ? DETENTS_MAX : UINT32_MAX;
        good = tendon_scenario_word_number(event, 2, limit, &out->second);
    }
    if (good && event->count > most[out->command]) {
        *wrong = most[out->command];
        good = false;
    }
    return good ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

static void carry_out(tendon_simulated_fjorden *device, const understood *what, uint64_t now) {
    int32_t number = (int32_t)what->first;
    switch (what->command) {
    case SHUTTER:
        (void)tendon_simulated_fjorden_move(device, TENDON_FJORDEN_CONTROL_SHUTTER, number, now);
        break;
    case FN:
        (void)tendon_simulated_fjorden_move(device, TENDON_FJORDEN_CONTROL_FN, number, now);
        break;
    case DIAL_BUTTON:
        (void)tendon_simulated_fjorden_move(device, TENDON_FJORDEN_CONTROL_DIAL_BUTTON, number, now);
        break;
    case DIAL:
        number = number != 0 ? (int32_t)what->second : -(int32_t)what->second;
        (void)tendon_simulated_fjorden_move(device, TENDON_FJORDEN_CONTROL_DIAL, number, now);
        break;
    case LEVER:
        (void)tendon_simulated_fjorden_move(device, TENDON_FJORDEN_CONTROL_LEVER, number - 1, now);
        break;
    case EVENT:
        tendon_simulated_fjorden_event(device, (uint8_t)what->first, (int8_t)what->second, now);
        break;
    case BATTERY:
        tendon_simulated_fjorden_set_battery(device, (uint8_t)what->first, now);
        break;
    case LOSE:
        tendon_simulated_fjorden_lose(device, what->first);
        break;
    case DUPLICATE:
        tendon_simulated_fjorden_duplicate(device, what->first);
        break;
    case MALFORMED:
        tendon_simulated_fjorden_inject(device, (tendon_simulated_fjorden_malformation)what->first, what->second, now);
        break;
    case RESET_BOND:
        tendon_simulated_fjorden_reset_bond(device, now);
        break;
    case POWER:
        tendon_simulated_fjorden_power_off(device, now);
        break;
    default:
        device->options.rejects_pairing = what->first == 0;
        break;
    }
}

static tendon_status perform(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now) {
    understood what = {0};
    tendon_status status = understand(event, &what, wrong);
    if (status == TENDON_OK && !dry_run) {
        carry_out(context, &what, now);
    }
    return status;
}

tendon_scenario_actor tendon_simulated_fjorden_actor(tendon_simulated_fjorden *device) {
    return (tendon_scenario_actor){device, perform};
}
