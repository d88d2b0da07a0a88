/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: scenario commands. */
#include "obvious_parts.h"

enum {
    ENABLE,
    DISABLE,
    TOGGLE,
    BATTERY,
    POWER_CUT,
    WATCHDOG,
    REBOOT,
    REJECT,
    WRONG,
    LOSE,
    DUPLICATE,
    SWAP,
    CORRUPT,
    IGNORE,
    CREDIT,
    PAUSE,
    PAIRING,
    MUTE,
    COMMANDS
};
enum { PAUSE_MAX_MS = 3600000, CREDIT_LIMIT = 32 };

/* What the words after the command are. */
enum { NOTHING, ID, NUMBER, COUNT, SWITCH, KIND, RECOVERY };

static const char *const switches[2] = {"off", "on"};
static const char *const kinds[TENDON_SIMULATED_OBVIOUS_LIE_COUNT] = {"crc",  "offset", "session",
                                                                      "next", "serial", "product"};
static const char *const recovery[1] = {"recovery"};

/* The second word after the command may be absent if it is optional. */
static const struct {
    const char *name;
    uint8_t first, second;
    bool first_optional, second_optional;
    uint32_t maximum; /* of a NUMBER */
} commands[COMMANDS] = {[ENABLE] = {"enable", ID, NOTHING, false, false, 0},
                        [DISABLE] = {"disable", ID, NOTHING, false, false, 0},
                        [TOGGLE] = {"toggle", ID, SWITCH, false, false, 0},
                        [BATTERY] = {"battery", NUMBER, NOTHING, false, false, 100},
                        [POWER_CUT] = {"power_cut", NUMBER, NOTHING, true, false, UINT32_MAX},
                        [WATCHDOG] = {"watchdog", NOTHING, NOTHING, false, false, 0},
                        [REBOOT] = {"reboot", RECOVERY, NOTHING, true, false, 0},
                        [REJECT] = {"reject", NUMBER, COUNT, false, true, 255},
                        [WRONG] = {"wrong", KIND, COUNT, false, true, 0},
                        [LOSE] = {"lose", COUNT, NOTHING, false, false, 0},
                        [DUPLICATE] = {"duplicate", COUNT, NOTHING, false, false, 0},
                        [SWAP] = {"swap", COUNT, NOTHING, false, false, 0},
                        [CORRUPT] = {"corrupt", COUNT, NOTHING, false, false, 0},
                        [IGNORE] = {"ignore", COUNT, NOTHING, false, false, 0},
                        [CREDIT] = {"credit", NUMBER, NOTHING, false, false, CREDIT_LIMIT},
                        [PAUSE] = {"pause", NUMBER, NOTHING, false, false, PAUSE_MAX_MS},
                        [PAIRING] = {"pairing", SWITCH, NOTHING, false, false, 0},
                        [MUTE] = {"mute", SWITCH, NOTHING, false, false, 0}};

typedef struct understood {
    uint32_t command, first, second;
    bool has_first;
} understood;

static bool read_word(const tendon_scenario_event *event, size_t index, uint8_t type, uint32_t maximum, uint32_t *out) {
    switch (type) {
    case SWITCH:
        return tendon_scenario_word_among(event, index, switches, 2, out);
    case KIND:
        return tendon_scenario_word_among(event, index, kinds, TENDON_SIMULATED_OBVIOUS_LIE_COUNT, out);
    case RECOVERY:
        return tendon_scenario_word_among(event, index, recovery, 1, out);
    case ID:
        return tendon_scenario_word_number(event, index, FEATURE_ID_MAX, out) && *out != 0;
    case COUNT:
        return tendon_scenario_word_number(event, index, UINT32_MAX, out);
    default:
        return tendon_scenario_word_number(event, index, maximum, out);
    }
}

static tendon_status understand(const tendon_scenario_event *event, understood *out, size_t *wrong) {
    *wrong = 0;
    if (!tendon_scenario_word_in_rows(event, 0, &commands[0].name, sizeof commands[0], COMMANDS, &out->command)) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    const uint8_t first = commands[out->command].first, second = commands[out->command].second;
    out->has_first = event->count > 1;
    out->second = 1;
    *wrong = 1;
    bool absent = event->count < 2 && (first == NOTHING || commands[out->command].first_optional);
    if (!absent && (first == NOTHING || !read_word(event, 1, first, commands[out->command].maximum, &out->first))) {
        return TENDON_ERROR_MALFORMED;
    }
    *wrong = 2;
    absent = event->count < 3 && (second == NOTHING || commands[out->command].second_optional);
    if (!absent && (second == NOTHING || !read_word(event, 2, second, 0, &out->second))) {
        return TENDON_ERROR_MALFORMED;
    }
    *wrong = 3;
    return event->count <= 3 ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

/* A feature that changes: it exists once it was enabled. */
static void set_feature(tendon_simulated_obvious *device, const understood *what, uint64_t now) {
    tendon_simulated_obvious_feature feature;
    uint16_t id = (uint16_t)what->first;
    (void)tendon_simulated_obvious_get(device, id, &feature);
    if (what->command == TOGGLE) {
        feature.toggle = what->second != 0 ? 1 : 2;
    } else {
        feature.enable = what->command == ENABLE;
    }
    (void)tendon_simulated_obvious_set(device, id, feature.enable, feature.toggle, now);
}

static void set_power(tendon_simulated_obvious *device, const understood *what, uint64_t now) {
    if (what->command == REBOOT) {
        tendon_simulated_obvious_reboot(device, what->has_first, now);
    } else if (what->command == WATCHDOG) {
        tendon_simulated_obvious_watchdog(device, now);
    } else if (what->has_first) {
        device->options.flash->cut_after = what->first;
    } else {
        tendon_simulated_obvious_power_cut(device, now);
    }
}

/* A fault of the next segments. */
static void set_fault(tendon_simulated_obvious *device, const understood *what) {
    const struct {
        uint32_t command;
        uint32_t *count;
    } faults[] = {{LOSE, &device->lose_next},
                  {DUPLICATE, &device->double_next},
                  {SWAP, &device->swap_next},
                  {CORRUPT, &device->corrupt_next},
                  {IGNORE, &device->deaf_next}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if (faults[i].command == what->command) {
            *faults[i].count = what->first;
        }
    }
}

static void carry_out(tendon_simulated_obvious *device, const understood *what, uint64_t now) {
    switch (what->command) {
    case ENABLE:
    case DISABLE:
    case TOGGLE:
        set_feature(device, what, now);
        break;
    case BATTERY:
        tendon_simulated_obvious_set_battery(device, (uint8_t)what->first, now);
        break;
    case POWER_CUT:
    case WATCHDOG:
    case REBOOT:
        set_power(device, what, now);
        break;
    case REJECT:
        tendon_simulated_obvious_reject(device, (uint8_t)what->first, what->second);
        break;
    case WRONG:
        tendon_simulated_obvious_answer_wrongly(device, (tendon_simulated_obvious_lie)what->first, what->second);
        break;
    case CREDIT:
        device->credit = (uint8_t)what->first;
        break;
    case PAUSE:
        tendon_simulated_obvious_pause(device, what->first, now);
        break;
    case PAIRING:
        device->options.rejects_pairing = what->first == 0;
        break;
    case MUTE:
        device->options.mute = what->first != 0;
        break;
    default:
        set_fault(device, what);
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

tendon_scenario_actor tendon_simulated_obvious_actor(tendon_simulated_obvious *device) {
    return (tendon_scenario_actor){device, perform};
}
