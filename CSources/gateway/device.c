/* SPDX-License-Identifier: MIT */
/* The life of a device: events of the session change its state, and step() decides what is done about it. */
#include "tendon/gateway/device.h"

#include <string.h>

#include "device_family.h"
#include "mistake.h"
#include "tendon/base/packed.h"

static const device_family *const families[TENDON_DEVICE_FAMILIES] = {
    &tendon_device_bose,    &tendon_device_feelspace, &tendon_device_activ5,
    &tendon_device_fjorden, &tendon_device_obvious,   &tendon_device_defined,
};

static const device_family *family_of(const tendon_device *device) {
    return families[device->config.family];
}

/* ---- what families report ---- */

void tendon_device_emit(tendon_device *device, const tendon_device_event *event, uint64_t now) {
    device->config.on_event(device->config.context, device, event, now);
}

void tendon_device_emit_kind(tendon_device *device, tendon_device_event_kind kind, tendon_status status, uint64_t now) {
    tendon_device_emit(device, &(tendon_device_event){.kind = kind, .status = status}, now);
}

void tendon_device_touch(tendon_device *device) {
    device->due = true;
}

void tendon_device_ready(tendon_device *device) {
    device->is_ready = true;
    device->due = true;
}

void tendon_device_fail(tendon_device *device, tendon_status status) {
    device->status = device->status == TENDON_OK ? status : device->status;
    device->failing = true;
    device->due = true;
}

void tendon_device_acted(tendon_device *device, tendon_status status) {
    device->acted = true;
    device->acted_status = status;
    device->due = true;
}

void tendon_device_report_opened(tendon_device *device, uint64_t now) {
    if (device->state == TENDON_DEVICE_OPENING || device->state == TENDON_DEVICE_READING) {
        device->state = TENDON_DEVICE_OPEN;
        device->was_open = true;
        device->due = true;
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_OPENED, TENDON_OK, now);
    }
}

/* ---- actions ---- */

static tendon_device_action *first_action(tendon_device *device) {
    return &device->actions[device->first_action];
}

static void report_acted(tendon_device *device, tendon_status status, uint64_t now) {
    tendon_device_action action = *first_action(device);
    device->first_action = (uint8_t)((device->first_action + 1) % TENDON_DEVICE_ACTIONS);
    device->action_count--;
    device->acting = device->acted = false;
    tendon_device_emit(
        device,
        &(tendon_device_event){
            .kind = TENDON_DEVICE_EVENT_ACTED, .status = status, .action = action.text, .action_length = action.length},
        now);
}

static void step_actions(tendon_device *device, uint64_t now) {
    const device_family *family = family_of(device);
    while (device->action_count > 0) {
        if (device->acting && !device->acted) {
            return;
        }
        if (device->acting) {
            report_acted(device, device->acted_status, now);
        } else if (device->state == TENDON_DEVICE_OPEN) {
            if (family->is_busy != NULL && family->is_busy(device)) {
                return;
            }
            device->progress = (tendon_act_progress){0};
            device->acting = true; /* it may end within the call */
            tendon_status status = family->act(device, &first_action(device)->act, now);
            if (status < 0) {
                report_acted(device, status, now);
            }
        } else {
            report_acted(device, TENDON_ERROR_DISCONNECTED, now);
        }
    }
}

/** @param text of ACTED; may be NULL if @p length is 0. */
static tendon_status add_action(tendon_device *device, const tendon_act *act, const char *text, size_t length) {
    if (device->state != TENDON_DEVICE_OPEN || family_of(device)->act == NULL) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (device->action_count == TENDON_DEVICE_ACTIONS) {
        return TENDON_ERROR_TABLE_FULL;
    }
    tendon_device_action *action =
        &device->actions[(device->first_action + device->action_count++) % TENDON_DEVICE_ACTIONS];
    action->act = *act;
    action->length = (uint8_t)length;
    if (length > 0) {
        memcpy(action->text, text, length);
    }
    device->due = true;
    return TENDON_OK;
}

tendon_status tendon_device_perform(tendon_device *device, const tendon_act *act, uint64_t now) {
    (void)now;
    return add_action(device, act, NULL, 0);
}

tendon_status tendon_device_act(tendon_device *device, const char *text, size_t length, tendon_act_mistake *mistake,
                                uint64_t now) {
    tendon_act act;
    (void)now;
    tendon_status status = tendon_act_parse_text(tendon_device_family_name(device), device->config.definition, text,
                                                 length, &act, mistake);
    if (status < 0) {
        return status;
    }
    sentence why = tendon_mistake(mistake, 0);
    if (length > TENDON_DEVICE_ACTION_SIZE) {
        tendon_mistake_add(&why, "an action has at most 160 bytes");
        return TENDON_ERROR_OVERFLOW;
    }
    status = add_action(device, &act, text, length);
    if (status == TENDON_ERROR_TABLE_FULL) {
        tendon_mistake_add_integer(&why, TENDON_DEVICE_ACTIONS);
        tendon_mistake_add(&why, " actions of this device wait already");
    }
    return status;
}

bool tendon_device_withdraw(tendon_device *device, size_t index) {
    if (index >= device->action_count || (index == 0 && device->acting)) {
        return false;
    }
    for (size_t i = index; i + 1 < device->action_count; i++) {
        device->actions[(device->first_action + i) % TENDON_DEVICE_ACTIONS] =
            device->actions[(device->first_action + i + 1) % TENDON_DEVICE_ACTIONS];
    }
    device->action_count--;
    return true;
}

/* ---- the steps of a turn ---- */

/** The connection, or the attempt, has ended; or there is none. */
static void end(tendon_device *device, tendon_status reason, uint64_t now) {
    const device_family *family = family_of(device);
    tendon_device_event event = {
        .kind = TENDON_DEVICE_EVENT_ENDED,
        .status = device->status,
        .reason = reason,
        .was_open = device->was_open,
        .was_requested = device->closing,
        .may_retry = family->may_retry == NULL || device->status == TENDON_OK || family->may_retry(device->status),
    };
    device->state = TENDON_DEVICE_CLOSING; /* the next turn begins behind ENDED */
    /* Else it was carried out before; a failure is that of the connection. */
    if (device->acting && (!device->acted || device->acted_status < 0)) {
        tendon_device_acted(device, TENDON_ERROR_DISCONNECTED);
    }
    step_actions(device, now);
    device->state = TENDON_DEVICE_CLOSED;
    device->due = false;
    tendon_device_emit(device, &event, now);
}

static void step(tendon_device *device, uint64_t now) {
    const device_family *family = family_of(device);
    device->due = false;
    if (device->state == TENDON_DEVICE_CLOSED) {
        return; /* something of the turn before ended late */
    }
    if ((device->failing || device->closing) && device->state != TENDON_DEVICE_CLOSING) {
        device->state = TENDON_DEVICE_CLOSING;
        family->close(device, now);
    }
    if (device->state == TENDON_DEVICE_CLOSING && !device->linked) {
        end(device, TENDON_ERROR_CANCELLED, now);
        return;
    }
    if (device->state == TENDON_DEVICE_OPENING && device->is_ready) {
        device->state = TENDON_DEVICE_READING;
    }
    if (device->state == TENDON_DEVICE_READING && (family->read == NULL || family->read(device, now))) {
        tendon_device_report_opened(device, now);
    }
    if (device->state == TENDON_DEVICE_OPEN && device->is_ready && family->go_on != NULL) {
        family->go_on(device, now);
    }
    step_actions(device, now);
}

/* ---- between the session and the owner of the connection ---- */

static tendon_status link_connect(void *context) {
    tendon_device *device = context;
    if (device->linked || device->state != TENDON_DEVICE_OPENING) {
        return TENDON_ERROR_WRONG_STATE;
    }
    device->linked = true;
    device->start_failure = device->config.link.connect(device->config.link.context);
    device->due = device->due || device->start_failure < 0; /* so it fails like any other attempt: from the loop */
    return TENDON_OK;
}

static void link_disconnect(void *context) {
    tendon_device *device = context;
    if (device->linked && device->start_failure >= 0) {
        device->config.link.disconnect(device->config.link.context);
    }
}

static tendon_status link_pair(void *context) {
    tendon_device *device = context;
    const tendon_session_link *link = &device->config.link;
    return link->pair != NULL ? link->pair(link->context) : TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
}

static bool link_bonded(void *context) {
    const tendon_session_link *link = &((tendon_device *)context)->config.link;
    return link->bonded != NULL && link->bonded(link->context);
}

static tendon_status link_forget(void *context) {
    const tendon_session_link *link = &((tendon_device *)context)->config.link;
    return link->forget != NULL ? link->forget(link->context) : TENDON_ERROR_NOT_FOUND;
}

tendon_session_link tendon_device_link(tendon_device *device) {
    return (tendon_session_link){.context = device,
                                 .connect = link_connect,
                                 .disconnect = link_disconnect,
                                 .pair = link_pair,
                                 .bonded = link_bonded,
                                 .forget = link_forget};
}

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_device *device = context;
    const device_family *family = family_of(device);
    family->inputs->connected(family->session(device), client, now);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_device *device = context;
    const device_family *family = family_of(device);
    device->linked = false;
    device->start_failure = TENDON_OK;
    family->inputs->disconnected(family->session(device), reason, now);
    if (device->state != TENDON_DEVICE_CLOSED) {
        end(device, reason, now);
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_device *device = context;
    const device_family *family = family_of(device);
    family->inputs->paired(family->session(device), status, now);
}

static void on_tick(void *context, uint64_t now) {
    tendon_device *device = context;
    const device_family *family = family_of(device);
    if (device->start_failure < 0) {
        on_disconnected(device, device->start_failure, now);
        return;
    }
    if (family->inputs->deadline(family->session(device)) <= now) {
        family->inputs->tick(family->session(device), now);
    }
    if (device->due) {
        step(device, now);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_device *device = context;
    const device_family *family = family_of(device);
    /* The session's memory is a part of the device's, which is not const. */
    return device->due ? 0 : family->inputs->deadline(family->session((tendon_device *)(uintptr_t)context));
}

#define INPUTS .connected = on_connected, .disconnected = on_disconnected, .paired = on_paired, .tick = on_tick
static const tendon_session_inputs inputs = {INPUTS, .deadline = deadline_of};
static const tendon_session_inputs inputs_that_pair = {INPUTS, .deadline = deadline_of, .pairs = true};

const tendon_session_inputs *tendon_device_inputs(const tendon_device *device) {
    return family_of(device)->inputs->pairs ? &inputs_that_pair : &inputs;
}

bool tendon_device_pairs(const tendon_device *device) {
    return device->config.family != TENDON_DEVICE_ACTIV5; /* trainers do not pair, also if they demand it */
}

/* ---- calls ---- */

tendon_status tendon_device_init(tendon_device *device, const tendon_device_config *config) {
    if ((unsigned)config->family >= TENDON_DEVICE_FAMILIES || config->settings == NULL || config->on_event == NULL ||
        config->link.connect == NULL || config->link.disconnect == NULL ||
        (config->family == TENDON_DEVICE_DEFINED) != (config->definition != NULL)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(device, 0, offsetof(tendon_device, of));
    device->config = *config;
    return family_of(device)->init(device);
}

tendon_status tendon_device_open(tendon_device *device, uint64_t now) {
    if (device->state != TENDON_DEVICE_CLOSED) {
        return TENDON_ERROR_WRONG_STATE;
    }
    device->state = TENDON_DEVICE_OPENING;
    device->is_ready = device->was_open = device->closing = device->failing = false;
    device->asked = 0;
    device->status = TENDON_OK;
    tendon_status status = family_of(device)->open(device, now);
    if (status < 0) {
        tendon_device_fail(device, status); /* ENDED comes from the loop, like any other */
    }
    return TENDON_OK;
}

void tendon_device_close(tendon_device *device, uint64_t now) {
    (void)now;
    if (device->state != TENDON_DEVICE_CLOSED && !device->closing) {
        device->closing = true;
        device->due = true;
    }
}

/* ---- lines ---- */

const char *tendon_device_family_name(const tendon_device *device) {
    const tendon_definition *definition = device->config.definition;
    return definition != NULL ? tendon_definition_text(definition, definition->name)
                              : tendon_family_at((size_t)device->config.family)->name;
}

void tendon_device_identity(const tendon_device *device, tendon_line *line) {
    family_of(device)->identity(device, line);
}

/** The lines that all families have in common. */
static tendon_status own_line(const tendon_device *device, const tendon_device_event *event, tendon_line *line,
                              const tendon_line_device *label, uint64_t wall_us) {
    static const char *const names[] = {
        [TENDON_DEVICE_EVENT_OPENED] = "connected",
        [TENDON_DEVICE_EVENT_PAIRING] = "pairing",
        [TENDON_DEVICE_EVENT_PAIRED] = "pairing",
        [TENDON_DEVICE_EVENT_MISSING] = "missing",
        [TENDON_DEVICE_EVENT_CONFIGURATION_FAILED] = "configuration_failed",
        [TENDON_DEVICE_EVENT_ACTED] = "action",
    };
    bool has_failed = event->kind == TENDON_DEVICE_EVENT_ACTED && event->status < 0;
    line->is_sample = false;
    tendon_line_begin(line, has_failed ? "action_failed" : names[event->kind], wall_us, label);
    switch (event->kind) {
    case TENDON_DEVICE_EVENT_OPENED:
        tendon_device_identity(device, line);
        break;
    case TENDON_DEVICE_EVENT_PAIRING:
        tendon_line_word(line, "state", "wanted");
        break;
    case TENDON_DEVICE_EVENT_PAIRED:
        tendon_line_word(line, "state", event->status < 0 ? "failed" : "done");
        break;
    case TENDON_DEVICE_EVENT_MISSING:
        tendon_line_open_array(line, "what");
        family_of(device)->missing(device, line);
        tendon_line_close_array(line);
        break;
    case TENDON_DEVICE_EVENT_ACTED:
        tendon_line_text(line, "action", event->action, event->action_length);
        break;
    default:
        break;
    }
    if (event->status < 0) {
        tendon_line_reason(line, NULL, event->status);
        if (has_failed) {
            tendon_line_error(line, event->status);
        }
    }
    return tendon_line_end(line);
}

tendon_status tendon_device_line(const tendon_device *device, const tendon_device_event *event, size_t index,
                                 tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    if (event->kind == TENDON_DEVICE_EVENT_ENDED) {
        return 0;
    }
    if (event->kind == TENDON_DEVICE_EVENT_SESSION || event->kind == TENDON_DEVICE_EVENT_BATTERY) {
        return family_of(device)->line(device, event, index, line, label, wall_us);
    }
    return index > 0 ? 0 : own_line(device, event, line, label, wall_us);
}

bool tendon_device_view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out) {
    const device_family *family = family_of(device);
    return event->kind == TENDON_DEVICE_EVENT_SESSION && family->view != NULL &&
           family->view(device, event, index, out);
}
