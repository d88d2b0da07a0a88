/* SPDX-License-Identifier: MIT */
#include "tendon/devices/feelspace.h"

static bool recognizes(const uint8_t *data, size_t length) {
    return tendon_feelspace_is_belt(tendon_feelspace_recognize(data, length));
}

/* The UUIDs of belts and of other products with the same module, without a name so far. */
static bool awaits_name(const uint8_t *data, size_t length) {
    tendon_ad_structure name;
    return tendon_feelspace_recognize(data, length) != 0 && !tendon_ad_find_name(data, length, &name);
}

const tendon_family tendon_feelspace_family = {
    .name = "feelspace",
    .alias = "belt",
    .title = "feelSpace belt",
    .brand = "feelSpace",
    .summary = "heading, buttons, vibration",
    .recognizes = recognizes,
    .awaits_name = awaits_name,
    .layer = TENDON_LAYER_FEELSPACE,
    .status_name = tendon_feelspace_status_name,
    .status_text = tendon_feelspace_status_text,
    .session_size = sizeof(tendon_feelspace_session),
};
