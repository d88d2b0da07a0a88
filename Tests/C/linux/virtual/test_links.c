/* SPDX-License-Identifier: MIT */
/* The virtual radio: links, in one process and between several. */
#include "virtual_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the C library's place: calls that fail so many times. */
static int failing_accepts, watched_descriptors = -1;

int accept4(int fd, __SOCKADDR_ARG name, socklen_t *length, int flags) {
    errno = EMFILE;
    return failing_accepts-- > 0 ? -1 : (int)syscall(SYS_accept4, fd, name, length, flags);
}

/* So many are watched from now on, then none; -1: all. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    if (operation == EPOLL_CTL_ADD && watched_descriptors >= 0 && watched_descriptors-- == 0) {
        watched_descriptors = 0;
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
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
    assert_int_equal(tendon_loop_run(&w->loop, tendon_monotonic_ms() + 40), TENDON_OK);
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
    assert_int_equal(advertise(w, sizeof advertised_flags, 0), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 2);
    connect_central(w, 200); /* the device advertises and does not listen */
    int before = w->reports;
    while (w->end.closed == 0) {
        assert_int_equal(tendon_loop_step(&w->loop, tendon_monotonic_ms() + 100), TENDON_OK);
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
    assert_true(tendon_monotonic_ms() >= deadline);
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
    other.type = TENDON_ADDRESS_TYPE_PUBLIC;
    listen_on(w);
    link_end_init(&w->end);
    assert_int_equal(tendon_radio_connect(&w->central.radio, &w->end.link, &other, tendon_monotonic_ms() + 25),
                     TENDON_OK);
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
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_loop_step(&w->loop, 0), TENDON_OK);
    }
    assert_int_equal(w->device.radio.malformed, 0); /* the test whether it lives is no central, and no fault */
    assert_int_equal(w->accepted, 0);
    tendon_radio_unlisten(&w->device.radio, &second);
    assert_non_null(w->device.radio.listener);
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

/** The path of device @p name in the world's directory. */
static void device_path(const world *w, const char *name, struct sockaddr_un *out) {
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(out->sun_path, sizeof out->sun_path, "%.60s/dev-%s.sock", w->directory, name);
}

static void bound_socket(const struct sockaddr_un *path, int type, bool stays) {
    int fd = socket(AF_UNIX, type, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)path, sizeof *path), 0);
    if (!stays) {
        close(fd);
    }
}

/* Processes that were killed leave their sockets behind: the next listener removes them, and no others. */
static void sockets_of_killed_processes_are_removed(void **state) {
    world *w = *state;
    struct sockaddr_un dead, link, foreign;
    device_path(w, "C10203040599-01", &dead);
    bound_socket(&dead, SOCK_SEQPACKET, false);
    device_path(w, "C10203040597-01", &link);
    assert_int_equal(symlink(link.sun_path, link.sun_path), 0); /* it leads to itself */
    device_path(w, "C102030405D0-01", &link);
    assert_int_equal(symlink("absent", link.sun_path), 0); /* at our own name, and it leads nowhere */
    device_path(w, "C10203040598-01", &foreign);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&foreign, sizeof foreign), 0);
    assert_int_equal(listen(fd, 1), 0);
    listen_on(w);
    assert_int_equal(access(dead.sun_path, F_OK), -1);
    assert_int_equal(entries(w->directory), 2);          /* our own, and that of somebody else */
    assert_int_equal(access(foreign.sun_path, F_OK), 0); /* somebody else's, and alive */
    connect_central(w, 1000);
    STEP_UNTIL(&w->loop, w->end.connected == 1);
    /* A socket of another type where a device would be: the reason has a name and a number. */
    const tendon_address other = {{0xC1, 2, 3, 4, 5, 0x98}, TENDON_ADDRESS_TYPE_RANDOM};
    link_end_init(&w->ends[3]);
    assert_int_equal(tendon_radio_connect(&w->central.radio, &w->ends[3].link, &other, tendon_monotonic_ms() + 1000),
                     TENDON_SYSTEM_ERROR(EPROTOTYPE));
    close(fd);
    unlink(foreign.sun_path);
}

/* Out of descriptors: the central waits in the queue, the loop does not spin, and it is accepted afterwards. */
static void a_listener_rests_and_accepts_again(void **state) {
    world *w = *state;
    listen_on(w);
    failing_accepts = 1;
    connect_central(w, 2000);
    uint64_t before = tendon_monotonic_ms();
    STEP_UNTIL(&w->loop, failing_accepts <= 0);
    assert_int_equal(w->listener.source.interest, 0);
    assert_true(w->listener.source.deadline >= before + 50 &&
                w->listener.source.deadline <= tendon_monotonic_ms() + 200);
    uint64_t wakeups = w->loop.wakeups;
    STEP_UNTIL(&w->loop, w->accepted == 1);
    assert_true(w->loop.wakeups - wakeups <= 8);
    STEP_UNTIL(&w->loop, w->ends[0].connected == 1);
}

/* The owner has given its link away: it must get it back. */
static void an_accepted_socket_that_cannot_be_watched_is_told(void **state) {
    world *w = *state;
    listen_on(w);
    connect_central(w, 2000);
    watched_descriptors = 0;
    STEP_UNTIL(&w->loop, w->accepted == 1);
    watched_descriptors = -1;
    STEP_UNTIL(&w->loop, w->ends[0].closed == 1);
    assert_int_equal(w->ends[0].reason, TENDON_SYSTEM_ERROR(ENOMEM));
    assert_int_equal(w->ends[0].connected, 0);
    assert_int_equal(w->ends[0].link.state, TENDON_LINK_CLOSED);
    STEP_UNTIL(&w->loop, w->end.closed == 1);
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

/* The child: a device that advertises and sends @p count numbers to each central, then ends as `die` selects. */
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
    if (tendon_radio_listen(&w.device.radio, &w.listener) < 0 ||
        advertise(&w, sizeof advertised_flags, sizeof advertised_name) < 0) {
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
        assert_int_equal(tendon_loop_step(&w->loop, tendon_monotonic_ms() + 2000), TENDON_OK);
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

int main(void) {
    const struct CMUnitTest tests[] = {
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
        IN_WORLD(sockets_of_killed_processes_are_removed),
        IN_WORLD(a_listener_rests_and_accepts_again),
        IN_WORLD(an_accepted_socket_that_cannot_be_watched_is_told),
        IN_WORLD(mal_unnamed_central_is_refused),
        IN_WORLD(found_and_streamed_from_another_process),
        IN_WORLD(peer_that_is_killed_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
