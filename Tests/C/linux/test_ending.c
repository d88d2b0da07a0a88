/* SPDX-License-Identifier: MIT */
/* Why a connection ended: one reason for each status, and one text for each reason. */
#include "tendon/linux/ending.h"

#include "test_bytes.h"

/* HCI error codes: Core Specification, Vol 1 Part F, 1.3. */
static tendon_ending expected_of_code(unsigned code) {
    switch (code) {
    case 0x13:
    case 0x14:
    case 0x15:
        return TENDON_ENDING_DEVICE_DISCONNECTED;
    case 0x16:
        return TENDON_ENDING_REQUESTED;
    case 0x05:
    case 0x06:
    case 0x29:
    case 0x3D:
        return TENDON_ENDING_PAIRING_FAILED;
    default:
        return TENDON_ENDING_CONNECTION_LOST;
    }
}

static void every_code_of_a_controller(void **state) {
    (void)state;
    for (unsigned code = 0; code <= 0xFF; code++) {
        assert_int_equal(tendon_ending_of(TENDON_HCI_ERROR(code)), expected_of_code(code));
    }
}

static void statuses_of_each_layer(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        tendon_ending ending;
    } rows[] = {
        {TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_ENDING_DEVICE_DISCONNECTED},
        {TENDON_RADIO_ERROR_OUT_OF_RANGE, TENDON_ENDING_CONNECTION_LOST},
        {TENDON_RADIO_ERROR_PAIRING_FAILED, TENDON_ENDING_PAIRING_FAILED},
        {TENDON_RADIO_ERROR_NO_PAIRING_SERVICE, TENDON_ENDING_PAIRING_FAILED},
        {TENDON_RADIO_ERROR_PAIRING_TOO_WEAK, TENDON_ENDING_PAIRING_FAILED},
        {TENDON_RADIO_ERROR_IDENTITY_TAKEN, TENDON_ENDING_PAIRING_FAILED},
        {TENDON_RADIO_ERROR_NOT_SECURE, TENDON_ENDING_PAIRING_FAILED},
        {TENDON_RADIO_ERROR_OTHER_BOND_STORE, TENDON_ENDING_PAIRING_FAILED},
        {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_ENDING_RADIO_FAILED},
        {TENDON_RADIO_ERROR_RFKILL, TENDON_ENDING_RADIO_FAILED},
        {TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_ENDING_RADIO_FAILED},
        {TENDON_ERROR_CANCELLED, TENDON_ENDING_REQUESTED},
        {TENDON_ERROR_DISCONNECTED, TENDON_ENDING_CONNECTION_LOST},
        {TENDON_ERROR_TIMEOUT, TENDON_ENDING_PROTOCOL_ERROR},
        {TENDON_ATT_ERROR(0x0E), TENDON_ENDING_PROTOCOL_ERROR},
        {TENDON_STATUS(TENDON_LAYER_L2CAP, 2), TENDON_ENDING_PROTOCOL_ERROR},
        {TENDON_STATUS(TENDON_LAYER_MANAGEMENT, 0x0F), TENDON_ENDING_RADIO_FAILED},
        {TENDON_STATUS(TENDON_LAYER_GATT, 1), TENDON_ENDING_PROTOCOL_ERROR},
        {TENDON_STATUS(TENDON_LAYER_FAMILY_FIRST, 1), TENDON_ENDING_PROTOCOL_ERROR},
        {TENDON_STATUS(TENDON_LAYER_FAMILY_LAST, 1), TENDON_ENDING_PROTOCOL_ERROR},
        {TENDON_SYSTEM_ERROR(104), TENDON_ENDING_CONNECTION_LOST},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(tendon_ending_of(rows[i].status), rows[i].ending);
    }
}

static void a_name_and_a_text_for_each_reason(void **state) {
    (void)state;
    static const char *const rows[TENDON_ENDING_COUNT][2] = {
        {"requested", "the program ended the connection"},
        {"device_disconnected", "the device ended the connection"},
        {"connection_lost", "the connection was lost"},
        {"pairing_failed", "pairing or encryption failed"},
        {"protocol_error", "the device did not respond in time, or violated its protocol"},
        {"radio_failed", "the adapter was removed or powered off"},
    };
    for (unsigned i = 0; i < TENDON_ENDING_COUNT; i++) {
        assert_string_equal(tendon_ending_name((tendon_ending)i), rows[i][0]);
        assert_string_equal(tendon_ending_text((tendon_ending)i), rows[i][1]);
    }
    assert_string_equal(tendon_ending_name(TENDON_ENDING_COUNT), "unknown");
    assert_string_equal(tendon_ending_text(TENDON_ENDING_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_of_a_controller),
        cmocka_unit_test(statuses_of_each_layer),
        cmocka_unit_test(a_name_and_a_text_for_each_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
