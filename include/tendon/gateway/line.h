/* SPDX-License-Identifier: MIT */
/*
 * One line of JSON as docs/events.md describes it, written member by member into the caller's buffer. No heap, no
 * locale, no I/O.
 *
 * begin(), members in their order, end(). A line that does not fit is given up whole: end() returns
 * TENDON_ERROR_BUFFER_TOO_SMALL, and nothing of the buffer is a line. Members in between need no check.
 *
 * Keys, and words, are ASCII that needs no escape, with a terminator. A key of NULL is an element of an array.
 */
#ifndef TENDON_GATEWAY_LINE_H
#define TENDON_GATEWAY_LINE_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Enough for every line of the five families whose device has a name of at most 248 bytes; not for those of every
 * device file. */
#define TENDON_LINE_SIZE 4096

/** Most decimals of a number that is not exact. */
#define TENDON_LINE_DECIMALS 9

/** A line that is being written. Of its members the caller sets is_exact, and reads is_sample, event, wall_us
 * and begun; the others are private. */
typedef struct tendon_line {
    tendon_writer writer;
    /** Numbers read back as the same double, with the fewest digits that do; else they have the decimals that the
     * sensor resolves, without zeros at their end. */
    bool is_exact;
    /** Set by the functions of lines.h: there are many of these lines per second, and a reader that is late may miss
     * some. */
    bool is_sample;
    bool is_first;     /**< no comma before the next member */
    const char *event; /**< set by tendon_line_begin(), as the time: what it was given */
    uint64_t wall_us;
    size_t begun; /**< length of what tendon_line_begin() has written; the members follow, with a comma */
} tendon_line;

/** The device that a line is about. All is borrowed. */
typedef struct tendon_line_device {
    const char *family;            /**< a word; NULL: not known */
    const tendon_address *address; /**< NULL: the line has neither address nor name */
    const char *name;              /**< UTF-8 according to the device or the configuration; NULL: none */
    size_t name_length;            /**< bytes; 0: none */
} tendon_line_device;

/**
 * @param out borrowed as long as the line is used. @param capacity bytes; 0: functions of lines.h set `event`,
 * `wall_us` and `is_sample` alone, and return TENDON_ERROR_BUFFER_TOO_SMALL. They show what the line is before it is
 * composed.
 */
void tendon_line_init(tendon_line *line, char *out, size_t capacity, bool is_exact);

/**
 * Begins a line in the place of the one before.
 * @param event a word, borrowed as long as the line is used. @param wall_us microseconds since 1970, UTC; later ones
 * than the year 9999 become its last.
 * @param device NULL: the line is about no device.
 */
void tendon_line_begin(tendon_line *line, const char *event, uint64_t wall_us, const tendon_line_device *device);
/** Returns true if the line has no memory: its members need not be written. */
static inline bool tendon_line_is_head(const tendon_line *line) {
    return line->writer.capacity == 0;
}
/** @return the length with the line feed; the buffer has no terminator. TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_line_end(tendon_line *line);

/* ---- members ---- */

/** Infinities, and what is not a number, become null. @param decimals at most TENDON_LINE_DECIMALS. */
void tendon_line_number(tendon_line *line, const char *key, double value, unsigned decimals);
void tendon_line_integer(tendon_line *line, const char *key, int64_t value);
void tendon_line_count(tendon_line *line, const char *key, uint64_t value);
/** A number that is a text, such as a version that other families do not have as a number. */
void tendon_line_numeral(tendon_line *line, const char *key, uint64_t value);
void tendon_line_bool(tendon_line *line, const char *key, bool value);
void tendon_line_null(tendon_line *line, const char *key);
void tendon_line_word(tendon_line *line, const char *key, const char *word);
/** Text from a device. What is not UTF-8 becomes U+FFFD. Control characters, and others that tendon_ad_text() replaces,
 * are written by their number (\u000a); the rest is escaped where JSON demands it. @param text may be NULL if @p length
 * is 0. */
void tendon_line_text(tendon_line *line, const char *key, const char *text, size_t length);
/** A string of the program's own, without loss: control characters are escaped. @param text valid UTF-8; may be NULL if
 * @p length is 0. */
void tendon_line_string(tendon_line *line, const char *key, const char *text, size_t length);
/** Hexadecimal digits, lower case. */
void tendon_line_bytes(tendon_line *line, const char *key, const uint8_t *bytes, size_t length);
/** An array of numbers. */
void tendon_line_vector(tendon_line *line, const char *key, const double *values, size_t count, unsigned decimals);
/** Opens an array; its elements have no key. */
void tendon_line_open_array(tendon_line *line, const char *key);
void tendon_line_close_array(tendon_line *line);
/** Opens an object. */
void tendon_line_open_object(tendon_line *line, const char *key);
void tendon_line_close_object(tendon_line *line);

/**
 * received_at, sampled_at and error_ms; those that are known.
 * @param received_at, sampled_at monotonic nanoseconds, 0: not known. @param error_us bound of the error of
 * @p sampled_at.
 */
void tendon_line_times(tendon_line *line, uint64_t received_at, uint64_t sampled_at, uint32_t error_us);
/** error, the name of a status, and error_number if another specification defines it. */
void tendon_line_error(tendon_line *line, tendon_status status);

/**
 * text of a status: "write: the attribute cannot be written (ATT_WRITE_NOT_PERMITTED, 0x03)".
 * @param operation what failed, a word: "connect", "write"; NULL: the text of the status alone.
 */
void tendon_line_reason(tendon_line *line, const char *operation, tendon_status status);

/** text, a sentence for people. @param operation what it is of, a word; NULL: none. @param text a word: no escapes. */
void tendon_line_sentence(tendon_line *line, const char *operation, const char *text);

/** Returns "public", "random", "public_identity" ...; "unknown" for others. */
const char *tendon_line_address_type(uint8_t type);

/** Length of a time, without a terminator. */
#define TENDON_LINE_TIME_SIZE 27

/** Writes a time as lines have it. @param wall_us as for tendon_line_begin(). @param out has no terminator. */
void tendon_line_time(uint64_t wall_us, char out[TENDON_LINE_TIME_SIZE]);

/** Longest text of a number, without a terminator. */
#define TENDON_LINE_NUMBER_SIZE 26

/** Writes a finite number with the fewest digits that read back as it, as "0.1", "5.0", "1e-07". @return the
 * length. */
size_t tendon_line_shortest(double value, char out[TENDON_LINE_NUMBER_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
