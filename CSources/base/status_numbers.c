/* SPDX-License-Identifier: MIT */
#include "status_numbers.h"

#define NUMBER(layer, code) TENDON_LAYER_##layer * 256 + (code),
#define OWN(name, layer, code, text) NUMBER(layer, code)
#define ATT(code, name, text) NUMBER(ATT, code)
#define HCI(code, name, text) NUMBER(HCI, code)
#define MANAGEMENT(code, name, text) NUMBER(MANAGEMENT, code)
#define SYSTEM(name, text) NUMBER(SYSTEM, name)

const uint16_t tendon_status_numbers[] = {TENDON_STATUS_STRINGS(OWN, ATT, HCI, MANAGEMENT, SYSTEM)};
const size_t tendon_status_number_count = sizeof tendon_status_numbers / sizeof tendon_status_numbers[0];

const char *tendon_status_string(const char *strings, tendon_status status) {
    return tendon_packed_string(strings, tendon_status_numbers, tendon_status_number_count, 0u - (unsigned)status);
}
