/* SPDX-License-Identifier: MIT */
#include "capture_fixture.h"

#include <fcntl.h>
#include <unistd.h>

const tendon_address capture_peer = {{0xC1, 0x22, 0x33, 0x44, 0x55, 0x66}, TENDON_ADDRESS_TYPE_RANDOM};

void make_path(char path[32]) {
    strcpy(path, "/tmp/tendon-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

block read_file(const char *path) {
    uint8_t bytes[20000];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t length = read(fd, bytes, sizeof bytes);
    assert_true(length >= 0 && (size_t)length < sizeof bytes);
    close(fd);
    return block_copy(bytes, (size_t)length);
}

void write_sample(const char *path, uint32_t datalink) {
    tendon_capture capture;
    assert_int_equal(tendon_capture_create(&capture, path, datalink), TENDON_OK);
    assert_int_equal(tendon_capture_connected(&capture, 0x40, &capture_peer, false, UNIX_2000_US), TENDON_OK);
    assert_int_equal(tendon_capture_att(&capture, 0x40, true, (const uint8_t *)"\x1b\x23\0\1\2\3", 6, UNIX_2000_US),
                     TENDON_OK);
    assert_int_equal(tendon_capture_att(&capture, 0x40, false, (const uint8_t *)"\x0a\x23\0", 3, UNIX_2000_US),
                     TENDON_OK);
    assert_int_equal(tendon_capture_disconnected(&capture, 0x40, TENDON_RADIO_ERROR_PEER_CLOSED, UNIX_2000_US),
                     TENDON_OK);
    assert_int_equal(capture.records, 4);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
}
