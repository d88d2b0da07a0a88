/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer behind the interface that hosts of any device use, and in scenarios. */
#include "activ5_parts.h"

enum { SQUEEZE_MS = 400, SQUEEZE_RAW = 160, RAW_MAX = 32767 };

/** Service and, where there is room, name: one report is enough to know it by. */
static tendon_status advertisement(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_activ5 *device = context;
    tendon_status length = tendon_simulated_advertisement(0x5000, out, capacity);
    if (length < 0) {
        return length;
    }
    tendon_status name = tendon_simulated_scan_response(device->options.name, out + length, capacity - (size_t)length);
    return name < 0 ? length : length + name;
}

static tendon_status scan_response(const void *context, uint8_t *out, size_t capacity) {
    const tendon_simulated_activ5 *device = context;
    return tendon_simulated_scan_response(device->options.name, out, capacity);
}

static tendon_status connected(void *device, tendon_att_bearer *bearer, uint64_t now) {
    return tendon_simulated_activ5_connected(device, bearer, now);
}

static void disconnected(void *device, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    tendon_simulated_activ5_disconnected(device, bearer, reason, now);
}

/** No bond is needed, and none changes anything. */
static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_simulated_activ5 *device = context;
    (void)now;
    (void)tendon_simulated_centrals_paired(&device->centrals, bearer);
}

static void tick(void *device, uint64_t now) {
    tendon_simulated_activ5_tick(device, now);
}

static uint64_t deadline(const void *context) {
    return tendon_simulated_activ5_deadline(context);
}

static const tendon_peripheral_ops ops = {.name = "activ5",
                                          .advertisement = advertisement,
                                          .scan_response = scan_response,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = tick,
                                          .tick = tick,
                                          .deadline = deadline};

tendon_peripheral_device tendon_simulated_activ5_device(tendon_simulated_activ5 *device) {
    return (tendon_peripheral_device){&ops, device};
}

/* ---- scenarios ---- */

enum { SQUEEZE, DOUBLE_SQUEEZE, LOAD, BATTERY, POWER, MALFORMED, STALE_TAILS, SPLIT_FRAMES, COMMANDS };

typedef struct tendon_simulated_activ5_order {
    uint32_t kind, first, second;
} tendon_simulated_activ5_order;

/** TENDON_ERROR_MALFORMED with the word that is wrong: an argument, one that is missing, one too many. */
static tendon_status understand(const tendon_scenario_event *event, tendon_simulated_activ5_order *out, size_t *wrong) {
    static const char *const commands[COMMANDS] = {"squeeze", "double_squeeze", "load",        "battery",
                                                   "power",   "malformed",      "stale_tails", "split_frames"};
    static const char *const kinds[TENDON_ACTIV5_MALFORM_COUNT] = {
        "empty", "short", "no_slash", "bad_number", "bad_encoding", "long", "unknown", "garbage", "short_imu"};
    static const char *const switches[] = {"off", "on"};
    static const uint8_t most[COMMANDS] = {3, 1, 2, 2, 2, 3, 2, 2}; /* words, the command included */
    bool good = true;
    *wrong = 0;
    if (!tendon_scenario_word_among(event, 0, commands, COMMANDS, &out->kind)) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    *wrong = 1;
    out->first = SQUEEZE_MS;
    out->second = out->kind == MALFORMED ? 1 : SQUEEZE_RAW;
    if (out->kind == SQUEEZE) {
        good = event->count < 2 || tendon_scenario_word_number(event, 1, UINT16_MAX, &out->first);
    } else if (out->kind == LOAD) {
        good = tendon_scenario_word_number(event, 1, RAW_MAX, &out->first);
    } else if (out->kind == BATTERY) {
        good = tendon_scenario_word_number(event, 1, UINT8_MAX, &out->first);
    } else if (out->kind == MALFORMED) {
        good = tendon_scenario_word_among(event, 1, kinds, TENDON_ACTIV5_MALFORM_COUNT, &out->first);
    } else if (out->kind != DOUBLE_SQUEEZE) {
        good = tendon_scenario_word_among(event, 1, switches, 2, &out->first);
    }
    if (good && event->count > 2 && most[out->kind] > 2) {
        *wrong = 2;
        good = tendon_scenario_word_number(event, 2, out->kind == SQUEEZE ? RAW_MAX : UINT32_MAX, &out->second);
    }
    if (good && event->count > most[out->kind]) {
        *wrong = most[out->kind];
        good = false;
    }
    return good ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

static tendon_status perform(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now) {
    tendon_simulated_activ5 *device = context;
    tendon_simulated_activ5_order order = {0, 0, 0};
    tendon_status status = understand(event, &order, wrong);
    if (status != TENDON_OK || dry_run) {
        return status;
    }
    switch (order.kind) {
    case SQUEEZE: /* a squeeze beyond the maximum is ignored */
        (void)tendon_simulated_activ5_squeeze(device, order.first, (int32_t)order.second, now);
        break;
    case DOUBLE_SQUEEZE:
        (void)tendon_simulated_activ5_double_squeeze(device, now);
        break;
    case LOAD:
        tendon_simulated_activ5_load(device, (int32_t)order.first);
        break;
    case BATTERY:
        tendon_simulated_activ5_set_battery(device, (uint8_t)order.first);
        break;
    case POWER:
        tendon_simulated_activ5_power(device, order.first != 0);
        break;
    case MALFORMED:
        tendon_simulated_activ5_inject(device, (tendon_simulated_activ5_malformation)order.first, order.second);
        break;
    case STALE_TAILS:
        device->options.stale_tails = order.first != 0;
        break;
    case SPLIT_FRAMES:
    default:
        device->options.split_frames = order.first != 0;
        break;
    }
    return TENDON_OK;
}

tendon_scenario_actor tendon_simulated_activ5_actor(tendon_simulated_activ5 *device) {
    return (tendon_scenario_actor){device, perform};
}
