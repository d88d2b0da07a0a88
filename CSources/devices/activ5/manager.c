/* SPDX-License-Identifier: MIT */
#include "tendon/devices/activ5_manager.h"

#include <string.h>

/* More turns than this in one tick: the clock jumped, and the order of the missed timers is no longer relevant. */
enum { TURNS_MAX = 4096 };

/* ---- reporting ---- */

/* Handlers may call the manager, so that reports nest: the outermost one ends it. */
static void deliver(tendon_activ5_manager *manager, const tendon_activ5_event *event, uint64_t now) {
    bool nested = manager->reporting;
    manager->reporting = true;
    manager->on_event(manager->context, event, now);
    manager->reporting = nested;
}

static void report_off(tendon_activ5_manager *manager, uint64_t now) {
    const tendon_activ5_event event = {.kind = TENDON_ACTIV5_EVENT_BLUETOOTH_OFF};
    deliver(manager, &event, now);
    manager->report_off = false; /* a scan that this handler requests is not reported again */
}

/* A handler may scan while the adapter is off; it is never called from within itself. */
static void report(tendon_activ5_manager *manager, const tendon_activ5_event *event, uint64_t now) {
    deliver(manager, event, now);
    if (manager->report_off && !manager->reporting) {
        report_off(manager, now);
    }
}

static tendon_status request(tendon_activ5_manager *manager, tendon_activ5_request_kind kind, uint64_t now) {
    const tendon_activ5_request scan = {.kind = kind};
    return manager->on_request(manager->context, &scan, now);
}

/* ---- the list ---- */

static bool has_name(const tendon_activ5_device *device, const char *name, size_t length) {
    return device->name_length == length && memcmp(device->name, name, length) == 0;
}

tendon_activ5_device *tendon_activ5_manager_find(const tendon_activ5_manager *manager, const char *name,
                                                 size_t length) {
    for (size_t i = 0; i < manager->capacity; i++) {
        if (manager->devices[i].listed && has_name(&manager->devices[i], name, length)) {
            return &manager->devices[i];
        }
    }
    return NULL;
}

static void end_reconnections(tendon_activ5_manager *manager) {
    for (size_t i = 0; i < manager->capacity; i++) {
        manager->devices[i].reconnects = false;
    }
}

/* Every event of a device: the manager keeps its list by them. */
static void on_device_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    tendon_activ5_manager *manager = context;
    tendon_activ5_device *device = event->device;
    bool lost = false;
    if (event->kind == TENDON_ACTIV5_EVENT_SQUEEZE) {
        manager->squeezed = event->on;
    } else if (event->kind == TENDON_ACTIV5_EVENT_DISCONNECTED) {
        lost = device->should_reconnect && !device->disconnect_requested && manager->powered;
        device->listed = device->listed && !lost && !device->forget && manager->powered;
        device->reconnects = lost && manager->options.reconnect == TENDON_ACTIV5_RECONNECT_AUTOMATICALLY;
    } else if (event->kind == TENDON_ACTIV5_EVENT_CONNECT_FAILED && device->forget) {
        device->listed = false;
    }
    report(manager, event, now);
    if (lost) {
        (void)tendon_activ5_manager_scan(manager, now);
    }
}

void tendon_activ5_manager_init(tendon_activ5_manager *manager, tendon_activ5_device *devices, size_t capacity,
                                tendon_activ5_on_event on_event, tendon_activ5_on_request on_request, void *context) {
    memset(manager, 0, sizeof *manager);
    manager->options = tendon_activ5_options_defaults();
    manager->devices = devices;
    manager->capacity = capacity;
    manager->on_event = on_event;
    manager->on_request = on_request;
    manager->context = context;
    manager->powered = true;
    for (size_t i = 0; i < capacity; i++) {
        tendon_activ5_device_init(&devices[i], &manager->options, on_device_event, manager, on_request, context);
    }
}

/* ---- scanning ---- */

tendon_status tendon_activ5_manager_scan(tendon_activ5_manager *manager, uint64_t now) {
    if (!manager->powered) {
        if (manager->reporting) {
            manager->report_off = true;
        } else {
            report_off(manager, now);
        }
        return TENDON_RADIO_ERROR_ADAPTER_DOWN;
    }
    uint64_t span = manager->options.search_timeout_ms;
    manager->scanning = true;
    manager->searches++;
    manager->scan_deadline = span < UINT64_MAX - now ? now + span : UINT64_MAX;
    tendon_status status = request(manager, TENDON_ACTIV5_REQUEST_SCAN_START, now);
    if (status < 0) {
        manager->scanning = false;
        end_reconnections(manager);
    }
    return status < 0 ? status : TENDON_OK;
}

static void end_scan(tendon_activ5_manager *manager, uint64_t now) {
    manager->scanning = false;
    end_reconnections(manager);
    (void)request(manager, TENDON_ACTIV5_REQUEST_SCAN_STOP, now);
}

void tendon_activ5_manager_stop_scanning(tendon_activ5_manager *manager, uint64_t now) {
    if (manager->scanning) {
        end_scan(manager, now);
    }
}

/* The entry of a name, in the list or not: it keeps what the application set. Otherwise an entry that was never used,
 * or one that is not in use. */
static tendon_activ5_device *slot_for(tendon_activ5_manager *manager, const char *name, size_t length) {
    tendon_activ5_device *slot = NULL;
    for (size_t i = 0; i < manager->capacity; i++) {
        tendon_activ5_device *device = &manager->devices[i];
        bool used = device->listed || device->reconnects || device->link != TENDON_ACTIV5_LINK_NONE;
        if (has_name(device, name, length)) {
            return device;
        }
        if (!used && (slot == NULL || (slot->name_length > 0 && device->name_length == 0))) {
            slot = device;
        }
    }
    return slot;
}

tendon_activ5_device *tendon_activ5_manager_advertised(tendon_activ5_manager *manager, const char *name, size_t length,
                                                       const tendon_address *peer, double rssi, uint64_t now) {
    if (!manager->scanning || length == 0) {
        return NULL;
    }
    tendon_activ5_device *device = length <= TENDON_ACTIV5_NAME_SIZE ? slot_for(manager, name, length) : NULL;
    if (device == NULL) {
        manager->left_out++;
        return NULL;
    }
    bool reconnects = device->reconnects;
    if (!has_name(device, name, length)) {
        tendon_activ5_device_init(device, &manager->options, on_device_event, manager, manager->on_request,
                                  manager->context);
        memcpy(device->name, name, length);
        device->name_length = (uint8_t)length;
    }
    if (device->link == TENDON_ACTIV5_LINK_NONE && peer != NULL) {
        device->peer = *peer;
    }
    bool first = !device->listed || device->search != manager->searches;
    device->listed = true;
    device->search = manager->searches;
    device->rssi = rssi;
    report(manager, &(tendon_activ5_event){.kind = TENDON_ACTIV5_EVENT_DEVICE_FOUND, .device = device, .on = first},
           now);
    if (reconnects && device->listed && device->link == TENDON_ACTIV5_LINK_NONE) {
        (void)tendon_activ5_device_connect(device, now);
    }
    return device;
}

/* ---- all devices ---- */

void tendon_activ5_manager_disconnect_all(tendon_activ5_manager *manager, uint64_t now) {
    end_reconnections(manager);
    for (size_t i = 0; i < manager->capacity; i++) {
        tendon_activ5_device *device = &manager->devices[i];
        device->forget = device->link != TENDON_ACTIV5_LINK_NONE;
        device->listed = device->listed && device->forget;
        if (device->forget) {
            (void)tendon_activ5_device_disconnect(device, now);
        }
    }
}

void tendon_activ5_manager_remove(tendon_activ5_manager *manager, tendon_activ5_device *device) {
    (void)manager;
    device->listed = device->reconnects = false;
}

void tendon_activ5_manager_set_radio(tendon_activ5_manager *manager, tendon_status status, uint64_t now) {
    manager->powered = status >= 0;
    manager->radio_status = status < 0 ? status : TENDON_OK;
    const tendon_activ5_event event = {
        .kind = TENDON_ACTIV5_EVENT_BLUETOOTH_STATE, .on = manager->powered, .status = manager->radio_status};
    if (status >= 0) {
        report(manager, &event, now);
        return;
    }
    /* Before the report: what its handler starts must not be ended by this. */
    manager->scanning = false;
    end_reconnections(manager);
    report(manager, &event, now);
    for (size_t i = 0; i < manager->capacity; i++) {
        tendon_activ5_device *device = &manager->devices[i];
        if (device->link == TENDON_ACTIV5_LINK_CONNECTING) {
            device->state = TENDON_ACTIV5_STATE_DISCONNECTED; /* the attempt's own end is still to come */
        } else if (device->link != TENDON_ACTIV5_LINK_NONE) {
            tendon_activ5_device_link_down(device, TENDON_RADIO_ERROR_ADAPTER_DOWN, now);
        }
    }
}

tendon_activ5_connection_state tendon_activ5_manager_connection_state(const tendon_activ5_manager *manager) {
    if (manager->scanning) {
        return TENDON_ACTIV5_MANAGER_SEARCHING;
    }
    for (size_t i = 0; i < manager->capacity; i++) {
        if (tendon_activ5_device_connected(&manager->devices[i])) {
            return TENDON_ACTIV5_MANAGER_CONNECTED;
        }
    }
    return TENDON_ACTIV5_MANAGER_DISCONNECTED;
}

/* ---- time ---- */

uint64_t tendon_activ5_manager_deadline(const tendon_activ5_manager *manager) {
    uint64_t deadline = manager->scanning ? manager->scan_deadline : UINT64_MAX;
    for (size_t i = 0; i < manager->capacity; i++) {
        uint64_t due = tendon_activ5_device_deadline(&manager->devices[i]);
        deadline = due < deadline ? due : deadline;
    }
    return deadline;
}

/* Processes the timers that expired at @p now, the scan first. */
static void strike(tendon_activ5_manager *manager, uint64_t now) {
    if (manager->scanning && manager->scan_deadline <= now) {
        end_scan(manager, now);
        report(manager, &(tendon_activ5_event){.kind = TENDON_ACTIV5_EVENT_SEARCH_COMPLETED}, now);
    }
    for (size_t i = 0; i < manager->capacity; i++) {
        tendon_activ5_device_tick(&manager->devices[i], now);
    }
}

void tendon_activ5_manager_tick(tendon_activ5_manager *manager, uint64_t now) {
    for (size_t i = 0; i < manager->capacity; i++) {
        uint64_t clock = manager->devices[i].clock;
        manager->devices[i].clock = now > clock ? now : clock;
    }
    for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
        uint64_t due = tendon_activ5_manager_deadline(manager);
        if (due > now || due == UINT64_MAX) {
            return;
        }
        strike(manager, due);
    }
    strike(manager, now);
}
