/* SPDX-License-Identifier: MIT */
/*
 * What the kernel and the controller report about a connection, as a status, and whether another attempt can help: one
 * table for all radios. Internal to component linux.
 */
#ifndef TENDON_REASONS_H
#define TENDON_REASONS_H

#include "tendon/base/status.h"

/** Whose errno it is. */
typedef enum tendon_errno_of {
    TENDON_ERRNO_OF_SOCKET = 1,  /**< of a socket that is not Bluetooth */
    TENDON_ERRNO_OF_LINK = 2,    /**< of a connected Bluetooth socket */
    TENDON_ERRNO_OF_CONNECT = 4, /**< of a Bluetooth socket that connects */
} tendon_errno_of;

/** An errno, 0 for the end of a stream. One that is not in the table: TENDON_SYSTEM_ERROR. */
tendon_status tendon_reason_of_errno(int number, tendon_errno_of which);
/** An HCI error code. One that is not in the table: TENDON_HCI_ERROR. */
tendon_status tendon_reason_of_code(uint8_t code);

#endif
