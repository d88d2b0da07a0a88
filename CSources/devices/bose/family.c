/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose.h"

static bool recognizes(const uint8_t *data, size_t length) {
    return tendon_bose_recognize(data, length) != TENDON_BOSE_ADVERTISED_NOTHING;
}

const tendon_family tendon_bose_family = {
    .name = "bose",
    .alias = NULL,
    .title = "Bose wearable",
    .brand = "Bose",
    .summary = "motion sensors and gestures of Bose wearables",
    .recognizes = recognizes,
    .layer = TENDON_LAYER_BOSE,
    .status_name = tendon_bose_status_name,
    .status_text = tendon_bose_status_text,
    .session_size = sizeof(tendon_bose_session),
};
