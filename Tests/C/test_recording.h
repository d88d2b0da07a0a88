/* SPDX-License-Identifier: MIT */
/*
 * Recorded runs. A run is a long series of random inputs, always the same for a number; it notes everything that can be
 * seen from outside. The digest of the notes is compared with the one in the test: a change of behaviour that nobody
 * meant shows, wherever it is. The tests beside these say what is right; these say what has changed.
 *
 * If a change is meant: TENDON_RECORDING=all prints the new digests, and TENDON_RECORDING=7 the notes of run 7, to be
 * compared with those of the commit before. Notes hold no addresses, sizes of structs or floating point digits that
 * differ between machines.
 */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include "test_bytes.h"

typedef struct recording {
    uint32_t digest; /* FNV-1a */
    bool shown;
    dice d;
} recording;

static inline void note_raw(recording *r, const char *text) {
    for (const char *c = text; *c != 0; c++) {
        r->digest = (r->digest ^ (uint8_t)*c) * 16777619u;
    }
    if (r->shown) {
        fputs(text, stderr);
    }
}

__attribute__((format(printf, 2, 3))) static inline void note(recording *r, const char *format, ...) {
    char line[512];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(line, sizeof line, format, values);
    va_end(values);
    note_raw(r, line);
    note_raw(r, "\n");
}

static inline void note_bytes(recording *r, const char *name, const uint8_t *bytes, size_t length) {
    char digits[8];
    note_raw(r, name);
    for (size_t i = 0; i < length; i++) {
        snprintf(digits, sizeof digits, " %02x", bytes[i]);
        note_raw(r, digits);
    }
    note_raw(r, "\n");
}

/* Of the values below @p count. */
static inline unsigned choose(recording *r, unsigned count) {
    return (unsigned)((roll(&r->d) >> 16) % count);
}

/* A value of a table with bytes changed, cut or longer by zeros; its block has exactly its length. */
static inline block changed_value(recording *r, const char *const *values, unsigned count) {
    block usual = block_hex(values[choose(r, count)]);
    uint8_t bytes[64] = {0};
    memcpy(bytes, usual.data, usual.length);
    size_t length = usual.length;
    free(usual.data);
    unsigned way = choose(r, 4);
    if (way == 0) {
        length = choose(r, (unsigned)length + 4);
    }
    for (unsigned changes = choose(r, 3); changes > 0 && length > 0; changes--) {
        static const uint8_t edges[] = {0, 1, 2, 3, 4, 5, 6, 7, 0x7F, 0x80, 0xFE, 0xFF};
        size_t at = choose(r, (unsigned)length);
        bool edge = choose(r, 2) == 0;
        bytes[at] = edge ? edges[choose(r, sizeof edges)] : (uint8_t)choose(r, 256);
    }
    return block_copy(bytes, length);
}

/* A run of several lives, each from a beginning of its own. */
static inline void play_lives(recording *r, unsigned number, unsigned lives, void (*live)(recording *, unsigned)) {
    for (unsigned life = 0; life < lives; life++) {
        note(r, "life %u", life);
        live(r, number * lives + life);
    }
}

/* For runs whose assertions are enough, and whose notes are compared between two commits: plays the runs 0 to @p count
 * - 1, every fourth one as below. */
static inline void play_recordings(unsigned count, void (*play)(recording *, unsigned)) {
    const char *wanted = getenv("TENDON_RECORDING");
    const char *every = getenv("TENDON_RECORDED_EVERY");
    unsigned step = every != NULL ? (unsigned)strtoul(every, NULL, 10) : 1;
    for (unsigned number = 0; number < count; number += step) {
        recording r = {.shown = wanted != NULL && strtoul(wanted, NULL, 10) == number,
                       .d = {0x9E3779B97F4A7C15u * (number + 1u)}};
        play(&r, number);
    }
}

/* Plays the runs 0 to @p count - 1; with TENDON_RECORDED_EVERY=4 every fourth one, where another build plays all. */
static inline void compare_recordings(const uint32_t *known, size_t count, void (*play)(recording *, unsigned)) {
    const char *wanted = getenv("TENDON_RECORDING");
    const char *every = getenv("TENDON_RECORDED_EVERY");
    bool all = wanted != NULL && strcmp(wanted, "all") == 0;
    unsigned step = every != NULL ? (unsigned)strtoul(every, NULL, 10) : 0, different = 0;
    step += step == 0;
    for (unsigned number = 0; number < count; number += step) {
        recording r = {.digest = 2166136261u,
                       .shown = wanted != NULL && !all && strtoul(wanted, NULL, 10) == number,
                       .d = {0x9E3779B97F4A7C15u * (number + 1u)}};
        play(&r, number);
        if (all) {
            fprintf(stderr, "0x%08X,%s", (unsigned)r.digest, number % 8 == 7 || number + 1 == count ? "\n" : " ");
        } else if (r.digest != known[number]) {
            fprintf(stderr, "run %u: 0x%08X, recorded 0x%08X\n", number, (unsigned)r.digest, (unsigned)known[number]);
            different++;
        }
    }
    if (different > 0) {
        fail_msg("%u runs differ; test_recording.h says what to do", different);
    }
}

#endif
