/* SPDX-License-Identifier: MIT */
/* From what the kernel reports about an attempt to connect to the next connect(), or to the end of the connection. */
#include "bluez_connecting.h"
#include "tendon/linux/connection.h"

#include <errno.h>
#include <sys/socket.h>

/** How the kernel reports it. */
typedef enum way {
    SOCKET_ERROR, /**< SO_ERROR of the connecting socket alone */
    EVENT,        /**< the same, and the controller's event has the code */
    CALL          /**< connect() fails, of an attempt that had to wait for the end of the scan */
} way;

typedef struct row {
    int number;
    uint8_t code;
    bool retried;
    tendon_status reason;
} row;

/* The errno that Linux has for each code that a controller reports for a connection that it could not make,
 * bt_to_errno(). */
static const row rows[] = {
    {ENOTCONN, 0x02, true, TENDON_HCI_ERROR(0x02)},
    {EIO, 0x03, true, TENDON_HCI_ERROR(0x03)},
    {EHOSTDOWN, 0x04, true, TENDON_RADIO_ERROR_OUT_OF_RANGE},
    {EACCES, 0x05, false, TENDON_HCI_ERROR(0x05)},
    {ENOMEM, 0x07, false, TENDON_HCI_ERROR(0x07)},
    {ETIMEDOUT, 0x08, true, TENDON_RADIO_ERROR_OUT_OF_RANGE},
    {EMLINK, 0x09, false, TENDON_HCI_ERROR(0x09)},
    {EALREADY, 0x0B, true, TENDON_RADIO_ERROR_ADAPTER_BUSY},
    {EBUSY, 0x0C, true, TENDON_RADIO_ERROR_ADAPTER_BUSY},
    {ECONNREFUSED, 0x0D, true, TENDON_HCI_ERROR(0x0D)},
    {ECONNREFUSED, 0x0E, false, TENDON_HCI_ERROR(0x0E)},
    {ECONNREFUSED, 0x0F, false, TENDON_HCI_ERROR(0x0F)},
    {EINVAL, 0x12, false, TENDON_HCI_ERROR(0x12)},
    {ECONNRESET, 0x13, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {ECONNRESET, 0x14, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {ECONNRESET, 0x15, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {ECONNABORTED, 0x16, true, TENDON_HCI_ERROR(0x16)},
    {ENOSYS, 0x1F, false, TENDON_HCI_ERROR(0x1F)},
    {ENOSYS, 0x22, true, TENDON_HCI_ERROR(0x22)},
    {ENOSYS, 0x28, true, TENDON_HCI_ERROR(0x28)},
    {ENOSYS, 0x3A, true, TENDON_HCI_ERROR(0x3A)},
    {ENOSYS, 0x3B, false, TENDON_HCI_ERROR(0x3B)},
    {EHOSTDOWN, 0x3C, true, TENDON_RADIO_ERROR_OUT_OF_RANGE},
    {ENOSYS, 0x3D, false, TENDON_HCI_ERROR(0x3D)},
    {ENOSYS, 0x3E, true, TENDON_HCI_ERROR(0x3E)},
};

/* An errno alone: what it most likely means. */
static const row alone[] = {
    {ENOTCONN, 0, true, TENDON_HCI_ERROR(0x02)},
    {EIO, 0, true, TENDON_HCI_ERROR(0x03)},
    {EHOSTDOWN, 0, true, TENDON_RADIO_ERROR_OUT_OF_RANGE},
    {EACCES, 0, false, TENDON_RADIO_ERROR_PAIRING_FAILED},
    {ENOMEM, 0, false, TENDON_SYSTEM_ERROR(ENOMEM)},
    {ETIMEDOUT, 0, true, TENDON_RADIO_ERROR_OUT_OF_RANGE},
    {EMLINK, 0, false, TENDON_HCI_ERROR(0x09)},
    {EALREADY, 0, true, TENDON_RADIO_ERROR_ADAPTER_BUSY},
    {EBUSY, 0, true, TENDON_RADIO_ERROR_ADAPTER_BUSY},
    {ECONNREFUSED, 0, true, TENDON_HCI_ERROR(0x0D)},
    {ECONNRESET, 0, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {ECONNABORTED, 0, true, TENDON_HCI_ERROR(0x16)},
    {ENOSYS, 0, true, TENDON_HCI_ERROR(0x3E)},
    {EHOSTUNREACH, 0, false, TENDON_RADIO_ERROR_ADAPTER_DOWN},
    {ENETDOWN, 0, false, TENDON_RADIO_ERROR_ADAPTER_DOWN},
    {EPERM, 0, false, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
};

static tendon_connection connection;
static int closed;
static tendon_status closed_reason;

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    closed++;
    closed_reason = reason;
}

static void fails(bluez_bench *b, const row *r, way how) {
    bluez_connecting l = {.b = b};
    if (how == CALL) {
        return; /* it has */
    }
    if (how == EVENT) {
        static const uint8_t create[12] = {0x60, 0, 0x30, 0, 0, 0, 0x01, 0x53, 0x00, 0x5E, 0x00, 0x00};
        uint8_t packet[4 + 25] = {HCI_COMMAND_PKT, 0x0D, 0x20, 25};
        memcpy(packet + 4, create, sizeof create);
        assert_int_equal(send(b->controller, packet, sizeof packet, 0), (ssize_t)sizeof packet);
        bluez_read(b);
        bluez_connection_complete(&l, r->code, 0);
    }
    fake.refuse[FAKE_SOCKET_ERROR] = (fake_refusal){.number = r->number};
    connection.link.source.ready(connection.link.source.context, TENDON_WRITABLE, tendon_monotonic_ms());
    fake.refuse[FAKE_SOCKET_ERROR] = (fake_refusal){0};
}

static void follow(const row *r, way how, bool background) {
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    closed = 0;
    tendon_connection_init(&connection, &b->radio.radio, &bluez_peer, NULL,
                           &(tendon_connection_callbacks){.context = b, .closed = on_closed});
    connection.background = background;
    if (how == CALL) {
        fake.refuse[FAKE_CONNECT] = (fake_refusal){.number = r->number};
        fake.connection.state = r->reason == TENDON_RADIO_ERROR_DEVICE_IN_USE; /* BT_CONNECTED: it has a connection */
    }
    assert_int_equal(tendon_connection_connect(&connection), how == CALL && !r->retried ? r->reason : TENDON_OK);
    assert_int_equal(fake.connects, 1);
    fake.refuse[FAKE_CONNECT] = (fake_refusal){0};
    fails(b, r, how);
    for (int i = 0; i < 40 && fake.connects == 1 && closed == 0; i++) {
        assert_int_equal(tendon_loop_step(&b->loop, fake.now + 50), TENDON_OK);
    }
    assert_int_equal(connection.attempts[0].reason, r->reason);
    assert_int_equal(fake.connects, r->retried ? 2 : 1);
    assert_int_equal(closed, r->retried || how == CALL ? 0 : 1);
    if (closed > 0) {
        assert_int_equal(closed_reason, r->reason);
    }
    tendon_connection_close(&connection);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    }
    bluez_close(b);
}

static void what_the_controller_reports_is_retried_or_not(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        follow(&rows[i], EVENT, false);
        follow(&rows[i], EVENT, true);
    }
}

static void an_errno_alone_is_retried_or_not(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        follow(&alone[i], SOCKET_ERROR, false);
        follow(&alone[i], SOCKET_ERROR, true);
    }
}

/* The first connect() fails within the call that begins. */
static void a_first_connect_that_fails_is_retried_or_not(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        follow(&alone[i], CALL, false);
    }
    static const row in_use = {EBUSY, 0, false, TENDON_RADIO_ERROR_DEVICE_IN_USE};
    follow(&in_use, CALL, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_controller_reports_is_retried_or_not),
        cmocka_unit_test(an_errno_alone_is_retried_or_not),
        cmocka_unit_test(a_first_connect_that_fails_is_retried_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
