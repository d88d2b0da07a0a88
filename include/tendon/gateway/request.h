/* SPDX-License-Identifier: MIT */
/*
 * A request to a gateway: one line of JSON that names a device and an action.
 *
 *     {"address": "C4:00:00:00:00:01", "action": "led", "arguments": ["blinkFast", 500]}
 *
 * Members: address, also with its type (C4:00:00:00:00:01/random); address_type ("public" or "random"; absent: any,
 * unless the address has one); action; arguments, an array of texts and numbers, which may be absent or null. Others
 * are mistakes. Bounded, no recursion, no heap, no I/O: for lines of anyone.
 */
#ifndef TENDON_GATEWAY_REQUEST_H
#define TENDON_GATEWAY_REQUEST_H

#include "tendon/base.h"
#include "tendon/gateway/actions.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest line, without its line feed, longest text or number in it, and longest action, in bytes. Our design; a value
 * of a device file has 64 bytes, too. */
#define TENDON_REQUEST_LINE_MAX 1024
#define TENDON_REQUEST_WORD_MAX 64
#define TENDON_REQUEST_ACTION_SIZE 160

typedef struct tendon_request {
    bool has_address;
    tendon_address address; /**< type TENDON_ADDRESS_TYPE_ANONYMOUS: any */
    size_t length;          /**< 0: it has no action */
    /** As tendon_act_parse_text() reads it: `led blinkFast 500`, `set_label "HELLO WORLD"`. UTF-8 without control
     * characters other than newlines, carriage returns and tabs, which are escaped; without a terminator. */
    char action[TENDON_REQUEST_ACTION_SIZE];
} tendon_request;

/**
 * Parses a line.
 * @param text not necessarily UTF-8, or text at all.
 * @return TENDON_OK; TENDON_ERROR_MALFORMED: *mistake says why in a sentence, *out has what was found before it, and
 * the action without arguments.
 */
tendon_status tendon_request_parse(const char *text, size_t length, tendon_request *out, tendon_act_mistake *mistake);

#ifdef __cplusplus
}
#endif
#endif
