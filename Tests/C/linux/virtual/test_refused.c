/* SPDX-License-Identifier: MIT */
/* System calls of the virtual radio that fail: nothing stays open or in the directory, and the next call works. */
#include "../../../../CSources/linux/virtual/radio.h"
#include "../open_files.h"
#include "virtual_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
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

static int seeks_refused;

off_t lseek(int fd, off_t offset, int whence) {
    if (seeks_refused > 0) {
        seeks_refused--;
        errno = ESPIPE;
        return -1;
    }
#if defined(SYS__llseek) /* 32-bit machines */
    long long result = 0;
    long status = syscall(SYS__llseek, fd, (long)(offset >> 32), (long)offset, &result, whence);
    return status < 0 ? -1 : (off_t)result;
#else
    return (off_t)syscall(SYS_lseek, fd, offset, whence);
#endif
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
        assert_int_equal(w->end.link.state, TENDON_LINK_WAITING);
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
    assert_int_equal(w->end.link.state, TENDON_LINK_WAITING);
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

/* A central without a name of ours in front of one that has one: both are dealt with in one wake-up. */
static void a_central_without_a_name_holds_nobody_up(void **state) {
    world *w = *state;
    struct sockaddr_un path = {.sun_family = AF_UNIX}, own = {.sun_family = AF_UNIX};
    listen_on(w);
    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/dev-C102030405D0-01.sock", w->directory);
    /* The shortest name: an address and its type, behind a zero; and one that is a character too short. */
    static const char *const names[] = {"", "tendon-central-C102030405CE-0", "tendon-central-C102030405CE-00-"};
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        memcpy(own.sun_path + 1, names[i], strlen(names[i]));
        if (i > 0) {
            assert_int_equal(bind(fds[i], (struct sockaddr *)&own,
                                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(names[i]))),
                             0);
        }
        assert_int_equal(connect(fds[i], (struct sockaddr *)&path, sizeof path), 0);
    }
    w->listener.source.ready(w->listener.source.context, TENDON_READABLE, 1);
    assert_int_equal(w->accepted, 1);
    assert_int_equal(w->device.radio.malformed, 2);
    for (int i = 0; i < 3; i++) {
        close(fds[i]);
    }
    STEP_UNTIL(&w->loop, w->ends[0].closed == 1);
}

/* The sockets that look for stale names are closed, whatever they find. */
static void looking_for_stale_names_leaves_nothing_open(void **state) {
    world *w = *state;
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    for (int i = 0; i < 5; i++) {
        snprintf(path.sun_path, sizeof path.sun_path, "%.60s/dev-C1020304050%d-01.sock", w->directory, i);
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&path, sizeof path), 0);
        close(fd);
    }
    int before = open_descriptors();
    listen_on(w);
    assert_int_equal(entries(w->directory), 1);
    assert_int_equal(open_descriptors(), before + 1);
    tendon_listener other = {.accept = on_accept};
    tendon_radio_unlisten(&w->device.radio, &other); /* not the one that listens */
    tendon_radio_unlisten(&w->device.radio, NULL);
    assert_int_equal(entries(w->directory), 1);
    assert_ptr_equal(w->device.radio.listener, &w->listener);
    /* A radio that is closed advertises no more. */
    assert_int_equal(advertise(w, sizeof advertised_flags, sizeof advertised_name), TENDON_OK);
    tendon_radio_close(&w->device.radio);
    assert_false(w->device.advertise_source.added);
    assert_int_equal(w->device.advertise_fd, -1);
    assert_int_equal(open_descriptors(), before - 1); /* its directory */
}

/* At our own name, where the directory could not be searched: taken over all the same. */
static void a_stale_name_of_our_own_is_bound_again(void **state) {
    world *w = *state;
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    snprintf(path.sun_path, sizeof path.sun_path, "%.60s/dev-C102030405D0-01.sock", w->directory);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&path, sizeof path), 0);
    close(fd);
    seeks_refused = 1;
    listen_on(w);
    assert_int_equal(seeks_refused, 0);
    connect_central(w, 2000);
    STEP_UNTIL(&w->loop, w->end.connected == 1);
}

static void the_directory_has_a_name(void **state) {
    (void)state;
    char out[TENDON_VIRTUAL_PATH_SIZE], longest[TENDON_VIRTUAL_PATH_SIZE + 1];
    assert_int_equal(tendon_virtual_directory("x", out), 1);
    assert_string_equal(out, "x");
    assert_int_equal(tendon_virtual_directory("", out), 0);
    memset(longest, 'a', sizeof longest);
    longest[TENDON_VIRTUAL_PATH_SIZE - 1] = '\0';
    assert_int_equal(tendon_virtual_directory(longest, out), TENDON_VIRTUAL_PATH_SIZE - 1);
    longest[TENDON_VIRTUAL_PATH_SIZE - 1] = 'a';
    longest[TENDON_VIRTUAL_PATH_SIZE] = '\0';
    assert_int_equal(tendon_virtual_directory(longest, out), TENDON_VIRTUAL_PATH_SIZE);
}

/* One byte is no structure, but it is what the owner wants to send. */
static void a_response_of_one_byte_is_sent(void **state) {
    world *w = *state;
    static const uint8_t response = 0xEE, data = 0xDD;
    scan(w, false, false);
    assert_int_equal(
        tendon_radio_advertise_start(
            &w->device.radio,
            &(tendon_advertise_parameters){
                .data = &data, .length = 1, .scan_response = &response, .scan_response_length = 1, .interval_ms = 20}),
        TENDON_OK);
    uint64_t before = tendon_monotonic_ms();
    STEP_UNTIL(&w->loop, w->reports > 0);
    assert_int_equal(w->report.length, 1);
    assert_int_equal(w->data[0], 0xDD);
    assert_true(w->device.advertise_source.deadline >= before + 20); /* not again before the interval */
    assert_int_equal(tendon_radio_scan_stop(&w->central.radio), TENDON_OK);
    scan(w, true, false);
    STEP_UNTIL(&w->loop, w->responses > 0);
    assert_int_equal(w->report.length, 1);
    assert_int_equal(w->data[0], 0xEE);
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
        REFUSED_TEST(a_central_without_a_name_holds_nobody_up),
        REFUSED_TEST(looking_for_stale_names_leaves_nothing_open),
        REFUSED_TEST(a_stale_name_of_our_own_is_bound_again),
        REFUSED_TEST(a_response_of_one_byte_is_sent),
        cmocka_unit_test(the_directory_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
