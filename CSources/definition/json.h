/* SPDX-License-Identifier: MIT */
/*
 * JSON (RFC 8259) without heap, with the place of each value: a file of a device is written by hand, and a mistake must
 * be found by line and column. Libraries that tell the place of a syntax error do not tell that of a wrong value.
 */
#ifndef TENDON_DEFINITION_JSON_H
#define TENDON_DEFINITION_JSON_H

#include "tendon/definition/definition.h"

typedef enum json_type { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_BOOLEAN, JSON_NULL } json_type;

/* Place of a value in the tokens. Members of an object are two tokens each, the key and the value. */
typedef uint32_t json_at;

typedef struct json {
    const char *text;
    size_t length;
    tendon_definition_token *tokens; /* the caller's, for as many values */
    uint32_t capacity;
    uint32_t count;
    tendon_definition_mistake *mistake;
} json;

/* Reads all values; the first is the whole. On a mistake: TENDON_ERROR_MALFORMED. */
tendon_status tendon_json_read(json *j);

json_type tendon_json_type_of(const json *j, json_at at);
/* The first inside of an array or an object; then tendon_json_next() of it, up to that of the array or object. */
static inline json_at tendon_json_first(json_at at) {
    return at + 1;
}
static inline json_at tendon_json_next(const json *j, json_at at) {
    return j->tokens[at].next;
}
/* The bytes of a value as the file has them, of a string those between the quotes. */
const char *tendon_json_raw(const json *j, json_at at, size_t *length);
/* False of what is absent, which is the file itself. */
bool tendon_json_is_true(const json *j, json_at at);
/* Whether a text is these bytes. */
bool tendon_json_is(const char *text, const char *word, size_t length);
/* Whether it is a string without escapes that is this text. */
bool tendon_json_equals(const json *j, json_at at, const char *text);
/* Decodes a string; returns its length, or capacity if it is longer. */
size_t tendon_json_string(const json *j, json_at at, char *out, size_t capacity);
/* A number, or a string "0x..." with one. False: neither. */
bool tendon_json_number(const json *j, json_at at, double *out);
/* An integer, or a string "0x..." with one; INT64_MIN to INT64_MAX. */
bool tendon_json_integer(const json *j, json_at at, int64_t *out);

/* Digits, or "0x" and hexadecimal digits, 64 bits as they are; with a '-' before them. */
bool tendon_json_integer_of(const char *text, size_t length, int64_t *out);

/* The number of a hexadecimal digit; -1: it is none. */
int tendon_json_hex(char c);

/* Sets the mistake: before, the value as the file has it in quotes unless quoted is JSON_NOWHERE, after. Returns false.
 */
enum { JSON_NOWHERE = 0xFFFFFFFF };
bool tendon_json_wrong(const json *j, json_at at, const char *before, json_at quoted, const char *after);

#endif
