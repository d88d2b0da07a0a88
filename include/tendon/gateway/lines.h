/* SPDX-License-Identifier: MIT */
/*
 * The events of sessions as lines of docs/events.md: the names, members, order and decimals that `tendon run` prints.
 *
 * Each function writes one whole line of one event.
 * @param line initialized; its buffer is written from the beginning, and line->is_sample set.
 * @param device, wall_us as for tendon_line_begin().
 * @return the length of the line; 0: the event has no line; TENDON_ERROR_BUFFER_TOO_SMALL.
 *
 * What a gateway itself does (found, connected, disconnected, summary ...) is not here: it writes these lines with
 * line.h, and tendon_..._identity() for the members of `connected` that the device has sent.
 */
#ifndef TENDON_GATEWAY_LINES_H
#define TENDON_GATEWAY_LINES_H

#include "tendon/definition.h"
#include "tendon/devices.h"
#include "tendon/gateway/line.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Bose wearables ---- */

/** @param session for the configurations and the reason of a suspension. */
tendon_status tendon_bose_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                               const tendon_bose_session *session, const tendon_bose_event *event);
/** The members of a sample and of a gesture alone, also of a capture. @param received_at, sampled_at, error_us as for
 * tendon_line_times(). */
void tendon_bose_sample_members(tendon_line *line, const tendon_bose_sample *sample, uint64_t device_ms,
                                uint64_t received_at, uint64_t sampled_at, uint32_t error_us);
void tendon_bose_gesture_members(tendon_line *line, uint8_t gesture_id, uint64_t device_ms, uint64_t received_at,
                                 uint64_t sampled_at, uint32_t error_us);
/** The members of configurations alone. */
void tendon_bose_sensor_configuration_members(tendon_line *line, const tendon_bose_sensor_configuration *configuration);
void tendon_bose_gesture_configuration_members(tendon_line *line,
                                               const tendon_bose_gesture_configuration *configuration);
/** Sets the angles of the head in degrees. Returns false if the quaternion is no rotation, because its norm differs
 * from 1 by more than 0.1: the angles are not numbers then. */
bool tendon_bose_head(const tendon_quaternion *quaternion, tendon_angles *degrees);
/** product, firmware, sensors, gestures: of an open session. */
void tendon_bose_identity(tendon_line *line, const tendon_bose_session *session);

/* ---- Activ5 trainers ---- */

tendon_status tendon_activ5_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                 const tendon_activ5_event *event);
/** The members of samples alone, also of a capture. @param received_at, sampled_at, error_us as above. */
void tendon_activ5_force_members(tendon_line *line, double newtons, uint64_t received_at);
void tendon_activ5_imu_members(tendon_line *line, const tendon_activ5_imu *imu, uint64_t received_at,
                               uint64_t sampled_at, uint32_t error_us);
/** generation, firmware, serial, id: of a device that is ready. */
void tendon_activ5_identity(tendon_line *line, const tendon_activ5_device *trainer);

/* ---- feelSpace belts ---- */

tendon_status tendon_feelspace_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                    const tendon_feelspace_session *session, const tendon_feelspace_event *event);
/** The members of values alone, also of a capture. */
void tendon_feelspace_orientation_members(tendon_line *line, const tendon_feelspace_orientation *orientation,
                                          uint64_t received_at);
void tendon_feelspace_battery_members(tendon_line *line, const tendon_feelspace_battery *battery);
void tendon_feelspace_button_members(tendon_line *line, const tendon_feelspace_press *press);
/** The line about a battery that the belt reported before. @return as above; 0: it has reported none. */
tendon_status tendon_feelspace_battery_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                            const tendon_feelspace_session *session);
/** firmware, variant, mode, intensity_percent: of a connected belt. */
void tendon_feelspace_identity(tendon_line *line, const tendon_feelspace_session *session);

/* ---- Fjorden grips ---- */

tendon_status tendon_fjorden_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                  const tendon_fjorden_session_event *event);
/** The members of a record alone, also of a capture. */
void tendon_fjorden_record_members(tendon_line *line, const tendon_fjorden_record *record, bool is_synthesized,
                                   uint64_t received_at);
/** firmware, manufacturer, model, battery_percent: of a connected grip, as far as they were read. */
void tendon_fjorden_identity(tendon_line *line, const tendon_fjorden_session *session);

/* ---- Obvious devices ---- */

/**
 * An event of a manager: the features of CHANGED, and of a DONE that read or set states, each in a line of its own.
 * @param index 0, 1 ... until the result is 0.
 */
tendon_status tendon_obvious_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                  const tendon_obvious_event *event, size_t index);
/** The members of a feature alone. */
void tendon_obvious_feature_members(tendon_line *line, const tendon_obvious_feature *feature);
/** The same with its switch as the device has sent it, also if the feature is not enabled. */
void tendon_obvious_received_members(tendon_line *line, const tendon_obvious_feature *feature);
/** firmware: "1.2.3"; empty: no version. */
void tendon_obvious_firmware_member(tendon_line *line, uint32_t code);
/** serial: 16 digits. */
void tendon_obvious_serial_member(tendon_line *line, uint64_t serial);
/** product, firmware, serial, battery_percent: after the operation GET_INFO. */
void tendon_obvious_identity(tendon_line *line, const tendon_obvious_manager *manager);

/* ---- devices of files ---- */

/**
 * An event of a session: a value may be several lines, REFUSED is one.
 * @param rates of the device; for each value, tendon_defined_take_rates() comes first. NULL: rates are null.
 * @param index 0, 1 ... until the result is 0. A value that breaks its layout is one line, `malformed`.
 */
tendon_status tendon_defined_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                  const tendon_definition *definition, const tendon_described_rates *rates,
                                  const tendon_defined_event *event, size_t index);
/** Returns the index of an event of the definition that a value is: the first, the second ... of its layout, without
 * those that list members of which the value has none; event_count: there is none. */
size_t tendon_defined_event_at(const tendon_definition *definition, const tendon_defined_event *event, size_t index);
/** Takes a value for the rates of its device, once for each event, before its first line; other events are no
 * values. */
void tendon_defined_take_rates(tendon_described_rates *rates, const tendon_definition *definition,
                               const tendon_defined_event *event);
/** What a member of a line, or a cell of a table, has of a value. */
typedef enum tendon_cell_kind {
    TENDON_CELL_NUMBER = 0, /**< number */
    TENDON_CELL_INTEGER,    /**< integer, exactly */
    TENDON_CELL_COUNT,      /**< integer as a uint64_t, exactly: 2^63 or more */
    TENDON_CELL_FLAG,       /**< number is 0 or 1 */
    TENDON_CELL_TEXT,       /**< of the cell; UTF-8 according to the device */
    TENDON_CELL_BYTES,      /**< of the cell */
    TENDON_CELL_NOTHING
} tendon_cell_kind;

typedef struct tendon_cell {
    tendon_cell_kind kind;
    const uint8_t *bytes; /**< of TEXT and BYTES, lent by the value */
    size_t length;
} tendon_cell;

/** @param value none that begins or ends a list. */
tendon_cell tendon_described_cell(const tendon_described *value);
/** The members of a value that has no mistake. @param event index of the definition. */
void tendon_defined_members(tendon_line *line, const tendon_definition *definition, size_t event, const uint8_t *bytes,
                            size_t length, const tendon_described_rates *rates);

#ifdef __cplusplus
}
#endif
#endif
