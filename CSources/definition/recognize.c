/* SPDX-License-Identifier: MIT */
/* Which devices a definition is for, and its names. */
#include "json.h"
#include "tendon/base/packed.h"
#include "tendon/host.h"

enum { MANUFACTURER = 0xFF };

const char *tendon_definition_text(const tendon_definition *definition, uint16_t text) {
    return definition->text + text;
}

/* @param service NULL: any. */
static size_t find_row(const tendon_definition *definition, const tendon_uuid *service,
                       const tendon_uuid *characteristic) {
    size_t row = 0;
    for (; row < definition->row_count; row++) {
        const tendon_definition_row *one = &definition->rows[row];
        if (tendon_uuid_equal(&one->uuid, characteristic) &&
            (service == NULL || tendon_uuid_equal(&one->service, service))) {
            break;
        }
    }
    return row;
}

size_t tendon_definition_row_of(const tendon_definition *definition, const tendon_uuid *characteristic) {
    return find_row(definition, NULL, characteristic);
}

size_t tendon_definition_row_in(const tendon_definition *definition, const tendon_uuid *service,
                                const tendon_uuid *characteristic) {
    return find_row(definition, service, characteristic);
}

size_t tendon_definition_action_named(const tendon_definition *definition, const char *name) {
    size_t action = 0, length = tendon_string_length(name);
    while (action < definition->action_count &&
           !tendon_json_is(definition->text + definition->actions[action].name, name, length)) {
        action++;
    }
    return action;
}

typedef enum fit { OTHER, NOT_KNOWN, FITS } fit;

static fit fit_of_name(const tendon_definition *definition, const uint8_t *data, size_t length) {
    const char *pattern = definition->text + definition->find.name;
    tendon_ad_structure name;
    size_t i = 0;
    if (definition->find.name == 0) {
        return FITS;
    }
    if (!tendon_ad_find_name(data, length, &name)) {
        return NOT_KNOWN;
    }
    while (i < name.length && pattern[i] != 0 && pattern[i] == (char)name.data[i]) {
        i++;
    }
    bool fits = (pattern[i] == '*' && pattern[i + 1] == 0) || (pattern[i] == 0 && i == name.length);
    bool may_go_on = name.type != TENDON_AD_NAME_COMPLETE && i == name.length;
    return fits ? FITS : may_go_on ? NOT_KNOWN : OTHER;
}

static bool has_company(uint16_t company, const uint8_t *data, size_t length) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    tendon_ad_structure one;
    while (tendon_ad_next(&iterator, &one)) {
        if (one.type == MANUFACTURER && one.length >= 2 && (one.data[0] | one.data[1] << 8) == company) {
            return true;
        }
    }
    return false;
}

/* All but the name. */
static bool may_be_meant(const tendon_definition_find *find, const uint8_t *data, size_t length) {
    bool has_service = find->service_count == 0;
    for (size_t i = 0; i < find->service_count && !has_service; i++) {
        has_service = tendon_ad_has_uuid(data, length, &find->services[i]);
    }
    return has_service && (!find->has_company || has_company(find->company, data, length));
}

tendon_meant tendon_definition_means(const tendon_definition *definition, const uint8_t *data, size_t length) {
    fit name = fit_of_name(definition, data, length);
    bool is_meant = may_be_meant(&definition->find, data, length);
    if (name == OTHER || (name == NOT_KNOWN && !is_meant)) {
        return TENDON_NOT_MEANT;
    }
    return name == FITS && is_meant     ? TENDON_MEANT
           : definition->find.name != 0 ? TENDON_PERHAPS_MEANT
                                        : TENDON_NOT_MEANT;
}

/* Whether there is a name that fits both patterns. */
static bool names_meet(const char *a, const char *b) {
    while (*a != 0 && *a != '*' && *a == *b) {
        a++;
        b++;
    }
    return *a == '*' || *b == '*' || (*a == 0 && *b == 0);
}

bool tendon_definition_overlaps(const tendon_definition *a, const tendon_definition *b) {
    const tendon_definition_find *first = &a->find, *second = &b->find;
    if (first->has_company && second->has_company && first->company != second->company) {
        return false;
    }
    if ((first->name != 0) != (second->name != 0)) {
        return false; /* the one with a name goes first */
    }
    if (first->name != 0 && !names_meet(a->text + first->name, b->text + second->name)) {
        return false;
    }
    if (first->service_count == 0 || second->service_count == 0) {
        return true; /* names that meet */
    }
    for (size_t i = 0; i < first->service_count; i++) {
        for (size_t k = 0; k < second->service_count; k++) {
            if (tendon_uuid_equal(&first->services[i], &second->services[k])) {
                return true;
            }
        }
    }
    return false;
}
