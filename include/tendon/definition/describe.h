/* SPDX-License-Identifier: MIT */
/*
 * From bytes to named values and back, by the layouts of a definition.
 *
 * A value is walked twice: first without a report, so that a value that breaks its layout reports nothing. No
 * recursion; a record that takes no bytes is an error, so the number of steps is bounded by the length of the value.
 */
#ifndef TENDON_DEFINITION_DESCRIBE_H
#define TENDON_DEFINITION_DESCRIBE_H

#include "tendon/definition/definition.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_described_kind {
    TENDON_DESCRIBED_NUMBER = 0,
    TENDON_DESCRIBED_FLAG,    /**< a part of one bit: number is 0 or 1 */
    TENDON_DESCRIBED_WORD,    /**< a number that has a name: text; number is as the device sent it */
    TENDON_DESCRIBED_TEXT,    /**< UTF-8 according to the device, or a date: bytes */
    TENDON_DESCRIBED_BYTES,   /**< bytes */
    TENDON_DESCRIBED_NOTHING, /**< the device has no value, or one that is not a number */
    TENDON_DESCRIBED_LIST,    /**< begins; its values follow, then END. Plain lists have values without names */
    TENDON_DESCRIBED_ITEM,    /**< a record of a list begins; its values follow, then END */
    TENDON_DESCRIBED_END
} tendon_described_kind;

/** One value. Pointers are valid for the call. */
typedef struct tendon_described {
    tendon_described_kind kind;
    const char *name;          /**< NULL: a number of a plain list, ITEM, END */
    const tendon_field *field; /**< for its unit, title and kind; NULL: ITEM, END */
    double number;
    int64_t integer;  /**< the number, if is_integer */
    bool is_integer;  /**< without decimals, and exact */
    uint8_t decimals; /**< that the number resolves */
    const char *text; /**< of a word, with a terminator */
    const uint8_t *bytes;
    size_t length;
} tendon_described;

/** What rates remember of the value before; one for each device, zeros at first and after each connection. Private. */
typedef struct tendon_described_rates {
    struct {
        double value;        /**< by the last value, and the one before it */
        int64_t count, time; /**< raw */
        bool is_known;       /**< count and time */
        bool has_value;
    } of[TENDON_DEFINITION_RATES];
} tendon_described_rates;

typedef void (*tendon_describe_visitor)(void *context, const tendon_described *value);

/**
 * Takes a value for the rates of its device, once for each value that the device sends, before it is described. Of a
 * value that breaks its layout nothing is taken.
 * @param event one of the events of the value's layout.
 */
void tendon_described_rates_take(tendon_described_rates *rates, const tendon_definition *definition, size_t event,
                                 const uint8_t *bytes, size_t length);

/**
 * Reports the values of an event. A rate is NOTHING for the first value, and when no time has passed.
 * @param event index of one of the definition's events.
 * @param bytes the value of the characteristic; may be NULL if @p length is 0.
 * @param rates of the device, which have taken the value; NULL: rates are NOTHING.
 * @param visitor called for each value in order; NULL: the value is only checked.
 * @return TENDON_OK; TENDON_ERROR_TRUNCATED or TENDON_ERROR_MALFORMED with *offset, the byte at which the value breaks
 *   its layout (may be NULL); then the visitor was not called.
 */
tendon_status tendon_describe(const tendon_definition *definition, size_t event, const uint8_t *bytes, size_t length,
                              const tendon_described_rates *rates, tendon_describe_visitor visitor, void *context,
                              size_t *offset);

/**
 * Returns whether an event shows a field of its layout: one of its members, or, if it lists none, each that has a name
 * and is not hidden.
 * @param event NULL: the field is in a list, of which an event chooses nothing.
 */
bool tendon_definition_shows(const tendon_definition *definition, const tendon_definition_event *event,
                             const tendon_field *field);

/** An argument of an action. */
typedef struct tendon_argument {
    double number;
    /** In the place of the number: its name; of text, the text; of bytes, hexadecimal digits; of a date, a text of ISO
     * 8601: "2026-11-29T13:07:30"; of an epoch that is UTC, also with "Z" or "+01:00" behind it. NULL: number. */
    const char *word;
    size_t word_length;
    /** There is a word, and it reads as the number, which is taken if no value has the word as its name. */
    bool is_number;
    /** The number is this integer, exactly: for fields without a scale. */
    bool is_integer;
    int64_t integer;
} tendon_argument;

/** Returns the number of arguments of an action; 0, too, if there is none with this index. @param fields set to the
 * index of the field of each; may be NULL, otherwise for @p capacity of them. */
size_t tendon_action_arguments(const tendon_definition *definition, size_t action, uint16_t *fields, size_t capacity);

/**
 * Encodes an action.
 * @param action index. @param count of arguments.
 * @param out TENDON_DEFINITION_VALUE bytes.
 * @return the length; TENDON_ERROR_NOT_FOUND: no action has this index; TENDON_ERROR_INVALID_ARGUMENT: @p count is
 * wrong (*wrong = count that is right), or the argument *wrong is out of range, too long or too short, or a word that
 * is not known.
 */
tendon_status tendon_action_encode(const tendon_definition *definition, size_t action, const tendon_argument *arguments,
                                   size_t count, uint8_t out[TENDON_DEFINITION_VALUE], size_t *wrong);

#ifdef __cplusplus
}
#endif
#endif
