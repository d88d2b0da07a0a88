/* SPDX-License-Identifier: MIT */
#if defined(TENDON_KERNEL_SOCKETS)
#include "sockets.h"

#include <errno.h>
#include <unistd.h>

int hci_devinfo(int index, struct hci_dev_info *info) {
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    if (fd < 0) {
        return -1;
    }
    memset(info, 0, sizeof *info);
    info->dev_id = (uint16_t)index;
    int result = ioctl(fd, (tendon_ioctl_request)HCIGETDEVINFO, info), kept = errno;
    close(fd);
    errno = kept;
    return result < 0 ? -1 : 0;
}

#endif
