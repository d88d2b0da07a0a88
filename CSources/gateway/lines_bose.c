/* SPDX-License-Identifier: MIT */
/* Lines of Bose wearables. */
#include "tendon/gateway/lines.h"

#include <float.h>
#include <math.h>

/* Greatest difference of a quaternion's norm from 1. Its four parts are rounded to 1/16384, which changes the norm by
 * 0.0002 at most; what differs by more than this is no rotation: our design. */
#define NORM_TOLERANCE 0.1
#define DEGREES (180 / 3.14159265358979323846)

/* Decimals of one count of the ranges that the devices report: 16 g, 4000 deg/s, 1/16384. */
enum { DECIMALS_G = 4, DECIMALS_RATE = 2, DECIMALS_QUATERNION = 5, DECIMALS_ANGLE = 2, DECIMALS_ACCURACY = 4 };

/* ---- samples ---- */

static void put_vector(tendon_line *line, const char *key, const tendon_bose_vector *vector, unsigned decimals) {
    const double values[] = {vector->x, vector->y, vector->z};
    tendon_line_vector(line, key, values, 3, decimals);
}

static void put_vectors(tendon_line *line, const tendon_bose_sample *sample) {
    const char *key = "vector", *bias = "bias";
    unsigned decimals = DECIMALS_G;
    if (sample->sensor_id == TENDON_BOSE_ACCELEROMETER) {
        key = "acceleration_g";
        bias = "bias_g";
    } else if (sample->sensor_id == TENDON_BOSE_GYROSCOPE) {
        key = "rotation_deg_per_s";
        bias = "bias_deg_per_s";
        decimals = DECIMALS_RATE;
    }
    put_vector(line, key, &sample->vector, decimals);
    if (sample->has_bias) {
        put_vector(line, bias, &sample->bias, decimals);
    }
}

bool tendon_bose_head(const tendon_quaternion *quaternion, tendon_angles *degrees) {
    /* Not a number fails the comparison. */
    if (!(fabs(tendon_quaternion_norm(*quaternion) - 1) <= NORM_TOLERANCE)) {
        *degrees = (tendon_angles){.pitch = NAN, .roll = NAN, .yaw = NAN};
        return false;
    }
    *degrees = tendon_euler_head(*quaternion);
    degrees->pitch *= DEGREES;
    degrees->roll *= DEGREES;
    degrees->yaw *= DEGREES;
    return true;
}

static void put_quaternion(tendon_line *line, const tendon_quaternion *quaternion) {
    const double parts[] = {quaternion->x, quaternion->y, quaternion->z, quaternion->w};
    tendon_angles head;
    bool is_rotation = tendon_bose_head(quaternion, &head);
    tendon_line_vector(line, "quaternion", parts, 4, DECIMALS_QUATERNION);
    tendon_line_number(line, "pitch_deg", head.pitch, DECIMALS_ANGLE);
    tendon_line_number(line, "roll_deg", head.roll, DECIMALS_ANGLE);
    tendon_line_number(line, "yaw_deg", head.yaw, DECIMALS_ANGLE);
    if (!is_rotation) {
        tendon_line_number(line, "norm", tendon_quaternion_norm(*quaternion), DECIMALS_QUATERNION);
    }
    if (head.near_gimbal_lock) {
        tendon_line_bool(line, "near_gimbal_lock", true);
    }
}

void tendon_bose_sample_members(tendon_line *line, const tendon_bose_sample *sample, uint64_t device_ms,
                                uint64_t received_at, uint64_t sampled_at, uint32_t error_us) {
    tendon_line_word(line, "sensor", tendon_bose_sensor_name(sample->sensor_id));
    tendon_line_count(line, "device_time_ms", device_ms);
    tendon_line_times(line, received_at, sampled_at, error_us);
    if (sample->has_vector) {
        put_vectors(line, sample);
    }
    if (sample->has_quaternion) {
        put_quaternion(line, &sample->quaternion);
    }
    if (sample->has_accuracy && !sample->has_quaternion) {
        tendon_line_word(line, "accuracy", tendon_bose_accuracy_name(sample->accuracy));
    } else if (sample->has_accuracy && !sample->accuracy_unknown && fabs(sample->accuracy_rad) <= DBL_MAX) {
        tendon_line_number(line, "accuracy_rad", sample->accuracy_rad, DECIMALS_ACCURACY);
    }
}

void tendon_bose_gesture_members(tendon_line *line, uint8_t gesture_id, uint64_t device_ms, uint64_t received_at,
                                 uint64_t sampled_at, uint32_t error_us) {
    tendon_line_word(line, "gesture", tendon_bose_gesture_name(gesture_id));
    tendon_line_integer(line, "gesture_id", gesture_id);
    tendon_line_count(line, "device_time_ms", device_ms);
    tendon_line_times(line, received_at, sampled_at, error_us);
}

/* ---- configurations ---- */

void tendon_bose_sensor_configuration_members(tendon_line *line,
                                              const tendon_bose_sensor_configuration *configuration) {
    uint16_t period = tendon_bose_enabled_period(configuration);
    tendon_line_open_array(line, "enabled");
    for (size_t i = 0; i < configuration->count; i++) {
        if (configuration->settings[i].period_ms != 0) {
            tendon_line_word(line, NULL, tendon_bose_sensor_name(configuration->settings[i].sensor_id));
        }
    }
    tendon_line_close_array(line);
    if (period != 0) {
        tendon_line_integer(line, "period_ms", period);
    } else {
        tendon_line_null(line, "period_ms");
    }
}

void tendon_bose_gesture_configuration_members(tendon_line *line,
                                               const tendon_bose_gesture_configuration *configuration) {
    tendon_line_open_array(line, "enabled");
    for (size_t i = 0; i < configuration->count; i++) {
        if (configuration->entries[i].enabled) {
            tendon_line_word(line, NULL, tendon_bose_gesture_name(configuration->entries[i].gesture_id));
        }
    }
    tendon_line_close_array(line);
}

/* ---- events ---- */

/* The family's own statuses say what they are of. */
static void put_reason(tendon_line *line, const char *operation, tendon_status status) {
    bool is_own = TENDON_STATUS_LAYER(status) == TENDON_LAYER_BOSE || status == TENDON_ERROR_CANCELLED;
    tendon_line_reason(line, is_own ? NULL : operation, status);
}

static const char *name_of(const tendon_bose_session *session, const tendon_bose_event *event) {
    switch (event->kind) {
    case TENDON_BOSE_EVENT_SAMPLE:
        return "sample";
    case TENDON_BOSE_EVENT_GESTURE:
        return "gesture";
    case TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE:
    case TENDON_BOSE_EVENT_PAIRING_FINISHED:
        return "pairing";
    case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION:
        return session->has_sensor_configuration ? "sensor_configuration" : NULL;
    case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION:
        return session->has_gesture_configuration ? "gesture_configuration" : NULL;
    case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED:
    case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED:
        /* a device that is suspended is configured when it resumes */
        return event->status == TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE || event->status == TENDON_ERROR_CANCELLED
                   ? NULL
                   : "configuration_failed";
    case TENDON_BOSE_EVENT_SUSPENDED:
        return "suspended";
    case TENDON_BOSE_EVENT_RESUMED:
        return "resumed";
    case TENDON_BOSE_EVENT_MALFORMED:
        return "malformed";
    default: /* of the connection, parts of others, what was read */
        return NULL;
    }
}

static void put_pairing(tendon_line *line, const tendon_bose_event *event) {
    bool is_wanted = event->kind == TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE;
    tendon_line_word(line, "state", is_wanted ? "wanted" : event->status < 0 ? "failed" : "done");
    if (!is_wanted && event->status < 0) {
        put_reason(line, "pair", event->status);
    }
}

static void put_members(tendon_line *line, const tendon_bose_session *session, const tendon_bose_event *event) {
    switch (event->kind) {
    case TENDON_BOSE_EVENT_SAMPLE:
        tendon_bose_sample_members(line, event->sample, event->device_ms, event->received_at, event->sampled_at,
                                   event->error_us);
        break;
    case TENDON_BOSE_EVENT_GESTURE:
        tendon_bose_gesture_members(line, event->gesture.gesture_id, event->device_ms, event->received_at,
                                    event->sampled_at, event->error_us);
        break;
    case TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE:
    case TENDON_BOSE_EVENT_PAIRING_FINISHED:
        put_pairing(line, event);
        break;
    case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION:
        tendon_bose_sensor_configuration_members(line, &session->sensor_configuration);
        break;
    case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION:
        tendon_bose_gesture_configuration_members(line, &session->gesture_configuration);
        break;
    case TENDON_BOSE_EVENT_SUSPENDED:
        tendon_line_word(line, "reason", tendon_bose_suspension_reason_name(event->reason));
        break;
    case TENDON_BOSE_EVENT_MALFORMED:
        tendon_line_word(line, "error", tendon_bose_status_name(event->status));
        tendon_line_reason(line, NULL, event->status);
        break;
    case TENDON_BOSE_EVENT_RESUMED:
        break;
    default: /* a configuration failed */
        put_reason(line, "write", event->status);
    }
}

tendon_status tendon_bose_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                               const tendon_bose_session *session, const tendon_bose_event *event) {
    const char *name = name_of(session, event);
    if (name == NULL) {
        return 0;
    }
    tendon_line_begin(line, name, wall_us, device);
    line->is_sample = event->kind == TENDON_BOSE_EVENT_SAMPLE;
    if (!tendon_line_is_head(line)) {
        put_members(line, session, event);
    }
    return tendon_line_end(line);
}

/* ---- identity ---- */

void tendon_bose_identity(tendon_line *line, const tendon_bose_session *session) {
    const struct tendon_bose_device_string *firmware = &session->strings.strings[TENDON_BOSE_STRING_FIRMWARE];
    if (session->has_device) {
        tendon_line_word(line, "product", tendon_bose_product_name(session->device.product_id));
    } else {
        tendon_line_null(line, "product");
    }
    if (firmware->present) {
        tendon_line_text(line, "firmware", firmware->bytes, firmware->length);
    } else {
        tendon_line_null(line, "firmware");
    }
    tendon_line_open_array(line, "sensors");
    for (size_t i = 0; session->has_sensors && i < session->sensors.count; i++) {
        tendon_line_word(line, NULL, tendon_bose_sensor_name(session->sensors.records[i].sensor_id));
    }
    tendon_line_close_array(line);
    tendon_line_open_array(line, "gestures");
    for (size_t i = 0; session->has_gestures && i < session->gestures.count; i++) {
        tendon_line_word(line, NULL, tendon_bose_gesture_name(session->gestures.records[i].gesture_id));
    }
    tendon_line_close_array(line);
}
