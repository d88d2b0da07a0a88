/* SPDX-License-Identifier: MIT */
#undef TENDON_KERNEL_SOCKETS
#include "socket_abi.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../../../CSources/linux/bluez/bluez_sockets.h"

const socket_number library_numbers[] = {SOCKET_NUMBERS};
const size_t library_count = sizeof library_numbers / sizeof *library_numbers;
DEFINE_FILTER(library_filter)
