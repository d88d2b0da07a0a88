/* SPDX-License-Identifier: MIT */
#undef TENDON_KERNEL_SOCKETS
#include "socket_abi.h"

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* libbluetooth shifts a signed 1 by 31 places for the events 31 and 63. C leaves that undefined; the result is compared
 * with ours. */
#define inline __attribute__((no_sanitize("shift"))) inline
#include "../../../../CSources/linux/adapter/sockets.h"
#undef inline

const socket_number library_numbers[] = {SOCKET_NUMBERS};
const size_t library_count = sizeof library_numbers / sizeof *library_numbers;
DEFINE_FILTER(library_filter)
