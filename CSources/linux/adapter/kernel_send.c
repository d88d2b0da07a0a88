/* SPDX-License-Identifier: MIT */
#if defined(TENDON_KERNEL_SOCKETS)
#include "sockets.h"

#include <errno.h>
#include <sys/uio.h>

int hci_send_cmd(int fd, uint16_t ogf, uint16_t ocf, uint8_t length, void *parameters) {
    uint16_t opcode = cmd_opcode_pack(ogf, ocf);
    uint8_t head[4] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), length};
    const struct iovec parts[2] = {{.iov_base = head, .iov_len = sizeof head},
                                   {.iov_base = parameters, .iov_len = length}};
    ssize_t sent;
    do {
        sent = writev(fd, parts, length > 0 ? 2 : 1);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

#endif
