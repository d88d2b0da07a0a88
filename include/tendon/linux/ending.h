/* SPDX-License-Identifier: MIT */
/*
 * Why a connection ended, in the same words for every program: the reason of a status. Tables; no I/O.
 */
#ifndef TENDON_LINUX_ENDING_H
#define TENDON_LINUX_ENDING_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Why a connection ended: one list for all families and radios (our design). */
typedef enum tendon_ending {
    TENDON_ENDING_REQUESTED = 0,       /**< this program ended it */
    TENDON_ENDING_DEVICE_DISCONNECTED, /**< the device ended it */
    TENDON_ENDING_CONNECTION_LOST,     /**< the radio does not reach the device any more */
    TENDON_ENDING_PAIRING_FAILED,      /**< pairing or encryption failed */
    TENDON_ENDING_PROTOCOL_ERROR,      /**< the device did not respond in time, or violated its protocol */
    TENDON_ENDING_RADIO_FAILED,        /**< the adapter was removed or powered off */
    TENDON_ENDING_COUNT
} tendon_ending;

/** Returns the reason behind a status with which a connection or a session ended. */
tendon_ending tendon_ending_of(tendon_status status);
/** Returns the reason as JSON lines have it: "device_disconnected". Static storage. */
const char *tendon_ending_name(tendon_ending ending);
/** Returns the reason as one line of text: "the device ended the connection". Static storage. */
const char *tendon_ending_text(tendon_ending ending);

#ifdef __cplusplus
}
#endif
#endif
