/* SPDX-License-Identifier: MIT */
/*
 * Tendon: replay component. The values of a captured connection as lines of docs/events.md: those that tendon/gateway
 * writes of a session's events, and lines about what only a capture shows, such as requests. No session takes part, so
 * nothing is kept back: a state that is read twice is two lines.
 */
#ifndef TENDON_REPLAY_H
#define TENDON_REPLAY_H

#include "tendon/definition.h"
#include "tendon/devices.h"
#include "tendon/gateway.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The devices of one kind. Private. */
typedef struct tendon_replay_family tendon_replay_family;

/** One connection: what earlier values say about later ones. The caller's memory, about 10 KiB; it may not be moved
 * once it is initialized. The counters may be read. */
typedef struct tendon_replay {
    uint64_t notifications, samples, malformed, skipped;
    const tendon_replay_family *family;  /**< private, as is what follows */
    const tendon_definition *definition; /**< borrowed */
    const void *taking;
    union {
        struct {
            tendon_bose_sensor_information sensors;
            tendon_bose_gesture_information gestures;
            tendon_bose_clock clock;
            bool has_sensors, has_gestures, is_suspended;
        } bose;
        struct {
            tendon_activ5_deframer deframer;
            tendon_activ5_squeeze squeeze;
        } activ5;
        tendon_feelspace_session feelspace; /**< its values alone */
        struct {
            tendon_fjorden_profile profile;
            tendon_fjorden_stream stream;
        } fjorden;
        struct {
            tendon_obvious_receiver receiver;
            uint8_t memory[TENDON_OBVIOUS_RECEIVER_MEMORY];
        } obvious[2]; /**< by direction */
        tendon_described_rates rates;
    } of;
} tendon_replay;

/** A value of a characteristic that was read, notified or written. All is borrowed. */
typedef struct tendon_replay_value {
    const tendon_uuid *characteristic;
    const tendon_uuid *service; /**< NULL: not known */
    const uint8_t *bytes;       /**< may be NULL if length is 0 */
    size_t length;
    bool is_written;
    uint64_t now; /**< clock of the capture, milliseconds */
} tendon_replay_value;

struct tendon_replay_numbers;

/** A line of a value, lent. */
typedef struct tendon_replay_line {
    const char *event;
    const tendon_definition *definition; /**< of a device file: it is one of its events; else NULL */
    size_t defined_event;                /**< its index */
    const tendon_replay_value *value;
    tendon_replay *replay; /**< private, as is what follows */
    tendon_status (*write)(const struct tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                           uint64_t wall_us);
    void (*members)(const struct tendon_replay_line *one, tendon_line *line);
    bool (*view)(const struct tendon_replay_line *one, struct tendon_replay_numbers *out);
    const char *key;
    const void *decoded;
    size_t place;
    tendon_status status;
} tendon_replay_line;

/** The numbers of a line, and what is beside them. */
typedef struct tendon_replay_numbers {
    tendon_view view;
    double device_time_ms;          /**< clock of the device; not a number: not known */
    const tendon_bose_sample *bose; /**< of a Bose wearable; lent; NULL: none */
} tendon_replay_numbers;

/** Called for each line of a value, in order. It may call tendon_replay_write() and tendon_replay_view(). */
typedef void (*tendon_replay_report)(void *context, const tendon_replay_line *line);

/**
 * @param family "bose" ...; a word of which there is no family: tendon_replay_take() reports nothing.
 * @param definition the device file of that name, borrowed as long as the replay is used; NULL: one of the five.
 */
void tendon_replay_init(tendon_replay *replay, const char *family, const tendon_definition *definition);
/** Returns true if a characteristic is one of the family's own: others, such as the battery level, all devices have. */
bool tendon_replay_recognizes(const char *family, const tendon_definition *definition,
                              const tendon_uuid *characteristic);
/** Returns where in a value a name begins that a user has given to the device, up to its end; @p length: nowhere. */
size_t tendon_replay_name(const char *family, const tendon_uuid *characteristic, const uint8_t *bytes, size_t length);

/** Takes a value. @param report NULL: its lines are not wanted. */
void tendon_replay_take(tendon_replay *replay, const tendon_replay_value *value, tendon_replay_report report,
                        void *context);
/** Writes the whole line. @param device, wall_us as for tendon_line_begin(). @return as functions of
 * tendon/gateway/lines.h. */
tendon_status tendon_replay_write(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                  uint64_t wall_us);
/** Sets the numbers of a line. Returns false if it has none: *out is not defined then. */
bool tendon_replay_view(const tendon_replay_line *one, tendon_replay_numbers *out);

/** Returns the name of an opcode of OGP/1, "HELLO" ...; NULL for others. */
const char *tendon_replay_opcode_name(uint8_t opcode);

#ifdef __cplusplus
}
#endif
#endif
