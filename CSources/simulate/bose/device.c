/* SPDX-License-Identifier: MIT */
/* Simulated Bose wearable behind the interface that hosts of any device use. */
#include "bose_parts.h"

tendon_status tendon_simulated_bose_advertisement(const tendon_simulated_bose *device, uint8_t *out, size_t capacity) {
    (void)device;
    return tendon_simulated_advertisement(0xFDD2, out, capacity);
}

tendon_status tendon_simulated_bose_scan_response(const tendon_simulated_bose *device, uint8_t *out, size_t capacity) {
    return tendon_simulated_scan_response(device->options.name, out, capacity);
}

static tendon_status advertisement(const void *device, uint8_t *out, size_t capacity) {
    return tendon_simulated_bose_advertisement(device, out, capacity);
}

static tendon_status scan_response(const void *device, uint8_t *out, size_t capacity) {
    return tendon_simulated_bose_scan_response(device, out, capacity);
}

static tendon_status connected(void *device, tendon_att_bearer *bearer, uint64_t now) {
    return tendon_simulated_bose_connected(device, bearer, now);
}

static void disconnected(void *device, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_bose_disconnected(device, bearer, reason, now);
}

static void paired(void *device, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_bose_paired(device, bearer, now);
}

static void writable(void *device, uint64_t now) {
    tendon_simulated_bose_writable(device, now);
}

static void tick(void *device, uint64_t now) {
    tendon_simulated_bose_tick(device, now);
}

static uint64_t deadline(const void *device) {
    return tendon_simulated_bose_deadline(device);
}

static uint32_t pairing(void *context) {
    const tendon_simulated_bose *device = context;
    return (device->status & STATUS_PAIRING_ENABLED) != 0 ? TENDON_PERIPHERAL_PAIRABLE : 0;
}

static const tendon_peripheral_ops ops = {.name = "bose",
                                          .advertisement = advertisement,
                                          .scan_response = scan_response,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = writable,
                                          .tick = tick,
                                          .deadline = deadline,
                                          .pairing = pairing};

tendon_peripheral_device tendon_simulated_bose_device(tendon_simulated_bose *device) {
    return (tendon_peripheral_device){&ops, device};
}

/* ---- scenarios ---- */

static const char *const reasons[] = {"unknown", "voice_assistant", "multipoint_connection", "music_share",
                                      "ota_firmware_update"};
static const char *const malformations[TENDON_BOSE_MALFORM_COUNT] = {"empty",          "cut_header",   "cut_payload",
                                                                     "unknown_sensor", "bad_accuracy", "garbage"};

static bool find_gesture(const tendon_scenario_event *event, size_t index, uint32_t *id) {
    uint32_t row;
    if (tendon_scenario_word_in_rows(event, index, &tendon_simulated_bose_gestures[0].name,
                                     sizeof tendon_simulated_bose_gestures[0], GESTURE_BITS, &row)) {
        *id = tendon_simulated_bose_gestures[row].id;
        return true;
    }
    return tendon_scenario_word_number(event, index, 0xFF, id);
}

/** A command understood: its number and its arguments. */
typedef struct tendon_simulated_bose_command {
    enum { SUSPEND, RESUME, GESTURE, MALFORMED, PAIRING_MODE } kind;
    uint32_t argument, count;
} tendon_simulated_bose_command;

/** TENDON_ERROR_MALFORMED with the word that is wrong: an argument, one that is missing, one too many. */
static tendon_status understand(const tendon_scenario_event *event, tendon_simulated_bose_command *out, size_t *wrong) {
    static const char *const commands[] = {"suspend", "resume", "gesture", "malformed", "pairing_mode"};
    static const char *const switches[] = {"off", "on"};
    static const uint8_t most[] = {2, 1, 2, 3, 2}; /* words, the command included */
    uint32_t kind;
    bool good = true;
    *wrong = 0;
    out->count = 1;
    if (!tendon_scenario_word_among(event, 0, commands, 5, &kind)) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    out->kind = kind;
    *wrong = 1;
    if (kind == SUSPEND) {
        good = tendon_scenario_word_among(event, 1, reasons, 5, &out->argument) ||
               tendon_scenario_word_number(event, 1, 15, &out->argument);
    } else if (kind == GESTURE) {
        good = find_gesture(event, 1, &out->argument);
    } else if (kind == PAIRING_MODE) {
        good = tendon_scenario_word_among(event, 1, switches, 2, &out->argument);
    } else if (kind == MALFORMED) {
        good = tendon_scenario_word_among(event, 1, malformations, TENDON_BOSE_MALFORM_COUNT, &out->argument);
        if (good && event->count > 2) {
            *wrong = 2;
            good = tendon_scenario_word_number(event, 2, UINT32_MAX, &out->count);
        }
    }
    if (good && event->count > most[kind]) {
        *wrong = most[kind];
        good = false;
    }
    return good ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

static tendon_status perform(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now) {
    tendon_simulated_bose *device = context;
    tendon_simulated_bose_command command = {0};
    tendon_status status = understand(event, &command, wrong);
    if (status != TENDON_OK || dry_run) {
        return status;
    }
    switch (command.kind) {
    case SUSPEND:
        tendon_simulated_bose_suspend(device, true, (uint8_t)command.argument, now);
        break;
    case RESUME:
        tendon_simulated_bose_suspend(device, false, 0, now);
        break;
    case GESTURE: /* a gesture without a subscriber is not an error */
        (void)tendon_simulated_bose_gesture(device, (uint8_t)command.argument, now);
        break;
    case MALFORMED:
        tendon_simulated_bose_inject(device, (tendon_simulated_bose_malformation)command.argument, command.count);
        break;
    case PAIRING_MODE:
    default:
        tendon_simulated_bose_set_pairing_mode(device, command.argument != 0, now);
        break;
    }
    return TENDON_OK;
}

tendon_scenario_actor tendon_simulated_bose_actor(tendon_simulated_bose *device) {
    return (tendon_scenario_actor){device, perform};
}
