/* SPDX-License-Identifier: MIT */
/*
 * GATT cache of a program that discovers by itself: the answers of its discoveries, valid as long as the device reports
 * the same Database Hash. A session has the rows of its profile in a tendon_gatt_cache; here the same cache decides
 * whether what was discovered is valid, and the answers are kept in its record, beside the rows of a session.
 *
 * Use: give tendon_gatt_table.cache to tendon_connection_use_cache(). Before a discovery, if
 * tendon_gatt_table_needs_check() returns true, run a discovery without rows (tendon_profile_start() with count 0),
 * which reads the hash and enables Service Changed, and pass its result to tendon_gatt_table_checked(). Then ask
 * tendon_gatt_table_find(); if it has no answer, discover, and pass the answer to tendon_gatt_table_keep().
 */
#ifndef TENDON_LINUX_GATT_TABLE_H
#define TENDON_LINUX_GATT_TABLE_H

#include "tendon/host/gatt_cache.h"
#include "tendon/host/gatt_client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Procedures whose answers are kept. */
typedef enum tendon_gatt_table_kind {
    TENDON_GATT_TABLE_SERVICES = 1,    /**< items: tendon_gatt_service */
    TENDON_GATT_TABLE_INCLUDED,        /**< items: tendon_gatt_service */
    TENDON_GATT_TABLE_CHARACTERISTICS, /**< items: tendon_gatt_characteristic */
    TENDON_GATT_TABLE_DESCRIPTORS      /**< items: tendon_gatt_descriptor */
} tendon_gatt_table_kind;

enum {
    /** Maximum number of answers of a table, and of items of all answers; further ones are not kept. */
    TENDON_GATT_TABLE_ANSWERS = 40,
    TENDON_GATT_TABLE_ITEMS = 120,
    /** Longest encoded table in bytes. */
    TENDON_GATT_TABLE_RECORD_MAX =
        1 + TENDON_GATT_CACHE_RECORD_MAX + 3 + 23 * TENDON_GATT_TABLE_ANSWERS + 24 * TENDON_GATT_TABLE_ITEMS + 4
};

/** What a discovery requests. */
typedef struct tendon_gatt_table_question {
    uint8_t kind; /**< tendon_gatt_table_kind */
    uint16_t start, end;
    tendon_uuid uuid; /**< all 0: any */
} tendon_gatt_table_question;

/** An answer. Its items follow those of the answer before. */
typedef struct tendon_gatt_table_answer {
    tendon_gatt_table_question question;
    uint8_t count;
} tendon_gatt_table_answer;

/** A service, a characteristic or a descriptor. */
typedef struct tendon_gatt_table_item {
    tendon_uuid uuid;
    uint16_t handle; /**< of the declaration, or of the descriptor */
    uint16_t value;  /**< of a characteristic; the include declaration of an included service */
    uint16_t end;
    uint8_t properties;
} tendon_gatt_table_item;

/** The answers, without what is known of their validity. */
typedef struct tendon_gatt_table_content {
    uint8_t answer_count, item_count;
    tendon_gatt_table_answer answers[TENDON_GATT_TABLE_ANSWERS];
    tendon_gatt_table_item items[TENDON_GATT_TABLE_ITEMS];
} tendon_gatt_table_content;

/** Caller's memory: one for each device, as long as its connections use it. Must not be moved. */
typedef struct tendon_gatt_table {
    tendon_gatt_cache cache; /**< for tendon_connection_use_cache() */
    tendon_gatt_cache_store store;
    bool checked;        /**< the hash was compared on this connection */
    uint32_t generation; /**< another one after each drop: an answer of before is not kept */
    tendon_gatt_table_content content;
} tendon_gatt_table;

/** Prepares the table of a device. @param store copied; NULL: the table lasts as long as its memory. */
void tendon_gatt_table_init(tendon_gatt_table *table, const tendon_address *device,
                            const tendon_gatt_cache_store *store);
/** Call it before each connection. With a store, its record is loaded again: it can have been dropped. */
void tendon_gatt_table_begin(tendon_gatt_table *table);

/** Returns true if the Database Hash must be read before the next discovery. Never for a device that has none, and for
 * an address that is no identity. */
bool tendon_gatt_table_needs_check(const tendon_gatt_table *table);
/**
 * The discovery without rows has ended.
 * @return TENDON_OK: the discovery continues, with the table or without it; or the error to end it with.
 */
tendon_status tendon_gatt_table_checked(tendon_gatt_table *table, tendon_status status);
/**
 * Returns true if a discovery that ended with this status is done again: the device has changed its table since the
 * check, which the error has made invalid.
 */
bool tendon_gatt_table_repeats(const tendon_gatt_table *table, tendon_status status);
/** Service Changed is no longer enabled: the hash is read again before the next discovery. */
void tendon_gatt_table_recheck(tendon_gatt_table *table);

/**
 * Answers a discovery. A question for a UUID is also answered by the answer for all UUIDs of its range.
 * @param out items of the type of the question's kind
 * @return the number of items; TENDON_ERROR_NOT_FOUND: discover; TENDON_ERROR_BUFFER_TOO_SMALL.
 */
tendon_status tendon_gatt_table_find(const tendon_gatt_table *table, const tendon_gatt_table_question *question,
                                     void *out, size_t capacity);
/**
 * Keeps the whole answer of a discovery, and stores the table. Does nothing if the table was dropped meanwhile, or is
 * full.
 * @param generation tendon_gatt_table.generation at the start of the discovery
 */
void tendon_gatt_table_keep(tendon_gatt_table *table, uint32_t generation, const tendon_gatt_table_question *question,
                            const void *items, size_t count);

/** As tendon_gatt_subscribe_characteristic(), without the discovery of the CCCD if its handle is kept. */
tendon_status tendon_gatt_table_subscribe(const tendon_gatt_table *table, tendon_gatt_client *client,
                                          const tendon_gatt_characteristic *characteristic, bool indicate,
                                          tendon_gatt_on_value on_value, void *value_context, tendon_gatt_done done,
                                          void *context, uint64_t now);
/** Keeps the CCCD that a completed tendon_gatt_table_subscribe() has discovered. */
void tendon_gatt_table_subscribed(tendon_gatt_table *table, uint32_t generation, const tendon_gatt_client *client,
                                  const tendon_gatt_characteristic *characteristic);

/* Codec of a record: the record of the cache, and the answers. One without answers may be that of the cache alone. */

/** Finds the record of the cache in @p bytes, which it does not check. @return its length. */
size_t tendon_gatt_table_cache_of(const uint8_t *bytes, size_t length, const uint8_t **cache);

/** @return the length, or TENDON_ERROR_BUFFER_TOO_SMALL. @param cache encoded, see tendon_gatt_cache_encode(). */
tendon_status tendon_gatt_table_encode(const tendon_gatt_table_content *content, const uint8_t *cache,
                                       size_t cache_length, uint8_t *out, size_t capacity);
/**
 * Decodes a whole record.
 * @param cache the encoded record of the cache, borrowed from @p bytes; not decoded here
 * @return TENDON_OK; TENDON_ERROR_TRUNCATED, _MALFORMED, _UNSUPPORTED (version)
 */
tendon_status tendon_gatt_table_decode(const uint8_t *bytes, size_t length, tendon_gatt_table_content *out,
                                       const uint8_t **cache, size_t *cache_length);

#ifdef __cplusplus
}
#endif
#endif
