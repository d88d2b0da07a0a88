/* SPDX-License-Identifier: MIT */
/* Which advertisers are trainers: service and name may come in one report, or apart in advertisement and scan response.
 */
#include "tendon/devices/activ5_manager.h"

#include <string.h>

bool tendon_activ5_manager_matches(const tendon_activ5_manager *manager, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < manager->options.service_count && i < TENDON_ACTIV5_SERVICES_MAX; i++) {
        if (tendon_ad_has_uuid(data, length, &manager->options.services[i])) {
            return true;
        }
    }
    return false;
}

static tendon_activ5_partial *find(tendon_activ5_manager *manager, const tendon_address *address) {
    for (size_t i = 0; i < TENDON_ACTIV5_PARTIAL_SIZE; i++) {
        if (manager->partial[i].used && tendon_address_equal(&manager->partial[i].address, address)) {
            return &manager->partial[i];
        }
    }
    return NULL;
}

/* Whether @p a is replaced before @p b. */
static bool goes_before(const tendon_activ5_manager *manager, const tendon_activ5_partial *a,
                        const tendon_activ5_partial *b) {
    if (a->used != b->used) {
        return !a->used;
    }
    if (a->matches != b->matches) {
        return !a->matches;
    }
    return (uint16_t)(manager->partial_age - a->age) > (uint16_t)(manager->partial_age - b->age);
}

static tendon_activ5_partial *replace(tendon_activ5_manager *manager, const tendon_address *address) {
    tendon_activ5_partial *slot = &manager->partial[0];
    for (size_t i = 1; i < TENDON_ACTIV5_PARTIAL_SIZE; i++) {
        if (goes_before(manager, &manager->partial[i], slot)) {
            slot = &manager->partial[i];
        }
    }
    *slot = (tendon_activ5_partial){.address = *address, .used = true};
    return slot;
}

tendon_activ5_device *tendon_activ5_manager_on_advertisement(tendon_activ5_manager *manager,
                                                             const tendon_ad_report *report, uint64_t now) {
    if (!manager->scanning) {
        return NULL;
    }
    bool matches = tendon_activ5_manager_matches(manager, report->data, report->length);
    /* One byte more than a name may have, and the terminator: a longer name is ignored, not truncated. */
    char name[TENDON_ACTIV5_NAME_SIZE + 2];
    tendon_status length = tendon_ad_name(report->data, report->length, name, sizeof name);
    size_t name_length = length > 0 ? (size_t)length : 0;
    double rssi = report->rssi == TENDON_RSSI_UNKNOWN ? 0 : report->rssi;
    if (matches && name_length > 0) {
        return tendon_activ5_manager_advertised(manager, name, name_length, &report->address, rssi, now);
    }
    tendon_activ5_partial *partial = find(manager, &report->address);
    if (partial == NULL && !matches && (name_length == 0 || name_length > TENDON_ACTIV5_NAME_SIZE)) {
        return NULL;
    }
    partial = partial != NULL ? partial : replace(manager, &report->address);
    partial->age = ++manager->partial_age;
    partial->matches = partial->matches || matches;
    if (name_length > 0 && name_length <= TENDON_ACTIV5_NAME_SIZE) {
        memcpy(partial->name, name, name_length);
        partial->name_length = (uint8_t)name_length;
    }
    if (!partial->matches) {
        return NULL;
    }
    if (name_length > TENDON_ACTIV5_NAME_SIZE) {
        manager->left_out++;
        return NULL;
    }
    return tendon_activ5_manager_advertised(manager, partial->name, partial->name_length, &report->address, rssi, now);
}

tendon_activ5_radio_state tendon_activ5_radio_state_of(tendon_status status) {
    switch (status) {
    case TENDON_RADIO_ERROR_NO_ADAPTER:
    case TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT:
    case TENDON_ERROR_UNSUPPORTED:
        return TENDON_ACTIV5_RADIO_UNSUPPORTED;
    case TENDON_RADIO_ERROR_NO_CAP_NET_RAW:
    case TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN:
    case TENDON_ERROR_FILE_PERMISSION:
        return TENDON_ACTIV5_RADIO_UNAUTHORIZED;
    case TENDON_RADIO_ERROR_RFKILL:
    case TENDON_RADIO_ERROR_ADAPTER_DOWN:
        return TENDON_ACTIV5_RADIO_POWERED_OFF;
    case TENDON_RADIO_ERROR_COMMAND_TIMEOUT:
        return TENDON_ACTIV5_RADIO_RESETTING;
    default:
        return status >= 0 ? TENDON_ACTIV5_RADIO_POWERED_ON : TENDON_ACTIV5_RADIO_UNKNOWN;
    }
}
