/* SPDX-License-Identifier: MIT */
/*
 * A request to a gateway: one line of JSON that names a device and an action.
 *
 *     {"address": "C4:00:00:00:00:01", "action": "led", "arguments": ["blinkFast", 500]}
 *
 * Members: address, also with its type (C4:00:00:00:00:01/random); address_type ("public" or "random"; absent: any,
 * unless the address has one); action; arguments, an array of words and numbers,
 * which may be absent. Others are mistakes. Bounded, no recursion, no heap, no I/O: for lines of anyone.
 */
#ifndef TENDON_GATEWAY_REQUEST_H
#define TENDON_GATEWAY_REQUEST_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest line, without its line feed, and longest text of an action, in bytes. */
#define TENDON_REQUEST_LINE_MAX 1024
#define TENDON_REQUEST_ACTION_SIZE 160

typedef struct tendon_request {
    tendon_address address; /**< type TENDON_ADDRESS_TYPE_ANONYMOUS: any */
    size_t length;
    char action[TENDON_REQUEST_ACTION_SIZE]; /**< "led blinkFast 500", printable ASCII, without a terminator */
} tendon_request;

/**
 * Parses a line.
 * @param text not necessarily UTF-8, or text at all.
 * @return TENDON_OK; TENDON_ERROR_MALFORMED: *out is not defined, and *mistake says why: a sentence without its end,
 * in static storage.
 */
tendon_status tendon_request_parse(const char *text, size_t length, tendon_request *out, const char **mistake);

#ifdef __cplusplus
}
#endif
#endif
