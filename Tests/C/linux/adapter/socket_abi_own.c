/* SPDX-License-Identifier: MIT */
#define TENDON_KERNEL_SOCKETS 1
#include "socket_abi.h"

#include "../../../../CSources/linux/adapter/sockets.h"

const socket_number own_numbers[] = {SOCKET_NUMBERS};
const size_t own_count = sizeof own_numbers / sizeof *own_numbers;
DEFINE_FILTER(own_filter)

/* The two calls that such a build has instead of libbluetooth's. */
#include "../../../../CSources/linux/adapter/kernel_devinfo.c"
#include "../../../../CSources/linux/adapter/kernel_send.c"
