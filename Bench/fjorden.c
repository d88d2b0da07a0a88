/* SPDX-License-Identifier: MIT */
/*
 * How long does a record of the camera grip's events take, from a notification of four: decoded, and with sequence
 * numbers, losses and time kept? Limit: the same walk without any check.
 */
#include "bench.h"

#include <tendon/devices/fjorden.h>

enum { RECORDS = 4 };

static uint8_t notification[RECORDS * TENDON_FJORDEN_RECORD_SIZE];
static tendon_fjorden_profile profile;

/* Shutter down and released, a turn of the dial, the lever: numbered on from the last notification. */
static const uint8_t *next_notification(void) {
    static const uint8_t codes[RECORDS] = {0x02, 0x03, 0x11, 0x31};
    for (size_t i = 0; i < RECORDS; i++) {
        uint8_t *record = notification + i * TENDON_FJORDEN_RECORD_SIZE;
        record[0] = (uint8_t)(record[0] + RECORDS);
        record[1] = codes[i];
    }
    return bench_hide(notification);
}

static void unchecked(void *context, size_t count) {
    tendon_fjorden_record record = {.count = 1, .has_sequence = true};
    (void)context;
    for (size_t done = 0; done < count; done += RECORDS) {
        const uint8_t *input = next_notification();
        for (size_t i = 0; i < RECORDS; i++, input += TENDON_FJORDEN_RECORD_SIZE) {
            record.sequence = input[0];
            record.code = input[1];
            record.event = profile.codes[input[1]];
            record.time_ms = (uint64_t)(input[2] | (uint32_t)input[3] << 8);
            record.value = (int8_t)input[4];
            bench_keep(&record);
        }
    }
}

static void records(void *context, size_t count) {
    tendon_fjorden_records walk;
    tendon_fjorden_record record;
    (void)context;
    for (size_t done = 0; done < count; done += RECORDS) {
        (void)tendon_fjorden_records_begin(&walk, &profile, next_notification(), sizeof notification);
        while (tendon_fjorden_records_next(&walk, &record)) {
            bench_keep(&record);
        }
    }
}

static void stream(void *context, size_t count) {
    tendon_fjorden_stream *state = context;
    tendon_fjorden_records walk;
    tendon_fjorden_record record;
    for (size_t done = 0; done < count; done += RECORDS) {
        (void)tendon_fjorden_stream_begin(state, &walk, &profile, next_notification(), sizeof notification);
        while (tendon_fjorden_stream_next(state, &walk, &record)) {
            bench_keep(&record);
        }
    }
}

int main(int argc, char **argv) {
    static tendon_fjorden_stream state;
    static const bench_body bodies[] = {
        {"unchecked_walk", unchecked, NULL, TENDON_FJORDEN_RECORD_SIZE, 0},
        {"grip_records", records, NULL, TENDON_FJORDEN_RECORD_SIZE, 0},
        {"grip_stream", stream, &state, TENDON_FJORDEN_RECORD_SIZE, 0},
    };
    tendon_fjorden_profile_init(&profile);
    for (size_t i = 0; i < RECORDS; i++) {
        notification[i * TENDON_FJORDEN_RECORD_SIZE] = (uint8_t)i;
        notification[i * TENDON_FJORDEN_RECORD_SIZE + 4] = 1;
    }
    return bench_main(argc, argv, "fjorden", bodies, sizeof bodies / sizeof bodies[0], 0);
}
