/* SPDX-License-Identifier: MIT */
/* A scripted kernel that answers each command of the management socket and of the HCI socket. */
#ifndef BLUEZ_KERNEL_H
#define BLUEZ_KERNEL_H

#include "bluez_fixture.h"

enum { SOCKETS = 64, READ_LOCAL_COMMANDS = 0x1002, LE_FEATURES = 0x2003 };

/** The kernel as the radio sees it. */
typedef struct bluez_kernel {
    uint16_t indexes[17]; /**< in the order in which the adapters were added */
    size_t count;
    bool exists;     /**< the adapter of the name, also while it is not in the list */
    int listed_from; /**< look-ups before the list contains any adapter */
    uint32_t supported, settings;
    bool stays_off;        /**< Set Powered succeeds, but the adapter is off */
    uint8_t address[6];    /**< as on the wire */
    uint16_t fails, error; /**< this command, with this status */
    int failures;          /**< so many times; 0: always */
    bool silent;           /**< no answer to anything */
    bool alone;            /**< no event of another adapter comes before each answer */
    uint16_t empty;        /**< this command has a reply without data */
    uint8_t static_address[6];
    uint8_t bound[6]; /**< own address of the latest L2CAP socket, as on the wire */
    bool extended;
    uint8_t extended_scan; /**< bits of its two commands; 0: as extended */
    int others;            /**< HCI sockets of other programs; bluez_hci_sockets is used instead if it is set */
    bool hidden;           /**< the list of HCI sockets cannot be opened */
    int peers[SOCKETS];
    uint16_t channels[SOCKETS];
    uint64_t now;
    char log[512]; /**< management commands as "m04", lists of keys as "m13:24", HCI commands as "h1002" */
} bluez_kernel;
extern bluez_kernel kernel;
/** Three adapters that are on, and a socket of one other program. */
void bluez_kernel_start(void);
/** Closes the other ends of all Bluetooth sockets. */
void bluez_kernel_close(void);

#endif
