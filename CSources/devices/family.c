/* SPDX-License-Identifier: MIT */
#include "tendon/devices/family.h"
#include "tendon/devices/activ5_codec.h"
#include "tendon/devices/bose_codec.h"
#include "tendon/devices/feelspace_codec.h"
#include "tendon/devices/fjorden_session.h"

static bool is_bose(const uint8_t *data, size_t length) {
    return tendon_bose_recognize(data, length) != TENDON_BOSE_ADVERTISED_NOTHING;
}

/* By its name, which stands in the scan response: other products advertise the service as well. */
static bool is_feelspace(const uint8_t *data, size_t length) {
    char name[32];
    tendon_status count = tendon_ad_name(data, length, name, sizeof name);
    return count > 0 && tendon_feelspace_is_belt_name(name, (size_t)count);
}

static bool is_fjorden(const uint8_t *data, size_t length) {
    return tendon_fjorden_recognize(NULL, data, length);
}

/* One row per family. */
static const tendon_family families[] = {
    {"bose", NULL, "Bose wearable", is_bose},
    {"feelspace", "belt", "feelSpace belt", is_feelspace},
    {"activ5", NULL, "Activ5 trainer", tendon_activ5_recognize},
    {"fjorden", "grip", "Fjorden grip", is_fjorden},
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

const tendon_family *tendon_families(size_t *count) {
    *count = FAMILY_COUNT;
    return families;
}

/* memcmp needs lengths and the core has no libc: strings are compared here. */
static bool same(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const tendon_family *tendon_family_named(const char *name) {
    for (size_t i = 0; name != NULL && i < FAMILY_COUNT; i++) {
        if (same(families[i].name, name) || (families[i].alias != NULL && same(families[i].alias, name))) {
            return &families[i];
        }
    }
    return NULL;
}

const tendon_family *tendon_family_of(const uint8_t *data, size_t length) {
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (families[i].recognizes(data, length)) {
            return &families[i];
        }
    }
    return NULL;
}
