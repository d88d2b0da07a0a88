/* SPDX-License-Identifier: MIT */
/* Actions on sessions, and their end. */
#include "tendon/gateway/actions.h"

static void begin(tendon_act_progress *progress, const tendon_act *act) {
    *progress = (tendon_act_progress){.kind = (uint8_t)act->kind, .is_starting = true};
}

/* What could not be started is in progress no more. */
static tendon_status began(tendon_act_progress *progress, tendon_status status) {
    progress->is_starting = false;
    if (status < 0) {
        *progress = (tendon_act_progress){0};
        return status;
    }
    return TENDON_OK;
}

static bool ended(tendon_act_progress *progress, tendon_status *status, tendon_status result) {
    *progress = (tendon_act_progress){0};
    *status = result < 0 ? result : TENDON_OK;
    return true;
}

/* ---- Activ5 ---- */

tendon_status tendon_activ5_act(tendon_activ5_session *session, const tendon_act *act, tendon_act_progress *progress,
                                uint64_t now) {
    tendon_activ5_device *device = session->device;
    tendon_status status = TENDON_ERROR_INVALID_ARGUMENT;
    if (device == NULL) {
        return TENDON_ERROR_DISCONNECTED;
    }
    begin(progress, act);
    if (act->kind == TENDON_ACT_ACTIV5_TARE) {
        status = tendon_activ5_device_tare(device, now);
    } else if (act->kind == TENDON_ACT_ACTIV5_START) {
        status = tendon_activ5_device_start_isometric(device, now);
    } else if (act->kind == TENDON_ACT_ACTIV5_STOP) {
        status = tendon_activ5_device_stop(device, now);
    }
    /* Requests end in their order, and this one was the last. */
    progress->number = session->waiting;
    return began(progress, status >= 0 && session->waiting == 0 ? TENDON_ACTIV5_ERROR_NOT_READY : status);
}

bool tendon_activ5_acted(const tendon_activ5_event *event, tendon_act_progress *progress, tendon_status *status) {
    bool is_ours = progress->kind >= TENDON_ACT_ACTIV5_TARE && progress->kind <= TENDON_ACT_ACTIV5_STOP;
    if (!is_ours || event->kind != TENDON_ACTIV5_EVENT_DONE || progress->number == 0) {
        return false;
    }
    progress->number--;
    return progress->number == 0 && ended(progress, status, event->status);
}

/* ---- feelSpace ---- */

/* Steps of a stop: belts take it in app mode alone. */
enum { STEP_ONLY = 0, STEP_APP_MODE, STEP_STOP, STEP_MODE_BEFORE };

static tendon_status send(tendon_feelspace_session *session, tendon_act_kind kind, int32_t number, uint64_t now) {
    const tendon_feelspace_channel vibration = {
        /* on channel 0, once: belts take that in every mode */
        .channel = 0,          .pattern = TENDON_FEELSPACE_PATTERN_CONTINUOUS,
        .intensity = -1,       .orientation_type = TENDON_FEELSPACE_ORIENTATION_ANGLE,
        .orientation = number, .iterations = 1,
        .period_ms = 1000,
    };
    switch (kind) {
    case TENDON_ACT_FEELSPACE_SIGNAL:
        return tendon_feelspace_session_signal(session, number, now);
    case TENDON_ACT_FEELSPACE_VIBRATE:
        return tendon_feelspace_session_configure_channel(session, &vibration, now);
    case TENDON_ACT_FEELSPACE_MODE:
        return tendon_feelspace_session_set_mode(session, number, now);
    case TENDON_ACT_FEELSPACE_STOP:
        return tendon_feelspace_session_stop(session, -1, now);
    default:
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
}

static tendon_status send_step(tendon_feelspace_session *session, tendon_act_progress *progress, tendon_act_kind kind,
                               int32_t number, uint64_t now) {
    progress->is_starting = true;
    tendon_status status = send(session, kind, number, now);
    if (progress->is_starting && status >= 0) { /* else its end was reported in the call */
        progress->number = session->last_command;
        progress->was_ignored = ((unsigned)status & TENDON_FEELSPACE_WARNING_IGNORED) != 0;
        progress->is_starting = false;
    }
    return status;
}

tendon_status tendon_feelspace_act(tendon_feelspace_session *session, const tendon_act *act,
                                   tendon_act_progress *progress, uint64_t now) {
    begin(progress, act);
    progress->before = session->mode;
    bool changes_mode = act->kind == TENDON_ACT_FEELSPACE_STOP && session->mode != TENDON_FEELSPACE_MODE_APP;
    progress->step = changes_mode ? STEP_APP_MODE : STEP_ONLY;
    tendon_status status = send_step(session, progress, changes_mode ? TENDON_ACT_FEELSPACE_MODE : act->kind,
                                     changes_mode ? TENDON_FEELSPACE_MODE_APP : act->number, now);
    return status < 0 ? began(progress, status) : TENDON_OK;
}

/* Whether the action has ended; else its next command was sent. A belt that does not stop gets its mode back as well.
 */
static bool next_step(tendon_feelspace_session *session, tendon_act_progress *progress, tendon_status *status,
                      uint64_t now) {
    bool goes_back =
        progress->before != TENDON_FEELSPACE_MODE_UNKNOWN && progress->before != TENDON_FEELSPACE_MODE_CALIBRATION;
    while ((progress->step == STEP_APP_MODE && progress->failure >= 0) || (progress->step == STEP_STOP && goes_back)) {
        bool stops = progress->step++ == STEP_APP_MODE;
        tendon_status sent = send_step(session, progress, stops ? TENDON_ACT_FEELSPACE_STOP : TENDON_ACT_FEELSPACE_MODE,
                                       progress->before, now);
        if (sent >= 0) {
            return false;
        }
        progress->failure = sent;
    }
    return ended(progress, status, progress->failure);
}

bool tendon_feelspace_acted(tendon_feelspace_session *session, const tendon_feelspace_event *event,
                            tendon_act_progress *progress, tendon_status *status, uint64_t now) {
    bool is_ours = progress->kind >= TENDON_ACT_FEELSPACE_SIGNAL && progress->kind <= TENDON_ACT_FEELSPACE_STOP;
    uint32_t number = progress->is_starting ? session->last_command : progress->number;
    if (!is_ours || event->kind != TENDON_FEELSPACE_EVENT_COMMAND || event->command.id != number) {
        return false;
    }
    progress->is_starting = false;
    tendon_status failure = event->status;
    if (failure >= 0 && progress->was_ignored && session->mode != TENDON_FEELSPACE_MODE_APP) {
        failure = TENDON_FEELSPACE_ERROR_WRONG_MODE; /* a command before it may have changed the mode to app mode */
    }
    progress->failure = progress->failure < 0 ? progress->failure : failure;
    return next_step(session, progress, status, now);
}

/* ---- Fjorden ---- */

tendon_status tendon_fjorden_act(tendon_fjorden_session *session, const tendon_act *act, tendon_act_progress *progress,
                                 uint64_t now) {
    const tendon_fjorden_command command = {
        .opcode = TENDON_FJORDEN_SET_LED, .led_mode = (uint8_t)act->number, .led_duration_ms = (uint16_t)act->detail};
    if (act->kind != TENDON_ACT_FJORDEN_LED) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    begin(progress, act);
    return began(progress, tendon_fjorden_session_request(session, &command, now));
}

static tendon_status status_of(const tendon_fjorden_response *response) {
    switch (response->status) {
    case TENDON_FJORDEN_RESPONSE_OK:
        return TENDON_OK;
    case TENDON_FJORDEN_RESPONSE_UNKNOWN_OPCODE:
        return TENDON_ERROR_UNSUPPORTED;
    case TENDON_FJORDEN_RESPONSE_BAD_LENGTH:
    case TENDON_FJORDEN_RESPONSE_BAD_PARAMETER:
        return TENDON_ERROR_INVALID_ARGUMENT;
    case TENDON_FJORDEN_RESPONSE_BUSY:
        return TENDON_ERROR_BUSY;
    default:
        return TENDON_ERROR_WRONG_STATE;
    }
}

bool tendon_fjorden_acted(const tendon_fjorden_session_event *event, tendon_act_progress *progress,
                          tendon_status *status) {
    if (progress->kind != TENDON_ACT_FJORDEN_LED || event->kind != TENDON_FJORDEN_SESSION_EVENT_RESPONSE) {
        return false;
    }
    return ended(progress, status, event->status < 0 ? event->status : status_of(event->response));
}

/* ---- Obvious ---- */

tendon_status tendon_obvious_act(tendon_obvious_manager *manager, tendon_act *act, tendon_act_progress *progress,
                                 uint64_t now) {
    static const tendon_obvious_operation operations[] = {TENDON_OBVIOUS_CHECK_FIRMWARE,
                                                          TENDON_OBVIOUS_UPGRADE_FIRMWARE};
    begin(progress, act);
    if (act->kind == TENDON_ACT_OBVIOUS_FIRMWARE) {
        return began(progress, tendon_obvious_manager_start(manager, operations[act->number != 0], NULL, 0, now));
    }
    if (act->kind != TENDON_ACT_OBVIOUS_TOGGLE) {
        return began(progress, TENDON_ERROR_INVALID_ARGUMENT);
    }
    act->feature = (tendon_obvious_feature){.id = (uint16_t)act->number, .toggle = (uint8_t)act->detail};
    tendon_obvious_operation operation = act->detail == 0 ? TENDON_OBVIOUS_TOGGLE : TENDON_OBVIOUS_SET_TOGGLES;
    return began(progress, tendon_obvious_manager_start(manager, operation, &act->feature, 1, now));
}

bool tendon_obvious_acted(const tendon_obvious_event *event, tendon_act_progress *progress, tendon_status *status) {
    bool is_ours = progress->kind == TENDON_ACT_OBVIOUS_TOGGLE || progress->kind == TENDON_ACT_OBVIOUS_FIRMWARE;
    if (!is_ours || event->kind != TENDON_OBVIOUS_EVENT_DONE) {
        return false;
    }
    bool is_done = event->code == TENDON_OBVIOUS_UPDATE_SUCCESS ||
                   (event->operation == TENDON_OBVIOUS_CHECK_FIRMWARE && event->code == TENDON_OBVIOUS_UNAVAILABLE);
    tendon_status failure = event->status < 0 ? event->status : TENDON_ERROR_WRONG_STATE;
    return ended(progress, status, is_done ? TENDON_OK : failure);
}

/* ---- devices of files ---- */

tendon_status tendon_defined_act(tendon_defined_session *session, const tendon_act *act, tendon_act_progress *progress,
                                 uint64_t now) {
    if (act->kind != TENDON_ACT_DEFINED || act->defined != session->definition) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    begin(progress, act);
    progress->number = session->next_number;
    tendon_status number = tendon_defined_session_write(session, (size_t)act->number, act->bytes, act->length, now);
    if (number >= 0 && progress->is_starting) { /* else its end was reported in the call */
        progress->number = (uint32_t)number;
    }
    return began(progress, number);
}

bool tendon_defined_acted(const tendon_defined_event *event, tendon_act_progress *progress, tendon_status *status) {
    /* While it starts, its number is not known yet: not that of the write before it. */
    bool is_number = progress->is_starting ? event->number != progress->number : event->number == progress->number;
    if (progress->kind != TENDON_ACT_DEFINED || event->kind != TENDON_DEFINED_EVENT_WRITTEN || !is_number) {
        return false;
    }
    return ended(progress, status, event->status);
}
