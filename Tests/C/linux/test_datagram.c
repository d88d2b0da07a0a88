/* SPDX-License-Identifier: MIT */
/* UDP on the loopback of IPv4 and IPv6: nothing blocks, and nobody who listens is no lost datagram. */
#include "test_bytes.h"

#include "tendon/linux/datagram.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct pair {
    int sender, receiver;
    uint16_t port;
} pair;

static pair open_pair(const char *address) {
    pair p = {-1, tendon_datagram_listen(address, 0), 0};
    assert_true(p.receiver >= 0);
    p.port = (uint16_t)tendon_datagram_port(p.receiver);
    assert_true(p.port > 0);
    p.sender = tendon_datagram_connect(address, p.port);
    assert_true(p.sender >= 0);
    return p;
}

static void close_pair(pair p) {
    tendon_datagram_close(p.sender);
    tendon_datagram_close(p.receiver);
}

static void round_trip(const char *address, const char *prefix) {
    pair p = open_pair(address);
    uint8_t out[64];
    char sender[TENDON_DATAGRAM_ADDRESS_SIZE];
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, sender), TENDON_ERROR_WOULD_BLOCK);
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"/a\0\0", 4), TENDON_OK);
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"", 0), TENDON_OK);
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, sender), 4);
    assert_hex(out, 4, "2f610000");
    assert_int_equal(strncmp(sender, prefix, strlen(prefix)), 0);
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, NULL), 0);
    /* one that is too long is gone, and said to be */
    assert_int_equal(tendon_datagram_send(p.sender, out, 64), TENDON_OK);
    assert_int_equal(tendon_datagram_receive(p.receiver, out, 63, NULL), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, NULL), TENDON_ERROR_WOULD_BLOCK);
    close_pair(p);
}

static void ipv4(void **state) {
    (void)state;
    round_trip("127.0.0.1", "127.0.0.1:");
}

static void ipv6(void **state) {
    (void)state;
    int probe = tendon_datagram_listen("::1", 0);
    if (probe == TENDON_SYSTEM_ERROR(EADDRNOTAVAIL) || probe == TENDON_SYSTEM_ERROR(EAFNOSUPPORT)) {
        skip(); /* a machine without IPv6 */
    }
    tendon_datagram_close(probe);
    round_trip("::1", "[::1]:");
}

/* As for several renderers of one network; the kernel refuses it to a socket that has not asked for it. */
static void broadcast(void **state) {
    (void)state;
    pair p = {-1, tendon_datagram_listen("0.0.0.0", 0), 0};
    assert_true(p.receiver >= 0);
    p.port = (uint16_t)tendon_datagram_port(p.receiver);
    p.sender = tendon_datagram_connect("127.255.255.255", p.port);
    assert_true(p.sender >= 0);
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"/a\0\0", 4), TENDON_OK);
    uint8_t out[8];
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, NULL), 4);
    close_pair(p);
}

/* ICMP reports the datagram before: the one that is being sent is not lost when somebody listens again. */
static void nobody_listens(void **state) {
    (void)state;
    pair p = open_pair("127.0.0.1");
    tendon_datagram_close(p.receiver);
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"1", 1), TENDON_OK);
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"2", 1), TENDON_SYSTEM_ERROR(ECONNREFUSED));
    p.receiver = tendon_datagram_listen("127.0.0.1", p.port);
    assert_true(p.receiver >= 0);
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"3", 1), TENDON_SYSTEM_ERROR(ECONNREFUSED));
    assert_int_equal(tendon_datagram_send(p.sender, (const uint8_t *)"4", 1), TENDON_OK);
    uint8_t out[4];
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, NULL), 1);
    assert_int_equal(out[0], '3');
    assert_int_equal(tendon_datagram_receive(p.receiver, out, sizeof out, NULL), 1);
    assert_int_equal(out[0], '4');
    close_pair(p);
}

/* A receiver that reads nothing: the sender does not wait for it. */
static void a_full_receiver(void **state) {
    (void)state;
    pair p = open_pair("127.0.0.1");
    static const uint8_t bytes[1024];
    for (unsigned i = 0; i < 5000; i++) {
        tendon_status status = tendon_datagram_send(p.sender, bytes, sizeof bytes);
        assert_true(status == TENDON_OK || status == TENDON_ERROR_WOULD_BLOCK);
    }
    close_pair(p);
}

/* The kernel has no room for another one; the loopback drops instead, so this is a pair of another family. */
static void a_full_socket_would_block(void **state) {
    (void)state;
    int ends[2];
    uint8_t out[8];
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
    tendon_status status = TENDON_OK;
    for (unsigned i = 0; i < 100000 && status == TENDON_OK; i++) {
        status = tendon_datagram_send(ends[0], (const uint8_t *)"1", 1);
    }
    assert_int_equal(status, TENDON_ERROR_WOULD_BLOCK);
    assert_int_equal(tendon_datagram_receive(ends[1], out, sizeof out, NULL), 1);
    assert_int_equal(tendon_datagram_send(ends[0], (const uint8_t *)"2", 1), TENDON_OK);
    close(ends[0]);
    close(ends[1]);
}

static void no_addresses(void **state) {
    (void)state;
    const char *const wrong[] = {"",          "localhost", "127.0.0.1:9000",    "127.0.0", "[::1]",
                                 "fe80::1%-", "::1%",      "127.0.0.1%no-such", "1.2.3.4 "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tendon_datagram_connect(wrong[i], 9000), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_datagram_listen(wrong[i], 9000), TENDON_ERROR_INVALID_ARGUMENT);
    }
    char endless[200];
    memset(endless, '1', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_int_equal(tendon_datagram_connect(endless, 9000), TENDON_ERROR_INVALID_ARGUMENT);
}

static void port_in_use(void **state) {
    (void)state;
    pair p = open_pair("127.0.0.1");
    assert_int_equal(tendon_datagram_listen("127.0.0.1", p.port), TENDON_SYSTEM_ERROR(EADDRINUSE));
    close_pair(p);
    assert_true(tendon_datagram_send(p.sender, NULL, 0) < 0); /* closed */
    assert_true(tendon_datagram_port(p.sender) < 0);
}

static void no_descriptor(void **state) {
    (void)state;
    struct rlimit limit, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    tendon_status connected = tendon_datagram_connect("127.0.0.1", 9), listening = tendon_datagram_listen("::1", 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(connected, TENDON_SYSTEM_ERROR(EMFILE));
    assert_int_equal(listening, TENDON_SYSTEM_ERROR(EMFILE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ipv4),
        cmocka_unit_test(ipv6),
        cmocka_unit_test(broadcast),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(a_full_receiver),
        cmocka_unit_test(a_full_socket_would_block),
        cmocka_unit_test(no_addresses),
        cmocka_unit_test(port_in_use),
        cmocka_unit_test(no_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
