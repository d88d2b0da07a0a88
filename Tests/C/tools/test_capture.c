/* SPDX-License-Identifier: MIT */
/* Captures: literal bytes, round trips, files cut at every position, and what Wireshark makes of them. */
#include "../linux/open_files.h"
#include "capture_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the C library's place: another user, a signal in the middle of a write, a disk that takes a byte at a time. */
static uid_t user_offset;
static int interrupted_writes, refused_mode;
static bool bytewise;

uid_t geteuid(void) {
    return (uid_t)syscall(SYS_geteuid) + user_offset;
}

int fchmod(int fd, mode_t mode) {
    errno = refused_mode;
    return refused_mode != 0 ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (interrupted_writes-- > 0) {
        errno = EINTR;
        return -1;
    }
    for (int i = 0; bytewise && i < count; i++) {
        if (parts[i].iov_len > 0) {
            return write(fd, parts[i].iov_base, 1);
        }
    }
    return (ssize_t)syscall(SYS_writev, fd, parts, count);
}

static void h4_file_is_these_bytes(void **state) {
    (void)state;
    char path[32];
    make_path(path);
    write_sample(path, TENDON_CAPTURE_H4);
    block expected =
        block_hex(HEADER_H4 "00000016 00000016 00000003 00000000" TIME_2000 "04" CONNECTED
                            "0000000f 0000000f 00000001 00000000" TIME_2000 "02" NOTIFICATION
                            "0000000c 0000000c 00000000 00000000" TIME_2000 "02 4000 0700 0300 0400 0a 2300"
                            "00000007 00000007 00000003 00000000" TIME_2000 "04 05 04 00 4000 13");
    block got = read_file(path);
    assert_int_equal(got.length, expected.length);
    assert_memory_equal(got.data, expected.data, got.length);
    struct stat made;
    assert_int_equal(stat(path, &made), 0);
    free(got.data);
    free(expected.data);
    unlink(path);
}

static void monitor_file_is_these_bytes(void **state) {
    (void)state;
    char path[32];
    make_path(path);
    write_sample(path, TENDON_CAPTURE_MONITOR);
    block expected = block_hex("6274736e6f6f7000 00000001 000007d1"
                               "00000015 00000015 00400003 00000000" TIME_2000 CONNECTED
                               "0000000e 0000000e 00400005 00000000" TIME_2000 NOTIFICATION
                               "0000000b 0000000b 00400004 00000000" TIME_2000 "4000 0700 0300 0400 0a 2300"
                               "00000006 00000006 00400003 00000000" TIME_2000 "05 04 00 4000 13");
    block got = read_file(path);
    assert_int_equal(got.length, expected.length);
    assert_memory_equal(got.data, expected.data, got.length);
    free(got.data);
    free(expected.data);
    unlink(path);
}

/* What was written comes back as items, from both kinds of file. */
static void written_links_decode_to_the_same_items(void **state) {
    (void)state;
    static const uint32_t kinds[] = {TENDON_CAPTURE_H4, TENDON_CAPTURE_MONITOR};
    for (int k = 0; k < 2; k++) {
        char path[32];
        static tendon_capture_reader reader;
        static tendon_capture_decoder decoder;
        tendon_capture_record record;
        tendon_capture_item item;
        make_path(path);
        write_sample(path, kinds[k]);
        tendon_capture_decoder_init(&decoder);
        assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
        assert_int_equal(reader.datalink, kinds[k]);
        static const tendon_capture_kind order[] = {TENDON_CAPTURE_CONNECTED, TENDON_CAPTURE_ATT, TENDON_CAPTURE_ATT,
                                                    TENDON_CAPTURE_DISCONNECTED};
        for (int i = 0; i < 4; i++) {
            assert_int_equal(tendon_capture_next(&reader, &record), 1);
            assert_true(record.unix_us == UNIX_2000_US);
            tendon_capture_decoder_feed(&decoder, &record);
            assert_true(tendon_capture_decoder_next(&decoder, &item));
            assert_int_equal(item.kind, order[i]);
            assert_int_equal(item.handle, 0x40);
            assert_true(tendon_address_equal(&item.peer, &capture_peer));
            assert_false(item.peripheral);
            if (i == 1) {
                assert_true(item.incoming);
                assert_int_equal(item.length, 6);
                assert_memory_equal(item.pdu, "\x1b\x23\0\1\2\3", 6);
            }
            if (i == 2) {
                assert_false(item.incoming);
                assert_memory_equal(item.pdu, "\x0a\x23\0", 3);
            }
            if (i == 3) {
                assert_int_equal(item.reason, TENDON_HCI_ERROR(0x13));
            }
            assert_false(tendon_capture_decoder_next(&decoder, &item));
        }
        assert_int_equal(tendon_capture_next(&reader, &record), 0);
        assert_int_equal(tendon_capture_next(&reader, &record), 0);
        assert_int_equal(decoder.malformed + decoder.other, 0);
        tendon_capture_reader_close(&reader);
        unlink(path);
    }
}

/* Feeds a file through a pipe, so that reads come in pieces. */
static void open_bytes(tendon_capture_reader *reader, const uint8_t *bytes, size_t length, tendon_status expected) {
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], bytes, length), (ssize_t)length);
    close(pipes[1]);
    assert_int_equal(tendon_capture_open_fd(reader, pipes[0]), expected);
    reader->owned = true;
}

static void mal_file_cut_at_every_position(void **state) {
    (void)state;
    char path[32];
    make_path(path);
    write_sample(path, TENDON_CAPTURE_H4);
    block whole = read_file(path);
    unlink(path);
    const size_t ends[] = {16, 16 + 24 + 22, 16 + 24 + 22 + 24 + 15, 16 + 24 + 22 + 24 + 15 + 24 + 12, whole.length};
    for (size_t cut = 0; cut <= whole.length; cut++) {
        static tendon_capture_reader reader;
        tendon_capture_record record;
        if (cut < TENDON_CAPTURE_HEADER_SIZE) {
            open_bytes(&reader, whole.data, cut, TENDON_ERROR_TRUNCATED);
            assert_int_equal(reader.offset, cut);
        } else {
            int complete = 0;
            bool clean = false;
            for (size_t i = 0; i < 5; i++) {
                complete += i > 0 && ends[i] <= cut ? 1 : 0;
                clean = clean || ends[i] == cut;
            }
            open_bytes(&reader, whole.data, cut, TENDON_OK);
            for (int i = 0; i < complete; i++) {
                assert_int_equal(tendon_capture_next(&reader, &record), 1);
            }
            assert_int_equal(tendon_capture_next(&reader, &record), clean ? 0 : TENDON_ERROR_TRUNCATED);
            assert_int_equal(tendon_capture_next(&reader, &record), clean ? 0 : TENDON_ERROR_TRUNCATED);
            assert_int_equal(reader.offset, cut);
        }
        tendon_capture_reader_close(&reader);
    }
    free(whole.data);
}

static void full_disk_is_told_and_stays_told(void **state) {
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    assert_true(fd >= 0);
    tendon_capture capture;
    assert_int_equal(tendon_capture_attach(&capture, fd, TENDON_CAPTURE_H4), TENDON_SYSTEM_ERROR(ENOSPC));
    assert_int_equal(tendon_capture_connected(&capture, 1, &capture_peer, true, 0), TENDON_SYSTEM_ERROR(ENOSPC));
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(ENOSPC));
    assert_int_equal(capture.records, 0);
    close(fd);
}

static void a_capture_that_fails_to_start_leaves_no_descriptor(void **state) {
    (void)state;
    char path[32];
    tendon_capture capture;
    make_path(path);
    int before = open_descriptors();
    assert_int_equal(tendon_capture_create(&capture, "/dev/full", TENDON_CAPTURE_H4), TENDON_SYSTEM_ERROR(ENOSPC));
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H1), TENDON_ERROR_INVALID_ARGUMENT);
    user_offset = 1;
    tendon_status foreign = tendon_capture_create(&capture, path, TENDON_CAPTURE_H4);
    user_offset = 0;
    assert_int_equal(foreign, TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(tendon_capture_create(&capture, "/tmp", TENDON_CAPTURE_H4), TENDON_SYSTEM_ERROR(EISDIR));
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(EISDIR));
    unlink(path);
}

/* A signal or a slow pipe in the middle of a record changes no byte of the file. */
static void writes_in_pieces_make_the_same_file(void **state) {
    (void)state;
    char path[32], second[32];
    make_path(path);
    make_path(second);
    write_sample(path, TENDON_CAPTURE_H4);
    interrupted_writes = 3;
    bytewise = true;
    write_sample(second, TENDON_CAPTURE_H4);
    bytewise = false;
    block expected = read_file(path), got = read_file(second);
    assert_int_equal(got.length, expected.length);
    assert_memory_equal(got.data, expected.data, got.length);
    free(got.data);
    free(expected.data);
    unlink(path);
    unlink(second);
}

/* The disk is full in the middle of a record: close() reports it, and the file does not read as a whole one. */
static void a_capture_that_lacks_a_record_is_never_whole(void **state) {
    (void)state;
    char path[32];
    tendon_capture capture;
    static tendon_capture_reader reader;
    tendon_capture_record record;
    struct rlimit before, narrow;
    make_path(path);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    narrow = before;
    narrow.rlim_cur = 100; /* the header, one record of 46 bytes, and a part of the next one */
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &narrow), 0);
    tendon_status first = tendon_capture_connected(&capture, 1, &capture_peer, false, 0);
    tendon_status second = tendon_capture_connected(&capture, 2, &capture_peer, false, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(first, TENDON_OK);
    assert_int_equal(second, TENDON_SYSTEM_ERROR(EFBIG));
    assert_int_equal(tendon_capture_connected(&capture, 3, &capture_peer, false, 0), TENDON_SYSTEM_ERROR(EFBIG));
    assert_int_equal(capture.records, 1);
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(EFBIG));
    assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(EFBIG));
    assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
    assert_int_equal(tendon_capture_next(&reader, &record), 1);
    assert_int_equal(tendon_capture_next(&reader, &record), TENDON_ERROR_TRUNCATED);
    tendon_capture_reader_close(&reader);
    unlink(path);
}

/* A record that includes more than its packet had: the error has the offset of its length in the file. */
static void mal_the_second_record_is_wrong(void **state) {
    (void)state;
    static const uint8_t wrong[TENDON_CAPTURE_RECORD_HEADER_SIZE] = {0, 0, 0, 4, 0, 0, 0, 5};
    char path[32];
    tendon_capture capture;
    static tendon_capture_reader reader;
    tendon_capture_record record;
    make_path(path);
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(tendon_capture_connected(&capture, 1, &capture_peer, false, 0), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, wrong, sizeof wrong), sizeof wrong);
    close(fd);
    assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
    assert_int_equal(tendon_capture_next(&reader, &record), 1);
    uint64_t before = reader.offset;
    assert_int_equal(tendon_capture_next(&reader, &record), TENDON_ERROR_MALFORMED);
    assert_int_equal(reader.offset, before + 4);
    tendon_capture_reader_close(&reader);
    unlink(path);
}

/* A capture may contain keys. */
static void only_its_owner_can_read_a_capture(void **state) {
    (void)state;
    char path[32], link[40], device[40];
    struct stat made;
    tendon_capture capture;
    make_path(path);
    snprintf(link, sizeof link, "%s.l", path);
    snprintf(device, sizeof device, "%s.d", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++) {
        fputs("what was there before", file);
    }
    fclose(file);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0600);
    assert_int_equal(made.st_size, TENDON_CAPTURE_HEADER_SIZE);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    refused_mode = EPERM; /* a file system without modes: FAT */
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    refused_mode = EIO;
    tendon_status failed = tendon_capture_create(&capture, path, TENDON_CAPTURE_H4);
    refused_mode = 0;
    assert_int_equal(failed, TENDON_SYSTEM_ERROR(EIO));
    user_offset = 1; /* a device belongs to root */
    tendon_status opened = tendon_capture_create(&capture, "/dev/null", TENDON_CAPTURE_H4);
    user_offset = 0;
    assert_int_equal(opened, TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(tendon_capture_create(&capture, link, TENDON_CAPTURE_MONITOR), TENDON_SYSTEM_ERROR(ELOOP));
    assert_int_equal(stat(path, &made), 0);
    assert_int_equal(made.st_size, TENDON_CAPTURE_HEADER_SIZE); /* not emptied */
    assert_int_equal(symlink("/dev/null", device), 0);          /* as /dev/stdout is one */
    assert_int_equal(tendon_capture_create(&capture, device, TENDON_CAPTURE_MONITOR), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_int_equal(stat("/dev/null", &made), 0);
    assert_int_not_equal(made.st_mode & 0777, 0600);
    unlink(device);
    unlink(link);
    unlink(path);
}

/* The reason of an end, as the HCI code that Wireshark shows. */
static void ends_have_the_code_that_fits(void **state) {
    (void)state;
    static const struct {
        tendon_status reason;
        uint8_t code;
    } cases[] = {{TENDON_ERROR_CANCELLED, 0x16},         {TENDON_RADIO_ERROR_OUT_OF_RANGE, 0x08},
                 {TENDON_RADIO_ERROR_PEER_CLOSED, 0x13}, {TENDON_HCI_ERROR(0x3D), 0x3D},
                 {TENDON_SYSTEM_ERROR(EIO), 0x13},       {TENDON_OK, 0x13}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[32];
        tendon_capture capture;
        make_path(path);
        assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
        assert_int_equal(tendon_capture_disconnected(&capture, 1, cases[i].reason, 0), TENDON_OK);
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        block got = read_file(path);
        assert_int_equal(got.data[got.length - 1], cases[i].code);
        free(got.data);
        unlink(path);
    }
}

/* A record longer than the reader's buffer is skipped; the next one is read. If it is truncated, that is reported. */
static void long_records_are_passed_over(void **state) {
    (void)state;
    /* Truncated or not; a multiple of the buffer, and a byte more. */
    for (int round = 0; round < 6; round++) {
        const bool cut = round % 2 != 0;
        char path[32];
        static uint8_t big[20000];
        const size_t length = round < 2 ? sizeof big : 4u * TENDON_CAPTURE_PACKET_MAX + (round >= 4);
        static tendon_capture_reader reader;
        tendon_capture_record record;
        tendon_capture capture;
        make_path(path);
        assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
        record = (tendon_capture_record){.type = 2, .data = big, .length = length};
        assert_int_equal(tendon_capture_write(&capture, &record), TENDON_OK);
        record.length = TENDON_CAPTURE_PACKET_MAX - 1;
        assert_int_equal(tendon_capture_write(&capture, &record), TENDON_OK);
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        assert_int_equal(truncate(path, cut ? 10000 : (off_t)capture.bytes), 0);
        assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
        tendon_status status = tendon_capture_next(&reader, &record);
        if (cut) {
            assert_int_equal(status, TENDON_ERROR_TRUNCATED);
            assert_int_equal(reader.offset, 10000);
        } else {
            assert_int_equal(status, 1);
            assert_int_equal(record.length, TENDON_CAPTURE_PACKET_MAX - 1);
            assert_int_equal(reader.skipped, 1);
            assert_int_equal(tendon_capture_next(&reader, &record), 0);
        }
        tendon_capture_reader_close(&reader);
        unlink(path);
    }
}

/* Also one that the reader has in its buffer already, behind a short one: a file and a pipe give the same records. */
static void a_long_record_in_the_buffer(void **state) {
    (void)state;
    static uint8_t big[5000];
    static tendon_capture_reader reader;
    for (size_t length = TENDON_CAPTURE_PACKET_MAX - 1; length <= sizeof big; length++) {
        char path[32];
        tendon_capture capture;
        make_path(path);
        assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
        tendon_capture_record record = {.type = 2, .data = big, .length = 9};
        assert_int_equal(tendon_capture_write(&capture, &record), TENDON_OK);
        record.length = length;
        assert_int_equal(tendon_capture_write(&capture, &record), TENDON_OK);
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
        assert_int_equal(tendon_capture_next(&reader, &record), 1);
        bool fits = length + 1 <= TENDON_CAPTURE_PACKET_MAX; /* with the type */
        assert_int_equal(tendon_capture_next(&reader, &record), fits);
        assert_int_equal(reader.skipped, !fits);
        tendon_capture_reader_close(&reader);
        unlink(path);
        length += fits ? 0 : 400;
    }
}

/* Records of a vendor's own type and empty ones among packets: skipped and counted, and the rest is read. */
static void what_is_no_packet_is_passed_over(void **state) {
    (void)state;
    static const uint8_t first[] = {0x04, 0x05, 0x04, 0x00, 0x01, 0x00, 0x13};
    static const uint8_t vendor[] = {0xFF, 0x01, 0x02};
    static tendon_capture_reader reader;
    tendon_capture_record record;
    uint8_t header[TENDON_CAPTURE_HEADER_SIZE], head[TENDON_CAPTURE_RECORD_HEADER_SIZE] = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(tendon_capture_encode_header(TENDON_CAPTURE_H4, header, sizeof header), sizeof header);
    assert_int_equal(write(ends[1], header, sizeof header), sizeof header);
    for (int i = 0; i < 5; i++) {
        const uint8_t *data = i % 2 == 0 ? first : vendor;
        uint8_t length = i == 3 ? 0 : i % 2 == 0 ? sizeof first : sizeof vendor;
        head[3] = head[7] = length;
        assert_int_equal(write(ends[1], head, sizeof head), sizeof head);
        assert_int_equal(write(ends[1], data, length), length);
    }
    close(ends[1]);
    assert_int_equal(tendon_capture_open_fd(&reader, ends[0]), TENDON_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tendon_capture_next(&reader, &record), 1);
        assert_int_equal(record.type, TENDON_HCI_PACKET_EVENT);
        assert_int_equal(record.length, sizeof first - 1);
    }
    assert_int_equal(tendon_capture_next(&reader, &record), 0);
    assert_int_equal(reader.foreign, 2);
    assert_int_equal(reader.skipped, 0);
    close(ends[0]);
}

/* Wireshark's own dissector reads what we wrote: connection, notification and reason, and nothing malformed. */
static void wireshark_reads_our_file(void **state) {
    (void)state;
    char path[32], command[256], line[512];
    make_path(path);
    static const uint32_t kinds[] = {TENDON_CAPTURE_H4, TENDON_CAPTURE_MONITOR};
    for (int k = 0; k < 2; k++) {
        write_sample(path, kinds[k]);
        snprintf(command, sizeof command,
                 "tshark -r %s -T fields -e bthci_evt.code -e btatt.opcode -e btatt.handle -e bthci_evt.reason"
                 " -e _ws.malformed 2>/dev/null",
                 path);
        FILE *output = popen(command, "r");
        assert_non_null(output);
        static const char *const expected[] = {"0x3e\t\t\t\t\n", "\t0x1b\t0x0023\t\t\n", "\t0x0a\t0x0023\t\t\n",
                                               "0x05\t\t\t0x13\t\n"};
        for (int i = 0; i < 4; i++) {
            assert_non_null(fgets(line, sizeof line, output));
            assert_string_equal(line, expected[i]);
        }
        assert_null(fgets(line, sizeof line, output));
        pclose(output);
    }
    unlink(path);
}

/* A response that discovers one characteristic: handle 0x0003 is what the UUID says. */
static void discover(tendon_capture *capture, uint16_t handle, const char *uuid) {
    block response = block_hex("09 07 0200 10 0300");
    block type = block_hex(uuid);
    uint8_t pdu[16];
    memcpy(pdu, response.data, response.length);
    memcpy(pdu + response.length, type.data, type.length);
    assert_int_equal(tendon_capture_att(capture, handle, true, pdu, response.length + type.length, 0), TENDON_OK);
    free(response.data);
    free(type.data);
}

/* Two connections at the same time whose handles have different characteristics, their requests and responses
 * interleaved: Wireshark keeps both apart. */
static void wireshark_follows_two_connections(void **state) {
    (void)state;
    static const uint8_t request[] = {0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28}, level[] = {0x1B, 3, 0, 0x32},
                         text[] = {0x1B, 3, 0, 'T'};
    tendon_capture capture;
    char path[32], command[256], line[512];
    make_path(path);
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_MONITOR), TENDON_OK);
    for (uint16_t handle = 1; handle <= 2; handle++) {
        assert_int_equal(tendon_capture_connected(&capture, handle, &capture_peer, false, 0), TENDON_OK);
        assert_int_equal(tendon_capture_att(&capture, handle, false, request, sizeof request, 0), TENDON_OK);
    }
    discover(&capture, 1, "19 2a"); /* Battery Level */
    discover(&capture, 2, "25 2a"); /* Serial Number String */
    assert_int_equal(tendon_capture_att(&capture, 1, true, level, sizeof level, 0), TENDON_OK);
    assert_int_equal(tendon_capture_att(&capture, 2, true, text, sizeof text, 0), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    snprintf(command, sizeof command,
             "tshark -r %s -Y 'btatt.opcode == 0x1b' -T fields -e btatt.handle -e btatt.battery_level"
             " -e btatt.serial_number_string -e _ws.malformed 2>/dev/null",
             path);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    static const char *const expected[] = {"0x0003\t50\t\t\n", "0x0003\t\tT\t\n"};
    for (int i = 0; i < 2; i++) {
        assert_non_null(fgets(line, sizeof line, output));
        assert_string_equal(line, expected[i]);
    }
    assert_null(fgets(line, sizeof line, output));
    pclose(output);
    unlink(path);
}

static void a_reader_closes_what_it_has_opened_itself(void **state) {
    (void)state;
    static tendon_capture_reader reader;
    char path[] = "/tmp/tendon-reader-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    tendon_capture capture;
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_H4), TENDON_OK);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
    fd = reader.fd;
    tendon_capture_reader_close(&reader);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(tendon_capture_open_fd(&reader, fd), TENDON_OK);
    tendon_capture_reader_close(&reader);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    /* A closed reader does not read on from a descriptor that is open, or is another file's by now. */
    tendon_capture_record none;
    assert_int_equal(tendon_capture_next(&reader, &none), TENDON_SYSTEM_ERROR(EBADF));
    unlink(path);
    /* A file that does not exist leaves a reader that can be closed, and closes nothing. */
    memset(&reader, 0xFF, sizeof reader);
    reader.fd = fd;
    assert_int_equal(tendon_capture_open(&reader, path), TENDON_SYSTEM_ERROR(ENOENT));
    tendon_capture_record record;
    assert_int_equal(tendon_capture_next(&reader, &record), TENDON_SYSTEM_ERROR(EBADF)); /* nor reads anything */
    tendon_capture_reader_close(&reader);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    assert_int_equal(reader.offset + reader.skipped, 0);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(h4_file_is_these_bytes),
        cmocka_unit_test(monitor_file_is_these_bytes),
        cmocka_unit_test(written_links_decode_to_the_same_items),
        cmocka_unit_test(mal_file_cut_at_every_position),
        cmocka_unit_test(mal_the_second_record_is_wrong),
        cmocka_unit_test(full_disk_is_told_and_stays_told),
        cmocka_unit_test(a_capture_that_fails_to_start_leaves_no_descriptor),
        cmocka_unit_test(writes_in_pieces_make_the_same_file),
        cmocka_unit_test(a_capture_that_lacks_a_record_is_never_whole),
        cmocka_unit_test(only_its_owner_can_read_a_capture),
        cmocka_unit_test(ends_have_the_code_that_fits),
        cmocka_unit_test(long_records_are_passed_over),
        cmocka_unit_test(a_long_record_in_the_buffer),
        cmocka_unit_test(what_is_no_packet_is_passed_over),
        cmocka_unit_test(a_reader_closes_what_it_has_opened_itself),
        cmocka_unit_test(wireshark_reads_our_file),
        cmocka_unit_test(wireshark_follows_two_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
