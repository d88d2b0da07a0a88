/* SPDX-License-Identifier: MIT */
#include "status_numbers.h"

#define OWN(name, layer, code, text) text "\0"
#define CODE(code, name, text) text "\0"
#define SYSTEM(name, text) text "\0"

static const char texts[] = TENDON_STATUS_STRINGS(OWN, CODE, CODE, CODE, SYSTEM);

/* Of a code that this version does not know. */
static const char *layer_text(tendon_layer layer, uint8_t code) {
    switch (layer) {
    case TENDON_LAYER_ATT:
        return code >= 0x80 && code <= 0x9F ? "an error of the device's own, see its code"
                                            : "an ATT error that this version does not know";
    case TENDON_LAYER_HCI:
        return "an HCI error that this version does not know";
    case TENDON_LAYER_L2CAP:
        return "an L2CAP error that this version does not know";
    case TENDON_LAYER_MANAGEMENT:
        return "a management status that this version does not know";
    case TENDON_LAYER_SYSTEM:
        return "a system error that this version does not know";
    default:
        return "an error of a device family's layer, see its code";
    }
}

const char *tendon_status_text(tendon_status status) {
    if (status >= 0) {
        return "success";
    }
    const char *text = tendon_status_string(texts, status);
    return text != NULL ? text : layer_text(TENDON_STATUS_LAYER(status), TENDON_STATUS_CODE(status));
}
