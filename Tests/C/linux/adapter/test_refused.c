/* SPDX-License-Identifier: MIT */
/* System calls that fail: what was opened is closed, who waits is notified, and the next attempt works. */
#include "../open_files.h"
#include "bluez_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const tendon_address somebody = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC};

static void a_connect_that_fails_leaves_nothing(void **state) {
    (void)state;
    static const struct {
        fake_refusal *call;
        int number;
        tendon_status expected;
    } cases[] = {
        {&fake.refuse[FAKE_SOCKET], EMFILE, TENDON_SYSTEM_ERROR(EMFILE)},
        {&fake.refuse[FAKE_SOCKET], EAFNOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
        {&fake.refuse[FAKE_BIND], EADDRINUSE, TENDON_SYSTEM_ERROR(EADDRINUSE)},
        {&fake.refuse[FAKE_BIND], ENODEV, TENDON_RADIO_ERROR_NO_ADAPTER},
        {&fake.refuse[FAKE_CONNECT], EHOSTUNREACH, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {&fake.refuse[FAKE_CONNECT], ENETDOWN, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {&fake.refuse[FAKE_CONNECT], EBUSY,
         TENDON_RADIO_ERROR_DEVICE_IN_USE}, /* this kernel has a connection to each device */
        {&fake.refuse[FAKE_CONNECT], EALREADY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {&fake.refuse[FAKE_CONNECT], EMLINK, TENDON_HCI_ERROR(0x09)},
        {&fake.refuse[FAKE_CONNECT], ECONNREFUSED, TENDON_HCI_ERROR(0x0D)},
        {&fake.refuse[FAKE_CONNECT], ECONNABORTED, TENDON_HCI_ERROR(0x16)},
        {&fake.refuse[FAKE_CONNECT], ENOTCONN, TENDON_HCI_ERROR(0x02)},
        {&fake.refuse[FAKE_CONNECT], ENOSYS, TENDON_HCI_ERROR(0x3E)},
        {&fake.refuse[FAKE_CONNECT], EACCES, TENDON_RADIO_ERROR_PAIRING_FAILED},
        {&fake.refuse[FAKE_EPOLL], ENOSPC, TENDON_SYSTEM_ERROR(ENOSPC)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_link link;
        tendon_link_init(&link, NULL);
        int before = open_descriptors();
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &link, &somebody, UINT64_MAX), cases[i].expected);
        assert_int_equal(link.state, TENDON_LINK_CLOSED);
        assert_null(b->radio.attempts[0].link);
        assert_null(b->radio.radio.links);
        fake_run();
        assert_int_equal(open_descriptors(), before);
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &link, &somebody, UINT64_MAX), TENDON_OK);
        tendon_link_close(&link);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        bluez_close(b);
    }
}

static void a_listener_that_fails_leaves_nothing(void **state) {
    (void)state;
    static const struct {
        fake_refusal *call;
        int number;
        tendon_status expected;
    } cases[] = {
        {&fake.refuse[FAKE_SOCKET], EMFILE, TENDON_SYSTEM_ERROR(EMFILE)},
        {&fake.refuse[FAKE_BIND], EADDRINUSE, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {&fake.refuse[FAKE_BIND], EACCES, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
        {&fake.refuse[FAKE_LISTEN], EADDRINUSE, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {&fake.refuse[FAKE_EPOLL], ENOMEM, TENDON_SYSTEM_ERROR(ENOMEM)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_listener listener = {.accept = NULL};
        int before = open_descriptors();
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_bluez_listen(&b->radio.radio, &listener), cases[i].expected);
        fake_run();
        assert_int_equal(open_descriptors(), before);
        assert_null(b->radio.radio.listener);
        assert_int_equal(tendon_bluez_listen(&b->radio.radio, &listener), TENDON_OK);
        assert_int_equal(tendon_bluez_listen(&b->radio.radio, &listener), TENDON_RADIO_ERROR_ALREADY_STARTED);
        tendon_bluez_unlisten(&b->radio.radio, &listener);
        bluez_close(b);
    }
}

typedef struct owner {
    tendon_link link;
    int accepts, connected, closed;
    tendon_status reason;
    tendon_address peer;
} owner;

static void owner_connected(void *context, uint64_t now) {
    (void)now;
    ((owner *)context)->connected++;
}

static void owner_closed(void *context, tendon_status reason, uint64_t now) {
    owner *o = context;
    (void)now;
    o->closed++;
    o->reason = reason;
}

static tendon_link *take(void *context, const tendon_address *peer, uint64_t now) {
    owner *o = context;
    (void)now;
    assert_int_equal(peer->type, TENDON_ADDRESS_TYPE_RANDOM);
    o->accepts++;
    tendon_link_init(&o->link,
                     &(tendon_link_callbacks){.context = o, .connected = owner_connected, .closed = owner_closed});
    return &o->link;
}

static tendon_link *reject(void *context, const tendon_address *peer, uint64_t now) {
    owner *o = context;
    (void)now;
    o->accepts++;
    o->peer = *peer;
    return NULL;
}

static bluez_bench *listening(owner *o, tendon_listener *listener,
                              tendon_link *(*accept)(void *, const tendon_address *, uint64_t)) {
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    *o = (owner){.accepts = 0};
    *listener = (tendon_listener){.context = o, .accept = accept};
    assert_int_equal(tendon_radio_listen(&b->radio.radio, listener), TENDON_OK);
    return b;
}

/* p9: the owner has given the link away, so it is notified that it has ended. */
static void a_central_that_the_loop_cannot_watch_is_closed(void **state) {
    (void)state;
    owner o;
    tendon_listener listener;
    bluez_bench *b = listening(&o, &listener, take);
    for (int i = 1; i <= 5; i++) {
        fake.centrals = 1;
        fake.refuse[FAKE_EPOLL] = (fake_refusal){.number = ENOSPC};
        listener.source.ready(listener.source.context, TENDON_READABLE, tendon_monotonic_ms());
        assert_int_equal(o.accepts, i);
        assert_int_equal(fake.refuse[FAKE_EPOLL].number, 0);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(o.closed, 1);
        assert_int_equal(o.reason, TENDON_SYSTEM_ERROR(ENOSPC));
        assert_int_equal(o.link.state, TENDON_LINK_CLOSED);
        assert_null(b->radio.radio.links);
        o.closed = 0;
    }
    fake.centrals = 1;
    listener.source.ready(listener.source.context, TENDON_READABLE, tendon_monotonic_ms());
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(o.connected, 1);
    tendon_link_close(&o.link);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
}

static void a_central_that_the_owner_rejects_is_closed(void **state) {
    (void)state;
    owner o;
    tendon_listener listener;
    bluez_bench *b = listening(&o, &listener, reject);
    int before = open_descriptors();
    fake.centrals = 3;
    listener.source.ready(listener.source.context, TENDON_READABLE, tendon_monotonic_ms());
    assert_int_equal(o.accepts, 3);
    static const tendon_address central = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_RANDOM};
    assert_true(tendon_address_equal(&o.peer, &central));
    fake_run();
    assert_int_equal(open_descriptors(), before);
    bluez_close(b);
}

static void a_listener_without_descriptors_pauses(void **state) {
    (void)state;
    static const int pauses[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
        owner o;
        tendon_listener listener;
        bluez_bench *b = listening(&o, &listener, take);
        fake.centrals = 1;
        fake.refuse[FAKE_ACCEPT] = (fake_refusal){.number = pauses[i]};
        listener.source.ready(listener.source.context, TENDON_READABLE, 1000);
        assert_int_equal(o.accepts, 0);
        assert_int_equal(listener.source.interest, 0); /* else the loop would spin */
        assert_int_equal(listener.source.deadline, 1100);
        listener.source.expired(listener.source.context, 1100);
        assert_int_equal(listener.source.interest, TENDON_READABLE);
        assert_int_equal(listener.source.deadline, UINT64_MAX);
        listener.source.ready(listener.source.context, TENDON_READABLE, 1100);
        assert_int_equal(o.accepts, 1);
        tendon_link_close(&o.link);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        bluez_close(b);
    }
    static const struct {
        int number;
        uint32_t interest;
    } others[] = {{EINTR, TENDON_READABLE}, {ECONNABORTED, TENDON_READABLE}, {ENETDOWN, 0}, {EBADF, 0}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        owner o;
        tendon_listener listener;
        bluez_bench *b = listening(&o, &listener, take);
        fake.refuse[FAKE_ACCEPT] = (fake_refusal){.number = others[i].number};
        listener.source.ready(listener.source.context, TENDON_READABLE, 1000);
        assert_int_equal(listener.source.interest, others[i].interest);
        assert_int_equal(listener.source.deadline, UINT64_MAX);
        bluez_close(b);
    }
}

static void a_channel_socket_that_fails(void **state) {
    (void)state;
    static const struct {
        fake_refusal *call;
        int number;
        tendon_status expected;
    } cases[] = {
        {&fake.refuse[FAKE_SOCKET], EAFNOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
        {&fake.refuse[FAKE_SOCKET], EPERM, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
        {&fake.refuse[FAKE_BIND], EINVAL, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT}, /* a kernel without this channel */
        {&fake.refuse[FAKE_BIND], EUSERS, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {&fake.refuse[FAKE_BIND], ERFKILL, TENDON_RADIO_ERROR_RFKILL},
    };
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int before = open_descriptors();
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_bluez_channel_socket(7, HCI_CHANNEL_RAW), cases[i].expected);
        fake_run();
        assert_int_equal(open_descriptors(), before);
        tendon_bluez_adapter adapter;
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_bluez_list(&adapter, 1), cases[i].expected);
        cases[i].call->number = cases[i].number;
        static tendon_bluez_radio radio;
        assert_int_equal(tendon_bluez_open(&radio, &b->loop, "hci0"), cases[i].expected);
        tendon_bluez_limits limits;
        cases[i].call->number = cases[i].number;
        assert_int_equal(tendon_bluez_read_limits(0, &limits), cases[i].expected);
        fake_run();
        assert_int_equal(open_descriptors(), before);
    }
    bluez_close(b);
}

/* Without CAP_NET_RAW the kernel silently removes bits of the filter: LE events would never arrive. */
static void mal_F13_a_filter_that_the_kernel_did_not_keep(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_int_equal(tendon_bluez_set_filter(b->radio.hci.fd), TENDON_OK);
    struct hci_filter filter;
    socklen_t size = sizeof filter;
    assert_int_equal(getsockopt(b->radio.hci.fd, SOL_HCI, HCI_FILTER, &filter, &size), 0);
    assert_int_equal(filter.type_mask, 1u << HCI_EVENT_PKT | 1u << HCI_COMMAND_PKT);
    /* LE Meta, 0x3E: its bit is in the second word. */
    assert_true((filter.event_mask[1] & UINT32_C(1) << (TENDON_HCI_LE_META - 32)) != 0);
    fake.refuse[FAKE_SET_FILTER] = (fake_refusal){.number = EPERM};
    assert_int_equal(tendon_bluez_set_filter(b->radio.hci.fd), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    fake.refuse[FAKE_GET_FILTER] = (fake_refusal){.number = EINVAL};
    assert_int_equal(tendon_bluez_set_filter(b->radio.hci.fd), TENDON_SYSTEM_ERROR(EINVAL));
    for (int word = 0; word < 3; word++) {
        fake.filter_loses = word + 1;
        assert_int_equal(tendon_bluez_set_filter(b->radio.hci.fd), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    }
    bluez_close(b);
}

static void a_management_command_that_is_not_sent(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    uint8_t reply[4];
    const uint8_t kinds = 6;
    fake.refuse[FAKE_SEND] = (fake_refusal){.number = EPIPE};
    assert_int_equal(tendon_bluez_manage(b->radio.management.fd, 3, 7, NULL, 0, reply, sizeof reply),
                     TENDON_RADIO_ERROR_NO_ADAPTER);
    fake.refuse[FAKE_SEND] = (fake_refusal){.number = EAGAIN};
    assert_int_equal(tendon_bluez_management_send(&b->radio, TENDON_MANAGEMENT_STOP_DISCOVERY, &kinds, 1),
                     TENDON_SYSTEM_ERROR(EAGAIN));
    bluez_close(b);
}

/* Stop Discovery cannot be sent: the connect does not wait for it. */
static void a_discovery_that_cannot_be_stopped_holds_nothing_up(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    static const uint8_t discovering[] = {TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 2, 0, 6, 1};
    tendon_link link;
    tendon_link_init(&link, NULL);
    assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &(tendon_scan_parameters){.active = true}), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(send(b->kernel, discovering, sizeof discovering, 0), sizeof discovering);
    bluez_read(b);
    fake.refuse[FAKE_SEND] = (fake_refusal){.number = ENOBUFS};
    assert_int_equal(tendon_radio_connect(&b->radio.radio, &link, &somebody, UINT64_MAX), TENDON_OK);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    assert_int_equal(fake.connects, 1);
    tendon_link_close(&link);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
}

/* ---- receive buffers ---- */

static void receive_buffers_share_the_memory_of_the_machine(void **state) {
    (void)state;
    enum { KIB = 1024, MIB = 1024 * 1024 };
    static const struct {
        uint64_t memory;
        size_t sockets;
        uint32_t size;
    } cases[] = {
        {64ull * MIB, 1, 4 * MIB},      {64ull * MIB, 4, MIB},      {64ull * MIB, 20, 4 * MIB / 20},
        {64ull * MIB, 1000, 128 * KIB}, {512ull * MIB, 1, 8 * MIB}, {512ull * MIB, 20, 32 * MIB / 20},
        {4096ull * MIB, 20, 8 * MIB},   {0, 1, 128 * KIB},          {64ull * MIB, 0, 4 * MIB},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tendon_bluez_buffer_size(cases[i].memory, cases[i].sockets), cases[i].size);
    }
    /* 20 connections of a router with 64 MB: not more than its part, the raw HCI socket not counted. */
    assert_true(20ull * tendon_bluez_buffer_size(64ull * MIB, 20) <= 64ull * MIB / 16);
    assert_int_equal(tendon_bluez_memory(), 64ull * MIB);
    fake_start();
    fake.refuse[FAKE_SYSINFO] = (fake_refusal){.number = EFAULT};
    assert_int_equal(tendon_bluez_memory(), 0);
    fake_end();
}

static void each_further_connection_makes_the_buffers_smaller(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link links[4];
    for (int i = 0; i < 4; i++) {
        tendon_address peer = somebody;
        peer.bytes[5] = (uint8_t)i;
        tendon_link_init(&links[i], NULL);
        fake.counts[FAKE_FORCE_BUFFER] = fake.counts[FAKE_SET_BUFFER] = 0;
        fake.refuse[FAKE_FORCE_BUFFER] = (fake_refusal){.number = i == 3 ? EPERM : 0, .after = i == 3 ? 3 : 0};
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &links[i], &peer, UINT64_MAX), TENDON_OK);
        assert_int_equal(fake.counts[FAKE_FORCE_BUFFER], i + 1);  /* those of the others as well */
        assert_int_equal(fake.buffer, 2 * 1024 * 1024 / (i + 1)); /* the kernel doubles it: 4 MiB for all */
        assert_int_equal(fake.counts[FAKE_SET_BUFFER], i == 3);   /* without CAP_NET_ADMIN */
    }
    for (int i = 0; i < 4; i++) {
        tendon_link_close(&links[i]);
    }
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connect_that_fails_leaves_nothing),
        cmocka_unit_test(a_listener_that_fails_leaves_nothing),
        cmocka_unit_test(a_central_that_the_loop_cannot_watch_is_closed),
        cmocka_unit_test(a_central_that_the_owner_rejects_is_closed),
        cmocka_unit_test(a_listener_without_descriptors_pauses),
        cmocka_unit_test(a_channel_socket_that_fails),
        cmocka_unit_test(mal_F13_a_filter_that_the_kernel_did_not_keep),
        cmocka_unit_test(a_management_command_that_is_not_sent),
        cmocka_unit_test(a_discovery_that_cannot_be_stopped_holds_nothing_up),
        cmocka_unit_test(receive_buffers_share_the_memory_of_the_machine),
        cmocka_unit_test(each_further_connection_makes_the_buffers_smaller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
