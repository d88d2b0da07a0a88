/* SPDX-License-Identifier: MIT */
/*
 * Each page begins beyond the last item of the page before, so that a peer's
 * table of any size is walked once and every loop ends: a page that does not
 * get further ends the discovery.
 */
#include "rows.h"

#include <string.h>

#define CCCD 0x2902
#define GENERIC_ATTRIBUTE 0x1801

/* Rows of Generic Attribute, behind those of the family. */
enum { CHANGED, FEATURES, OWN_ROWS = TENDON_PROFILE_OWN_ROWS };

enum { IDLE, HASH, SERVICES, CHARACTERISTICS, DESCRIPTORS };

static void page_done(void *context, const tendon_gatt_result *result);

static void set_deadline(const tendon_profile *profile, uint64_t now) {
    if (profile->limit != 0 && profile->request != 0) {
        tendon_gatt_client_set_limit(profile->client, profile->request, profile->limit, now);
    }
}

static tendon_status ask(tendon_profile *profile, uint64_t now) {
    tendon_status status;
    switch (profile->step) {
    case HASH:
        status = tendon_gatt_read_database_hash(profile->client, page_done, profile, now);
        break;
    case SERVICES:
        status = tendon_gatt_discover_services_from(profile->client, profile->cursor, profile->page.services,
                                                    TENDON_PROFILE_PAGE, page_done, profile, now);
        break;
    case CHARACTERISTICS:
        status = tendon_gatt_discover_characteristics(profile->client, profile->cursor, profile->end,
                                                      profile->page.characteristics, TENDON_PROFILE_PAGE, page_done,
                                                      profile, now);
        break;
    default:
        status =
            tendon_gatt_discover_descriptors(profile->client, profile->cursor, profile->end, profile->page.descriptors,
                                             TENDON_PROFILE_PAGE, page_done, profile, now);
        break;
    }
    profile->request = status > 0 ? (uint32_t)status : 0;
    set_deadline(profile, now);
    return status;
}

typedef struct names {
    tendon_uuid service, characteristic;
} names;

/* The rows of the family, and behind them those of Generic Attribute. */
static size_t row_count(const tendon_profile *profile) {
    return profile->count + (profile->caching ? OWN_ROWS : 0u);
}

static tendon_profile_found *found_at(tendon_profile *profile, size_t row) {
    return row < profile->count ? &profile->found[row] : &profile->own[row - profile->count];
}

/* Fills the names of a row; returns its flags. */
static uint8_t look_up(const tendon_profile *profile, size_t row, names *named) {
    memset(named, 0, sizeof *named);
    if (row >= profile->count) {
        bool features = row > profile->count;
        named->service = tendon_uuid_from_u16(GENERIC_ATTRIBUTE);
        named->characteristic =
            tendon_uuid_from_u16(features ? TENDON_PROFILE_CLIENT_SUPPORTED_FEATURES : TENDON_PROFILE_SERVICE_CHANGED);
        return features ? 0 : TENDON_PROFILE_CCCD;
    }
    return profile->row_of(profile->context, row, &named->service, &named->characteristic);
}

/* The first row that must be there, or whose CCCD must, and is not; count when all are. */
static size_t missing(const tendon_profile *profile) {
    size_t row = 0;
    for (; row < profile->count; row++) {
        names named;
        uint8_t flags = look_up(profile, row, &named);
        const tendon_profile_found *found = &profile->found[row];
        bool complete = found->value != 0 && ((flags & TENDON_PROFILE_CCCD) == 0 || found->cccd != 0);
        if ((flags & TENDON_PROFILE_REQUIRED) != 0 && !complete) {
            break;
        }
    }
    return row;
}

/* ---- the cache: the rows of Generic Attribute, then those of the family ---- */

uint32_t tendon_profile_number(tendon_profile_row row_of, void *context, size_t count) {
    uint32_t crc = 0;
    for (size_t row = 0; row < count; row++) {
        names named;
        memset(&named, 0, sizeof named);
        uint8_t flags = row_of(context, row, &named.service, &named.characteristic);
        crc = tendon_crc32(crc, named.service.bytes, sizeof named.service.bytes);
        crc = tendon_crc32(crc, named.characteristic.bytes, sizeof named.characteristic.bytes);
        crc = tendon_crc32(crc, &flags, 1);
    }
    return crc;
}

static void keep(tendon_profile *profile) {
    tendon_gatt_handles rows[TENDON_GATT_CACHE_ROWS];
    memcpy(rows, profile->own, sizeof profile->own);
    memcpy(&rows[OWN_ROWS], profile->found, profile->count * sizeof rows[0]);
    tendon_gatt_cache_put(profile->client->config.cache, rows, profile->count + OWN_ROWS);
}

/* Returns true if the cache has what the device's table has now. */
static bool take_hash(tendon_profile *profile, const tendon_gatt_result *result) {
    tendon_gatt_cache *cache = profile->client->config.cache;
    if (result->status < 0) {
        tendon_gatt_cache_without_hash(cache);
        return false;
    }
    /* A discovery without rows is content with those of any session. */
    bool any = profile->count == 0 && cache->state == TENDON_GATT_CACHE_VALID &&
               memcmp(cache->record.hash, result->value, TENDON_GATT_HASH_SIZE) == 0;
    uint32_t number =
        any ? cache->record.profile : tendon_profile_number(profile->row_of, profile->context, profile->count);
    bool known =
        tendon_gatt_cache_check(cache, result->value, number, any ? cache->record.count : profile->count + OWN_ROWS);
    if (known) {
        memcpy(profile->own, cache->record.rows, sizeof profile->own);
        memmove(profile->found, &cache->record.rows[OWN_ROWS], profile->count * sizeof profile->found[0]);
    }
    profile->caching = !known;
    return known;
}

static void finish(tendon_profile *profile, tendon_status status, uint64_t now) {
    size_t row = profile->row;
    tendon_gatt_client *client = profile->client;
    const tendon_profile_found changed = profile->own[CHANGED];
    const uint16_t features = profile->own[FEATURES].value;
    if (status == TENDON_OK) {
        row = missing(profile);
        status = row < profile->count ? TENDON_ERROR_NOT_FOUND : TENDON_OK;
    }
    if (status == TENDON_OK && profile->caching) {
        keep(profile);
    }
    profile->step = IDLE;
    profile->done(profile->context, status, row, now); /* the memory of the profile has another use from here on */
    if (status == TENDON_OK && changed.cccd != 0 && !client->closed) {
        (void)tendon_gatt_enable_service_changed(client, changed.value, changed.cccd, now);
    }
    if (status == TENDON_OK && features != 0 && !client->closed) {
        (void)tendon_gatt_enable_robust_caching(client, features, now);
    }
}

/* ---- the next request ---- */

/* Rows of one service share one walk through it. */
static bool is_walked(tendon_profile *profile, size_t row) {
    const tendon_profile_found *found = found_at(profile, row);
    for (size_t i = 0; i < row; i++) {
        const tendon_profile_found *before = found_at(profile, i);
        if (before->service == found->service && before->service_end == found->service_end) {
            return true;
        }
    }
    return false;
}

/* Finds the next service to discover, from row on; returns false if there is none. */
static bool next_service(tendon_profile *profile) {
    for (; profile->row < row_count(profile); profile->row++) {
        const tendon_profile_found *found = found_at(profile, profile->row);
        if (found->service != 0 && !is_walked(profile, profile->row)) {
            profile->cursor = found->service;
            profile->end = found->service_end;
            return true;
        }
    }
    return false;
}

/* Finds the next row whose CCCD is required. Before its discovery, cccd holds the last possible handle. */
static bool next_descriptor(tendon_profile *profile) {
    for (; profile->row < row_count(profile); profile->row++) {
        tendon_profile_found *found = found_at(profile, profile->row);
        profile->cursor = (uint16_t)(found->value + 1);
        profile->end = found->cccd;
        found->cccd = 0;
        names named;
        /* Compared before 1 is added: the value may be at the last handle there is. */
        if (profile->end > found->value && (look_up(profile, profile->row, &named) & TENDON_PROFILE_CCCD) != 0) {
            return true;
        }
    }
    return false;
}

static void ask_or_finish(tendon_profile *profile, uint64_t now) {
    tendon_status status = ask(profile, now);
    if (status < 0) {
        finish(profile, status, now);
    }
}

static void go_on(tendon_profile *profile, uint64_t now) {
    if (profile->step == CHARACTERISTICS && !next_service(profile)) {
        profile->step = DESCRIPTORS;
        profile->row = 0;
    }
    if (profile->step == DESCRIPTORS && !next_descriptor(profile)) {
        finish(profile, TENDON_OK, now);
    } else {
        ask_or_finish(profile, now);
    }
}

/* ---- pages: each function returns the start handle of the next page, 0: no next page ---- */

static uint16_t note_services(tendon_profile *profile, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const tendon_gatt_service *service = &profile->page.services[i];
        for (size_t row = 0; row < row_count(profile); row++) {
            tendon_profile_found *found = found_at(profile, row);
            names named;
            (void)look_up(profile, row, &named);
            if (found->service == 0 && tendon_uuid_equal(&named.service, &service->uuid)) {
                found->service = service->start_handle;
                found->service_end = service->end_handle;
            }
        }
    }
    uint16_t last = profile->page.services[count - 1].end_handle;
    return last == 0xFFFF ? 0 : (uint16_t)(last + 1);
}

/* Where the last one of a full page ends is not known: the next page starts with it again. */
static uint16_t note_characteristics(tendon_profile *profile, size_t count, bool full) {
    for (size_t i = 0; i < (full ? count - 1 : count); i++) {
        const tendon_gatt_characteristic *here = &profile->page.characteristics[i];
        for (size_t row = 0; row < row_count(profile); row++) {
            tendon_profile_found *found = found_at(profile, row);
            names named;
            (void)look_up(profile, row, &named);
            if (found->value == 0 && found->service != 0 && here->declaration >= found->service &&
                here->declaration <= found->service_end && tendon_uuid_equal(&named.characteristic, &here->uuid)) {
                found->value = here->value_handle;
                found->cccd = here->end_handle;
                found->properties = here->properties;
            }
        }
    }
    return profile->page.characteristics[count - 1].declaration;
}

static uint16_t note_descriptors(tendon_profile *profile, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t number;
        if (tendon_uuid_as_u16(&profile->page.descriptors[i].uuid, &number) && number == CCCD) {
            found_at(profile, profile->row)->cccd = profile->page.descriptors[i].handle;
            return 0;
        }
    }
    uint16_t last = profile->page.descriptors[count - 1].handle;
    return last >= profile->end ? 0 : (uint16_t)(last + 1);
}

static uint16_t note(tendon_profile *profile, size_t count, bool full) {
    switch (profile->step) {
    case SERVICES:
        return note_services(profile, count);
    case CHARACTERISTICS:
        return note_characteristics(profile, count, full);
    default:
        return note_descriptors(profile, count);
    }
}

/* A device without a hash, or that does not let it be read, is discovered each time. */
static void hash_done(tendon_profile *profile, const tendon_gatt_result *result) {
    bool refused =
        TENDON_STATUS_LAYER(result->status) == TENDON_LAYER_ATT || result->status == TENDON_GATT_ERROR_BAD_RESPONSE;
    if (result->status < 0 && !refused) {
        finish(profile, result->status, result->now);
    } else if (take_hash(profile, result) || row_count(profile) == 0) {
        finish(profile, TENDON_OK, result->now);
    } else {
        profile->step = SERVICES;
        ask_or_finish(profile, result->now);
    }
}

static void page_done(void *context, const tendon_gatt_result *result) {
    tendon_profile *profile = context;
    if (profile->step == IDLE) {
        return; /* cancelled */
    }
    profile->request = 0;
    if (profile->step == HASH) {
        hash_done(profile, result);
        return;
    }
    bool full = result->status == TENDON_ERROR_TABLE_FULL && result->count == TENDON_PROFILE_PAGE;
    if (result->status < 0 && !full && result->status != TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND)) {
        finish(profile, result->status, result->now);
        return;
    }
    uint16_t next = result->count == 0 ? 0 : note(profile, result->count, full);
    if (full && next > profile->cursor) {
        profile->cursor = next;
        ask_or_finish(profile, result->now);
        return;
    }
    if (full && next != 0) {
        finish(profile, TENDON_GATT_ERROR_NO_PROGRESS, result->now);
        return;
    }
    if (profile->step == SERVICES) {
        profile->step = CHARACTERISTICS; /* from row 0 on */
    } else {
        profile->row++;
    }
    go_on(profile, result->now);
}

/* ---- from outside ---- */

tendon_status tendon_profile_start(tendon_profile *profile, tendon_gatt_client *client, tendon_profile_row row_of,
                                   tendon_profile_found *found, size_t count,
                                   void (*done)(void *context, tendon_status status, size_t row, uint64_t now),
                                   void *context, uint64_t now) {
    if (count > UINT8_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *profile = (tendon_profile){.row_of = row_of, .found = found, .count = count, .client = client};
    profile->done = done;
    profile->context = context;
    for (size_t row = 0; row < count; row++) {
        names named;
        found[row] = (tendon_profile_found){0};
        if ((look_up(profile, row, &named) & TENDON_PROFILE_ANYWHERE) != 0) {
            found[row].service = 1;
            found[row].service_end = UINT16_MAX;
        }
    }
    const tendon_gatt_cache *cache = client->config.cache;
    bool cached =
        cache != NULL && cache->identity && !cache->without_hash && count + OWN_ROWS <= TENDON_GATT_CACHE_ROWS;
    profile->step = cached ? HASH : SERVICES;
    profile->cursor = 1;
    tendon_status status = ask(profile, now);
    if (status < 0) {
        profile->step = IDLE;
        return status;
    }
    return TENDON_OK;
}

void tendon_profile_limit(tendon_profile *profile, uint32_t ms, uint64_t now) {
    profile->limit = ms;
    set_deadline(profile, now);
}

void tendon_profile_cancel(tendon_profile *profile, uint64_t now) {
    uint32_t request = profile->request;
    profile->step = IDLE;
    profile->request = 0;
    if (request != 0) {
        tendon_gatt_client_cancel(profile->client, request, now);
    }
}

size_t tendon_profile_row_of(const tendon_profile_found *found, size_t count, uint16_t handle) {
    size_t row = 0;
    while (row < count && (handle == 0 || found[row].value != handle)) {
        row++;
    }
    return row;
}
