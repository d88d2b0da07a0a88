/* SPDX-License-Identifier: MIT */
#include "tendon/devices/obvious.h"

static bool recognizes(const uint8_t *data, size_t length) {
    return tendon_obvious_recognize(NULL, data, length);
}

const tendon_family tendon_obvious_family = {
    .name = "obvious",
    .title = "Obvious device",
    .brand = "Obvious",
    .summary = "features of devices with OGP/1",
    .recognizes = recognizes,
    .layer = TENDON_LAYER_OBVIOUS,
    .status_name = tendon_obvious_status_name,
    .status_text = tendon_obvious_status_text,
    .session_size = sizeof(tendon_obvious_session),
};
