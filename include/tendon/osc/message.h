/* SPDX-License-Identifier: MIT */
/*
 * Received messages and bundles of Open Sound Control 1.0 (opensoundcontrol.stanford.edu/spec-1_0.html): big-endian,
 * everything a multiple of 4 bytes. One datagram is one packet: a message, or a bundle of messages and bundles.
 *
 * The types of 1.0 are i f s b; the rest are the optional ones of 1.0 that receivers use: h t d S c r m T F N I [ ].
 */
#ifndef TENDON_OSC_MESSAGE_H
#define TENDON_OSC_MESSAGE_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /** Bundles in bundles, the outermost included. Our design: senders use one. */
    TENDON_OSC_DEPTH = 4,
    /** Longest address that is encoded. Our design; the longest of Tendon's own has about 150 bytes. */
    TENDON_OSC_ADDRESS_MAX = 255
};

/** A message that was received. Pointers are lent for the callback. */
typedef struct tendon_osc_message {
    const char *address;   /**< begins with "/"; a terminator follows. Any other bytes: it comes from outside */
    size_t address_length; /**< without the terminator */
    const char *tags;      /**< without the comma; a terminator follows. Each is one of the types above */
    size_t tag_count;
    const uint8_t *arguments; /**< as the tags say: checked */
    size_t arguments_length;
    uint64_t time; /**< of the innermost bundle; 1 ("immediately") outside of one */
} tendon_osc_message;

typedef void (*tendon_osc_on_message)(void *context, const tendon_osc_message *message);

/**
 * Decodes a packet. It is checked as a whole first, so a packet with a mistake reports nothing. No recursion; at most
 * one message for 8 bytes. A message may lack its type tags, as those of old senders do, if it has no arguments.
 * @param packet may be NULL if @p length is 0.
 * @param on_message called for each message in order; NULL: the packet is only checked.
 * @param offset set to the first byte that is wrong, on an error; may be NULL.
 * @return the number of messages; TENDON_ERROR_TRUNCATED: a field goes beyond the packet or its bundle's element;
 *   TENDON_ERROR_MALFORMED: no address, a terminator or padding is missing or not 0, an unknown type, arrays that do
 * not close, a size that is no multiple of 4; TENDON_ERROR_OVERFLOW: bundles deeper than TENDON_OSC_DEPTH.
 */
tendon_status tendon_osc_decode(const uint8_t *packet, size_t length, tendon_osc_on_message on_message, void *context,
                                size_t *offset);

/** One argument. Pointers are lent as those of its message. */
typedef struct tendon_osc_argument {
    char tag;
    int64_t integer;      /**< i h c r m (by its bits), t (by its bits); 1 and 0 of T and F */
    double number;        /**< f d; of integers the same number, rounded beyond 2^53 */
    const uint8_t *bytes; /**< s S b; else NULL */
    size_t length;        /**< of bytes, without terminator and padding */
} tendon_osc_argument;

/** The arguments of one message, one after the other. */
typedef struct tendon_osc_arguments {
    tendon_reader tags, values;
} tendon_osc_arguments;

tendon_osc_arguments tendon_osc_arguments_of(const tendon_osc_message *message);
/** Takes the next argument; "[" and "]" are passed as arguments without a value. Returns false after the last one. */
bool tendon_osc_next(tendon_osc_arguments *arguments, tendon_osc_argument *out);
/** Returns true if the argument has a number: i h f d c, T and F. */
bool tendon_osc_is_number(const tendon_osc_argument *argument);

#ifdef __cplusplus
}
#endif
#endif
