/* SPDX-License-Identifier: MIT */
/* Waiting for an adapter. PDUs of the management socket are written out as doc/mgmt-api.txt of BlueZ has them. */
#include "../open_files.h"
#include "adapter_fixture.h"

#include <errno.h>
#include <unistd.h>

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
    seen = (struct seen){0};
    return adapter_setup(state);
}

static int end(void **state) {
    tendon_bluez_arrival_close(&arrival);
    return adapter_teardown(state);
}

static tendon_status await_adapter(const char *name) {
    return tendon_bluez_await_adapter(&arrival, &own.loop, name, &seen, on_adapter);
}

static void kernel_sends(const void *bytes, size_t length) {
    fake_post(0, HCI_CHANNEL_CONTROL, FAKE_NOBODY, FAKE_NOBODY, FAKE_NOBODY, bytes, length);
}

/* Index Added (0x0004) of hci3, of hci2; Index Removed (0x0005) of hci3: event, index, length, all little-endian. */
static const uint8_t hci3_added[] = {0x04, 0x00, 0x03, 0x00, 0x00, 0x00};
static const uint8_t hci2_added[] = {0x04, 0x00, 0x02, 0x00, 0x00, 0x00};
static const uint8_t hci3_removed[] = {0x05, 0x00, 0x03, 0x00, 0x00, 0x00};

static void one_that_is_there_already_is_reported_once(void **state) {
    (void)state;
    fake_add(7, false);
    fake_add(3, false);
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    assert_int_equal(seen.calls, 0); /* from the loop, never in the call */
    fake_pass(&own.loop, 0);
    assert_string_equal(fake_opcodes(), " m0003"); /* Read Controller Index List */
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, TENDON_OK);
    assert_true(seen.was_closed);
    fake_settled();
    fake_add(3, false);
    fake_pass(&own.loop, 10);
    assert_int_equal(seen.calls, 1);
}

static void any_adapter_is_one(void **state) {
    (void)state;
    assert_int_equal(await_adapter(NULL), TENDON_OK);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 0);
    fake_add(99, false);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 1);
}

/* Of 512 bytes, the longest that is read: what is behind the header is of no interest. */
static void an_event_of_any_length_is_read(void **state) {
    (void)state;
    static const uint8_t longest[512] = {0x04, 0x00, 0x03, 0x00, 0xFA, 0x01};
    static const uint8_t too_long[513] = {0x04, 0x00, 0x03, 0x00, 0xFB, 0x01};
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    fake_pass(&own.loop, 0);
    kernel_sends(too_long, sizeof too_long);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 0);
    kernel_sends(longest, sizeof longest);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 1);
}

static void another_adapter_than_the_named_one_is_not_reported(void **state) {
    (void)state;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    fake_pass(&own.loop, 0);
    kernel_sends(hci2_added, sizeof hci2_added);
    kernel_sends(hci3_removed, sizeof hci3_removed);
    kernel_sends(hci3_added, sizeof hci3_added - 1); /* cut */
    /* Command Complete of Read Management Commands (0x0002), which another program sent, with the bytes of a list */
    static const uint8_t other[] = {0x01, 0x00, 0xFF, 0xFF, 0x07, 0x00, 0x02, 0x00, 0x00, 0x01, 0x00, 0x03, 0x00};
    kernel_sends(other, sizeof other);
    kernel_sends("", 0);
    /* Command Complete of Read Controller Index List with a status, and with a list all the same */
    static const uint8_t failed[] = {0x01, 0x00, 0xFF, 0xFF, 0x07, 0x00, 0x03, 0x00, 0x03, 0x01, 0x00, 0x03, 0x00};
    kernel_sends(failed, sizeof failed);
    static const uint8_t too_long[TENDON_MANAGEMENT_PDU_MAX + 1] = {0x04, 0x00, 0x03, 0x00, 0xFB, 0x01};
    kernel_sends(too_long, sizeof too_long);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(tendon_loop_deadline(&own.loop), UINT64_MAX); /* nothing wakes up meanwhile */
    kernel_sends(hci3_added, sizeof hci3_added);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, TENDON_OK);
}

/* The kernel may say no, or send a list that is shorter than its count: the events still come. */
static void without_a_list_the_event_is_awaited(void **state) {
    (void)state;
    static const fake_answer ways[] = {
        {.opcode = TENDON_MANAGEMENT_READ_INDEX_LIST, .status = TENDON_MANAGEMENT_PERMISSION_DENIED},
        {.opcode = TENDON_MANAGEMENT_READ_INDEX_LIST}};
    for (int i = 0; i < 2; i++) {
        fake.answer = ways[i];
        assert_int_equal(await_adapter("hci3"), TENDON_OK);
        fake_pass(&own.loop, 0);
        assert_int_equal(seen.calls, i);
        kernel_sends(hci3_added, sizeof hci3_added);
        fake_pass(&own.loop, 0);
        assert_int_equal(seen.calls, i + 1);
    }
}

/* Sixty-four are looked at: no machine has more. */
static void a_long_list_is_read_to_its_end(void **state) {
    (void)state;
    enum { MOST = 64 };
    for (int more = 0; more < 2; more++) {
        /* Command Complete of Read Controller Index List: status, count, indexes 100 and up, and the last one is hci3.
         */
        const uint8_t count = (uint8_t)(MOST + more);
        uint8_t list[6 + 3 + 2 + 2 * (MOST + 1)] = {1, 0, 0xFF, 0xFF, 0, 0, 0x03, 0x00, 0x00, count, 0};
        list[4] = (uint8_t)(5 + 2 * count);
        for (uint8_t i = 0; i < count; i++) {
            list[11 + 2 * i] = i == count - 1 ? 3 : (uint8_t)(100 + i);
        }
        seen = (struct seen){0};
        assert_int_equal(await_adapter("hci3"), TENDON_OK);
        fake_pass(&own.loop, 0);
        kernel_sends(list, 11u + 2u * count);
        fake_pass(&own.loop, 0);
        assert_int_equal(seen.calls, more == 0);
    }
}

static void closing_ends_it_without_a_call(void **state) {
    (void)state;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    fake_pass(&own.loop, 0);
    kernel_sends(hci3_added, sizeof hci3_added);
    tendon_bluez_arrival_close(&arrival);
    tendon_bluez_arrival_close(&arrival);
    fake_settled();
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 0);
}

/* The program opens the adapter in the call; another may be awaited there. */
static void await_again(void *context, tendon_status status, uint64_t now) {
    on_adapter(context, status, now);
    assert_int_equal(await_adapter("hci5"), TENDON_OK);
}

static void another_can_be_awaited_in_the_call(void **state) {
    (void)state;
    fake_add(3, false);
    assert_int_equal(tendon_bluez_await_adapter(&arrival, &own.loop, "hci3", &seen, await_again), TENDON_OK);
    fake_pass(&own.loop, 0);
    fake_pass(&own.loop, 0);
    assert_int_equal(seen.calls, 1);
    assert_true(arrival.source.added);
}

static void a_socket_that_fails_ends_it_with_the_reason(void **state) {
    (void)state;
    assert_int_equal(await_adapter("hci3"), TENDON_OK);
    fake_pass(&own.loop, 0);
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
    const int before = open_descriptors();
    assert_int_equal(await_adapter("eth0"), TENDON_ERROR_INVALID_ARGUMENT);
    unsigned failed = 0;
    for (fake.refuse_at = 1; fake.refused == failed; fake.refuse_at++) {
        fake.made = 0;
        fake.refuse_number = EIO;
        tendon_status status = await_adapter("hci3");
        if (status == TENDON_OK) {
            break; /* there were fewer calls */
        }
        assert_int_equal(status, TENDON_SYSTEM_ERROR(EIO));
        assert_true(arrival.source.fd < 0 && !arrival.source.added);
        fake_pass(&own.loop, 0);
        assert_int_equal(open_descriptors(), before);
        failed++;
    }
    assert_int_equal(fake.refused, failed);
    assert_int_equal(failed, 4); /* socket(), bind(), epoll_ctl(), send() */
    assert_int_equal(seen.calls, 0);
    tendon_bluez_arrival_close(&arrival);
    fake.refuse_at = 0;
    fake.refuse[FAKE_SOCKET] = (fake_refusal){.number = EAFNOSUPPORT, .times = 1};
    assert_int_equal(await_adapter(NULL), TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
}

/* Of several adapters that are off, each is looked at again until the other program has ended. */
static void the_end_of_a_program_is_noticed_for_each_adapter(void **state) {
    (void)state;
    fake_add(0, false);
    fake_add(1, false);
    fake.programs = 1;
    assert_int_equal(tendon_bluez_await_usable_adapter(&arrival, &own.loop, NULL, &seen, on_adapter), TENDON_OK);
    fake_pass(&own.loop, 12000);
    fake_remove(1);
    fake_pass(&own.loop, 12000);
    assert_int_equal(seen.calls, 0);
    fake.programs = 0;
    fake_pass(&own.loop, TENDON_BLUEZ_OFF_CHECK_MS);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, TENDON_OK);
}

/* Without an adapter there is nothing to look at. */
static void without_an_adapter_nothing_is_looked_at(void **state) {
    (void)state;
    fake_add(0, false);
    fake.programs = 1;
    assert_int_equal(tendon_bluez_await_usable_adapter(&arrival, &own.loop, NULL, &seen, on_adapter), TENDON_OK);
    fake_pass(&own.loop, 2000);
    fake_remove(0);
    fake_pass(&own.loop, 12000);
    fake_forget_log();
    fake_pass(&own.loop, 60000);
    assert_string_equal(fake_opcodes(), "");
    tendon_bluez_arrival_close(&arrival);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_is_there_already_is_reported_once, start, end),
        cmocka_unit_test_setup_teardown(any_adapter_is_one, start, end),
        cmocka_unit_test_setup_teardown(an_event_of_any_length_is_read, start, end),
        cmocka_unit_test_setup_teardown(another_adapter_than_the_named_one_is_not_reported, start, end),
        cmocka_unit_test_setup_teardown(without_a_list_the_event_is_awaited, start, end),
        cmocka_unit_test_setup_teardown(a_long_list_is_read_to_its_end, start, end),
        cmocka_unit_test_setup_teardown(closing_ends_it_without_a_call, start, end),
        cmocka_unit_test_setup_teardown(another_can_be_awaited_in_the_call, start, end),
        cmocka_unit_test_setup_teardown(a_socket_that_fails_ends_it_with_the_reason, start, end),
        cmocka_unit_test_setup_teardown(the_end_of_a_program_is_noticed_for_each_adapter, start, end),
        cmocka_unit_test_setup_teardown(without_an_adapter_nothing_is_looked_at, start, end),
        cmocka_unit_test_setup_teardown(each_call_can_fail_and_nothing_stays_open, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
