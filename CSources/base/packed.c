/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"

#include <string.h>

size_t tendon_string_length(const char *string) {
    size_t length = 0;
    while (string[length] != '\0') {
        length++;
    }
    return length;
}

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

const char *tendon_packed_name(const char *strings, size_t count, unsigned number) {
    const char *name = tendon_packed_string(strings, NULL, count, number);
    return name != NULL ? name : "unknown";
}

int tendon_packed_index(const char *strings, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; i++) {
        size_t known = tendon_string_length(strings);
        if (known == length && memcmp(strings, name, length) == 0) {
            return (int)i;
        }
        strings += known + 1;
    }
    return -1;
}

const char *tendon_packed_status(const char *strings, const uint16_t *numbers, size_t count, tendon_status status,
                                 const char *(*others)(tendon_status status)) {
    const char *found = tendon_packed_string(strings, numbers, count, 0u - (unsigned)status);
    return found != NULL ? found : others(status);
}
