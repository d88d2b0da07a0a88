/* SPDX-License-Identifier: MIT */
/* Samples as numbers. */
#include "tendon/gateway/view.h"

#include "tendon/gateway/lines.h"

#include <math.h>

#define CHANNELS(view, table) set_channels(view, table, sizeof(table) / sizeof((table)[0]))

static void set_channels(tendon_view *view, const tendon_view_channel *channels, size_t count) {
    view->channels = channels;
    view->count = count;
}

static void begin(tendon_view *view, const char *sensor, uint64_t received_at, uint64_t sampled_at, uint32_t error_us) {
    view->sensor = sensor;
    view->received_at = received_at;
    view->sampled_at = sampled_at;
    view->error_us = error_us;
    view->left_out = 0;
}

static const tendon_view_channel battery_channel[] = {{"battery", "%"}};

static void set_battery(tendon_view *view, double percent) {
    CHANNELS(view, battery_channel);
    view->values[0] = percent;
}

/* ---- Bose ---- */

static const tendon_view_channel acceleration_channels[] = {{"x", "g"}, {"y", "g"}, {"z", "g"}};
static const tendon_view_channel rotation_channels[] = {{"x", "deg/s"}, {"y", "deg/s"}, {"z", "deg/s"}};
static const tendon_view_channel vector_channels[] = {{"x", ""}, {"y", ""}, {"z", ""}};
static const tendon_view_channel quaternion_channels[] = {{"x", ""},        {"y", ""},       {"z", ""},     {"w", ""},
                                                          {"pitch", "deg"}, {"roll", "deg"}, {"yaw", "deg"}};

static void set_vector(tendon_view *view, double x, double y, double z) {
    view->values[0] = x;
    view->values[1] = y;
    view->values[2] = z;
}

bool tendon_bose_view(tendon_view *out, const tendon_bose_event *event) {
    const tendon_bose_sample *sample = event->sample;
    if (event->kind != TENDON_BOSE_EVENT_SAMPLE || (!sample->has_vector && !sample->has_quaternion)) {
        return false;
    }
    begin(out, tendon_bose_sensor_name(sample->sensor_id), event->received_at, event->sampled_at, event->error_us);
    if (sample->has_quaternion) {
        CHANNELS(out, quaternion_channels);
        set_vector(out, sample->quaternion.x, sample->quaternion.y, sample->quaternion.z);
        out->values[3] = sample->quaternion.w;
        tendon_angles head;
        (void)tendon_bose_head(&sample->quaternion, &head);
        out->values[4] = head.pitch;
        out->values[5] = head.roll;
        out->values[6] = head.yaw;
        return true;
    }
    if (sample->sensor_id == TENDON_BOSE_ACCELEROMETER) {
        CHANNELS(out, acceleration_channels);
    } else if (sample->sensor_id == TENDON_BOSE_GYROSCOPE) {
        CHANNELS(out, rotation_channels);
    } else {
        CHANNELS(out, vector_channels);
    }
    set_vector(out, sample->vector.x, sample->vector.y, sample->vector.z);
    return true;
}

/* ---- Activ5 ---- */

bool tendon_activ5_view(tendon_view *out, const tendon_activ5_event *event) {
    static const tendon_view_channel force[] = {{"force", "N"}};
    static const tendon_view_channel imu[] = {{"acceleration_x", "g"}, {"acceleration_y", "g"},
                                              {"acceleration_z", "g"}, {"rotation_x", "rad/s"},
                                              {"rotation_y", "rad/s"}, {"rotation_z", "rad/s"}};
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        begin(out, "force", event->received_at, 0, 0);
        CHANNELS(out, force);
        out->values[0] = event->message->newtons;
        return true;
    case TENDON_ACTIV5_EVENT_IMU:
        begin(out, "imu", event->received_at, event->sampled_at, event->error_us);
        CHANNELS(out, imu);
        memcpy(out->values, event->message->imu.acceleration, sizeof event->message->imu.acceleration);
        memcpy(out->values + 3, event->message->imu.gyro, sizeof event->message->imu.gyro);
        return true;
    case TENDON_ACTIV5_EVENT_BATTERY:
        begin(out, "battery", event->received_at, 0, 0);
        set_battery(out, event->message->percent);
        return true;
    default:
        return false;
    }
}

/* ---- feelSpace ---- */

bool tendon_feelspace_view(tendon_view *out, const tendon_feelspace_session *session,
                           const tendon_feelspace_event *event) {
    static const tendon_view_channel orientation[] = {{"heading", "deg"}, {"accurate", ""}, {"accuracy", "deg"}};
    if (event->kind == TENDON_FEELSPACE_EVENT_ORIENTATION) {
        begin(out, "orientation", event->received_at, 0, 0);
        CHANNELS(out, orientation);
        set_vector(out, session->orientation.heading, session->orientation.accurate ? 1 : 0,
                   session->orientation.accuracy_deg);
        return true;
    }
    if (event->kind != TENDON_FEELSPACE_EVENT_BATTERY) {
        return false;
    }
    begin(out, "battery", event->received_at, 0, 0);
    set_battery(out, session->battery.level_percent);
    return true;
}

/* ---- Fjorden ---- */

bool tendon_fjorden_view(tendon_view *out, const tendon_fjorden_session_event *event) {
    if (event->kind != TENDON_FJORDEN_SESSION_EVENT_BATTERY || event->status < 0) {
        return false;
    }
    begin(out, "battery", event->received_at, 0, 0);
    set_battery(out, event->level);
    return true;
}

/* ---- devices of files ---- */

/** A view that values are written to, and the lists around them. */
typedef struct described_view {
    tendon_view *view;
    unsigned depth;
} described_view;

/** A layout whose fields are taken; @p cased: of the switch at its place so many cases are. */
typedef struct level {
    uint16_t field, end, cased;
} level;

static bool is_number(const tendon_field *field) {
    return field->type <= TENDON_FIELD_FLOAT || field->type == TENDON_FIELD_PART || field->type == TENDON_FIELD_RATE;
}

static size_t channel_of(const tendon_view *view, const char *name) {
    size_t at = 0;
    while (at < view->count && view->own[at].name != name) {
        at++;
    }
    return at;
}

/** Fields of one name, under different conditions, are one channel. */
static void add_channel(tendon_view *view, const tendon_definition *definition, const tendon_field *field) {
    const char *name = tendon_definition_text(definition, field->name);
    if (channel_of(view, name) < view->count) {
        return;
    }
    if (view->count == TENDON_VIEW_CHANNELS) {
        view->left_out++;
        return;
    }
    view->values[view->count] = NAN;
    view->own[view->count++] =
        (tendon_view_channel){.name = name, .unit = tendon_definition_text(definition, field->unit)};
}

/** A channel for each number that the event can have, at its place, whether this value has it or not. */
static void add_channels(tendon_view *view, const tendon_definition *definition, const tendon_definition_event *event) {
    level levels[TENDON_DEFINITION_DEPTH + 1], *top = levels;
    uint16_t next = event->layout;
    do {
        if (next != TENDON_DEFINITION_NONE && top < levels + TENDON_DEFINITION_DEPTH) {
            const tendon_layout *layout = &definition->layouts[next];
            *++top = (level){.field = layout->first, .end = (uint16_t)(layout->first + layout->count)};
            next = TENDON_DEFINITION_NONE;
        }
        const tendon_field *field = &definition->fields[top->field];
        if (top->field == top->end) {
            top--;
        } else if (field->type == TENDON_FIELD_SWITCH && top->cased <= field->count) {
            next = top->cased < field->count ? definition->cases[field->first + top->cased].layout : field->layout;
            top->cased++;
        } else {
            if (is_number(field) && tendon_definition_shows(definition, event, field)) {
                add_channel(view, definition, field);
            }
            top->cased = 0;
            top->field++;
        }
    } while (top > levels);
}

static void visit(void *context, const tendon_described *value) {
    described_view *to = context;
    switch (value->kind) {
    case TENDON_DESCRIBED_LIST:
    case TENDON_DESCRIBED_ITEM:
        to->depth++;
        break;
    case TENDON_DESCRIBED_END:
        to->depth--;
        break;
    case TENDON_DESCRIBED_NUMBER:
    case TENDON_DESCRIBED_FLAG:
    case TENDON_DESCRIBED_WORD:
    case TENDON_DESCRIBED_NOTHING:
        if (to->depth == 0 && value->name != NULL) {
            size_t at = channel_of(to->view, value->name);
            if (at < to->view->count && value->kind != TENDON_DESCRIBED_NOTHING) {
                to->view->values[at] = value->number;
            }
        }
        break;
    default: /* texts have no number */
        break;
    }
}

bool tendon_defined_view(tendon_view *out, const tendon_definition *definition, const tendon_described_rates *rates,
                         const tendon_defined_event *event, size_t index) {
    size_t at = tendon_defined_event_at(definition, event, index);
    if (at == definition->event_count) {
        return false;
    }
    described_view to = {.view = out};
    begin(out, tendon_definition_text(definition, definition->events[at].name), event->received_at, 0, 0);
    set_channels(out, out->own, 0);
    add_channels(out, definition, &definition->events[at]);
    return tendon_describe(definition, at, event->bytes, event->length, rates, visit, &to, NULL) == TENDON_OK;
}
