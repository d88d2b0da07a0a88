/* SPDX-License-Identifier: MIT */
#include "tendon/devices/feelspace.h"

/* By its name, which is in the scan response: other products advertise the service as well. */
static bool recognizes(const uint8_t *data, size_t length) {
    char name[32];
    tendon_status count = tendon_ad_name(data, length, name, sizeof name);
    return count > 0 && tendon_feelspace_is_belt_name(name, (size_t)count);
}

const tendon_family tendon_feelspace_family = {
    .name = "feelspace",
    .alias = "belt",
    .title = "feelSpace belt",
    .brand = "feelSpace",
    .summary = "heading, buttons, vibration",
    .recognizes = recognizes,
    .layer = TENDON_LAYER_FEELSPACE,
    .status_name = tendon_feelspace_status_name,
    .status_text = tendon_feelspace_status_text,
    .session_size = sizeof(tendon_feelspace_session),
};
