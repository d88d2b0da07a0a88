/* SPDX-License-Identifier: MIT */
#include "failing_disk.h"
#include "test_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct disk disk;

static bool fails(refused *call) {
    if (++disk.calls == disk.killed_at) {
        raise(SIGKILL);
    }
    if (call->number == 0 || call->after-- > 0) {
        return false;
    }
    errno = call->number;
    *call = (refused){0, 0};
    return true;
}

static int directory_fd = -1;

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (fails(&disk.open)) {
        return -1;
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if ((flags & O_DIRECTORY) != 0 && strncmp(path, "/proc", 5) != 0) {
        snprintf(disk.directory, sizeof disk.directory, "%s", path);
        directory_fd = fd;
    }
    return fd;
}

int fchmod(int fd, mode_t mode) {
    return fails(&disk.fchmod) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (fails(&disk.write)) {
        return -1;
    }
    return syscall(SYS_write, fd, bytes, disk.piece != 0 && disk.piece < length ? disk.piece : length);
}

int fsync(int fd) {
    disk.synced += fd == directory_fd;
    return fails(&disk.fsync) ? -1 : disk.unsynced ? 0 : (int)syscall(SYS_fsync, fd);
}

int close(int fd) {
    directory_fd = fd == directory_fd ? -1 : directory_fd;
    int result = (int)syscall(SYS_close, fd);
    return fails(&disk.close) ? -1 : result;
}

int rename(const char *from, const char *to) {
    return fails(&disk.rename) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int flock(int fd, int operation) {
    return fails(&disk.flock) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

int fstat(int fd, struct stat *out) {
    return fails(&disk.fstat) ? -1 : fstatat(fd, "", out, AT_EMPTY_PATH);
}

ssize_t read(int fd, void *out, size_t size) {
    return fails(&disk.read) ? -1 : syscall(SYS_read, fd, out, size);
}

int unlink(const char *path) {
    return fails(&disk.unlink) ? -1 : unlinkat(AT_FDCWD, path, 0);
}

void folder_of(const char *path, char out[128]) {
    snprintf(out, 128, "%s", path);
    *strrchr(out, '/') = '\0';
}

bool live_until(bool (*body)(const void *context), const void *context, unsigned killed_at) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        disk.calls = 0;
        disk.killed_at = killed_at;
        _exit(body(context) ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return !WIFSIGNALED(status);
}
