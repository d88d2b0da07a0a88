/* SPDX-License-Identifier: MIT */
/* The kernel's lists of sockets, as these tests see them. */
#include "bluez_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *bluez_hci_sockets;

static bool is_ours(uint64_t inode) {
    struct stat found;
    for (int fd = 0; fd < 256; fd++) {
        if (fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == inode) {
            return true;
        }
    }
    return false;
}

/* Without the sockets of other programs: tests that run beside this one announce keys for the same adapter. */
static int own_sockets(void) {
    char line[512];
    uint64_t inode = 0;
    FILE *all = fopen("/proc/self/net/unix", "re");
    int own = memfd_create("unix", MFD_CLOEXEC);
    assert_non_null(all);
    while (fgets(line, sizeof line, all) != NULL) {
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64, &inode) == 1 && is_ours(inode)) {
            assert_int_equal(write(own, line, strlen(line)), (ssize_t)strlen(line));
        }
    }
    fclose(all);
    assert_int_equal(lseek(own, 0, SEEK_SET), 0);
    return own;
}

static int hci_sockets(void) {
    int list = bluez_hci_sockets != NULL ? memfd_create("hci", MFD_CLOEXEC) : -1;
    if (list < 0) {
        errno = ENOENT;
        return -1;
    }
    size_t length = strlen(bluez_hci_sockets);
    assert_int_equal(write(list, bluez_hci_sockets, length), (ssize_t)length);
    assert_int_equal(lseek(list, 0, SEEK_SET), 0);
    return list;
}

/* As the service sees it: procfs with subset=pid has the directories of processes and nothing else. */
int bluez_open_file(const char *path, int flags, int mode) {
    if (strncmp(path, "/proc/net/", 10) == 0) {
        errno = ENOENT;
        return -1;
    }
    if (strcmp(path, "/proc/self/net/hci") == 0) {
        return hci_sockets();
    }
    return strcmp(path, "/proc/self/net/unix") == 0 ? own_sockets()
                                                    : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* In the C library's place; a test may define it itself. */
__attribute__((weak)) int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return bluez_open_file(path, flags, mode);
}
