/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"

const char *tendon_packed_string(const char *strings, const uint16_t *numbers, size_t count, unsigned number) {
    for (size_t i = 0; i < count; i++) {
        if (number == (numbers == NULL ? i : numbers[i])) {
            return strings;
        }
        while (*strings++ != '\0') {
        }
    }
    return NULL;
}
