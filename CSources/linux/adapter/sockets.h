/* SPDX-License-Identifier: MIT */
/* The kernel's Bluetooth sockets: by libbluetooth's headers, or by our own description. */
#ifndef TENDON_BLUEZ_SOCKETS_H
#define TENDON_BLUEZ_SOCKETS_H

#include <stdint.h> /* glibc's __GLIBC__ comes with any header */

/** Of ioctl(): the same bits, of one type in glibc and of another in musl. */
#ifdef __GLIBC__
typedef unsigned long tendon_ioctl_request;
#else
typedef int tendon_ioctl_request;
#endif

#ifdef TENDON_KERNEL_SOCKETS
#include "kernel_sockets.h"
#else
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>
#endif

#endif
