/* SPDX-License-Identifier: MIT */
#include "status_errno.h"
#include "status_lists.h"
#include "tendon/base/status.h"

#define OWN_CASE(name, layer, code, text)                                                                              \
    case TENDON_##name:                                                                                                \
        return #name;
#define ATT_CASE(code, name, text)                                                                                     \
    case code:                                                                                                         \
        return "ATT_" #name;
#define HCI_CASE(code, name, text)                                                                                     \
    case code:                                                                                                         \
        return "HCI_" #name;
#define MANAGEMENT_CASE(code, name, text)                                                                              \
    case code:                                                                                                         \
        return "MANAGEMENT_" #name;
#define SYSTEM_CASE(name, text)                                                                                        \
    case name:                                                                                                         \
        return "SYSTEM_" #name;

static const char *att_name(uint8_t code) {
    switch (code) {
        TENDON_ATT_CODE_LIST(ATT_CASE)
    default:
        return code >= 0x80 && code <= 0x9F ? "ATT_APPLICATION_ERROR" : "ATT_RESERVED_ERROR";
    }
}

static const char *hci_name(uint8_t code) {
    switch (code) {
        TENDON_HCI_CODE_LIST(HCI_CASE)
    default:
        return "HCI_ERROR";
    }
}

static const char *management_name(uint8_t code) {
    switch (code) {
        TENDON_MANAGEMENT_CODE_LIST(MANAGEMENT_CASE)
    default:
        return "MANAGEMENT_ERROR";
    }
}

static const char *system_name(uint8_t code) {
    switch (code) {
        TENDON_ERRNO_LIST(SYSTEM_CASE)
    default:
        return "SYSTEM_ERROR";
    }
}

/* What has no name of its own still tells whom to ask. */
static const char *layer_error_name(tendon_layer layer) {
    switch (layer) {
    case TENDON_LAYER_GATT:
        return "GATT_ERROR";
    case TENDON_LAYER_RADIO:
        return "RADIO_ERROR";
    case TENDON_LAYER_BOSE:
        return "BOSE_ERROR";
    case TENDON_LAYER_FEELSPACE:
        return "FEELSPACE_ERROR";
    case TENDON_LAYER_ACTIV5:
        return "ACTIV5_ERROR";
    case TENDON_LAYER_FJORDEN:
        return "FJORDEN_ERROR";
    case TENDON_LAYER_OBVIOUS:
        return "OBVIOUS_ERROR";
    default:
        return "UNKNOWN_ERROR";
    }
}

const char *tendon_status_name(tendon_status status) {
    if (status >= 0) {
        return "OK";
    }
    uint8_t code = TENDON_STATUS_CODE(status);
    switch (TENDON_STATUS_LAYER(status)) {
    case TENDON_LAYER_ATT:
        return att_name(code);
    case TENDON_LAYER_HCI:
        return hci_name(code);
    case TENDON_LAYER_L2CAP:
        return "L2CAP_ERROR"; /* the kernel speaks errno for it, so that its results are rare */
    case TENDON_LAYER_MANAGEMENT:
        return management_name(code);
    case TENDON_LAYER_SYSTEM:
        return system_name(code);
    default:
        break;
    }
    switch (status) {
        TENDON_STATUS_LIST(OWN_CASE)
    default:
        return layer_error_name(TENDON_STATUS_LAYER(status));
    }
}

const char *tendon_status_layer_name(tendon_status status) {
    static const char *const names[] = {"base",  "ATT",  "HCI",       "L2CAP",  "management", "GATT",
                                        "radio", "Bose", "feelSpace", "Activ5", "Fjorden",    "Obvious"};
    uint32_t layer = status < 0 ? (uint32_t)TENDON_STATUS_LAYER(status) : 0;
    if (layer < sizeof(names) / sizeof(names[0])) {
        return names[layer];
    }
    return layer == TENDON_LAYER_SYSTEM ? "system" : "unknown";
}
