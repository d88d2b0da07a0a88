/* SPDX-License-Identifier: MIT */
/* Apart from family.c, because this links the sessions of all families. A row describes its characteristic by the
 * configuration of a session, so it is asked with a session that has nothing else. */
#include "rows.h"
#include "tendon/devices.h"

#include <string.h>

static const uint16_t own[TENDON_PROFILE_OWN_ROWS] = {TENDON_PROFILE_SERVICE_CHANGED,
                                                      TENDON_PROFILE_CLIENT_SUPPORTED_FEATURES};

static bool name_rows(const tendon_gatt_cache_record *record, tendon_profile_row row_of, void *context, size_t count,
                      tendon_uuid *characteristics) {
    if (record->count != count + TENDON_PROFILE_OWN_ROWS ||
        record->profile != tendon_profile_number(row_of, context, count)) {
        return false;
    }
    for (size_t row = 0; row < TENDON_PROFILE_OWN_ROWS; row++) {
        characteristics[row] = tendon_uuid_from_u16(own[row]);
    }
    for (size_t row = 0; row < count; row++) {
        tendon_uuid service, *characteristic = &characteristics[TENDON_PROFILE_OWN_ROWS + row];
        memset(&service, 0, sizeof service);
        memset(characteristic, 0, sizeof *characteristic);
        (void)row_of(context, row, &service, characteristic);
    }
    return true;
}

static bool is_bose(const tendon_gatt_cache_record *record, bool old_firmware, tendon_uuid *characteristics) {
    tendon_bose_session session;
    memset(&session, 0, sizeof session);
    session.config.old_firmware = old_firmware;
    struct tendon_bose_tag tag = {&session};
    return name_rows(record, tendon_bose_row, &tag, TENDON_BOSE_ROWS, characteristics);
}

static bool is_fjorden(const tendon_gatt_cache_record *record, tendon_uuid *characteristics) {
    tendon_fjorden_session session;
    tendon_fjorden_profile profile;
    memset(&session, 0, sizeof session);
    tendon_fjorden_profile_init(&profile);
    session.config.profile = &profile;
    return name_rows(record, tendon_fjorden_row, &session, TENDON_FJORDEN_CHARACTERISTIC_COUNT, characteristics);
}

static bool is_obvious(const tendon_gatt_cache_record *record, tendon_uuid *characteristics) {
    tendon_obvious_session session;
    memset(&session, 0, sizeof session);
    return name_rows(record, tendon_obvious_row, &session, TENDON_OBVIOUS_ROWS, characteristics);
}

const tendon_family *tendon_family_from_cache(const tendon_gatt_cache_record *record,
                                              tendon_uuid characteristics[TENDON_GATT_CACHE_ROWS]) {
    if (is_bose(record, false, characteristics) || is_bose(record, true, characteristics)) {
        return &tendon_bose_family;
    }
    if (name_rows(record, tendon_feelspace_row, NULL, TENDON_FEELSPACE_CHARACTERISTIC_COUNT, characteristics)) {
        return &tendon_feelspace_family;
    }
    if (name_rows(record, tendon_activ5_row, NULL, TENDON_ACTIV5_ROWS, characteristics)) {
        return &tendon_activ5_family;
    }
    if (is_fjorden(record, characteristics)) {
        return &tendon_fjorden_family;
    }
    return is_obvious(record, characteristics) ? &tendon_obvious_family : NULL;
}
