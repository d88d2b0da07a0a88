/* SPDX-License-Identifier: MIT */
/* What the parts of the parser share: members of an object by a table, names, mistakes. */
#ifndef TENDON_DEFINITION_PARSER_H
#define TENDON_DEFINITION_PARSER_H

#include "json.h"

typedef struct parser {
    json j;
    tendon_definition *out;
    json_at layout_tokens[TENDON_DEFINITION_LAYOUTS]; /* where each layout is */
    json_at row_names[TENDON_DEFINITION_ROWS];
    json_at example_tokens[TENDON_DEFINITION_EXAMPLES];
    json_at member_tokens[TENDON_DEFINITION_MEMBERS];  /* of events */
    json_at field_tokens[TENDON_DEFINITION_FIELDS];    /* the name of each field, or the field */
    uint16_t around[TENDON_DEFINITION_LAYOUTS];        /* the field in whose place a layout stands; or NONE */
    uint16_t around_layout[TENDON_DEFINITION_LAYOUTS]; /* and the layout of that field */
    uint16_t inside;                                   /* the layout that is being read, or NONE */
    uint8_t field_layouts[TENDON_DEFINITION_FIELDS];   /* the layout of each */
    bool is_shown[TENDON_DEFINITION_FIELDS];           /* the file says so of a field that others may refer to */
    bool takes_rest[TENDON_DEFINITION_LAYOUTS];        /* no bytes are left after it */
    bool is_used[TENDON_DEFINITION_LAYOUTS];
    bool is_full;       /* the mistake is one of size */
    bool is_big_endian; /* of the file */
} parser;

/*
 * What an object may have: a literal of strings. The first says what it is, for sentences; then one for each member:
 * MUST if it has to be there, what it may be, its name.
 */
#define MUST "!"
#define ANY "\1"
#define STRING "\2"
#define NAME "\3"
#define NUMBER "\4"
#define INTEGER "\5"
#define BOOLEAN "\6"
#define ARRAY "\7"
#define OBJECT "\10"
#define REFERENCE "\11"

/*
 * Finds the members of an object: found[i] is the value of the i-th, or 0 if it is absent (the whole file is value 0).
 * False: it is no object, or has a member that is not known, twice, or of another kind, or lacks one.
 */
bool tendon_parse_members(parser *p, json_at object, const char *shape, json_at *found);

/* False, with the mistake. */
bool tendon_parse_wrong(parser *p, json_at at, const char *text);
bool tendon_parse_wrong_value(parser *p, json_at at, const char *before, json_at quoted, const char *after);
/* Of the value itself: it is quoted, then the text follows. */
bool tendon_parse_wrong_this(parser *p, json_at at, const char *after);
bool tendon_parse_full(parser *p, json_at at, const char *what);

/*
 * What a word was meant to be: the nearest of the known ones, if it is near. begin, then one call of offer for each
 * known word, then wrong, whose sentence is the word, after and what, and ends with the nearest one if there is one.
 */
enum { NEAREST_WORD = 48 };

typedef struct nearest {
    const char *word; /* borrowed from the file */
    size_t length;    /* 0: too long to compare */
    unsigned distance;
    const char *text; /* the nearest; NULL: none */
} nearest;

nearest tendon_parse_nearest(const parser *p, json_at word);
/* "uint16" for "u16", "bluetooth_name" for "name": all its letters in their order, the same first and last one. */
bool tendon_parse_is_inside(const char *known, const nearest *n);
void tendon_parse_offer(nearest *n, const char *known);
bool tendon_parse_wrong_word(parser *p, json_at word, const char *after, const char *what, const nearest *n);

/* Appends a text and the digits of a number to a sentence. Returns its length. */
size_t tendon_parse_add_number(char *out, size_t length, size_t capacity, const char *before, int64_t number);

/* The functions from here on leave *out as it is, and succeed, if at is 0: the member is absent. */

/* Takes a text over; equal texts have one place. False: no room. */
bool tendon_parse_text(parser *p, json_at at, uint16_t *out);
/* snake_case: a letter, then letters, digits and '_'. */
bool tendon_parse_name(parser *p, json_at at, uint16_t *out);
bool tendon_parse_uuid(parser *p, json_at at, tendon_uuid *out);
/* An integer from low to high. */
bool tendon_parse_integer(parser *p, json_at at, int64_t low, int64_t high, int64_t *out);
/* The value, a text, and the range. */
bool tendon_parse_wrong_range(parser *p, json_at at, const char *after, int64_t low, int64_t high);
/* "big" or "little". */
bool tendon_parse_endian(parser *p, json_at at, bool *is_big);
/* A layout by its name, or written in the place of the name: then it is called name. */
bool tendon_parse_layout_reference(parser *p, json_at at, uint16_t name, uint16_t *out);

/* Tables whose rows have names of their own. */
typedef enum table { ROWS, LAYOUTS, EVENTS, ACTIONS } table;

/* The name of a new row, which the table has room for; the caller counts it. */
bool tendon_parse_new(parser *p, json_at at, table which, uint16_t *name);
/* The row of a name. */
bool tendon_parse_known(parser *p, json_at at, table which, uint16_t *row);
/* That a name is none of those that have a meaning already, packed; after: the sentence about it. */
bool tendon_parse_free(parser *p, json_at at, uint16_t name, const char *taken, size_t count, const char *after);
bool tendon_parse_has_room(parser *p, json_at at, table which);
/* The row of a name; NONE. */
uint16_t tendon_parse_find(const tendon_definition *d, table which, uint16_t name);

/* The layouts of the file, first their names, then what is in them. */
bool tendon_parse_layout_names(parser *p, json_at layouts);
bool tendon_parse_layouts(parser *p);

/* What a condition, or a case of a switch, says of a kept field: that it is this number, or another one than 0. */
typedef struct tendon_fact {
    uint8_t from;  /* 0: nothing is said */
    bool is_other; /* than the number */
    int64_t number;
} tendon_fact;

tendon_fact tendon_fact_of(const tendon_field *field);
/* Whether they say of one field what cannot be both. */
bool tendon_facts_exclude(const tendon_fact *a, const tendon_fact *b);

/* What only the whole shows. */
bool tendon_parse_check(parser *p);

#endif
