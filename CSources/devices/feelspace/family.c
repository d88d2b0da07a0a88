/* SPDX-License-Identifier: MIT */
#include "tendon/devices/feelspace.h"

/* By its name, which is in the scan response: other products advertise the service as well. */
static bool recognizes(const uint8_t *data, size_t length) {
    char name[32];
    tendon_status count = tendon_ad_name(data, length, name, sizeof name);
    return count > 0 && tendon_feelspace_is_belt_name(name, (size_t)count);
}

/* The UUIDs of belts and of other products with the same module, without a name so far. */
static bool awaits_name(const uint8_t *data, size_t length) {
    tendon_uuid older = tendon_feelspace_advertised_uuid();
    tendon_uuid newer = tendon_uuid_from_u16(TENDON_FEELSPACE_CONTROL_SERVICE);
    tendon_ad_structure name;
    return (tendon_ad_has_uuid(data, length, &older) || tendon_ad_has_uuid(data, length, &newer)) &&
           !tendon_ad_find_name(data, length, &name);
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
