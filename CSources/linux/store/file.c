/* SPDX-License-Identifier: MIT */
#include "file.h"
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

tendon_status tendon_file_status(int number) {
    return number == EACCES || number == EPERM ? TENDON_ERROR_FILE_PERMISSION : TENDON_SYSTEM_ERROR(number);
}

static tendon_status read_all(int fd, uint8_t *out, size_t capacity) {
    size_t length = 0;
    while (length < capacity) {
        ssize_t got = read(fd, out + length, capacity - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return tendon_file_status(errno);
        }
        if (got == 0) {
            break;
        }
        length += (size_t)got;
    }
    return (tendon_status)length;
}

tendon_status tendon_file_read(const char *path, uint8_t *out, size_t capacity, struct stat *version) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a FIFO would keep it */
    if (fd < 0) {
        return errno == ENOENT ? TENDON_ERROR_NOT_FOUND : tendon_file_status(errno);
    }
    tendon_status status = TENDON_OK;
    if (fstat(fd, version) != 0) {
        status = tendon_file_status(errno);
    } else if (S_ISFIFO(version->st_mode) || version->st_uid != geteuid() || (version->st_mode & 0077) != 0) {
        status = TENDON_ERROR_FILE_PERMISSION; /* what other users can read, or have written, is not secret */
    } else {
        status = read_all(fd, out, capacity);
    }
    close(fd);
    return status;
}

tendon_status tendon_file_lock(const char *path) {
    int error = tendon_directory_make_parents(path);
    if (error != 0) {
        return tendon_file_status(error);
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return tendon_file_status(errno);
    }
    error = tendon_directory_lock(fd);
    if (error != 0) {
        close(fd);
        return error == EWOULDBLOCK ? TENDON_ERROR_BUSY : tendon_file_status(error);
    }
    return fd;
}

static tendon_status write_all(int fd, const uint8_t *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t sent = write(fd, bytes + done, length - done);
        if (sent < 0 && errno != EINTR) {
            return tendon_file_status(errno);
        }
        done += sent > 0 ? (size_t)sent : 0;
    }
    return fsync(fd) == 0 ? TENDON_OK : tendon_file_status(errno);
}

void tendon_file_sync_directory(const char *path) {
    char directory[TENDON_FILE_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(directory, slash == NULL ? "." : path, length);
    directory[length] = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/** Writes the temporary file of @p path, whose name it stores. */
static tendon_status write_new(const char *path, char name[TENDON_FILE_PATH_SIZE + 8], const uint8_t *bytes,
                               size_t length, struct stat *version) {
    snprintf(name, TENDON_FILE_PATH_SIZE + 8, "%s.new", path);
    (void)unlink(name); /* of a process that was killed, or of another user, who could read what is written to it */
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return tendon_file_status(errno);
    }
    tendon_status status = fchmod(fd, 0600) == 0 ? write_all(fd, bytes, length) : tendon_file_status(errno);
    if (status >= 0 && version != NULL && fstat(fd, version) != 0) {
        status = tendon_file_status(errno);
    }
    if (close(fd) != 0 && status >= 0) {
        status = tendon_file_status(errno);
    }
    if (status < 0) {
        (void)unlink(name);
    }
    return status;
}

tendon_status tendon_file_replace(const char *path, const uint8_t *bytes, size_t length, struct stat *version) {
    char name[TENDON_FILE_PATH_SIZE + 8];
    tendon_status status = write_new(path, name, bytes, length, version);
    if (status >= 0 && rename(name, path) != 0) {
        status = tendon_file_status(errno);
        (void)unlink(name);
    }
    if (status >= 0) {
        tendon_file_sync_directory(path);
    }
    return status;
}

tendon_status tendon_file_try(const char *path, const uint8_t *bytes, size_t length) {
    char name[TENDON_FILE_PATH_SIZE + 8];
    tendon_status status = write_new(path, name, bytes, length, NULL);
    if (status >= 0) {
        (void)unlink(name);
    }
    return status;
}
