/* SPDX-License-Identifier: MIT */
/* Waiting for an adapter. PDUs of the management socket are written out as doc/mgmt-api.txt of BlueZ has them. */
#include "bluez_kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static tendon_loop loop;
static tendon_bluez_arrival arrival;
static struct seen {
    int calls;
    tendon_status status;
    bool was_closed; /* in the call */
} seen;

static void on_adapter(void *context, tendon_status status, uint64_t now) {
    assert_ptr_equal(context, &seen);
    (void)now;
    seen.calls++;
    seen.status = status;
    seen.was_closed = arrival.source.fd < 0 && !arrival.source.added;
}

static int start(void **state) {
    (void)state;
    kernel = (bluez_kernel){.indexes = {7, 1, 3}, .count = 3, .now = 1000};
    calls = (system_calls){.fd = -1, .peer = -1, .central = -1};
    seen = (struct seen){0};
    return tendon_loop_init(&loop) == TENDON_OK ? 0 : -1;
}

/** The socket was closed: its other end reads the end of the data, after what was sent. */
static bool socket_is_closed(void) {
    uint8_t bytes[64];
    ssize_t got = 1;
    while (got > 0) {
        got = recv(kernel.peers[calls.fd], bytes, sizeof bytes, MSG_DONTWAIT);
    }
    return got == 0 || errno == ECONNRESET;
}

static int end(void **state) {
    (void)state;
    tendon_bluez_arrival_close(&arrival);
    bool closed = calls.fd < 0 || socket_is_closed();
    bluez_kernel_close();
    tendon_loop_close(&loop);
    return closed ? 0 : -1;
}

static tendon_status await_adapter(const char *name) {
    return tendon_bluez_await_adapter(&arrival, &loop, name, &seen, on_adapter);
}

static void step(void) {
    assert_true(tendon_loop_step(&loop, 0) >= 0);
}

static void kernel_sends(const void *bytes, size_t length) {
    assert_int_equal(send(kernel.peers[calls.fd], bytes, length, MSG_DONTWAIT), (ssize_t)length);
}

/* Index Added (0x0004) of hci3, of hci2; Index Removed (0x0005) of hci3: event, index, length, all little-endian. */
static const uint8_t hci3_added[] = {0x04, 0x00, 0x03, 0x00, 0x00, 0x00};
static const uint8_t hci2_added[] = {0x04, 0x00, 0x02, 0x00, 0x00, 0x00};
static const uint8_t hci3_removed[] = {0x05, 0x00, 0x03, 0x00, 0x00, 0x00};

static void one_that_is_there_already_is_reported_once(void **state) {
    (void)state;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    assert_string_equal(kernel.log, " m03"); /* Read Controller Index List */
    assert_int_equal(seen.calls, 0);         /* from the loop, never in the call */
    step();
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, TENDON_OK);
    assert_true(seen.was_closed);
    assert_true(socket_is_closed());
    step();
    assert_int_equal(seen.calls, 1);
}

/* bluez_kernel sends Index Added of hci99 before each response. */
static void any_adapter_is_one(void **state) {
    (void)state;
    kernel.count = 0;
    assert_int_equal(await_adapter(NULL), TENDON_OK);
    step();
    assert_int_equal(seen.calls, 1);
}

static void another_adapter_than_the_named_one_is_not_reported(void **state) {
    (void)state;
    kernel.count = 0;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    step();
    kernel_sends(hci2_added, sizeof hci2_added);
    kernel_sends(hci3_removed, sizeof hci3_removed);
    kernel_sends(hci3_added, sizeof hci3_added - 1); /* cut */
    /* Command Complete of Read Management Commands (0x0002), which another program sent, with the bytes of a list */
    static const uint8_t other[] = {0x01, 0x00, 0xFF, 0xFF, 0x07, 0x00, 0x02, 0x00, 0x00, 0x01, 0x00, 0x03, 0x00};
    kernel_sends(other, sizeof other);
    static const uint8_t too_long[TENDON_MANAGEMENT_PDU_MAX + 1] = {0x04, 0x00, 0x03, 0x00};
    kernel_sends(too_long, sizeof too_long);
    step();
    assert_int_equal(seen.calls, 0);
    assert_int_equal(tendon_loop_deadline(&loop), UINT64_MAX); /* nothing wakes up meanwhile */
    kernel_sends(hci3_added, sizeof hci3_added);
    step();
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, TENDON_OK);
}

/* The kernel may say no (status 0x14), or send a list that is shorter than its count: the events still come. */
static void without_a_list_the_event_is_awaited(void **state) {
    (void)state;
    static const uint16_t ways[][2] = {{TENDON_MANAGEMENT_READ_INDEX_LIST, 0}, {0, TENDON_MANAGEMENT_READ_INDEX_LIST}};
    for (size_t i = 0; i < 2; i++) {
        kernel.fails = ways[i][0];
        kernel.error = TENDON_MANAGEMENT_PERMISSION_DENIED;
        kernel.empty = ways[i][1];
        assert_int_equal(await_adapter("hci3"), TENDON_OK);
        step();
        assert_int_equal(seen.calls, (int)i);
        kernel_sends(hci3_added, sizeof hci3_added);
        step();
        assert_int_equal(seen.calls, (int)i + 1);
    }
}

static void closing_ends_it_without_a_call(void **state) {
    (void)state;
    kernel.count = 0;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    step();
    kernel_sends(hci3_added, sizeof hci3_added);
    tendon_bluez_arrival_close(&arrival);
    tendon_bluez_arrival_close(&arrival);
    assert_true(socket_is_closed());
    step();
    assert_int_equal(seen.calls, 0);
}

/* The program opens the adapter in the call; another may be awaited there. */
static void await_again(void *context, tendon_status status, uint64_t now) {
    on_adapter(context, status, now);
    assert_int_equal(await_adapter("hci5"), TENDON_OK);
}

static void another_can_be_awaited_in_the_call(void **state) {
    (void)state;
    assert_int_equal(tendon_bluez_await_adapter(&arrival, &loop, "hci3", &seen, await_again), TENDON_OK);
    step();
    step();
    assert_int_equal(seen.calls, 1);
    assert_true(arrival.source.added);
}

static void a_socket_that_fails_ends_it_with_the_reason(void **state) {
    (void)state;
    kernel.count = 0;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    step();
    const int broken = dup(STDERR_FILENO); /* recv(): ENOTSOCK */
    assert_int_equal(dup2(broken, arrival.source.fd), arrival.source.fd);
    close(broken);
    arrival.source.ready(arrival.source.context, TENDON_READABLE, 0);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, TENDON_SYSTEM_ERROR(ENOTSOCK));
    assert_true(seen.was_closed);
}

static void each_call_can_fail_and_nothing_stays_open(void **state) {
    (void)state;
    assert_int_equal(await_adapter("eth0"), TENDON_ERROR_INVALID_ARGUMENT);
    unsigned failed = 0;
    for (unsigned number = 1; number <= 8; number++) {
        calls.made = calls.refused = 0;
        calls.refuse_at = number;
        calls.refuse_number = EIO;
        tendon_status status = await_adapter("hci3");
        calls.refuse_at = 0;
        if (status == TENDON_OK) {
            assert_int_equal(calls.refused, 0); /* there were fewer calls */
            break;
        }
        assert_int_equal(status, TENDON_SYSTEM_ERROR(EIO));
        assert_true(arrival.source.fd < 0 && !arrival.source.added);
        assert_true(calls.fd < 0 || socket_is_closed());
        failed++;
    }
    assert_true(failed >= 3); /* socket(), bind(), send() */
    assert_int_equal(seen.calls, 0);
    tendon_bluez_arrival_close(&arrival);
    calls.socket = (refused_call){EAFNOSUPPORT, 0};
    assert_int_equal(await_adapter(NULL), TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
    calls.socket = (refused_call){0, 0};
    calls.epoll_add = (refused_call){ENOSPC, 0};
    assert_int_equal(await_adapter(NULL), TENDON_SYSTEM_ERROR(ENOSPC));
    assert_true(socket_is_closed());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_is_there_already_is_reported_once, start, end),
        cmocka_unit_test_setup_teardown(any_adapter_is_one, start, end),
        cmocka_unit_test_setup_teardown(another_adapter_than_the_named_one_is_not_reported, start, end),
        cmocka_unit_test_setup_teardown(without_a_list_the_event_is_awaited, start, end),
        cmocka_unit_test_setup_teardown(closing_ends_it_without_a_call, start, end),
        cmocka_unit_test_setup_teardown(another_can_be_awaited_in_the_call, start, end),
        cmocka_unit_test_setup_teardown(a_socket_that_fails_ends_it_with_the_reason, start, end),
        cmocka_unit_test_setup_teardown(each_call_can_fail_and_nothing_stays_open, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
