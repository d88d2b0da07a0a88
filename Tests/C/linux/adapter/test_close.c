/* SPDX-License-Identifier: MIT */
/* The end of the kernel's radio: what the controller still does is switched off, and nothing is left behind. */
#include "bluez_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const tendon_address own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC};
static const tendon_address somebody = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC};
enum { REMOVE_SET = 0x203C };
static const uint16_t scan_parameters[] = {TENDON_HCI_LE_SET_SCAN_PARAMETERS,
                                           TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS};
static const uint16_t scan_enable[] = {TENDON_HCI_LE_SET_SCAN_ENABLE, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE};
static const uint16_t advertising[2][4] = {
    {TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, TENDON_HCI_LE_SET_ADVERTISING_DATA, TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA,
     TENDON_HCI_LE_SET_ADVERTISING_ENABLE},
    {TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA,
     TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE}};

static void start_scan(bluez_bench *b) {
    const tendon_scan_parameters parameters = {.active = true};
    assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
}

static void start_advertising(bluez_bench *b) {
    static const uint8_t data[] = {2, 1, 6};
    const tendon_advertise_parameters parameters = {.data = data, .length = sizeof data};
    assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &parameters), TENDON_OK);
}

/** Answers the first @p count commands of @p opcodes; those that follow are in flight. */
static void answer(bluez_bench *b, const uint16_t *opcodes, int count) {
    for (int i = 0; i < count; i++) {
        (void)bluez_answer(b, opcodes[i], 0);
    }
}

/* Whatever the controller may do after the last answer is disabled, and nothing else is sent. */
static void a_scan_is_disabled(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        const uint16_t opcodes[] = {scan_parameters[extended], scan_enable[extended]};
        for (int reached = 0; reached <= 2; reached++) {
            bluez_bench *b = bluez_open(extended, &own);
            start_scan(b);
            answer(b, opcodes, reached);
            if (reached < 2) {
                (void)bluez_expect(b, opcodes[reached]); /* in flight */
            }
            tendon_radio_close(&b->radio.radio);
            if (reached > 0) { /* on, or its answer is still to come */
                assert_int_equal(bluez_expect(b, scan_enable[extended])[0], 0);
            }
            assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0); /* closed */
            bluez_close(b);
        }
    }
    bluez_bench *b = bluez_open(false, &own); /* the outcome of the last command is unknown */
    start_scan(b);
    b->radio.scan.activity.state = TENDON_BLUEZ_STALE;
    (void)bluez_expect(b, scan_parameters[0]);
    tendon_radio_close(&b->radio.radio);
    assert_int_equal(bluez_expect(b, scan_enable[0])[0], 0);
    bluez_close(b);
}

/* The kernel takes the scan for a discovery of its own, and disables it with that. A second command, which a controller
 * may reject, would leave the kernel between the two, where it connects to nobody, whichever program asks. */
static void a_scan_that_is_a_discovery_is_disabled_once(void **state) {
    (void)state;
    enum { SCANS, DISABLING, ANSWERED, NOT_SENT, STATES };
    for (int at = SCANS; at < STATES; at++) {
        bluez_bench *b = bluez_open(true, &own);
        start_scan(b);
        answer(b, (uint16_t[]){scan_parameters[1], scan_enable[1]}, 2);
        bluez_discovering(b, 1); /* read when the radio is closed */
        if (at == DISABLING || at == ANSWERED) {
            assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
            assert_int_equal(bluez_expect(b, scan_enable[1])[0], 0);
        }
        if (at == ANSWERED) {
            bluez_complete(b, scan_enable[1], 0);
        } else if (at == NOT_SENT) {
            fake.refuse[FAKE_SEND] = (fake_refusal){.number = EPIPE, .times = 100};
        }
        tendon_radio_close(&b->radio.radio);
        if (at == NOT_SENT) {
            assert_in_range(fake.refuse[FAKE_SEND].times, 1, 99);
            fake.refuse[FAKE_SEND] = (fake_refusal){0};
            assert_int_equal(bluez_expect(b, scan_enable[1])[0], 0);
        } else {
            assert_true(bluez_stops_discovery(b));
        }
        assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0);
        bluez_close(b);
    }
}

static void advertising_is_disabled_and_its_set_removed(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        for (int reached = 0; reached <= 4; reached++) {
            bluez_bench *b = bluez_open(extended, &own);
            start_advertising(b);
            answer(b, advertising[extended], reached);
            if (reached < 4) {
                (void)bluez_expect(b, advertising[extended][reached]);
            }
            tendon_radio_close(&b->radio.radio);
            if (reached >= 3) {
                assert_int_equal(bluez_expect(b, advertising[extended][3])[0], 0);
            }
            if (extended && reached > 0) { /* the set was made with the parameters */
                assert_int_equal(bluez_expect(b, REMOVE_SET)[0], TENDON_BLUEZ_ADVERTISING_SET);
            }
            assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0);
            bluez_close(b);
        }
    }
}

/* A scan that waits for its answer is no advertising, and the other way round. */
static void only_the_activity_in_flight_counts_as_enabled(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    start_advertising(b);
    answer(b, advertising[0], 3);
    (void)bluez_expect(b, advertising[0][3]);
    start_scan(b);
    tendon_radio_close(&b->radio.radio);
    assert_int_equal(bluez_expect(b, advertising[0][3])[0], 0);
    assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0);
    bluez_close(b);
    b = bluez_open(false, &own);
    start_scan(b);
    (void)bluez_answer(b, scan_parameters[0], 0);
    start_advertising(b);
    (void)bluez_expect(b, scan_enable[0]);
    tendon_radio_close(&b->radio.radio);
    assert_int_equal(bluez_expect(b, scan_enable[0])[0], 0);
    assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0);
    bluez_close(b);
}

/* After a failure its controller gets nothing more. */
static void a_failed_radio_sends_nothing(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &own);
        start_scan(b);
        (void)bluez_answer(b, scan_parameters[extended], 0);
        (void)bluez_answer(b, scan_enable[extended], 0);
        start_advertising(b);
        answer(b, advertising[extended], 4);
        tendon_bluez_fail(&b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(b->failures, 1);
        tendon_radio_close(&b->radio.radio);
        assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0);
        bluez_close(b);
    }
}

static int sources_of(const tendon_loop *loop) {
    int count = 0;
    for (const tendon_source *source = loop->sources; source != NULL; source = source->next) {
        count++;
    }
    return count;
}

static tendon_link *reject(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    return NULL;
}

static void nothing_is_left_open(void **state) {
    (void)state;
    for (int failed = 0; failed < 2; failed++) {
        bluez_bench *b = bluez_open(false, &own);
        tendon_bluez_radio *radio = &b->radio;
        tendon_bonds bonds;
        tendon_bonds_init(&bonds);
        int own_sources = sources_of(&b->loop) - 3;
        tendon_listener listener = {.accept = reject};
        assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
        assert_int_equal(tendon_radio_listen(&radio->radio, &listener), TENDON_OK);
        start_scan(b);
        start_advertising(b);
        radio->leases[0] = tendon_bluez_lease(7, "radio");
        tendon_bluez_keys_stored(radio);
        const int fds[] = {radio->hci.fd, radio->management.fd, listener.source.fd, radio->leases[0], radio->leases[1]};
        for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
            assert_true(fcntl(fds[i], F_GETFD) >= 0);
        }
        if (failed) {
            tendon_bluez_fail(radio, TENDON_RADIO_ERROR_NO_ADAPTER);
            assert_false(radio->hci.added || radio->management.added); /* their errors would wake it for ever */
            assert_true(radio->timer.added);
            assert_false(radio->scan.activity.requested || radio->advertising.activity.requested);
        }
        tendon_radio_close(&radio->radio);
        for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
            assert_int_equal(fcntl(fds[i], F_GETFD), -1);
        }
        assert_int_equal(sources_of(&b->loop), own_sources);
        assert_int_equal(radio->hci.fd, -1);
        assert_int_equal(radio->management.fd, -1);
        assert_int_equal(listener.source.fd, -1);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(radio->leases[i], -1);
        }
        assert_null(radio->radio.listener);
        assert_false(radio->opened || radio->radio.scanning);
        assert_false(radio->scan.activity.requested || radio->advertising.activity.requested);
        bluez_close(b); /* a second time: nothing */
    }
}

/* The listener of somebody else is not this radio's to close. */
static void unlisten_is_for_the_present_listener(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    tendon_listener first = {.accept = reject}, other = {.accept = reject};
    assert_int_equal(tendon_radio_listen(&b->radio.radio, &first), TENDON_OK);
    int fd = first.source.fd;
    tendon_radio_unlisten(&b->radio.radio, &other);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    assert_ptr_equal(b->radio.radio.listener, &first);
    tendon_radio_unlisten(&b->radio.radio, &first);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_false(first.source.added);
    assert_null(b->radio.radio.listener);
    tendon_radio_unlisten(&b->radio.radio, &first);
    assert_int_equal(tendon_radio_listen(&b->radio.radio, &other), TENDON_OK);
    tendon_bluez_fail(&b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
    tendon_radio_unlisten(&b->radio.radio, &other);
    assert_int_equal(tendon_radio_listen(&b->radio.radio, &first), TENDON_RADIO_ERROR_NO_ADAPTER);
    bluez_close(b);
}

/* Its owner closes the links first; one that did not does not reach into a closed radio. */
static void an_attempt_does_not_outlive_its_radio(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    tendon_link links[TENDON_BLUEZ_ATTEMPTS];
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        tendon_address peer = somebody;
        peer.bytes[5] = (uint8_t)i;
        tendon_link_init(&links[i], NULL);
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &links[i], &peer, UINT64_MAX), TENDON_OK);
    }
    tendon_link one_more;
    tendon_link_init(&one_more, NULL);
    assert_int_equal(tendon_radio_connect(&b->radio.radio, &one_more, &somebody, UINT64_MAX), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(one_more.state, TENDON_LINK_CLOSED);
    tendon_radio_close(&b->radio.radio);
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        assert_null(b->radio.attempts[i].link);
        tendon_link_close(&links[i]);
    }
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        assert_int_equal(links[i].state, TENDON_LINK_CLOSED);
    }
    bluez_close(b);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)now;
    *(tendon_status *)context = reason;
}

static void attempts_end_with_the_reason_of_the_radio(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    tendon_link links[2];
    tendon_status reasons[2] = {TENDON_OK, TENDON_OK};
    for (size_t i = 0; i < 2; i++) {
        tendon_address peer = somebody;
        peer.bytes[5] = (uint8_t)i;
        tendon_link_init(&links[i], &(tendon_link_callbacks){.context = &reasons[i], .closed = on_closed});
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &links[i], &peer, UINT64_MAX), TENDON_OK);
    }
    static const uint8_t removed[] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 7, 0, 0, 0};
    assert_int_equal(send(b->kernel, removed, sizeof removed, 0), sizeof removed);
    bluez_read(b);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(b->failures, 1);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_NO_ADAPTER);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(reasons[i], TENDON_RADIO_ERROR_NO_ADAPTER);
        assert_int_equal(links[i].state, TENDON_LINK_CLOSED);
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &links[i], &somebody, UINT64_MAX),
                         TENDON_RADIO_ERROR_NO_ADAPTER);
    }
    const tendon_scan_parameters scan = {.active = true};
    const tendon_advertise_parameters advertise = {.length = 0};
    assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &scan), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &advertise), TENDON_RADIO_ERROR_NO_ADAPTER);
    bluez_tick(b, tendon_monotonic_ms() + 60000);
    assert_int_equal(b->failures, 1); /* once */
    assert_int_equal(b->radio.timer.deadline, UINT64_MAX);
    bluez_close(b);
}

/* The next radio may be opened before this one is closed: it must not find sockets that nobody uses. */
static void a_failed_radio_has_no_sockets(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    tendon_bluez_fail(&b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(b->radio.hci.fd, -1);
    assert_int_equal(b->radio.management.fd, -1);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(b->radio.leases[i], -1);
    }
    assert_int_equal(recv(b->controller, &(uint8_t){0}, 1, 0), 0);
    assert_int_equal(recv(b->kernel, &(uint8_t){0}, 1, 0), 0);
    bluez_close(b);
}

static void closes(void *context, tendon_status status, uint64_t now) {
    bluez_bench *b = context;
    (void)now;
    b->failures++;
    b->failure = status;
    tendon_radio_close(&b->radio.radio);
}

/* Two failures are to be reported: the owner closes the radio in the first callback. */
static void a_radio_that_is_closed_reports_nothing(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    b->radio.radio.report_context = b;
    b->radio.radio.on_failure = closes;
    b->radio.scan.activity.failure = TENDON_HCI_ERROR(0x0C);
    b->radio.advertising.activity.failure = TENDON_HCI_ERROR(0x0D);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failures, 1);
    assert_int_equal(b->failure, TENDON_HCI_ERROR(0x0C));
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_is_disabled),
        cmocka_unit_test(a_scan_that_is_a_discovery_is_disabled_once),
        cmocka_unit_test(advertising_is_disabled_and_its_set_removed),
        cmocka_unit_test(only_the_activity_in_flight_counts_as_enabled),
        cmocka_unit_test(a_failed_radio_sends_nothing),
        cmocka_unit_test(a_failed_radio_has_no_sockets),
        cmocka_unit_test(a_radio_that_is_closed_reports_nothing),
        cmocka_unit_test(nothing_is_left_open),
        cmocka_unit_test(unlisten_is_for_the_present_listener),
        cmocka_unit_test(an_attempt_does_not_outlive_its_radio),
        cmocka_unit_test(attempts_end_with_the_reason_of_the_radio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
