/* SPDX-License-Identifier: MIT */
#include "tendon/linux/ending.h"

#include "tendon/base/packed.h"

/* Error codes of the Core Specification, Vol 1 Part F, 1.3. */
static tendon_ending ending_of_code(uint8_t code) {
    switch (code) {
    case 0x13: /* Remote User Terminated Connection */
    case 0x14: /* Remote Device Terminated Connection due to Low Resources */
    case 0x15: /* Remote Device Terminated Connection due to Power Off */
        return TENDON_ENDING_DEVICE_DISCONNECTED;
    case 0x16: /* Connection Terminated by Local Host */
        return TENDON_ENDING_REQUESTED;
    case 0x05: /* Authentication Failure */
    case 0x06: /* PIN or Key Missing */
    case 0x29: /* Pairing with Unit Key Not Supported */
    case 0x3D: /* Connection Terminated due to MIC Failure */
        return TENDON_ENDING_PAIRING_FAILED;
    default:
        return TENDON_ENDING_CONNECTION_LOST;
    }
}

static tendon_ending ending_of_radio(tendon_status status) {
    switch (status) {
    case TENDON_RADIO_ERROR_PEER_CLOSED:
        return TENDON_ENDING_DEVICE_DISCONNECTED;
    case TENDON_RADIO_ERROR_PAIRING_FAILED:
    case TENDON_RADIO_ERROR_NO_PAIRING_SERVICE:
    case TENDON_RADIO_ERROR_PAIRING_TOO_WEAK:
    case TENDON_RADIO_ERROR_IDENTITY_TAKEN:
    case TENDON_RADIO_ERROR_NOT_SECURE:
    case TENDON_RADIO_ERROR_OTHER_BOND_STORE:
        return TENDON_ENDING_PAIRING_FAILED;
    case TENDON_RADIO_ERROR_OUT_OF_RANGE:
        return TENDON_ENDING_CONNECTION_LOST;
    default:
        return TENDON_ENDING_RADIO_FAILED;
    }
}

tendon_ending tendon_ending_of(tendon_status status) {
    if (status == TENDON_ERROR_CANCELLED) {
        return TENDON_ENDING_REQUESTED;
    }
    if (status == TENDON_ERROR_DISCONNECTED) { /* a belt that is switched off says so, then the session ends */
        return TENDON_ENDING_CONNECTION_LOST;
    }
    switch (TENDON_STATUS_LAYER(status)) {
    case TENDON_LAYER_RADIO:
        return ending_of_radio(status);
    case TENDON_LAYER_HCI:
        return ending_of_code((uint8_t)TENDON_STATUS_CODE(status));
    case TENDON_LAYER_SYSTEM:
        return TENDON_ENDING_CONNECTION_LOST;
    case TENDON_LAYER_MANAGEMENT:
        return TENDON_ENDING_RADIO_FAILED;
    default:
        return TENDON_ENDING_PROTOCOL_ERROR;
    }
}

const char *tendon_ending_name(tendon_ending ending) {
    return tendon_packed_name(
        "requested\0device_disconnected\0connection_lost\0pairing_failed\0protocol_error\0radio_failed",
        TENDON_ENDING_COUNT, ending);
}

const char *tendon_ending_text(tendon_ending ending) {
    return tendon_packed_name("the program ended the connection\0"
                              "the device ended the connection\0"
                              "the connection was lost\0"
                              "pairing or encryption failed\0"
                              "the device did not respond in time, or violated its protocol\0"
                              "the adapter was removed or powered off",
                              TENDON_ENDING_COUNT, ending);
}
