/* SPDX-License-Identifier: MIT */
/*
 * The cache decides, see host/gatt_cache.h: its store is this table, in front of the caller's store. So whatever makes
 * the cache invalid (another hash, Service Changed, Database Out Of Sync, a drop) removes the answers in the same call:
 * answers exist only while the cache is valid.
 */
#include "tendon/linux/gatt_table.h"

#include <string.h>

#define CCCD 0x2902

static void clear(tendon_gatt_table *table) {
    table->content.answer_count = 0;
    table->content.item_count = 0;
    table->generation++;
}

/* ---- the store of the cache ---- */

static tendon_status load(void *context, const tendon_address *device, uint8_t *out, size_t capacity) {
    tendon_gatt_table *table = context;
    uint8_t bytes[TENDON_GATT_TABLE_RECORD_MAX];
    const uint8_t *cache;
    size_t cache_length;
    if (table->store.load == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    tendon_status status = table->store.load(table->store.context, device, bytes, sizeof bytes);
    if (status >= 0) {
        status = tendon_gatt_table_decode(bytes, (size_t)status, &table->content, &cache, &cache_length);
    }
    if (status >= 0 && cache_length > capacity) {
        status = TENDON_ERROR_MALFORMED;
    }
    if (status < 0) {
        clear(table);
        return status;
    }
    memcpy(out, cache, cache_length);
    return (tendon_status)cache_length;
}

static tendon_status save(void *context, const tendon_address *device, const uint8_t *bytes, size_t length) {
    const tendon_gatt_table *table = context;
    uint8_t record[TENDON_GATT_TABLE_RECORD_MAX];
    if (table->store.save == NULL) {
        return TENDON_OK;
    }
    tendon_status whole = tendon_gatt_table_encode(&table->content, bytes, length, record, sizeof record);
    return whole < 0 ? whole : table->store.save(table->store.context, device, record, (size_t)whole);
}

static tendon_status drop(void *context, const tendon_address *device) {
    tendon_gatt_table *table = context;
    clear(table);
    return table->store.remove == NULL ? TENDON_OK : table->store.remove(table->store.context, device);
}

static void store_again(tendon_gatt_table *table) {
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    tendon_gatt_cache *cache = &table->cache;
    tendon_status length = tendon_gatt_cache_encode(&cache->record, bytes, sizeof bytes);
    cache->store_status = length < 0 ? length : save(table, &cache->record.device, bytes, (size_t)length);
}

/* ---- the connection ---- */

static void load_cache(tendon_gatt_table *table, const tendon_address *device) {
    const tendon_gatt_cache_store own = {.context = table, .load = load, .save = save, .remove = drop};
    clear(table);
    tendon_gatt_cache_init(&table->cache, device, &own);
    if (table->cache.state != TENDON_GATT_CACHE_VALID) {
        clear(table); /* answers without a valid record of the cache */
    }
}

void tendon_gatt_table_init(tendon_gatt_table *table, const tendon_address *device,
                            const tendon_gatt_cache_store *store) {
    memset(table, 0, sizeof *table);
    if (store != NULL) {
        table->store = *store;
    }
    load_cache(table, device);
}

void tendon_gatt_table_begin(tendon_gatt_table *table) {
    const tendon_gatt_cache before = table->cache;
    table->checked = false;
    if (table->store.load != NULL) {
        load_cache(table, &before.record.device);
        table->cache.without_hash = before.without_hash;
        table->cache.counters = before.counters;
    }
}

static bool is_valid(const tendon_gatt_table *table) {
    return table->checked && table->cache.state == TENDON_GATT_CACHE_VALID;
}

bool tendon_gatt_table_needs_check(const tendon_gatt_table *table) {
    return table->cache.identity && !table->cache.without_hash && !is_valid(table);
}

tendon_status tendon_gatt_table_checked(tendon_gatt_table *table, tendon_status status) {
    tendon_layer layer = TENDON_STATUS_LAYER(status);
    table->checked = status == TENDON_OK;
    /* A device with a table that cannot be checked is discovered as one without a cache. */
    return layer == TENDON_LAYER_ATT || layer == TENDON_LAYER_GATT ? TENDON_OK : status;
}

bool tendon_gatt_table_repeats(const tendon_gatt_table *table, tendon_status status) {
    return status == TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC) && tendon_gatt_table_needs_check(table);
}

void tendon_gatt_table_recheck(tendon_gatt_table *table) {
    table->checked = false;
}

/* ---- questions and answers ---- */

static bool is_any(const tendon_uuid *uuid) {
    static const tendon_uuid any;
    return tendon_uuid_equal(uuid, &any);
}

static bool is_range_of(const tendon_gatt_table_question *a, const tendon_gatt_table_question *b) {
    return a->kind == b->kind && a->start == b->start && a->end == b->end;
}

/* Returns the answer for the UUID of the question, or for all UUIDs, with its first item; or NULL. */
static const tendon_gatt_table_answer *answer_to(const tendon_gatt_table_content *content,
                                                 const tendon_gatt_table_question *question, size_t *first) {
    size_t item = 0;
    for (size_t i = 0; i < content->answer_count; i++) {
        const tendon_gatt_table_answer *answer = &content->answers[i];
        if (is_range_of(&answer->question, question) &&
            (is_any(&answer->question.uuid) || tendon_uuid_equal(&answer->question.uuid, &question->uuid))) {
            *first = item;
            return answer;
        }
        item += answer->count;
    }
    return NULL;
}

static void give(uint8_t kind, const tendon_gatt_table_item *item, void *out, size_t index) {
    if (kind == TENDON_GATT_TABLE_CHARACTERISTICS) {
        ((tendon_gatt_characteristic *)out)[index] =
            (tendon_gatt_characteristic){item->uuid, item->handle, item->value, item->end, item->properties};
    } else if (kind == TENDON_GATT_TABLE_DESCRIPTORS) {
        ((tendon_gatt_descriptor *)out)[index] = (tendon_gatt_descriptor){item->uuid, item->handle};
    } else {
        ((tendon_gatt_service *)out)[index] = (tendon_gatt_service){item->uuid, item->handle, item->end, item->value};
    }
}

static tendon_gatt_table_item taken(uint8_t kind, const void *items, size_t index) {
    if (kind == TENDON_GATT_TABLE_CHARACTERISTICS) {
        const tendon_gatt_characteristic *from = (const tendon_gatt_characteristic *)items + index;
        return (tendon_gatt_table_item){from->uuid, from->declaration, from->value_handle, from->end_handle,
                                        from->properties};
    }
    if (kind == TENDON_GATT_TABLE_DESCRIPTORS) {
        const tendon_gatt_descriptor *from = (const tendon_gatt_descriptor *)items + index;
        return (tendon_gatt_table_item){.uuid = from->uuid, .handle = from->handle};
    }
    const tendon_gatt_service *from = (const tendon_gatt_service *)items + index;
    return (tendon_gatt_table_item){from->uuid, from->start_handle, from->declaration, from->end_handle, 0};
}

tendon_status tendon_gatt_table_find(const tendon_gatt_table *table, const tendon_gatt_table_question *question,
                                     void *out, size_t capacity) {
    size_t first, found = 0;
    const tendon_gatt_table_answer *answer = is_valid(table) ? answer_to(&table->content, question, &first) : NULL;
    if (answer == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    for (size_t i = first; i < first + answer->count; i++) {
        const tendon_gatt_table_item *item = &table->content.items[i];
        if (!is_any(&question->uuid) && !tendon_uuid_equal(&question->uuid, &item->uuid)) {
            continue;
        }
        if (found >= capacity) {
            return TENDON_ERROR_BUFFER_TOO_SMALL;
        }
        give(question->kind, item, out, found++);
    }
    return (tendon_status)found;
}

void tendon_gatt_table_keep(tendon_gatt_table *table, uint32_t generation, const tendon_gatt_table_question *question,
                            const void *items, size_t count) {
    tendon_gatt_table_content *content = &table->content;
    size_t first;
    if (!is_valid(table) || generation != table->generation || answer_to(content, question, &first) != NULL ||
        content->answer_count >= TENDON_GATT_TABLE_ANSWERS ||
        count > (size_t)TENDON_GATT_TABLE_ITEMS - content->item_count) {
        return;
    }
    content->answers[content->answer_count++] = (tendon_gatt_table_answer){*question, (uint8_t)count};
    for (size_t i = 0; i < count; i++) {
        content->items[content->item_count++] = taken(question->kind, items, i);
    }
    store_again(table);
}

/* ---- the CCCD of a characteristic ---- */

static tendon_gatt_table_question cccd_of(const tendon_gatt_characteristic *characteristic) {
    return (tendon_gatt_table_question){TENDON_GATT_TABLE_DESCRIPTORS, (uint16_t)(characteristic->value_handle + 1u),
                                        characteristic->end_handle, tendon_uuid_from_u16(CCCD)};
}

tendon_status tendon_gatt_table_subscribe(const tendon_gatt_table *table, tendon_gatt_client *client,
                                          const tendon_gatt_characteristic *characteristic, bool indicate,
                                          tendon_gatt_on_value on_value, void *value_context, tendon_gatt_done done,
                                          void *context, uint64_t now) {
    const tendon_gatt_table_question question = cccd_of(characteristic);
    tendon_gatt_descriptor cccd;
    if (tendon_gatt_table_find(table, &question, &cccd, 1) == 1) {
        return tendon_gatt_subscribe(client, characteristic->value_handle, cccd.handle, indicate, on_value,
                                     value_context, done, context, now);
    }
    return tendon_gatt_subscribe_characteristic(client, characteristic, indicate, on_value, value_context, done,
                                                context, now);
}

void tendon_gatt_table_subscribed(tendon_gatt_table *table, uint32_t generation, const tendon_gatt_client *client,
                                  const tendon_gatt_characteristic *characteristic) {
    const tendon_gatt_table_question question = cccd_of(characteristic);
    for (size_t i = 0; i < client->subscription_end; i++) {
        const tendon_gatt_subscription *subscription = &client->config.subscriptions[i];
        if (subscription->value_handle == characteristic->value_handle && subscription->cccd_handle != 0) {
            const tendon_gatt_descriptor cccd = {question.uuid, subscription->cccd_handle};
            tendon_gatt_table_keep(table, generation, &question, &cccd, 1);
            return;
        }
    }
}
