/* SPDX-License-Identifier: MIT */
#include "directory.h"

#include <string.h>
#include <sys/syscall.h>
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
