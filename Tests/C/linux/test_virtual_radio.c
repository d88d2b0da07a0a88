/* SPDX-License-Identifier: MIT */
/* The virtual radio: advertisements, links, other processes, stale sockets, directories of bad modes. */
#include "link_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const tendon_address device_address = {{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_RANDOM};
static const tendon_address central_address = {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_PUBLIC};

typedef struct world {
    char directory[64];
    tendon_loop loop;
    tendon_virtual_radio device, central;
    tendon_listener listener;
    link_end ends[4]; /**< of the device */
    int accepted;
    bool refuse;
    tendon_address peer;
    link_end end; /**< of the central */
    int reports, responses;
    tendon_ad_report report;
    uint8_t data[TENDON_AD_EXTENDED_MAX];
} world;

static int world_setup(void **state) {
    world *w = calloc(1, sizeof *w);
    strcpy(w->directory, "/tmp/tendon-test-XXXXXX");
    if (mkdtemp(w->directory) == NULL || tendon_loop_init(&w->loop) < 0) {
        free(w);
        return -1;
    }
    *state = w;
    return tendon_virtual_radio_open(&w->device, &w->loop, w->directory, &device_address) == TENDON_OK &&
                   tendon_virtual_radio_open(&w->central, &w->loop, w->directory, &central_address) == TENDON_OK
               ? 0
               : -1;
}

static int entries(const char *directory) {
    DIR *d = opendir(directory);
    int count = 0;
    while (readdir(d) != NULL) {
        count++;
    }
    closedir(d);
    return count - 2;
}

/* Ends all; what the radios put into the directory must be gone. */
static int world_teardown(void **state) {
    world *w = *state;
    tendon_link_close(&w->end.link);
    for (int i = 0; i < 4; i++) {
        tendon_link_close(&w->ends[i].link);
    }
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&w->loop, 0);
    }
    tendon_radio_close(&w->device.radio);
    tendon_radio_close(&w->device.radio);
    tendon_radio_close(&w->central.radio);
    tendon_loop_close(&w->loop);
    int left = entries(w->directory);
    int removed = rmdir(w->directory);
    free(w);
    return left == 0 && removed == 0 ? 0 : -1;
}

static tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now) {
    world *w = context;
    (void)now;
    w->peer = *peer;
    if (w->refuse || w->accepted == 4) {
        return NULL;
    }
    link_end_init(&w->ends[w->accepted]);
    return &w->ends[w->accepted++].link;
}

static void listen_on(world *w) {
    w->listener = (tendon_listener){.context = w, .accept = on_accept};
    assert_int_equal(tendon_radio_listen(&w->device.radio, &w->listener), TENDON_OK);
}

static void connect_central(world *w, uint64_t timeout) {
    link_end_init(&w->end);
    assert_int_equal(tendon_radio_connect(&w->central.radio, &w->end.link, &device_address, tendon_now_ms() + timeout),
                     TENDON_OK);
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    world *w = context;
    (void)now;
    w->reports++;
    w->responses += (report->properties & TENDON_AD_SCAN_RESPONSE) != 0 ? 1 : 0;
    w->report = *report;
    memcpy(w->data, report->data, report->length);
    w->report.data = w->data;
}

static void scan(world *w, bool active, bool filter) {
    w->central.radio.on_report = on_report;
    w->central.radio.report_context = w;
    assert_int_equal(tendon_radio_scan_start(&w->central.radio,
                                             &(tendon_scan_parameters){.active = active, .filter_duplicates = filter}),
                     TENDON_OK);
}

static const uint8_t flags[] = {0x02, 0x01, 0x06};
static const uint8_t name[] = {0x03, 0x09, 'A', 'b'};

static tendon_status advertise(world *w, size_t length, size_t response_length) {
    static const uint8_t zeros[TENDON_AD_EXTENDED_MAX] = {0};
    return tendon_radio_advertise_start(
        &w->device.radio, &(tendon_advertise_parameters){.data = length == sizeof flags ? flags : zeros,
                                                         .length = length,
                                                         .scan_response = response_length == sizeof name ? name : zeros,
                                                         .scan_response_length = response_length,
                                                         .interval_ms = 20});
}

static void passive_scan_gets_the_advertisement_only(void **state) {
    world *w = *state;
    scan(w, false, false);
    assert_int_equal(advertise(w, sizeof flags, sizeof name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(w->responses, 0);
    assert_int_equal(w->report.properties, TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE | TENDON_AD_LEGACY);
    assert_int_equal(w->report.length, sizeof flags);
    assert_memory_equal(w->data, flags, sizeof flags);
    assert_true(tendon_address_equal(&w->report.address, &device_address));
    assert_int_equal(w->report.set_id, 0xFF);
    assert_int_equal(w->report.primary_phy, 1);
    assert_int_equal(w->report.secondary_phy, 0);
    assert_int_equal(w->central.radio.reports, 2);
}

static void active_scan_gets_the_scan_response_too(void **state) {
    world *w = *state;
    scan(w, true, false);
    assert_int_equal(advertise(w, sizeof flags, sizeof name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(w->responses, 1);
    assert_int_equal(w->report.properties, 0x1B); /* scan response to ADV_IND, legacy */
    assert_memory_equal(w->data, name, sizeof name);
}

static void duplicates_are_filtered_when_asked(void **state) {
    world *w = *state;
    scan(w, true, true);
    assert_int_equal(advertise(w, sizeof flags, sizeof name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    assert_int_equal(tendon_loop_run(&w->loop, tendon_now_ms() + 70), TENDON_OK);
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
    assert_int_equal(tendon_loop_run(&w->loop, tendon_now_ms() + 45), TENDON_OK);
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

static void link_opens_on_both_sides(void **state) {
    world *w = *state;
    listen_on(w);
    connect_central(w, 1000);
    assert_int_equal(w->end.connected, 0);
    STEP_UNTIL(&w->loop, w->end.connected == 1 && w->ends[0].connected == 1);
    assert_true(tendon_address_equal(&w->peer, &central_address));
    assert_true(tendon_address_equal(&w->ends[0].link.peer, &central_address));
    assert_true(tendon_address_equal(&w->end.link.peer, &device_address));
    assert_true(w->ends[0].link.accepted);
    assert_false(w->end.link.accepted);
    assert_int_equal(link_end_send(&w->end, "", 0), TENDON_OK);
    assert_int_equal(link_end_send(&w->ends[0], "ab", 2), TENDON_OK);
    STEP_UNTIL(&w->loop, w->ends[0].received == 1 && w->end.received == 1);
    assert_int_equal(w->ends[0].last_length, 0);
    assert_int_equal(w->end.last_length, 2);
    assert_int_equal(tendon_radio_connect(&w->central.radio, &w->end.link, &device_address, UINT64_MAX),
                     TENDON_ERROR_WRONG_STATE);
    link_end_close(&w->end);
    STEP_UNTIL(&w->loop, w->end.closed == 1 && w->ends[0].closed == 1);
    assert_int_equal(w->end.reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(w->ends[0].reason, TENDON_RADIO_ERROR_PEER_CLOSED);
}

static void idle_links_wake_nobody(void **state) {
    world *w = *state;
    listen_on(w);
    connect_central(w, 1000);
    scan(w, true, false);
    STEP_UNTIL(&w->loop, w->end.connected == 1 && w->ends[0].connected == 1);
    uint64_t wakeups = w->loop.wakeups;
    assert_int_equal(tendon_loop_run(&w->loop, tendon_now_ms() + 40), TENDON_OK);
    assert_int_equal(w->loop.wakeups, wakeups + 1); /* the end of the run */
}

static void refused_central_sees_the_end(void **state) {
    world *w = *state;
    w->refuse = true;
    listen_on(w);
    connect_central(w, 1000);
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    assert_int_equal(w->end.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
}

/* As with a controller: no reports while we connect, and reports again afterwards. */
static void a_scan_is_paused_while_connecting(void **state) {
    world *w = *state;
    scan(w, false, false);
    assert_int_equal(advertise(w, sizeof flags, 0), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    connect_central(w, 200); /* the device advertises and does not listen */
    int before = w->reports;
    while (w->end.closed == 0) {
        assert_int_equal(tendon_loop_step(&w->loop, tendon_now_ms() + 100), TENDON_OK);
        assert_true(w->end.closed != 0 || w->reports == before);
    }
    assert_int_equal(w->end.reason, TENDON_ERROR_TIMEOUT);
    STEP_UNTIL(&w->loop, w->reports >= before + 2);
}

static void absent_device_times_out_at_the_deadline(void **state) {
    world *w = *state;
    connect_central(w, 30);
    uint64_t deadline = w->end.link.deadline;
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    assert_int_equal(w->end.reason, TENDON_ERROR_TIMEOUT);
    assert_true(tendon_now_ms() >= deadline);
    connect_central(w, 60000);
    assert_int_equal(tendon_loop_step(&w->loop, 0), TENDON_OK);
    link_end_close(&w->end);
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    assert_int_equal(w->end.reason, TENDON_ERROR_CANCELLED);
}

static void device_that_comes_later_is_reached(void **state) {
    world *w = *state;
    connect_central(w, 2000);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tendon_loop_step(&w->loop, UINT64_MAX), TENDON_OK);
    }
    assert_int_equal(w->end.connected, 0);
    listen_on(w);
    STEP_UNTIL(&w->loop, w->end.connected == 1);
}

static void wrong_kind_of_address_is_another_device(void **state) {
    world *w = *state;
    tendon_address other = device_address;
    other.kind = TENDON_ADDRESS_PUBLIC;
    listen_on(w);
    link_end_init(&w->end);
    assert_int_equal(tendon_radio_connect(&w->central.radio, &w->end.link, &other, tendon_now_ms() + 25), TENDON_OK);
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    assert_int_equal(w->end.reason, TENDON_ERROR_TIMEOUT);
    assert_int_equal(w->accepted, 0);
}

static void reconnect_inside_closed_reuses_the_memory(void **state) {
    world *w = *state;
    listen_on(w);
    connect_central(w, 1000);
    STEP_UNTIL(&w->loop, w->end.connected == 1 && w->ends[0].connected == 1);
    w->end.reconnect = &w->central.radio;
    link_end_close(&w->ends[0]);
    STEP_UNTIL(&w->loop, w->end.connected == 2 && w->end.closed == 1);
    STEP_UNTIL(&w->loop, w->accepted == 2 && w->ends[1].connected == 1);
    assert_int_equal(link_end_send(&w->end, "x", 1), TENDON_OK);
    STEP_UNTIL(&w->loop, w->ends[1].received == 1);
}

static void one_listener_per_radio_and_address(void **state) {
    world *w = *state;
    tendon_listener second = {.context = w, .accept = on_accept};
    static tendon_virtual_radio twin;
    listen_on(w);
    assert_int_equal(tendon_radio_listen(&w->device.radio, &second), TENDON_RADIO_ERROR_ALREADY_STARTED);
    assert_int_equal(tendon_virtual_radio_open(&twin, &w->loop, w->directory, &device_address), TENDON_OK);
    assert_int_equal(tendon_radio_listen(&twin.radio, &second), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    STEP_UNTIL(&w->loop, w->device.radio.malformed == 1); /* the question whether it lives is no central */
    assert_int_equal(w->accepted, 0);
    tendon_radio_unlisten(&w->device.radio, &second);
    assert_non_null(w->device.listener);
    tendon_radio_unlisten(&w->device.radio, &w->listener);
    assert_int_equal(tendon_radio_listen(&twin.radio, &second), TENDON_OK);
    tendon_radio_close(&twin.radio);
    second.accept = NULL;
    assert_int_equal(tendon_radio_listen(&w->device.radio, &second), TENDON_ERROR_INVALID_ARGUMENT);
}

static void stale_device_socket_is_taken_over(void **state) {
    world *w = *state;
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/dev-C102030405D0-01.sock", w->directory);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&path, sizeof path), 0);
    assert_int_equal(listen(fd, 1), 0);
    close(fd);
    connect_central(w, 2000); /* ECONNREFUSED: as good as absent */
    assert_int_equal(tendon_loop_step(&w->loop, 0), TENDON_OK);
    listen_on(w);
    STEP_UNTIL(&w->loop, w->end.connected == 1);
}

/* A stranger that knows the path but not how centrals are named. */
static void mal_unnamed_central_is_refused(void **state) {
    world *w = *state;
    listen_on(w);
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/dev-C102030405D0-01.sock", w->directory);
    static const char *const names[] = {"",
                                        "tendon-central-",
                                        "tendon-central-C102030405",
                                        "tendon-central-C102030405CE",
                                        "tendon-central-C102030405CE-0",
                                        "tendon-central-x102030405CE-00-1-1",
                                        "tendon-central-C102030405CE_00-1-1",
                                        "other-central--C102030405CE-00-1-1"};
    const int count = (int)(sizeof names / sizeof names[0]);
    for (int i = 0; i < count; i++) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (i > 0) {
            struct sockaddr_un own = {.sun_family = AF_UNIX};
            memcpy(own.sun_path + 1, names[i], strlen(names[i]));
            assert_int_equal(bind(fd, (struct sockaddr *)&own,
                                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(names[i]))),
                             0);
        }
        assert_int_equal(connect(fd, (struct sockaddr *)&path, sizeof path), 0);
        STEP_UNTIL(&w->loop, w->device.radio.malformed == (uint64_t)i + 1);
        char byte = 0;
        assert_int_equal(recv(fd, &byte, 1, 0), 0);
        close(fd);
    }
    assert_int_equal(w->accepted, 0);
}

/* ---- across processes ---- */

static void send_number(link_end *end, uint32_t number, tendon_status *status) {
    uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
    *status = link_end_send(end, bytes, 4);
}

/* The child: a device that advertises and sends @p count numbers to whoever connects, then obeys `die`. */
static void child_device(const char *directory, uint32_t count, bool die) {
    static world w;
    uint32_t sent = 0;
    alarm(20);
    strcpy(w.directory, directory);
    if (tendon_loop_init(&w.loop) < 0 ||
        tendon_virtual_radio_open(&w.device, &w.loop, w.directory, &device_address) < 0) {
        _exit(2);
    }
    w.listener = (tendon_listener){.context = &w, .accept = on_accept};
    if (tendon_radio_listen(&w.device.radio, &w.listener) < 0 || advertise(&w, sizeof flags, sizeof name) < 0) {
        _exit(3);
    }
    while (w.ends[0].closed == 0) {
        tendon_status status = TENDON_OK;
        while (w.ends[0].connected == 1 && sent < count && status == TENDON_OK) {
            send_number(&w.ends[0], sent, &status);
            sent += status == TENDON_OK ? 1 : 0;
        }
        if (die && sent == count) {
            raise(SIGKILL);
        }
        (void)tendon_loop_step(&w.loop, UINT64_MAX);
    }
    tendon_radio_close(&w.device.radio);
    _exit(sent == count ? 0 : 4);
}

static pid_t start_child(const char *directory, uint32_t count, bool die) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        child_device(directory, count, die);
    }
    return pid;
}

static void found_and_streamed_from_another_process(void **state) {
    world *w = *state;
    const uint32_t count = 20000;
    pid_t pid = start_child(w->directory, count, false);
    scan(w, true, false);
    STEP_UNTIL(&w->loop, w->responses >= 1);
    assert_true(tendon_address_equal(&w->report.address, &device_address));
    connect_central(w, 2000);
    while (w->end.next < count && w->end.closed == 0) { /* reads slowly enough for the child to block */
        assert_int_equal(tendon_loop_step(&w->loop, tendon_now_ms() + 2000), TENDON_OK);
    }
    assert_int_equal(w->end.next, count);
    assert_int_equal(w->end.misordered, 0);
    link_end_close(&w->end);
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void peer_that_is_killed_is_told(void **state) {
    world *w = *state;
    pid_t pid = start_child(w->directory, 10, true);
    connect_central(w, 2000);
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    assert_int_equal(w->end.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(w->end.next, 10);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    listen_on(w); /* what it left behind is taken over; this also leaves the directory empty */
}

/* ---- directories ---- */

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
                         TENDON_RADIO_ERROR_PERMISSION);
    }
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address), TENDON_OK); /* creates it */
    struct stat made;
    assert_int_equal(stat(directory, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0700);
    tendon_radio_close(&radio.radio);
    char link[64];
    snprintf(link, sizeof link, "%s.l", directory);
    assert_int_equal(symlink(directory, link), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, link, &device_address), TENDON_RADIO_ERROR_PERMISSION);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(directory), 0);
    FILE *file = fopen(directory, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address),
                     TENDON_RADIO_ERROR_PERMISSION);
    assert_int_equal(unlink(directory), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, "/tmp/tendon-absent/deeper", &device_address),
                     TENDON_SYSTEM_ERROR(ENOENT));
    tendon_loop_close(&loop);
}

static void directory_of_another_user_is_refused(void **state) {
    (void)state;
    tendon_loop loop;
    static tendon_virtual_radio radio;
    char directory[] = "/tmp/tendon-test-XXXXXX";
    if (geteuid() != 0) {
        print_message("skipped: only root can give a directory to another user\n");
        skip();
    }
    assert_int_equal(tendon_loop_init(&loop), TENDON_OK);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chown(directory, 12345, 12345), 0);
    assert_int_equal(tendon_virtual_radio_open(&radio, &loop, directory, &device_address),
                     TENDON_RADIO_ERROR_PERMISSION);
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
    assert_int_equal(rmdir(runtime), 0);
    char far[200];
    memset(far, 'a', sizeof far);
    far[0] = '/';
    for (size_t length = TENDON_VIRTUAL_PATH_SIZE - 1; length <= TENDON_VIRTUAL_PATH_SIZE; length++) {
        far[length] = '\0';
        tendon_status status = tendon_virtual_radio_open(&radio, &loop, far, &device_address);
        if (length == TENDON_VIRTUAL_PATH_SIZE) {
            assert_int_equal(status, TENDON_ERROR_NO_ROOM);
        } else if (status == TENDON_OK) { /* root may create it */
            tendon_radio_close(&radio.radio);
            assert_int_equal(rmdir(far), 0);
        } else {
            assert_int_not_equal(status, TENDON_ERROR_NO_ROOM);
        }
        far[length] = 'a';
    }
    if (kept != NULL) {
        setenv("XDG_RUNTIME_DIR", kept, 1);
        free(kept);
    } else {
        unsetenv("XDG_RUNTIME_DIR");
    }
    tendon_loop_close(&loop);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_WORLD(passive_scan_gets_the_advertisement_only),
        IN_WORLD(active_scan_gets_the_scan_response_too),
        IN_WORLD(duplicates_are_filtered_when_asked),
        IN_WORLD(scan_and_advertise_start_once),
        IN_WORLD(parameters_out_of_range),
        IN_WORLD(long_advertisement_is_an_extended_one),
        IN_WORLD(mal_datagrams_are_counted),
        IN_WORLD(stale_scanner_is_removed),
        IN_WORLD(link_opens_on_both_sides),
        IN_WORLD(idle_links_wake_nobody),
        IN_WORLD(refused_central_sees_the_end),
        IN_WORLD(a_scan_is_paused_while_connecting),
        IN_WORLD(absent_device_times_out_at_the_deadline),
        IN_WORLD(device_that_comes_later_is_reached),
        IN_WORLD(wrong_kind_of_address_is_another_device),
        IN_WORLD(reconnect_inside_closed_reuses_the_memory),
        IN_WORLD(one_listener_per_radio_and_address),
        IN_WORLD(stale_device_socket_is_taken_over),
        IN_WORLD(mal_unnamed_central_is_refused),
        IN_WORLD(found_and_streamed_from_another_process),
        IN_WORLD(peer_that_is_killed_is_told),
        cmocka_unit_test(directory_open_to_others_is_refused),
        cmocka_unit_test(directory_of_another_user_is_refused),
        cmocka_unit_test(default_directory_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
