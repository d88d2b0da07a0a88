/* SPDX-License-Identifier: MIT */
#include "tendon/devices/fjorden.h"

static bool recognizes(const uint8_t *data, size_t length) {
    return tendon_fjorden_recognize(NULL, data, length);
}

const tendon_family tendon_fjorden_family = {
    .name = "fjorden",
    .alias = "grip",
    .title = "Fjorden grip",
    .brand = "Fjorden",
    .summary = "buttons, lever and dial of Fjorden grips",
    .recognizes = recognizes,
    .layer = TENDON_LAYER_FJORDEN,
    .status_name = tendon_fjorden_status_name,
    .status_text = tendon_fjorden_status_text,
    .session_size = sizeof(tendon_fjorden_session),
};
