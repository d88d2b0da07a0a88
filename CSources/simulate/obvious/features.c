/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/obvious.h"

tendon_status tendon_simulated_obvious_apply(const tendon_obvious_package *package,
                                             const tendon_simulated_obvious_feature *old, size_t count,
                                             tendon_simulated_obvious_feature *out, size_t capacity) {
    bool keeps = package->kind == TENDON_OBVIOUS_PACKAGE_DELTA || package->kind == TENDON_OBVIOUS_PACKAGE_PROVISION;
    size_t filled = 0, listed = 0, known = 0;
    /* Both lists are ordered by id: the lower id is next. */
    while (listed < package->count || known < count) {
        tendon_obvious_entry entry = tendon_obvious_package_entry(package, listed);
        bool has_entry = listed < package->count && (known == count || entry.id <= old[known].id);
        bool has_old = known < count && (listed >= package->count || old[known].id <= entry.id);
        if (has_entry || keeps) {
            if (filled == capacity) {
                return TENDON_ERROR_TABLE_FULL;
            }
            if (has_entry) {
                out[filled].id = entry.id;
                out[filled].enable = entry.enable;
                out[filled].toggle = tendon_obvious_entry_toggle(&entry, has_old, has_old ? old[known].toggle : 0);
                out[filled].value = entry.value;
            } else {
                out[filled] = old[known];
            }
            filled++;
        }
        listed += has_entry;
        known += has_old;
    }
    return (tendon_status)filled;
}
