/* SPDX-License-Identifier: MIT */
#include "tendon/devices/family.h"

/* One row per family, in the order in which advertisements are tried. */
#define FAMILIES(ROW)                                                                                                  \
    ROW(bose)                                                                                                          \
    ROW(feelspace)                                                                                                     \
    ROW(activ5)                                                                                                        \
    ROW(fjorden)                                                                                                       \
    ROW(obvious)

#define DECLARATION(name) extern const tendon_family tendon_##name##_family;
#define POINTER(name) &tendon_##name##_family,

FAMILIES(DECLARATION)
static const tendon_family *const families[] = {FAMILIES(POINTER)};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

const tendon_family *tendon_family_at(size_t index) {
    return index < FAMILY_COUNT ? families[index] : NULL;
}

/* memcmp needs lengths and the core has no libc: strings are compared here. */
static bool same(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const tendon_family *tendon_family_find(const char *name) {
    for (size_t i = 0; name != NULL && i < FAMILY_COUNT; i++) {
        if (same(families[i]->name, name) || (families[i]->alias != NULL && same(families[i]->alias, name))) {
            return families[i];
        }
    }
    return NULL;
}

const tendon_family *tendon_family_from_advertisement(const uint8_t *data, size_t length) {
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (families[i]->recognizes(data, length)) {
            return families[i];
        }
    }
    return NULL;
}

const tendon_family *tendon_family_awaiting_name(const uint8_t *data, size_t length) {
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (families[i]->awaits_name != NULL && families[i]->awaits_name(data, length)) {
            return families[i];
        }
    }
    return NULL;
}

const tendon_family *tendon_family_from_status(tendon_status status) {
    for (size_t i = 0; status < 0 && i < FAMILY_COUNT; i++) {
        if ((unsigned)TENDON_STATUS_LAYER(status) == families[i]->layer) {
            return families[i];
        }
    }
    return NULL;
}

const char *tendon_family_status_name(tendon_status status) {
    const tendon_family *family = tendon_family_from_status(status);
    return family != NULL ? family->status_name(status) : tendon_status_name(status);
}

const char *tendon_family_status_text(tendon_status status) {
    const tendon_family *family = tendon_family_from_status(status);
    return family != NULL ? family->status_text(status) : tendon_status_text(status);
}

const char *tendon_family_layer_name(tendon_status status) {
    const tendon_family *family = tendon_family_from_status(status);
    return family != NULL ? family->brand : tendon_status_layer_name(status);
}
