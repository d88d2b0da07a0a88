/* SPDX-License-Identifier: MIT */
#include "names.h"

tendon_status tendon_fjorden_decode_battery(const uint8_t *data, size_t length) {
    if (length != 1) {
        return TENDON_FJORDEN_ERROR_LENGTH;
    }
    return data[0] > 100 ? TENDON_FJORDEN_ERROR_RANGE : data[0];
}
