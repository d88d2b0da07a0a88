/* SPDX-License-Identifier: MIT */
/*
 * The definition of a device: what its file says, as tables. docs/device-files.md describes the file.
 *
 * A definition has no pointers: places are indexes into its arrays, and names are offsets into its text. It is made by
 * tendon_definition_parse(), which checks it as a whole, and does not change afterwards. The caller owns its memory,
 * about 50 KiB. The limits below are our design: the largest of the files in devices/ uses a fifth of them.
 */
#ifndef TENDON_DEFINITION_DEFINITION_H
#define TENDON_DEFINITION_DEFINITION_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TENDON_DEFINITION_FILE_MAX = 65536, /**< longest file, in bytes */
    TENDON_DEFINITION_TEXT = 12288,     /**< bytes of names and examples */
    TENDON_DEFINITION_ROWS = 20,        /**< characteristics; less than TENDON_GATT_CACHE_ROWS */
    TENDON_DEFINITION_SERVICES = 8,     /**< by which a device is recognized */
    TENDON_DEFINITION_LAYOUTS = 64,
    TENDON_DEFINITION_FIELDS = 320,
    TENDON_DEFINITION_WORDS = 320,
    TENDON_DEFINITION_CASES = 96,
    TENDON_DEFINITION_EVENTS = 32,
    TENDON_DEFINITION_MEMBERS = 160,
    TENDON_DEFINITION_ACTIONS = 24,
    TENDON_DEFINITION_EXAMPLES = 64,
    TENDON_DEFINITION_KEPT = 48,  /**< fields that others refer to */
    TENDON_DEFINITION_RATES = 8,  /**< fields that are rates */
    TENDON_DEFINITION_DEPTH = 6,  /**< layouts inside of layouts */
    TENDON_DEFINITION_VALUE = 64, /**< longest value of an action, in bytes */
    TENDON_DEFINITION_NONE = 0xFFFF
};

/** How a field is coded. */
typedef enum tendon_field_type {
    TENDON_FIELD_INTEGER = 0, /**< 1 to 8 bytes, with the bit TENDON_FIELD_SIGNED two's complement */
    TENDON_FIELD_FLOAT32,     /**< IEEE 754, 4 bytes */
    TENDON_FIELD_SFLOAT,      /**< IEEE 11073-20601, 2 bytes: exponent of 4 bits, mantissa of 12, base 10 */
    TENDON_FIELD_FLOAT,       /**< IEEE 11073-20601, 4 bytes: exponent of 8 bits, mantissa of 24, base 10 */
    TENDON_FIELD_BYTES,
    TENDON_FIELD_UTF8,
    TENDON_FIELD_PART,    /**< bits of the integer before it; takes no bytes */
    TENDON_FIELD_RATE,    /**< how much a count grew since the value before, by how much a time did; takes no bytes */
    TENDON_FIELD_RECORDS, /**< a layout again and again: a list */
    TENDON_FIELD_SWITCH,  /**< the layout that an earlier field selects; its fields are those of the layout around it */
    TENDON_FIELD_DATE,    /**< Date Time of the GATT Specification Supplement, 7 bytes, without a zone: a text */
    TENDON_FIELD_EPOCH    /**< an integer; with factor, divisor and offset seconds since 1970, UTC: a text */
} tendon_field_type;

/** Bits of tendon_field.flags. */
enum {
    TENDON_FIELD_SIGNED = 0x01,
    TENDON_FIELD_BIG_ENDIAN = 0x02,
    TENDON_FIELD_OPTIONAL = 0x04, /**< absent, with all fields after it, if the value ends before it */
    TENDON_FIELD_LIMITED = 0x08,  /**< low and high hold */
    TENDON_FIELD_UNKNOWN = 0x10,  /**< unknown is the number of a device that has no value */
    TENDON_FIELD_HIDDEN = 0x20,   /**< it only decides what follows: shown if an event lists it */
    TENDON_FIELD_PLAIN = 0x40,    /**< records of one number: a list of numbers */
    TENDON_FIELD_LOCAL = 0x80     /**< of EPOCH: the device counts the time of its place, not UTC */
};

/** When a field is present. */
typedef enum tendon_field_condition {
    TENDON_FIELD_ALWAYS = 0,
    TENDON_FIELD_IF_SET,  /**< the kept field is not 0 */
    TENDON_FIELD_IF_ZERO, /**< it is 0 */
    TENDON_FIELD_IF_EQUAL /**< it is condition_value */
} tendon_field_condition;

/** Numbers: value = raw * factor / divisor + offset. */
typedef struct tendon_field {
    uint8_t type;     /**< tendon_field_type */
    uint8_t flags;    /**< TENDON_FIELD_... */
    uint8_t size;     /**< bytes of an integer; of bytes and text: their number if it is fixed, 0: the rest */
    uint8_t decimals; /**< that the number resolves */
    uint8_t bit;      /**< of a part: its lowest bit */
    uint8_t bits;     /**< of a part and of a number: how many */
    uint8_t keep;     /**< place that the raw number is kept in, counted from 1; 0: it is not */
    uint8_t
        from; /**< kept field with the length, the number of records or the selector; 0: none. Of a rate, its place */
    uint8_t condition; /**< tendon_field_condition */
    uint8_t condition_from;
    bool is_rounded; /**< to the decimals: a float that resolves more has no more of them */
    uint16_t fixed;  /**< number of records; 0: to the end of the value, or by from; of a rate, the field of its time */
    uint16_t name, unit;        /**< text; 0: none */
    uint16_t title, kind;       /**< text for people, and what it is, for programs that know kinds; 0: none */
    uint16_t first, count;      /**< words of a number, cases of a switch; first: also the count of a rate */
    uint16_t layout;            /**< of records; of a switch: that of all other selectors, or TENDON_DEFINITION_NONE */
    uint16_t at_least, at_most; /**< permitted length of bytes and text */
    int64_t condition_value;
    int64_t low, high;              /**< permitted raw numbers */
    int64_t unknown;                /**< raw */
    double factor, divisor, offset; /**< of the number */
} tendon_field;

typedef struct tendon_layout {
    uint16_t name, first, count; /**< its fields */
    bool is_exact;               /**< further bytes are an error */
} tendon_layout;

/** A number that has a name. */
typedef struct tendon_word {
    int64_t value;
    uint16_t text;
} tendon_word;

typedef struct tendon_case {
    int64_t value;
    uint16_t layout;
} tendon_case;

/** Bits of tendon_definition_row.flags. */
enum {
    TENDON_ROW_REQUIRED = 0x01 /**< without it, a device is none of this kind */
};

/** A characteristic. Layouts are TENDON_DEFINITION_NONE if the value is not used in that direction; of one that is read
 * and notified both are the same. */
typedef struct tendon_definition_row {
    tendon_uuid service, uuid;
    uint16_t name;
    uint16_t notified, read, written;      /**< layouts */
    uint16_t first_example, example_count; /**< values that a simulated device has */
    uint32_t every_ms;                     /**< pause between those that it notifies */
    uint32_t read_every_ms;                /**< it is read again after this pause; 0: once per connection */
    uint8_t flags;
} tendon_definition_row;

/** A value of a simulated device: bytes in the text. */
typedef struct tendon_definition_example {
    uint16_t place, length;
} tendon_definition_example;

/** Bits of tendon_definition_event.flags. */
enum {
    TENDON_EVENT_SAMPLE = 0x01, /**< comes many times per second: may be dropped if a reader is slow */
    TENDON_EVENT_STATE = 0x02   /**< what it says lasts until the next one */
};

/** A line about a value. */
typedef struct tendon_definition_event {
    uint16_t name, layout;
    uint16_t first_member, member_count; /**< names of the fields that it shows; none: all that are not hidden */
    uint8_t flags;
} tendon_definition_event;

/** What can be written to the device. Its arguments are the fields of the layout that have no fixed number. */
typedef struct tendon_definition_action {
    uint16_t name, title;
    uint16_t row, layout;
    bool at_start; /**< written when the connection is ready; it has no arguments */
} tendon_definition_action;

/** How a device is recognized: by all that is given here. */
typedef struct tendon_definition_find {
    uint16_t name;    /**< of the device; 0: any. A '*' at its end stands for any rest */
    uint16_t company; /**< of its manufacturer data (Company Identifier) */
    bool has_company; /**< company counts */
    uint8_t service_count;
    tendon_uuid services[TENDON_DEFINITION_SERVICES]; /**< it has one of them */
} tendon_definition_find;

typedef struct tendon_definition {
    uint16_t name, title, summary; /**< text */
    tendon_definition_find find;
    uint16_t text_length;
    uint16_t row_count, layout_count, field_count, word_count, case_count, event_count, member_count, action_count,
        example_count, kept_count, rate_count;
    tendon_definition_row rows[TENDON_DEFINITION_ROWS];
    tendon_layout layouts[TENDON_DEFINITION_LAYOUTS];
    tendon_field fields[TENDON_DEFINITION_FIELDS];
    tendon_word words[TENDON_DEFINITION_WORDS];
    tendon_case cases[TENDON_DEFINITION_CASES];
    tendon_definition_event events[TENDON_DEFINITION_EVENTS];
    uint16_t members[TENDON_DEFINITION_MEMBERS];
    tendon_definition_action actions[TENDON_DEFINITION_ACTIONS];
    tendon_definition_example examples[TENDON_DEFINITION_EXAMPLES];
    char text[TENDON_DEFINITION_TEXT]; /**< each name with a terminator; begins with an empty one */
} tendon_definition;

/** Where a file is wrong, and why. */
typedef struct tendon_definition_mistake {
    uint32_t line, column; /**< from 1; the column counts bytes */
    char text[200];        /**< a sentence without its end; printable ASCII */
} tendon_definition_mistake;

/** Number of JSON values that a file may have. */
enum { TENDON_DEFINITION_TOKENS = 6144 };

/** A JSON value of a text. Private. */
typedef struct tendon_definition_token {
    uint32_t start, end, next;
    uint16_t children;
    uint8_t type;
} tendon_definition_token;

/** Memory that is needed while a file is read; about 100 KiB. Opaque. */
typedef struct tendon_definition_scratch {
    tendon_definition_token tokens[TENDON_DEFINITION_TOKENS];
} tendon_definition_scratch;

/** Sizes of tendon_definition and of tendon_definition_scratch, for callers that cannot use sizeof. */
size_t tendon_definition_size(void);
size_t tendon_definition_scratch_size(void);

/**
 * Reads a file. The whole definition is checked: names, ranges, layouts that contain each other, examples that do not
 * fit their layouts.
 * @param text the file, UTF-8; borrowed until the return. @param length at most TENDON_DEFINITION_FILE_MAX.
 * @return TENDON_OK; or TENDON_ERROR_MALFORMED or TENDON_ERROR_TABLE_FULL with *mistake, and *out is not defined.
 */
tendon_status tendon_definition_parse(const char *text, size_t length, tendon_definition *out,
                                      tendon_definition_scratch *scratch, tendon_definition_mistake *mistake);

/** Returns a name of the definition. Static for the life of the definition; "" for 0. */
const char *tendon_definition_text(const tendon_definition *definition, uint16_t text);

typedef enum tendon_meant {
    TENDON_NOT_MEANT = 0,
    /** Its scan response may have the rest: the name or its end, or, of a device with the right name, the service or
     * the company. Only of a definition that demands a name. */
    TENDON_PERHAPS_MEANT,
    TENDON_MEANT
} tendon_meant;

/** Compares what a device has advertised, its advertisement, its scan response, or both one after the other, with what
 * the definition demands of its devices. */
tendon_meant tendon_definition_means(const tendon_definition *definition, const uint8_t *data, size_t length);

/** Returns true if a device may be meant by two definitions, and nothing says by which: they share a service, and their
 * names and companies do not exclude each other. Of two of which one has a name, that one goes first. */
bool tendon_definition_overlaps(const tendon_definition *a, const tendon_definition *b);

/** Returns the first row of a characteristic, in any service, or row_count. */
size_t tendon_definition_row_of(const tendon_definition *definition, const tendon_uuid *characteristic);

/** Returns the row of a characteristic in a service, or row_count. */
size_t tendon_definition_row_in(const tendon_definition *definition, const tendon_uuid *service,
                                const tendon_uuid *characteristic);

/** Returns the index of an action, or action_count. @param name with a terminator. */
size_t tendon_definition_action_named(const tendon_definition *definition, const char *name);

#ifdef __cplusplus
}
#endif
#endif
