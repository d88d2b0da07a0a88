/* SPDX-License-Identifier: MIT */
/* One file for each device: "family-c00000000006-1", the last digit 0 for a public address and 1 for a random one. */
#include "journal.h"
#include "../../base/text.h"
#include "directory.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

tendon_status tendon_journal_open(tendon_journal *journal, const char *directory) {
    memset(journal, 0, sizeof *journal);
    if (directory == NULL) {
        return tendon_directory_state_path("journal", journal->directory, sizeof journal->directory);
    }
    size_t length = strlen(directory);
    if (length == 0 || length >= sizeof journal->directory) {
        return length == 0 ? TENDON_ERROR_INVALID_ARGUMENT : TENDON_ERROR_OVERFLOW;
    }
    memcpy(journal->directory, directory, length + 1);
    return TENDON_OK;
}

static bool is_family(const char *family) {
    size_t length = strspn(family, "abcdefghijklmnopqrstuvwxyz0123456789");
    return length > 0 && length <= TENDON_JOURNAL_FAMILY_MAX && family[length] == '\0';
}

static tendon_status path_of(const tendon_journal *journal, const char *family, const tendon_address *device,
                             char out[TENDON_FILE_PATH_SIZE]) {
    const uint8_t *b = device->bytes;
    if (!is_family(family) || device->type > TENDON_ADDRESS_TYPE_RANDOM_IDENTITY) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    snprintf(out, TENDON_FILE_PATH_SIZE, "%s/%s-%02x%02x%02x%02x%02x%02x-%u", journal->directory, family, b[0], b[1],
             b[2], b[3], b[4], b[5], device->type & 1u);
    return TENDON_OK;
}

/* Two programs never write one file at a time. @return a descriptor to be closed, or an error. */
static tendon_status lock(const tendon_journal *journal) {
    char path[TENDON_FILE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/lock", journal->directory);
    return tendon_file_lock(path);
}

tendon_status tendon_journal_store(const tendon_journal *journal, const char *family, const tendon_address *device,
                                   const uint8_t *bytes, size_t length) {
    char path[TENDON_FILE_PATH_SIZE];
    tendon_status status = path_of(journal, family, device, path);
    if (status < 0 || length == 0 || length > TENDON_JOURNAL_RECORD_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_status locked = lock(journal);
    if (locked < 0) {
        return locked;
    }
    status = tendon_file_replace(path, bytes, length, NULL);
    close(locked);
    return status;
}

tendon_status tendon_journal_load(const tendon_journal *journal, const char *family, const tendon_address *device,
                                  uint8_t *out, size_t capacity) {
    char path[TENDON_FILE_PATH_SIZE];
    uint8_t bytes[TENDON_JOURNAL_RECORD_MAX + 1]; /* one more: it tells that a file is too long */
    struct stat version;
    tendon_status length = path_of(journal, family, device, path);
    if (length >= 0) {
        length = tendon_file_read(path, bytes, sizeof bytes, &version);
    }
    if (length < 0) {
        return length;
    }
    if ((size_t)length > capacity || (size_t)length > TENDON_JOURNAL_RECORD_MAX) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    memcpy(out, bytes, (size_t)length);
    return length;
}

tendon_status tendon_journal_remove(const tendon_journal *journal, const char *family, const tendon_address *device) {
    char path[TENDON_FILE_PATH_SIZE];
    tendon_status status = path_of(journal, family, device, path);
    tendon_status locked = status < 0 ? status : lock(journal);
    if (locked < 0) {
        return locked;
    }
    if (unlink(path) == 0) {
        tendon_file_sync_directory(path);
    } else if (errno != ENOENT) {
        status = tendon_file_status(errno);
    }
    close(locked);
    return status;
}

typedef struct clearing {
    const tendon_journal *journal;
    const char *family;
    bool (*keeps)(void *context, const tendon_address *device); /* NULL: none stays */
    void *context;
    tendon_status removed; /* or an error */
} clearing;

/* Of a name that path_of() makes, the device, and what follows it; NULL: the name is of another file. */
static const char *parse_name(const char *name, const char *family, tendon_address *device) {
    size_t length = strlen(family);
    if (strncmp(name, family, length) != 0 || name[length] != '-') {
        return NULL;
    }
    const char *digits = name + length + 1;
    for (size_t i = 0; i < 12; i++) {
        int digit = tendon_hex_value(digits[i]);
        if (digit < 0) {
            return NULL;
        }
        device->bytes[i / 2] = (uint8_t)(device->bytes[i / 2] << 4 | digit);
    }
    device->type = digits[12] != '\0' && digits[13] == '1' ? TENDON_ADDRESS_TYPE_RANDOM : TENDON_ADDRESS_TYPE_PUBLIC;
    return digits[12] == '-' && (digits[13] == '0' || digits[13] == '1') ? digits + 14 : NULL;
}

/* With the temporary file of a process that was killed. */
static bool clear_one(void *context, const char *name) {
    clearing *c = context;
    char path[TENDON_FILE_PATH_SIZE];
    tendon_address device = {{0}, TENDON_ADDRESS_TYPE_PUBLIC};
    const char *rest = parse_name(name, c->family, &device);
    bool is_new = rest != NULL && strcmp(rest, ".new") == 0;
    bool is_record = rest != NULL && rest[0] == '\0';
    if ((!is_new && !is_record) || (is_record && c->keeps != NULL && c->keeps(c->context, &device))) {
        return true;
    }
    if (snprintf(path, sizeof path, "%s/%s", c->journal->directory, name) >= (int)sizeof path) {
        return true; /* no path of ours is as long */
    }
    if (unlink(path) != 0) {
        c->removed = tendon_file_status(errno);
        return false;
    }
    c->removed += is_record;
    return true;
}

static tendon_status clear(clearing *c) {
    const tendon_journal *journal = c->journal;
    if (!is_family(c->family)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    int fd = open(journal->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? TENDON_OK : tendon_file_status(errno);
    }
    tendon_status locked = lock(journal);
    if (locked >= 0) {
        tendon_directory_each(fd, SIZE_MAX, clear_one, c);
        (void)fsync(fd);
        close(locked);
    }
    close(fd);
    return locked < 0 ? locked : c->removed;
}

tendon_status tendon_journal_clear(const tendon_journal *journal, const char *family) {
    clearing c = {.journal = journal, .family = family};
    return clear(&c);
}

tendon_status tendon_journal_keep(const tendon_journal *journal, const char *family,
                                  bool (*keeps)(void *context, const tendon_address *device), void *context) {
    clearing c = {.journal = journal, .family = family, .keeps = keeps, .context = context};
    return clear(&c);
}

/* One byte of one file for each device, so that nothing is left to be removed. Unlike a lock of the process, one of the
 * open file also holds against the process itself. */
tendon_status tendon_journal_claim(const tendon_journal *journal, const char *family, const tendon_address *device) {
    char path[TENDON_FILE_PATH_SIZE];
    tendon_status status = path_of(journal, family, device, path);
    if (status < 0) {
        return status;
    }
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = device->type & 1u, .l_len = 1};
    for (size_t i = 0; i < sizeof device->bytes; i++) {
        range.l_start = (off_t)((uint64_t)range.l_start << 8 | device->bytes[i]);
    }
    snprintf(path, sizeof path, "%s/claims-%s", journal->directory, family);
    int error = tendon_directory_make_parents(path);
    int fd = error == 0 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0) {
        return tendon_file_status(error != 0 ? error : errno);
    }
    if (fcntl(fd, F_OFD_SETLK, &range) != 0) {
        status = errno == EAGAIN || errno == EACCES ? TENDON_ERROR_BUSY : tendon_file_status(errno);
        close(fd);
        return status;
    }
    return fd;
}

void tendon_journal_release(int claim) {
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(claim, F_OFD_SETLK, &all);
    close(claim);
}
