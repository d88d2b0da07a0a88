/* SPDX-License-Identifier: MIT */
/* System calls of the virtual radio that fail: nothing stays open or in the directory, and the next call works. */
#include "open_files.h"
#include "virtual_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- in the place of the C library ---- */

typedef struct refused {
    int number, after; /* errno, and so many calls that succeed before */
} refused;

static struct calls {
    refused socket, bind, listen, connect, epoll_add;
    int binds;
} calls;

static bool fails(refused *call) {
    if (call->number == 0 || call->after-- > 0) {
        return false;
    }
    errno = call->number;
    *call = (refused){0, 0};
    return true;
}

int socket(int domain, int type, int protocol) {
    return fails(&calls.socket) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

int bind(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    calls.binds++;
    return fails(&calls.bind) ? -1 : (int)syscall(SYS_bind, fd, name.__sockaddr__, length);
}

int listen(int fd, int backlog) {
    return fails(&calls.listen) ? -1 : (int)syscall(SYS_listen, fd, backlog);
}

int connect(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    return fails(&calls.connect) ? -1 : (int)syscall(SYS_connect, fd, name.__sockaddr__, length);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    return operation == EPOLL_CTL_ADD && fails(&calls.epoll_add)
               ? -1
               : (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

static int setup(void **state) {
    calls = (struct calls){.binds = 0};
    return world_setup(state);
}

/* ---- tests ---- */

static void a_scan_that_cannot_begin_leaves_nothing(void **state) {
    world *w = *state;
    static const struct {
        refused *call;
        int number;
    } cases[] = {{&calls.socket, EMFILE}, {&calls.bind, EACCES}, {&calls.epoll_add, ENOSPC}};
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tendon_scan_parameters parameters = {.active = true};
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_radio_scan_start(&w->central.radio, &parameters), TENDON_SYSTEM_ERROR(cases[i].number));
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(entries(w->directory), 0);
        assert_int_equal(w->central.scan_source.fd, -1);
        assert_false(w->central.radio.scanning || w->central.scan_source.added);
        assert_int_equal(tendon_radio_scan_stop(&w->central.radio), TENDON_OK); /* closes no descriptor of others */
        assert_int_equal(open_descriptors(), before);
    }
    scan(w, true, false);
    assert_int_equal(entries(w->directory), 1);
    assert_int_equal(tendon_radio_scan_stop(&w->central.radio), TENDON_OK);
    assert_int_equal(w->central.scan_source.fd, -1);
    assert_int_equal(entries(w->directory), 0);
    assert_int_equal(open_descriptors(), before);
}

/* Another radio of this process has the first name already. */
static void a_name_that_is_taken_is_not_the_last(void **state) {
    world *w = *state;
    scan(w, true, false);
    calls.binds = 0;
    assert_int_equal(tendon_radio_scan_start(&w->device.radio, &(tendon_scan_parameters){.active = true}), TENDON_OK);
    assert_int_equal(calls.binds, 2);
    assert_int_equal(entries(w->directory), 2);
    assert_string_not_equal(w->device.scan_name, w->central.scan_name);
    assert_int_equal(tendon_radio_scan_stop(&w->device.radio), TENDON_OK);
    assert_int_equal(entries(w->directory), 1);
}

static void advertising_that_cannot_begin_leaves_nothing(void **state) {
    world *w = *state;
    int before = open_descriptors();
    calls.socket.number = EMFILE;
    assert_int_equal(advertise(w, 3, 0), TENDON_SYSTEM_ERROR(EMFILE));
    assert_int_equal(w->device.advertise_fd, -1);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(advertise(w, 3, 0), TENDON_OK);
    assert_int_equal(open_descriptors(), before + 1);
    assert_int_equal(tendon_radio_advertise_stop(&w->device.radio), TENDON_OK);
    assert_int_equal(w->device.advertise_fd, -1);
    assert_int_equal(open_descriptors(), before);
}

static void a_listener_that_cannot_begin_leaves_nothing(void **state) {
    world *w = *state;
    static const struct {
        refused *call;
        int number;
        tendon_status expected;
    } cases[] = {{&calls.socket, EMFILE, TENDON_SYSTEM_ERROR(EMFILE)},
                 {&calls.bind, EROFS, TENDON_SYSTEM_ERROR(EROFS)},
                 {&calls.listen, EOPNOTSUPP, TENDON_SYSTEM_ERROR(EOPNOTSUPP)},
                 {&calls.epoll_add, ENOSPC, TENDON_SYSTEM_ERROR(ENOSPC)}};
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        w->listener = (tendon_listener){.context = w, .accept = on_accept};
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_radio_listen(&w->device.radio, &w->listener), cases[i].expected);
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(entries(w->directory), 0);
        assert_null(w->device.radio.listener);
        assert_false(w->listener.source.added);
    }
    listen_on(w);
    connect_central(w, 2000);
    STEP_UNTIL(&w->loop, w->end.connected == 1);
}

/* A device that is not there yet is tried again; what stays wrong ends the attempt. */
static void a_connect_that_fails_leaves_nothing(void **state) {
    world *w = *state;
    static const struct {
        refused *call;
        int number;
    } cases[] = {
        {&calls.socket, EMFILE}, {&calls.bind, EINVAL}, {&calls.connect, ENOTSOCK}, {&calls.epoll_add, ENOSPC}};
    listen_on(w);
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        link_end_init(&w->end);
        *cases[i].call = (refused){cases[i].number, 0};
        assert_int_equal(tendon_radio_connect(&w->central.radio, &w->end.link, &device_address, UINT64_MAX),
                         TENDON_SYSTEM_ERROR(cases[i].number));
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(w->end.link.state, TENDON_LINK_CLOSED);
        assert_null(w->central.radio.links);
        assert_int_equal(tendon_loop_step(&w->loop, 0), TENDON_OK);
        assert_int_equal(w->end.closed, 0); /* the call has said it */
    }
    static const int transient[] = {ENOENT, ECONNREFUSED, EAGAIN, EINTR};
    for (size_t i = 0; i < 4; i++) {
        calls.connect = (refused){transient[i], 0};
        connect_central(w, 5000);
        assert_int_equal(w->end.link.state, TENDON_LINK_CONNECTING);
        assert_int_equal(w->end.link.source.fd, -1);
        STEP_UNTIL(&w->loop, w->end.connected == 1);
        tendon_link_close(&w->end.link);
        STEP_UNTIL(&w->loop, w->end.closed == 1);
    }
}

/* While it is tried again, too. */
static void a_retry_that_fails_ends_the_attempt(void **state) {
    world *w = *state;
    connect_central(w, 5000); /* no listener */
    int before = open_descriptors();
    assert_int_equal(w->end.link.state, TENDON_LINK_CONNECTING);
    calls.socket = (refused){ENFILE, 0};
    STEP_UNTIL(&w->loop, w->end.closed == 1);
    assert_int_equal(w->end.reason, TENDON_SYSTEM_ERROR(ENFILE));
    assert_int_equal(open_descriptors(), before);
    assert_null(w->central.radio.links);
}

/* A taken name of a central: the next number. */
static void a_central_finds_a_name(void **state) {
    world *w = *state;
    listen_on(w);
    calls.binds = 0;
    calls.bind = (refused){EADDRINUSE, 0};
    connect_central(w, 2000);
    assert_int_equal(calls.binds, 2);
    STEP_UNTIL(&w->loop, w->end.connected == 1 && w->accepted == 1);
    assert_int_equal(w->device.radio.malformed, 0);
}

/* What is no scanner's is left alone, whatever its name is. */
static void advertising_removes_no_file_of_others(void **state) {
    world *w = *state;
    static const char *const names[] = {"a", "notes.txt", "device-x", "scanner"};
    char path[128];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", w->directory, names[i]);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    scan(w, true, false);
    assert_int_equal(advertise(w, sizeof advertised_flags, sizeof advertised_name), TENDON_OK);
    STEP_UNTIL(&w->loop, w->reports == 4);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", w->directory, names[i]);
        assert_int_equal(unlink(path), 0);
    }
}

#define REFUSED_TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        REFUSED_TEST(a_scan_that_cannot_begin_leaves_nothing),
        REFUSED_TEST(a_name_that_is_taken_is_not_the_last),
        REFUSED_TEST(advertising_that_cannot_begin_leaves_nothing),
        REFUSED_TEST(a_listener_that_cannot_begin_leaves_nothing),
        REFUSED_TEST(a_connect_that_fails_leaves_nothing),
        REFUSED_TEST(a_retry_that_fails_ends_the_attempt),
        REFUSED_TEST(a_central_finds_a_name),
        REFUSED_TEST(advertising_removes_no_file_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
