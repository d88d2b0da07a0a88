/* SPDX-License-Identifier: MIT */
/* Feature packages and firmware manifests. */
#include "codes.h"
#include "fields.h"
#include "tendon/devices/obvious_package.h"

#include <string.h>

enum {
    OBJECT_VERSION = 1,
    COUNT_AT = 56,
    ENTRIES_AT = 60,
    ENTRY_SIZE = 8,
    RESERVED_AT = 68,
    PACKAGE_FLAGS = TENDON_OBVIOUS_PACKAGE_NONCE | TENDON_OBVIOUS_PACKAGE_REBOOTS,
    MAGIC_SIZE = 4,
    DOMAIN_SIZE = 13,       /* its last byte is 0 */
    ALREADY_APPLIED = 0x100 /* beside the codes of errors */
};

static const uint8_t package_domain[DOMAIN_SIZE] = "OBVIOUS-OFP1";
static const uint8_t manifest_domain[DOMAIN_SIZE] = "OBVIOUS-OFM1";

/* Magic number and version; the magic number is the end of the domain. */
static bool has_header(const uint8_t *data, const uint8_t *domain) {
    return memcmp(data, domain + DOMAIN_SIZE - 1 - MAGIC_SIZE, MAGIC_SIZE) == 0 && data[MAGIC_SIZE] == OBJECT_VERSION;
}

/* The signature is the end of the data. A key is revoked by any entry with its id. */
static unsigned verify(const tendon_obvious_key_ring *ring, uint8_t key_id, const uint8_t *domain, const uint8_t *data,
                       size_t length) {
    const tendon_obvious_key *found = NULL;
    for (size_t i = 0; i < ring->count; i++) {
        const tendon_obvious_key *key = &ring->keys[i];
        if (key->id == key_id && key->revoked) {
            return CODE_UNKNOWN_KEY;
        }
        found = key->id == key_id ? key : found;
    }
    if (found == NULL) {
        return CODE_UNKNOWN_KEY;
    }
    size_t signed_length = length - TENDON_OBVIOUS_SIGNATURE_SIZE;
    bool valid = ring->crypto.verify(ring->crypto.context, found->bytes, domain, DOMAIN_SIZE, data, signed_length,
                                     data + signed_length);
    return valid ? CODE_OK : CODE_SIG_INVALID;
}

/* The fields after magic number and version. */
#define OF_PACKAGE(member) FIELD_INTEGER(tendon_obvious_package, member, LIMIT_NONE)
#define OF_MANIFEST(member) FIELD_INTEGER(tendon_obvious_manifest, member, LIMIT_NONE)
static const field package_fields[] = {
    OF_PACKAGE(kind),
    OF_PACKAGE(key_id),
    OF_PACKAGE(flags),
    OF_PACKAGE(product),
    OF_PACKAGE(serial),
    OF_PACKAGE(counter),
    OF_PACKAGE(issued_at),
    FIELD_LENT(tendon_obvious_package, entries, TENDON_OBVIOUS_NONCE_SIZE), /* the nonce, for the time being */
    OF_PACKAGE(min_fw),
};
static const field manifest_fields[] = {
    OF_MANIFEST(key_id),  OF_MANIFEST(flags),    OF_MANIFEST(product),
    OF_MANIFEST(version), OF_MANIFEST(min_from), OF_MANIFEST(max_from),
    OF_MANIFEST(size),    OF_MANIFEST(crc32),    FIELD_BYTES(tendon_obvious_manifest, sha256),
    OF_MANIFEST(epoch),
};

#define OF_ENTRY(member) FIELD_INTEGER(tendon_obvious_entry, member, LIMIT_NONE)
static const field entry_fields[] = {OF_ENTRY(id), OF_ENTRY(enable), OF_ENTRY(toggle), OF_ENTRY(value)};

static void take(const field *fields, size_t count, const uint8_t *data, size_t length, void *out) {
    tendon_reader reader = tendon_reader_make(data + MAGIC_SIZE + 1, length - MAGIC_SIZE - 1);
    (void)tendon_obvious_take_fields(fields, count, &reader, out);
}

/* ---- nonces ---- */

void tendon_obvious_nonce_set(tendon_obvious_nonce *nonce, const uint8_t bytes[TENDON_OBVIOUS_NONCE_SIZE],
                              uint64_t now) {
    nonce->outstanding = true;
    nonce->expires = now + TENDON_OBVIOUS_NONCE_MS;
    memcpy(nonce->bytes, bytes, sizeof nonce->bytes);
}

const uint8_t *tendon_obvious_nonce_get(const tendon_obvious_nonce *nonce, uint64_t now) {
    return nonce->outstanding && now < nonce->expires ? nonce->bytes : NULL;
}

/* ---- packages ---- */

static bool is_zero(const uint8_t *bytes, size_t length) {
    uint8_t any = 0;
    for (size_t i = 0; i < length; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

static unsigned check_form(const uint8_t *data, size_t length) {
    if (length < TENDON_OBVIOUS_PACKAGE_MIN || length > TENDON_OBVIOUS_PACKAGE_MAX) {
        return CODE_BAD_LENGTH;
    }
    tendon_reader sizes = tendon_reader_make(data + COUNT_AT, ENTRIES_AT - COUNT_AT);
    size_t count = tendon_read_u16le(&sizes);
    if (!has_header(data, package_domain) || tendon_read_u16le(&sizes) != ENTRY_SIZE ||
        count > TENDON_OBVIOUS_FEATURE_MAX) {
        return CODE_BAD_FORMAT;
    }
    return length == TENDON_OBVIOUS_PACKAGE_MIN + count * ENTRY_SIZE ? CODE_OK : CODE_BAD_LENGTH;
}

static unsigned check_nonce(const tendon_obvious_package *package, const uint8_t *nonce, const uint8_t *outstanding) {
    bool zero = is_zero(nonce, TENDON_OBVIOUS_NONCE_SIZE);
    if ((package->flags & TENDON_OBVIOUS_PACKAGE_NONCE) == 0) {
        return zero ? CODE_OK : CODE_BAD_FORMAT;
    }
    return !zero && outstanding != NULL && memcmp(nonce, outstanding, TENDON_OBVIOUS_NONCE_SIZE) == 0
               ? CODE_OK
               : CODE_NONCE_MISMATCH;
}

static unsigned check_entries(const tendon_obvious_package *package) {
    if (package->kind >= TENDON_OBVIOUS_PACKAGE_CLEAR && package->count > 0) {
        return CODE_BAD_FORMAT;
    }
    uint16_t before = 0;
    for (size_t i = 0; i < package->count; i++) {
        tendon_obvious_entry entry = tendon_obvious_package_entry(package, i);
        if (entry.id <= before || entry.id > TENDON_OBVIOUS_FEATURE_MAX || entry.enable > 1 ||
            entry.toggle > TENDON_OBVIOUS_ENTRY_KEEP) {
            return CODE_BAD_FORMAT;
        }
        before = entry.id;
    }
    return CODE_OK;
}

/* Whether the device accepts a package that is signed. */
static unsigned check_package(tendon_obvious_package *package, const uint8_t *nonce,
                              const tendon_obvious_package_state *state) {
    bool provisions = package->kind == TENDON_OBVIOUS_PACKAGE_PROVISION; /* without a reset */
    if (package->kind < TENDON_OBVIOUS_PACKAGE_FULL || package->kind > TENDON_OBVIOUS_PACKAGE_PROVISION ||
        (package->flags & ~(provisions ? TENDON_OBVIOUS_PACKAGE_NONCE : PACKAGE_FLAGS)) != 0) {
        return CODE_BAD_FORMAT;
    }
    if (package->product != state->product) {
        return CODE_WRONG_PRODUCT;
    }
    if (package->serial != state->serial) {
        return CODE_WRONG_DEVICE;
    }
    if (package->counter == state->counter && state->last_sha256 != NULL &&
        memcmp(package->sha256, state->last_sha256, TENDON_OBVIOUS_SHA256_SIZE) == 0) {
        return ALREADY_APPLIED;
    }
    if (package->counter <= state->counter) {
        return CODE_REPLAY;
    }
    package->nonce_used = true;
    unsigned code = check_nonce(package, nonce, state->nonce);
    if (code != CODE_OK) {
        return code;
    }
    return state->fw < package->min_fw ? CODE_FW_TOO_OLD : check_entries(package);
}

tendon_status tendon_obvious_verify_package(const uint8_t *data, size_t length, const tendon_obvious_key_ring *ring,
                                            const tendon_obvious_package_state *state, tendon_obvious_package *out) {
    memset(out, 0, sizeof *out);
    unsigned code = check_form(data, length);
    if (code == CODE_OK) {
        code = verify(ring, data[6], package_domain, data, length);
    }
    if (code != CODE_OK) {
        return status_of(code);
    }
    take(package_fields, sizeof package_fields / sizeof package_fields[0], data, length, out);
    const uint8_t *nonce = out->entries;
    out->count = (uint16_t)((length - TENDON_OBVIOUS_PACKAGE_MIN) / ENTRY_SIZE); /* check_form() compared it */
    out->entries = data + ENTRIES_AT;
    ring->crypto.sha256(ring->crypto.context, data, length, out->sha256);
    code = check_package(out, nonce, state);
    return code == ALREADY_APPLIED ? TENDON_OBVIOUS_ALREADY_APPLIED : status_of(code);
}

tendon_obvious_entry tendon_obvious_package_entry(const tendon_obvious_package *package, size_t index) {
    tendon_obvious_entry entry = {0, 0, 0, 0};
    if (index < package->count) {
        tendon_reader reader = tendon_reader_make(package->entries + index * ENTRY_SIZE, ENTRY_SIZE);
        (void)tendon_obvious_take_fields(entry_fields, sizeof entry_fields / sizeof entry_fields[0], &reader, &entry);
    }
    return entry;
}

uint8_t tendon_obvious_entry_toggle(const tendon_obvious_entry *entry, bool known, uint8_t present) {
    if (entry->toggle != TENDON_OBVIOUS_ENTRY_KEEP) {
        return entry->toggle;
    }
    return known ? present : entry->enable != 0 ? TENDON_OBVIOUS_TOGGLE_ACTIVATED : TENDON_OBVIOUS_TOGGLE_DEACTIVATED;
}

/* ---- manifests ---- */

static unsigned check_manifest(const tendon_obvious_manifest *manifest, uint32_t reserved,
                               const tendon_obvious_manifest_state *state) {
    if (reserved != 0 || (manifest->flags & ~TENDON_OBVIOUS_MANIFEST_OLDER) != 0 ||
        manifest->version > TENDON_OBVIOUS_VERSION_MAX || manifest->min_from > manifest->max_from) {
        return CODE_BAD_FORMAT;
    }
    if (manifest->size == 0 || manifest->size > TENDON_OBVIOUS_OBJECT_MAX) {
        return CODE_TOO_LARGE;
    }
    if (manifest->product != state->product) {
        return CODE_WRONG_PRODUCT;
    }
    if (manifest->epoch < state->epoch) {
        return CODE_DOWNGRADE;
    }
    if (state->current < manifest->min_from || state->current > manifest->max_from) {
        return CODE_NOT_SUPPORTED;
    }
    bool newer = manifest->version > state->current || (manifest->flags & TENDON_OBVIOUS_MANIFEST_OLDER) != 0;
    return newer ? CODE_OK : CODE_DOWNGRADE;
}

static unsigned take_manifest(const uint8_t *data, size_t length, const tendon_obvious_key_ring *ring,
                              const tendon_obvious_manifest_state *state, tendon_obvious_manifest *out) {
    if (length != TENDON_OBVIOUS_MANIFEST_SIZE) {
        return CODE_BAD_LENGTH;
    }
    if (!has_header(data, manifest_domain)) {
        return CODE_BAD_FORMAT;
    }
    unsigned code = verify(ring, data[5], manifest_domain, data, length);
    if (code != CODE_OK) {
        return code;
    }
    take(manifest_fields, sizeof manifest_fields / sizeof manifest_fields[0], data, length, out);
    tendon_reader end = tendon_reader_make(data + RESERVED_AT, sizeof(uint32_t));
    return check_manifest(out, tendon_read_u32le(&end), state);
}

tendon_status tendon_obvious_verify_manifest(const uint8_t *data, size_t length, const tendon_obvious_key_ring *ring,
                                             const tendon_obvious_manifest_state *state, tendon_obvious_manifest *out) {
    memset(out, 0, sizeof *out);
    return status_of(take_manifest(data, length, ring, state, out));
}

tendon_status tendon_obvious_check_image(const tendon_obvious_manifest *manifest, uint64_t length, uint32_t crc32,
                                         const uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE]) {
    if (length != manifest->size) {
        return TENDON_OBVIOUS_ERROR_BAD_LENGTH;
    }
    return crc32 == manifest->crc32 && memcmp(sha256, manifest->sha256, TENDON_OBVIOUS_SHA256_SIZE) == 0
               ? TENDON_OK
               : TENDON_OBVIOUS_ERROR_HASH_MISMATCH;
}
