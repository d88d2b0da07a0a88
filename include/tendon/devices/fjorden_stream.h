/* SPDX-License-Identifier: MIT */
/*
 * Fjorden grip: event notifications. Records one by one, sequence numbers, losses, duplicates, time, and the evaluation
 * of a control state after lost records.
 */
#ifndef TENDON_DEVICES_FJORDEN_STREAM_H
#define TENDON_DEVICES_FJORDEN_STREAM_H

#include "tendon/devices/fjorden_profile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_FJORDEN_RECORD_SIZE 5

typedef struct tendon_fjorden_record {
    bool has_sequence; /**< sequence, time and value are present: format record5 */
    uint8_t sequence;
    uint8_t code;         /**< as received */
    uint8_t event;        /**< tendon_fjorden_event; custom buttons with their number */
    int8_t value;         /**< as received */
    uint8_t count;        /**< dial: number of detents, each an event of the SDK; otherwise 1 */
    uint8_t lost_before;  /**< records lost before this one; from a stream only */
    uint64_t time_ms;     /**< 0 to 65535; unwrapped from a stream */
    tendon_status status; /**< TENDON_OK, or FJORDEN_ERROR_VALUE: no event */
} tendon_fjorden_record;

/** Walks the records of a notification. */
typedef struct tendon_fjorden_records {
    tendon_reader reader;
    const tendon_fjorden_profile *profile;
} tendon_fjorden_records;

/** @return TENDON_OK or FJORDEN_ERROR_LENGTH: the whole notification is dropped, and next() returns false. */
tendon_status tendon_fjorden_records_begin(tendon_fjorden_records *records, const tendon_fjorden_profile *profile,
                                           const uint8_t *data, size_t length);
bool tendon_fjorden_records_next(tendon_fjorden_records *records, tendon_fjorden_record *out);

/** State of one connection's events, initialized with zeros. */
typedef struct tendon_fjorden_stream {
    bool started;
    bool needs_resync; /**< records were lost: read the control state, then tendon_fjorden_stream_resync() */
    uint8_t last;      /**< sequence */
    uint8_t last_shutter, last_lever; /**< last delivered tendon_fjorden_event of each; 0: none */
    uint64_t time_ms;
    uint64_t lost, duplicates, out_of_order;
    uint64_t bad_values, bad_notifications;
} tendon_fjorden_stream;

/** Like tendon_fjorden_records_begin(), with counters. */
tendon_status tendon_fjorden_stream_begin(tendon_fjorden_stream *stream, tendon_fjorden_records *records,
                                          const tendon_fjorden_profile *profile, const uint8_t *data, size_t length);
/** Returns the next accepted record; duplicates and records out of order are skipped and counted. */
bool tendon_fjorden_stream_next(tendon_fjorden_stream *stream, tendon_fjorden_records *records,
                                tendon_fjorden_record *out);

/** Computes the events to deliver after a loss, at most 2. Only releases are synthesized. @return their number. */
size_t tendon_fjorden_resync(uint8_t last_shutter, uint8_t last_lever, const tendon_fjorden_control_state *state,
                             uint8_t events[2]);
/** Does the same for a stream, which counts the events as delivered. */
size_t tendon_fjorden_stream_resync(tendon_fjorden_stream *stream, const tendon_fjorden_control_state *state,
                                    uint8_t events[2]);

#ifdef __cplusplus
}
#endif
#endif
