/* SPDX-License-Identifier: MIT */
/* The virtual radio: advertisements, stale sockets, directories of bad modes. */
#include "virtual_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the C library's place: a directory that this user may not create, and another user. */
static int refused_mkdir;

int mkdir(const char *path, mode_t mode) {
    errno = refused_mkdir;
    return refused_mkdir != 0 ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

static uid_t user_offset;

uid_t geteuid(void) {
    return (uid_t)syscall(SYS_geteuid) + user_offset;
}

static void passive_scan_gets_the_advertisement_only(void **state) {
    world *w = *state;
    scan(w, false, false);
    assert_int_equal(advertise(w, sizeof advertised_flags, sizeof advertised_name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(w->responses, 0);
    assert_int_equal(w->report.properties, TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE | TENDON_AD_LEGACY);
    assert_int_equal(w->report.length, sizeof advertised_flags);
    assert_memory_equal(w->data, advertised_flags, sizeof advertised_flags);
    assert_true(tendon_address_equal(&w->report.address, &device_address));
    assert_int_equal(w->report.set_id, 0xFF);
    assert_int_equal(w->report.primary_phy, 1);
    assert_int_equal(w->report.secondary_phy, 0);
    assert_int_equal(w->central.radio.reports, 2);
}

static void active_scan_gets_the_scan_response_too(void **state) {
    world *w = *state;
    scan(w, true, false);
    assert_int_equal(advertise(w, sizeof advertised_flags, sizeof advertised_name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(w->responses, 1);
    assert_int_equal(w->report.properties, 0x1B); /* scan response to ADV_IND, legacy */
    assert_memory_equal(w->data, advertised_name, sizeof advertised_name);
}

static void duplicates_are_filtered_when_asked(void **state) {
    world *w = *state;
    scan(w, true, true);
    assert_int_equal(advertise(w, sizeof advertised_flags, sizeof advertised_name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(tendon_loop_run(&w->loop, tendon_monotonic_ms() + 70), TENDON_OK);
    assert_int_equal(w->reports, 2);
    assert_int_equal(tendon_radio_advertise_stop(&w->device.radio), TENDON_OK);
    assert_int_equal(advertise(w, 4, 0), TENDON_OK); /* something new is reported */
    STEP_UNTIL(&w->loop, w->reports == 4);
}

static void scan_and_advertise_start_once(void **state) {
    world *w = *state;
    scan(w, true, false);
    assert_int_equal(tendon_radio_scan_start(&w->central.radio, &(tendon_scan_parameters){0}),
                     TENDON_RADIO_ERROR_ALREADY_STARTED);
    assert_int_equal(advertise(w, 3, 0), TENDON_OK);
    assert_int_equal(advertise(w, 3, 0), TENDON_RADIO_ERROR_ALREADY_STARTED);
    STEP_UNTIL(&w->loop, w->reports >= 2);
    assert_int_equal(tendon_radio_scan_stop(&w->central.radio), TENDON_OK);
    assert_int_equal(tendon_radio_scan_stop(&w->central.radio), TENDON_OK);
    int before = w->reports;
    assert_int_equal(tendon_loop_run(&w->loop, tendon_monotonic_ms() + 45), TENDON_OK);
    assert_int_equal(w->reports, before);
    scan(w, true, false);
    STEP_UNTIL(&w->loop, w->reports > before);
}

static void parameters_out_of_range(void **state) {
    world *w = *state;
    static const tendon_scan_parameters bad_scans[] = {
        {.interval_ms = 2}, {.interval_ms = 10241}, {.interval_ms = 60, .window_ms = 61}, {.window_ms = 2}};
    for (size_t i = 0; i < sizeof bad_scans / sizeof bad_scans[0]; i++) {
        assert_int_equal(tendon_radio_scan_start(&w->central.radio, &bad_scans[i]), TENDON_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(tendon_radio_scan_start(&w->central.radio, &(tendon_scan_parameters){.coded = true}),
                     TENDON_ERROR_UNSUPPORTED);
    assert_false(w->central.radio.scanning);
    assert_int_equal(advertise(w, 3, TENDON_AD_LEGACY_MAX + 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(advertise(w, TENDON_AD_LEGACY_MAX + 1, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(advertise(w, TENDON_AD_EXTENDED_MAX + 1, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_radio_advertise_start(&w->device.radio, &(tendon_advertise_parameters){.interval_ms = 19}),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

static void long_advertisement_is_an_extended_one(void **state) {
    world *w = *state;
    scan(w, true, false);
    assert_int_equal(advertise(w, TENDON_AD_EXTENDED_MAX, 0), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 1);
    assert_int_equal(w->report.properties, TENDON_AD_CONNECTABLE);
    assert_int_equal(w->report.length, TENDON_AD_EXTENDED_MAX);
}

static void scanner_path(world *w, struct sockaddr_un *out) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    snprintf(out->sun_path, sizeof out->sun_path, "%.60s/%.30s", w->directory, w->central.scan_name);
}

/* A datagram of ours, cut at every length, and grown: counted, and the next good one is taken. */
static void mal_datagrams_are_counted(void **state) {
    world *w = *state;
    uint8_t good[] = {'T', 'A', 1, 0xC1, 2, 3, 4, 5, 9, 1, 3, 0, 2, 1, 6, 4, 0, 3, 9, 'A', 'b', 0xEE};
    const size_t length = sizeof good - 1;
    struct sockaddr_un path;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    scan(w, true, false);
    scanner_path(w, &path);
    uint64_t expected = 0;
    for (size_t cut = 0; cut <= sizeof good; cut++) {
        if (cut == length) {
            continue;
        }
        uint8_t *exact = malloc(cut > 0 ? cut : 1);
        memcpy(exact, good, cut <= sizeof good ? cut : sizeof good);
        assert_int_equal(sendto(fd, exact, cut, 0, (struct sockaddr *)&path, sizeof path), (ssize_t)cut);
        free(exact);
        expected++;
        STEP_UNTIL(&w->loop, w->central.radio.malformed == expected);
    }
    for (size_t i = 0; i < 3; i++) { /* wrong magic, wrong version */
        good[i] ^= 0x10;
        assert_int_equal(sendto(fd, good, length, 0, (struct sockaddr *)&path, sizeof path), (ssize_t)length);
        good[i] ^= 0x10;
        expected++;
    }
    STEP_UNTIL(&w->loop, w->central.radio.malformed == expected);
    assert_int_equal(w->reports, 0);
    assert_int_equal(sendto(fd, good, length, 0, (struct sockaddr *)&path, sizeof path), (ssize_t)length);
    STEP_UNTIL(&w->loop, w->reports == 2);
    close(fd);
}

/* Version 2 has the RSSI after the kind of the address: 0xB6 is -74 dBm. Cut at every length it is malformed. */
static void a_datagram_may_contain_the_rssi(void **state) {
    world *w = *state;
    static const uint8_t good[] = {'T', 'A', 2, 0xC1, 2, 3, 4, 5, 9, 1, 0xB6, 3, 0, 2, 1, 6, 0, 0};
    struct sockaddr_un path;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    scan(w, false, false);
    scanner_path(w, &path);
    for (size_t cut = 0; cut < sizeof good; cut++) {
        assert_int_equal(sendto(fd, good, cut, 0, (struct sockaddr *)&path, sizeof path), (ssize_t)cut);
        STEP_UNTIL(&w->loop, w->central.radio.malformed == cut + 1);
    }
    assert_int_equal(w->reports, 0);
    assert_int_equal(sendto(fd, good, sizeof good, 0, (struct sockaddr *)&path, sizeof path), (ssize_t)sizeof good);
    STEP_UNTIL(&w->loop, w->reports == 1);
    assert_int_equal(w->report.rssi, -74);
    assert_int_equal(w->report.length, 3);
    close(fd);
}

/* Two devices with the same 48 bits, one public and one random, are two devices. */
/* Either part is longer than a legacy advertisement holds: an extended one, which has no scan response. */
static void a_long_response_makes_it_an_extended_one(void **state) {
    world *w = *state;
    struct sockaddr_un path;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    scan(w, true, false);
    scanner_path(w, &path);
    for (size_t response = TENDON_AD_LEGACY_MAX; response <= TENDON_AD_LEGACY_MAX + 1; response++) {
        bool legacy = response == TENDON_AD_LEGACY_MAX;
        uint8_t bytes[64] = {'T', 'A', 1, 0xC1, 2, 3, 4, 5, 9, 1, 3, 0, 2, 1, 6, (uint8_t)response, 0};
        w->reports = w->responses = 0;
        assert_int_equal(sendto(fd, bytes, 17 + response, 0, (struct sockaddr *)&path, sizeof path),
                         (ssize_t)(17 + response));
        STEP_UNTIL(&w->loop, w->reports == (legacy ? 2 : 1));
        assert_int_equal(w->responses, legacy);
        assert_int_equal(w->report.properties, legacy ? 0x1B : TENDON_AD_CONNECTABLE);
        assert_int_equal(w->report.primary_phy, 1);
        assert_int_equal(w->report.secondary_phy, legacy ? 0 : 1); /* LE 1M */
    }
    assert_int_equal(w->central.radio.malformed, 0);
    close(fd);
}

static void the_duplicate_filter_looks_at_the_address_type(void **state) {
    world *w = *state;
    uint8_t bytes[] = {'T', 'A', 1, 0xC1, 2, 3, 4, 5, 9, 1, 3, 0, 2, 1, 6, 0, 0};
    struct sockaddr_un path;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    scan(w, false, true);
    scanner_path(w, &path);
    for (int i = 0; i < 4; i++) {
        bytes[9] = (uint8_t)(i % 2);
        assert_int_equal(sendto(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&path, sizeof path), sizeof bytes);
    }
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(tendon_loop_step(&w->loop, 0), TENDON_OK);
    assert_int_equal(w->reports, 2);
    close(fd);
}

/* Scanners that do not read, however many, do not use up the turn of one that does. */
static void scanners_that_do_not_read_make_nobody_deaf(void **state) {
    world *w = *state;
    enum { DEAF = 300, SCANNERS = 4 };
    static int sockets[DEAF];
    static tendon_virtual_radio scanners[SCANNERS];
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    for (int i = 0; i < SCANNERS; i++) { /* with deaf ones before, between and behind them */
        const tendon_address own = {{0xC1, 2, 3, 4, 6, (uint8_t)i}, TENDON_ADDRESS_TYPE_RANDOM};
        for (int k = i * (DEAF / SCANNERS); k < (i + 1) * (DEAF / SCANNERS); k++) {
            snprintf(path.sun_path, sizeof path.sun_path, "%.60s/scan-1-%d", w->directory, k);
            sockets[k] = socket(AF_UNIX, SOCK_DGRAM, 0);
            assert_int_equal(bind(sockets[k], (struct sockaddr *)&path, sizeof path), 0);
            int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0); /* what waits is counted to its sender */
            while (sendto(sender, "x", 1, 0, (struct sockaddr *)&path, sizeof path) == 1) {
            }
            assert_int_equal(errno, EAGAIN);
            close(sender);
        }
        assert_int_equal(tendon_virtual_radio_open(&scanners[i], &w->loop, w->directory, &own), TENDON_OK);
        assert_int_equal(tendon_radio_scan_start(&scanners[i].radio, &(tendon_scan_parameters){.active = false}),
                         TENDON_OK);
    }
    assert_int_equal(advertise(w, sizeof advertised_flags, 0), TENDON_OK);
    STEP_UNTIL(&w->loop, scanners[0].radio.reports > 0 && scanners[1].radio.reports > 0 &&
                             scanners[2].radio.reports > 0 && scanners[3].radio.reports > 0);
    for (int k = 0; k < DEAF; k++) {
        snprintf(path.sun_path, sizeof path.sun_path, "%.60s/scan-1-%d", w->directory, k);
        close(sockets[k]);
        unlink(path.sun_path);
    }
    for (int i = 0; i < SCANNERS; i++) {
        tendon_radio_close(&scanners[i].radio);
    }
}

static void stale_scanner_is_removed(void **state) {
    world *w = *state;
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/scan-1-0", w->directory);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&path, sizeof path), 0);
    close(fd); /* as a process that was killed leaves it */
    scan(w, false, false);
    assert_int_equal(entries(w->directory), 2);
    assert_int_equal(advertise(w, 3, 0), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 1);
    assert_int_equal(entries(w->directory), 1);
}

static void directory_open_to_others_is_refused(void **state) {
    (void)state;
    tendon_loop loop;
    static tendon_virtual_radio radio;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    char directory[] = "/tmp/tendon-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    static const mode_t modes[] = {0701, 0710, 0770, 0777, 0704, 0755};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(directory, modes[i]), 0);
        assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address),
                         TENDON_ERROR_FILE_PERMISSION);
    }
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address), TENDON_OK); /* creates it */
    struct stat made;
    assert_int_equal(stat(directory, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0700);
    tendon_radio_close(&radio.radio);
    char link[64], missing[64];
    snprintf(missing, sizeof missing, "%s/absent/deeper", directory);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, missing, &device_address), TENDON_SYSTEM_ERROR(ENOENT));
    snprintf(link, sizeof link, "%s.l", directory);
    assert_int_equal(symlink(directory, link), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, link, &device_address), TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(directory), 0);
    FILE *file = fopen(directory, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address),
                     TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(unlink(directory), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, "/", &device_address), TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, "/dev/null/tendon", &device_address),
                     TENDON_SYSTEM_ERROR(ENOTDIR));
    for (int i = 0; i < 2; i++) { /* a permission that is missing, and no capability */
        refused_mkdir = i == 0 ? EACCES : EPERM;
        tendon_status status = tendon_virtual_radio_open(&radio, &loop, directory, &device_address);
        refused_mkdir = 0;
        assert_int_equal(status, TENDON_ERROR_FILE_PERMISSION);
    }
    tendon_loop_close(&loop);
}

static void directory_of_another_user_is_refused(void **state) {
    (void)state;
    tendon_loop loop;
    static tendon_virtual_radio radio;
    char directory[] = "/tmp/tendon-test-XXXXXX";
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    assert_non_null(mkdtemp(directory));
    user_offset = 1;
    tendon_status status = tendon_virtual_radio_open(&radio, &loop, directory, &device_address);
    user_offset = 0;
    assert_int_equal(status, TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address), TENDON_OK);
    tendon_radio_close(&radio.radio);
    assert_int_equal(rmdir(directory), 0);
    tendon_loop_close(&loop);
}

static void default_directory_is_found(void **state) {
    (void)state;
    tendon_loop loop;
    static tendon_virtual_radio radio;
    char runtime[] = "/tmp/tendon-test-XXXXXX", expected[64];
    const char *old = getenv("XDG_RUNTIME_DIR");
    char *kept = old != NULL ? strdup(old) : NULL;
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    assert_non_null(mkdtemp(runtime));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", runtime, 1), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, NULL, &device_address), TENDON_OK);
    snprintf(expected, sizeof expected, "%s/tendon", runtime);
    assert_string_equal(radio.directory, expected);
    tendon_radio_close(&radio.radio);
    assert_int_equal(rmdir(expected), 0);
    char far[TENDON_VIRTUAL_PATH_SIZE + 1]; /* one byte more than a path may have */
    memset(far, 'a', sizeof far);
    memcpy(far, runtime, strlen(runtime));
    far[strlen(runtime)] = '/';
    far[TENDON_VIRTUAL_PATH_SIZE] = '\0';
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, far, &device_address), TENDON_ERROR_OVERFLOW);
    far[TENDON_VIRTUAL_PATH_SIZE - 1] = '\0';
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, far, &device_address), TENDON_OK);
    assert_string_equal(radio.directory, far);
    tendon_radio_close(&radio.radio);
    assert_int_equal(rmdir(far), 0);
    assert_int_equal(rmdir(runtime), 0);
    if (kept != NULL) {
        setenv("XDG_RUNTIME_DIR", kept, 1);
        free(kept);
    } else {
        unsetenv("XDG_RUNTIME_DIR");
    }
    tendon_loop_close(&loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_WORLD(passive_scan_gets_the_advertisement_only),
        IN_WORLD(active_scan_gets_the_scan_response_too),
        IN_WORLD(duplicates_are_filtered_when_asked),
        IN_WORLD(scan_and_advertise_start_once),
        IN_WORLD(parameters_out_of_range),
        IN_WORLD(long_advertisement_is_an_extended_one),
        IN_WORLD(mal_datagrams_are_counted),
        IN_WORLD(a_datagram_may_contain_the_rssi),
        IN_WORLD(stale_scanner_is_removed),
        IN_WORLD(the_duplicate_filter_looks_at_the_address_type),
        IN_WORLD(a_long_response_makes_it_an_extended_one),
        IN_WORLD(scanners_that_do_not_read_make_nobody_deaf),
        cmocka_unit_test(directory_open_to_others_is_refused),
        cmocka_unit_test(directory_of_another_user_is_refused),
        cmocka_unit_test(default_directory_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
