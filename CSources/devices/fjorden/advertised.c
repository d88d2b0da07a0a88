/* SPDX-License-Identifier: MIT */
#include "tendon/devices/fjorden_session.h"

#include "names.h"

bool tendon_fjorden_recognize(const tendon_fjorden_profile *profile, const uint8_t *data, size_t length) {
    tendon_fjorden_profile reference;
    if (profile == NULL) {
        tendon_grip_profile_identity(&reference);
        profile = &reference;
    }
    char name[sizeof profile->name_prefix] = {0}; /* more of it is not compared */
    tendon_status count = tendon_ad_name(data, length, name, sizeof name);
    return tendon_ad_has_uuid(data, length, &profile->service) ||
           (count > 0 && tendon_fjorden_profile_matches_name(profile, name, (size_t)count));
}

void tendon_fjorden_identifier(const tendon_address *address, char out[TENDON_FJORDEN_IDENTIFIER_SIZE]) {
    static const char suffix[] = "/random";
    (void)tendon_address_format(address, out);
    if (address->type == TENDON_ADDRESS_TYPE_RANDOM) {
        memcpy(out + TENDON_ADDRESS_STRING_SIZE - 1, suffix, sizeof suffix);
    }
}
