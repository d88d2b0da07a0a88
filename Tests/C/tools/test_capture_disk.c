/* SPDX-License-Identifier: MIT */
/* Capture files where a call fails: the status reports it, also that of the closing, and no descriptor stays open. */
#include "../linux/open_files.h"
#include "capture_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the C library's place: one call of each kind that fails, with this errno. */
static int refused_fstat, refused_fchmod, refused_ftruncate, refused_close, refused_writev, zero_writes;

static bool fails(int *number) {
    errno = *number;
    bool failed = *number != 0;
    *number = 0;
    return failed;
}

int fchmod(int fd, mode_t mode) {
    return fails(&refused_fchmod) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fstat(int fd, struct stat *out) {
    return fails(&refused_fstat) ? -1 : fstatat(fd, "", out, AT_EMPTY_PATH);
}

int ftruncate(int fd, off_t length) {
    return fails(&refused_ftruncate) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int close(int fd) {
    int result = (int)syscall(SYS_close, fd);
    return fails(&refused_close) ? -1 : result;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (zero_writes > 0) {
        zero_writes--;
        return 0;
    }
    return fails(&refused_writev) ? -1 : (ssize_t)syscall(SYS_writev, fd, parts, count);
}

static char path[64];

static int setup(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/tendon-capture-XXXXXX");
    int fd = mkstemp(path);
    return fd >= 0 && syscall(SYS_close, fd) == 0 ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    return unlink(path);
}

static tendon_status write_one(tendon_capture *capture) {
    static const uint8_t bytes[] = {0x10, 1, 0x42};
    const tendon_capture_record record = {
        .type = 4, .incoming = true, .length = sizeof bytes, .original_length = sizeof bytes, .data = bytes};
    return tendon_capture_write(capture, &record);
}

static void a_file_that_cannot_be_prepared_is_closed(void **state) {
    (void)state;
    static const struct {
        int *call;
        int number;
        tendon_status expected;
    } cases[] = {
        {&refused_fchmod, EIO, TENDON_SYSTEM_ERROR(EIO)},
        {&refused_fchmod, EPERM, TENDON_OK}, /* a file system without modes */
        {&refused_ftruncate, EIO, TENDON_SYSTEM_ERROR(EIO)},
        {&refused_fstat, EIO, TENDON_SYSTEM_ERROR(EIO)},
        {&refused_writev, ENOSPC, TENDON_SYSTEM_ERROR(ENOSPC)},
        {&zero_writes, 1, TENDON_SYSTEM_ERROR(ENOSPC)}, /* a disk that takes nothing and says nothing */
    };
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_capture capture;
        *cases[i].call = cases[i].number;
        assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), cases[i].expected);
        assert_int_equal(open_descriptors(), before + (cases[i].expected == TENDON_OK));
        if (cases[i].expected < 0) {
            assert_int_equal(capture.fd, -1);
            assert_int_equal(write_one(&capture), cases[i].expected);
        }
        assert_int_equal(tendon_capture_close(&capture), cases[i].expected);
        assert_int_equal(open_descriptors(), before);
    }
}

/* Some file systems report a full disk only when the file is closed. */
static void an_error_of_close_is_the_result(void **state) {
    (void)state;
    tendon_capture capture;
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(write_one(&capture), TENDON_OK);
    assert_int_equal(capture.records, 1);
    refused_close = EDQUOT;
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(EDQUOT));
    assert_int_equal(capture.status, TENDON_SYSTEM_ERROR(EDQUOT));
    assert_int_equal(capture.fd, -1);
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(EDQUOT)); /* nothing to close any more */
    assert_int_equal(write_one(&capture), TENDON_SYSTEM_ERROR(EDQUOT));
    /* The first error is the one that is kept. */
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    refused_writev = EIO;
    assert_int_equal(write_one(&capture), TENDON_SYSTEM_ERROR(EIO));
    refused_writev = 0; /* the disk works again, but a part of the record may be in the file */
    assert_int_equal(write_one(&capture), TENDON_SYSTEM_ERROR(EIO));
    assert_int_equal(capture.records, 0);
    refused_close = EDQUOT;
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(EIO));
    refused_close = 0;
}

/* Of two programs that write one file, each would write at its own place. */
static void a_file_that_is_being_written_is_left_alone(void **state) {
    (void)state;
    tendon_capture first;
    tendon_capture second;
    struct stat file;
    assert_int_equal(tendon_capture_create(&first, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(write_one(&first), TENDON_OK);
    int before = open_descriptors();
    assert_int_equal(tendon_capture_create(&second, path, TENDON_CAPTURE_H4), TENDON_ERROR_BUSY);
    assert_int_equal(second.fd, -1);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_size, first.bytes);
    assert_int_equal(tendon_capture_close(&first), TENDON_OK);
    assert_int_equal(tendon_capture_create(&second, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(tendon_capture_close(&second), TENDON_OK);
}

/* A descriptor of the caller's stays the caller's. */
static void an_attached_descriptor_is_not_closed(void **state) {
    (void)state;
    tendon_capture capture;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(tendon_capture_attach(&capture, fd, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    assert_int_equal(write_one(&capture), TENDON_ERROR_WRONG_STATE);
    close(fd);
}

/* Through a symbolic link another user could have a file of ours overwritten; a device at its end is welcome. */
static void links_lead_to_devices_only(void **state) {
    (void)state;
    char name[96];
    tendon_capture capture;
    struct stat info;
    snprintf(name, sizeof name, "%s.link", path);
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(symlink(path, name), 0);
    int before = open_descriptors();
    assert_int_equal(tendon_capture_create(&capture, name, TENDON_CAPTURE_H4), TENDON_SYSTEM_ERROR(ELOOP));
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 5);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink("/dev/null", name), 0);
    assert_int_equal(tendon_capture_create(&capture, name, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_int_equal(unlink(name), 0);
    char missing[80];
    snprintf(missing, sizeof missing, "%s.absent/file", path);
    assert_int_equal(symlink(missing, name), 0);
    assert_int_equal(tendon_capture_create(&capture, name, TENDON_CAPTURE_H4), TENDON_SYSTEM_ERROR(ENOENT));
    assert_int_equal(unlink(name), 0);
    assert_int_equal(open_descriptors(), before);
}

#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DISK_TEST(a_file_that_cannot_be_prepared_is_closed),
        DISK_TEST(an_error_of_close_is_the_result),
        DISK_TEST(a_file_that_is_being_written_is_left_alone),
        DISK_TEST(an_attached_descriptor_is_not_closed),
        DISK_TEST(links_lead_to_devices_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
