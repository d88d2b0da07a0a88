/* SPDX-License-Identifier: MIT */
#include "status_errno.h"
#include "status_lists.h"
#include "tendon/base/status.h"

#define OWN_CASE(name, layer, code, text)                                                                              \
    case TENDON_##name:                                                                                                \
        return text;
#define CODE_CASE(code, name, text)                                                                                    \
    case code:                                                                                                         \
        return text;
#define SYSTEM_CASE(name, text)                                                                                        \
    case name:                                                                                                         \
        return text;

static const char *att_text(uint8_t code) {
    switch (code) {
        TENDON_ATT_CODE_LIST(CODE_CASE)
    default:
        return code >= 0x80 && code <= 0x9F ? "an error of the device's own, see its code"
                                            : "an ATT error that this version does not know";
    }
}

static const char *hci_text(uint8_t code) {
    switch (code) {
        TENDON_HCI_CODE_LIST(CODE_CASE)
    default:
        return "an HCI error that this version does not know";
    }
}

static const char *management_text(uint8_t code) {
    switch (code) {
        TENDON_MANAGEMENT_CODE_LIST(CODE_CASE)
    default:
        return "a management status that this version does not know";
    }
}

static const char *system_text(uint8_t code) {
    switch (code) {
        TENDON_ERRNO_LIST(SYSTEM_CASE)
    default:
        return "a system error, see its number";
    }
}

const char *tendon_status_text(tendon_status status) {
    if (status >= 0) {
        return "success";
    }
    uint8_t code = TENDON_STATUS_CODE(status);
    switch (TENDON_STATUS_LAYER(status)) {
    case TENDON_LAYER_ATT:
        return att_text(code);
    case TENDON_LAYER_HCI:
        return hci_text(code);
    case TENDON_LAYER_L2CAP:
        return "an L2CAP error, see its code";
    case TENDON_LAYER_MANAGEMENT:
        return management_text(code);
    case TENDON_LAYER_SYSTEM:
        return system_text(code);
    default:
        break;
    }
    switch (status) {
        TENDON_STATUS_LIST(OWN_CASE)
    default:
        return "an error of a device family's layer, see its code";
    }
}
