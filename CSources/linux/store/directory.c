/* SPDX-License-Identifier: MIT */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** One entry of getdents64: inode(8) offset(8) record length(2) type(1) name. NULL: no more. */
static const char *entry_at(const uint8_t *buffer, size_t size, size_t *position) {
    const size_t length_offset = 8 + 8, name_offset = length_offset + 2 + 1;
    uint16_t record = 0;
    if (size - *position < name_offset + 1) {
        return NULL;
    }
    memcpy(&record, buffer + *position + length_offset, sizeof record);
    if (record < name_offset + 1 || record > size - *position) {
        return NULL;
    }
    const char *name = (const char *)buffer + *position + name_offset;
    *position += record;
    return name;
}

void tendon_directory_each(int fd, size_t limit, bool (*visit)(void *context, const char *name), void *context) {
    _Alignas(8) uint8_t entries[4096];
    size_t seen = 0;
    if (lseek(fd, 0, SEEK_SET) < 0) {
        return;
    }
    while (seen < limit) {
        long size = syscall(SYS_getdents64, fd, entries, sizeof entries);
        if (size <= 0) {
            return;
        }
        size_t position = 0;
        const char *name = NULL;
        while (seen < limit && (name = entry_at(entries, (size_t)size, &position)) != NULL) {
            seen++;
            if (!visit(context, name)) {
                return;
            }
        }
    }
}

int tendon_directory_read(int fd, const char *path, char *out, size_t capacity) {
    int file = openat(fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return -1;
    }
    size_t length = 0;
    ssize_t got = 0;
    while (length + 1 < capacity && (got = read(file, out + length, capacity - 1 - length)) > 0) {
        length += (size_t)got;
    }
    close(file);
    if (length > 0 && out[length - 1] == '\n') {
        length--;
    }
    out[length] = '\0';
    return got < 0 ? -1 : (int)length;
}

tendon_status tendon_directory_state_path(const char *name, char *out, size_t capacity) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = state != NULL && state[0] == '/' ? snprintf(out, capacity, "%s/tendon/%s", state, name)
                 : home != NULL && home[0] == '/' && home[1] != '\0'
                     ? snprintf(out, capacity, "%s/.local/state/tendon/%s", home, name)
                     : snprintf(out, capacity, "/var/lib/tendon/%s", name);
    return length > 0 && (size_t)length < capacity ? TENDON_OK : TENDON_ERROR_OVERFLOW;
}

int tendon_directory_make_parents(const char *path) {
    char part[256];
    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] != '/') {
            continue;
        }
        if (i >= sizeof part) {
            return ENAMETOOLONG;
        }
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            return errno;
        }
    }
    return 0;
}

int tendon_directory_lock(int fd) {
    enum { TRIES = 50, PAUSE_NS = 10000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == TRIES || (errno != EWOULDBLOCK && errno != EINTR)) {
            return errno;
        }
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}
