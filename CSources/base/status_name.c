/* SPDX-License-Identifier: MIT */
#include "status_numbers.h"

#define OWN(name, layer, code, text) #name "\0"
#define ATT(code, name, text) "ATT_" #name "\0"
#define HCI(code, name, text) "HCI_" #name "\0"
#define MANAGEMENT(code, name, text) "MANAGEMENT_" #name "\0"
#define SYSTEM(name, text) "SYSTEM_" #name "\0"

static const char names[] = TENDON_STATUS_STRINGS(OWN, ATT, HCI, MANAGEMENT, SYSTEM);

static bool is_family(tendon_layer layer) {
    return layer >= TENDON_LAYER_FAMILY_FIRST && layer <= TENDON_LAYER_FAMILY_LAST;
}

/* A code without a name is shown with its layer. L2CAP results are rare, because the kernel reports L2CAP errors as
 * errno values. */
static const char *layer_error_name(tendon_layer layer) {
    static const uint16_t layers[] = {TENDON_LAYER_ATT,        TENDON_LAYER_HCI,  TENDON_LAYER_L2CAP,
                                      TENDON_LAYER_MANAGEMENT, TENDON_LAYER_GATT, TENDON_LAYER_RADIO,
                                      TENDON_LAYER_SYSTEM};
    const char *name = tendon_packed_string("ATT_RESERVED_ERROR\0HCI_ERROR\0L2CAP_ERROR\0MANAGEMENT_ERROR\0GATT_ERROR\0"
                                            "RADIO_ERROR\0SYSTEM_ERROR",
                                            layers, sizeof layers / sizeof layers[0], layer);
    return name != NULL ? name : is_family(layer) ? "FAMILY_ERROR" : "UNKNOWN_ERROR";
}

const char *tendon_status_name(tendon_status status) {
    if (status >= 0) {
        return "OK";
    }
    const char *name = tendon_status_string(names, status);
    if (name != NULL) {
        return name;
    }
    uint8_t code = TENDON_STATUS_CODE(status);
    tendon_layer layer = TENDON_STATUS_LAYER(status);
    return layer == TENDON_LAYER_ATT && code >= 0x80 && code <= 0x9F ? "ATT_APPLICATION_ERROR"
                                                                     : layer_error_name(layer);
}

const char *tendon_status_layer_name(tendon_status status) {
    tendon_layer layer = status < 0 ? TENDON_STATUS_LAYER(status) : TENDON_LAYER_BASE;
    if (layer == TENDON_LAYER_SYSTEM) {
        return "system";
    }
    return is_family(layer)
               ? "family"
               : tendon_packed_name("base\0ATT\0HCI\0L2CAP\0management\0GATT\0radio", TENDON_LAYER_RADIO + 1, layer);
}
