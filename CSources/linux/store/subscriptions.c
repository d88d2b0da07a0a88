/* SPDX-License-Identifier: MIT */
#include "subscriptions.h"
#include "../pairing/pairing.h"
#include "directory.h"
#include "journal.h"
#include "tendon/host/gatt_server.h"

#include <string.h>

static const char family[] = "cccd";

tendon_status tendon_subscription_store_open(tendon_subscription_store *store, const char *directory) {
    char path[TENDON_JOURNAL_PATH_SIZE];
    store->status = TENDON_OK;
    if (directory == NULL) {
        tendon_status status = tendon_directory_state_path("subscriptions", path, sizeof path);
        return status < 0 ? status : tendon_journal_open(&store->journal, path);
    }
    return tendon_journal_open(&store->journal, directory);
}

/** NULL: nothing is kept for this connection. */
static tendon_gatt_connection *server_of(const tendon_peripheral_link *place) {
    tendon_gatt_connection *server = place->bearer.server;
    bool fits = server != NULL && server->server->cccd_count <= TENDON_SUBSCRIPTIONS_MAX;
    return place->owner->subscriptions != NULL && fits ? server : NULL;
}

/** Tells the key from that of another pairing. */
static void digest_key(const uint8_t key[16], uint8_t out[TENDON_SUBSCRIPTION_BOND_SIZE]) {
    static const uint8_t purpose[] = "subscriptions";
    tendon_cmac cmac;
    uint8_t whole[16];
    tendon_cmac_init(&cmac, key);
    tendon_cmac_update(&cmac, purpose, sizeof purpose);
    tendon_cmac_finish(&cmac, whole);
    memcpy(out, whole, TENDON_SUBSCRIPTION_BOND_SIZE);
}

static bool subscribes_to_changes(const tendon_gatt_connection *server) {
    uint16_t handle = server->server->service_changed;
    return handle != 0 && (tendon_gatt_connection_cccd(server, handle) & 2u) != 0;
}

/** Sets the CCCDs that the central has not written in this connection. */
static void subscribe(tendon_gatt_connection *server, const uint8_t *values, uint16_t only, uint64_t now) {
    const tendon_gatt_server *table = server->server;
    for (size_t i = 0; i < table->count; i++) {
        const tendon_gatt_attribute *attribute = &table->attributes[i];
        uint16_t value_handle = (uint16_t)(attribute->handle - 1u);
        if (attribute->cccd_index < 0 || (only != 0 && only != value_handle)) {
            continue;
        }
        uint16_t *stored = &server->config.cccds[attribute->cccd_index];
        uint8_t bits = only != 0 ? 2 : values[attribute->cccd_index];
        if (*stored == 0 && bits != 0) {
            *stored = bits;
            if (table->handlers.subscribed != NULL) {
                table->handlers.subscribed(table->handlers.context, server, value_handle, bits, now);
            }
        }
    }
}

/**
 * The record of the central. TENDON_ERROR_NOT_FOUND: none that was written with the key of this bond; another error can
 * pass.
 */
static tendon_status load(const tendon_peripheral_link *place, tendon_subscription_record *record) {
    const tendon_kept_subscriptions *kept = &place->kept;
    const tendon_journal *journal = &place->owner->subscriptions->journal;
    uint8_t bytes[TENDON_SUBSCRIPTION_RECORD_MAX], bond[TENDON_SUBSCRIPTION_BOND_SIZE];
    tendon_status length = tendon_journal_load(journal, family, &kept->central, bytes, sizeof bytes);
    if (length < 0) {
        return length == TENDON_ERROR_BUFFER_TOO_SMALL || length == TENDON_ERROR_FILE_PERMISSION
                   ? TENDON_ERROR_NOT_FOUND
                   : length;
    }
    digest_key(kept->key, bond);
    bool ours = tendon_subscription_record_decode(bytes, (size_t)length, record, NULL) == TENDON_OK &&
                memcmp(record->bond, bond, sizeof bond) == 0;
    return ours ? TENDON_OK : TENDON_ERROR_NOT_FOUND;
}

/** @return true if the bond of this connection became known, or is another one since. */
static bool learn_bond(tendon_peripheral_link *place) {
    tendon_kept_subscriptions *kept = &place->kept;
    const tendon_bond *bond = tendon_pairing_bond_in_use(&place->link);
    if (bond == NULL || (kept->bonded && memcmp(kept->key, bond->key, sizeof kept->key) == 0)) {
        return false;
    }
    memset(kept, 0, sizeof *kept);
    kept->bonded = true;
    kept->central = bond->peer;
    memcpy(kept->key, bond->key, sizeof kept->key);
    return true;
}

void tendon_subscriptions_restore(tendon_peripheral_link *place, uint64_t now) {
    tendon_gatt_connection *server = server_of(place);
    tendon_kept_subscriptions *kept = &place->kept;
    tendon_subscription_record record;
    uint8_t hash[16];
    if (server == NULL || !learn_bond(place)) {
        return;
    }
    tendon_status loaded = load(place, &record);
    kept->bonded =
        loaded >= 0 || loaded == TENDON_ERROR_NOT_FOUND; /* or the next PDU reads again, nothing is written */
    place->owner->subscriptions->status = kept->bonded ? TENDON_OK : loaded;
    if (loaded < 0) {
        return;
    }
    tendon_gatt_server_hash(server->server, hash);
    kept->stale = memcmp(hash, record.hash, sizeof hash) != 0 || record.count != server->server->cccd_count;
    if (!kept->stale) {
        memcpy(kept->values, record.values, record.count);
        subscribe(server, record.values, 0, now);
    } else if (record.service_changed && server->server->service_changed != 0) {
        kept->announces = true;
        subscribe(server, NULL, server->server->service_changed, now);
    }
}

/** A radio's bonds are those of all its own addresses. */
static bool is_bonded(void *context, const tendon_address *central) {
    const tendon_bonds *bonds = ((const tendon_radio *)context)->bonds;
    for (size_t i = 0; i < bonds->count; i++) {
        const tendon_address *peer = &bonds->items[i].peer;
        if ((peer->type & 1u) == central->type && memcmp(peer->bytes, central->bytes, sizeof peer->bytes) == 0) {
            return true;
        }
    }
    return false;
}

/** Without a subscription there is no file. */
static tendon_status store(const tendon_peripheral_link *place, const tendon_gatt_connection *server) {
    const tendon_kept_subscriptions *kept = &place->kept;
    const tendon_journal *journal = &place->owner->subscriptions->journal;
    tendon_subscription_record record = {.service_changed = subscribes_to_changes(server),
                                         .count = (uint8_t)server->server->cccd_count};
    uint8_t bytes[TENDON_SUBSCRIPTION_RECORD_MAX], any = 0;
    for (size_t i = 0; i < record.count; i++) {
        record.values[i] = kept->values[i];
        any |= kept->values[i];
    }
    if (any == 0) {
        return tendon_journal_remove(journal, family, &kept->central);
    }
    digest_key(kept->key, record.bond);
    tendon_gatt_server_hash(server->server, record.hash);
    tendon_status length = tendon_subscription_record_encode(&record, bytes, sizeof bytes);
    tendon_status status = tendon_journal_store(journal, family, &kept->central, bytes, (size_t)length);
    return status < 0 ? status : tendon_journal_keep(journal, family, is_bonded, place->owner->radio);
}

/** @return whether the file is another one than the CCCDs, which are copied. */
static bool take_values(tendon_kept_subscriptions *kept, const tendon_gatt_connection *server) {
    bool differs = kept->stale;
    for (size_t i = 0; i < server->server->cccd_count; i++) {
        uint8_t value = (uint8_t)server->config.cccds[i];
        differs = differs || value != kept->values[i];
        kept->values[i] = value;
    }
    return differs;
}

void tendon_subscriptions_keep(tendon_peripheral_link *place, uint64_t now) {
    tendon_gatt_connection *server = server_of(place);
    tendon_kept_subscriptions *kept = &place->kept;
    if (server == NULL || !kept->bonded) {
        return;
    }
    if (kept->announces) {
        tendon_status status = tendon_gatt_indicate_service_changed(server, 0x0001, 0xFFFF, now);
        kept->announces = status == TENDON_ERROR_WOULD_BLOCK || status == TENDON_ERROR_BUSY;
        kept->announced = status >= 0;
    }
    if (kept->announces || (kept->announced && server->indication_outstanding)) {
        return; /* until it is confirmed the file has the table that the central knows */
    }
    kept->announced = false;
    if (take_values(kept, server)) {
        kept->stale = false;
        place->owner->subscriptions->status = store(place, server);
        kept->unsaved = place->owner->subscriptions->status < 0;
    }
}

/** The record could not be read in this connection: what the central subscribed to counts only if there is none. */
static void read_at_last(tendon_peripheral_link *place, const tendon_gatt_connection *server) {
    tendon_kept_subscriptions *kept = &place->kept;
    tendon_subscription_record record;
    if (learn_bond(place)) {
        tendon_status loaded = load(place, &record);
        bool none = loaded == TENDON_ERROR_NOT_FOUND;
        kept->unsaved = none && take_values(kept, server);
        place->owner->subscriptions->status = none || loaded >= 0 ? TENDON_OK : loaded;
    }
}

void tendon_subscriptions_ended(tendon_peripheral_link *place) {
    const tendon_gatt_connection *server = server_of(place);
    if (server != NULL && !place->kept.bonded) {
        read_at_last(place, server);
    }
    if (server != NULL && place->kept.unsaved) {
        place->owner->subscriptions->status = store(place, server);
    }
}
