/* SPDX-License-Identifier: MIT */
/*
 * Signed objects of OGP/1: feature packages (OFP1) and firmware manifests (OFM1). Tendon contains no cryptography: the
 * application provides Ed25519 and SHA-256 as functions.
 */
#ifndef TENDON_DEVICES_OBVIOUS_PACKAGE_H
#define TENDON_DEVICES_OBVIOUS_PACKAGE_H

#include "tendon/devices/obvious_payload.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_OBVIOUS_KEY_SIZE 32
#define TENDON_OBVIOUS_SIGNATURE_SIZE 64
#define TENDON_OBVIOUS_PACKAGE_MIN 124
#define TENDON_OBVIOUS_PACKAGE_MAX 8316 /**< 1024 entries */
/** How long a nonce is valid. */
#define TENDON_OBVIOUS_NONCE_MS 300000u

/** The result of a package that the device has applied already: nothing changes. */
#define TENDON_OBVIOUS_ALREADY_APPLIED 1

/** The application's cryptography. */
typedef struct tendon_obvious_crypto {
    /**
     * Verifies an Ed25519 signature (RFC 8032, pure) of @p domain followed by @p data.
     * @return true if the signature is valid
     */
    bool (*verify)(void *context, const uint8_t key[TENDON_OBVIOUS_KEY_SIZE], const uint8_t *domain,
                   size_t domain_length, const uint8_t *data, size_t length,
                   const uint8_t signature[TENDON_OBVIOUS_SIGNATURE_SIZE]);
    /** Computes the SHA-256 of @p data. */
    void (*sha256)(void *context, const uint8_t *data, size_t length, uint8_t out[TENDON_OBVIOUS_SHA256_SIZE]);
    void *context;
} tendon_obvious_crypto;

/** A public key of the vendor. */
typedef struct tendon_obvious_key {
    uint8_t id;   /**< 1 to 255 */
    bool revoked; /**< treated as unknown, and so are others with its id */
    uint8_t bytes[TENDON_OBVIOUS_KEY_SIZE];
} tendon_obvious_key;

/** The keys of one product, in the caller's memory. */
typedef struct tendon_obvious_key_ring {
    const tendon_obvious_key *keys;
    size_t count;
    tendon_obvious_crypto crypto;
} tendon_obvious_key_ring;

/* ---- nonces ---- */

/** A nonce that the device gave out. Zeroed: none. */
typedef struct tendon_obvious_nonce {
    bool outstanding;
    uint8_t bytes[TENDON_OBVIOUS_NONCE_SIZE];
    uint64_t expires;
} tendon_obvious_nonce;

/** Keeps a nonce that was received @p now; it replaces the former one. */
void tendon_obvious_nonce_set(tendon_obvious_nonce *nonce, const uint8_t bytes[TENDON_OBVIOUS_NONCE_SIZE],
                              uint64_t now);
/** Returns the nonce; NULL if none is outstanding or it has expired. */
const uint8_t *tendon_obvious_nonce_get(const tendon_obvious_nonce *nonce, uint64_t now);

/* ---- feature packages ---- */

typedef enum tendon_obvious_package_kind {
    TENDON_OBVIOUS_PACKAGE_FULL = 1,     /**< features that are not listed become disabled */
    TENDON_OBVIOUS_PACKAGE_DELTA = 2,    /**< features that are not listed stay */
    TENDON_OBVIOUS_PACKAGE_CLEAR = 3,    /**< no entries: all features become disabled */
    TENDON_OBVIOUS_PACKAGE_PROVISION = 4 /**< no entries: the device becomes provisioned */
} tendon_obvious_package_kind;

/** Flags of a package. */
enum { TENDON_OBVIOUS_PACKAGE_NONCE = 1, TENDON_OBVIOUS_PACKAGE_REBOOTS = 2 };

/** Toggle of an entry that keeps the present one. */
#define TENDON_OBVIOUS_ENTRY_KEEP 3

typedef struct tendon_obvious_entry {
    uint16_t id;    /**< 1 to 1024 */
    uint8_t enable; /**< 0, 1 */
    uint8_t toggle; /**< 0 unsupported, 1 on, 2 off, TENDON_OBVIOUS_ENTRY_KEEP */
    uint32_t value; /**< the application's own */
} tendon_obvious_entry;

/** What is known of the device that a package is for. */
typedef struct tendon_obvious_package_state {
    uint32_t product, fw; /**< fw: version code */
    uint64_t serial, counter;
    const uint8_t *last_sha256; /**< of the last applied package, 32 bytes; NULL: unknown */
    const uint8_t *nonce;       /**< outstanding nonce, 16 bytes; NULL: none */
} tendon_obvious_package_state;

/** A package whose signature is valid. */
typedef struct tendon_obvious_package {
    uint8_t kind, flags, key_id;
    bool nonce_used; /**< the check of the nonce was reached: the nonce is not valid any more, whatever the result */
    uint16_t count;  /**< number of entries */
    uint32_t product, min_fw;
    uint64_t serial, counter, issued_at;
    const uint8_t *entries; /**< lent: part of the package; tendon_obvious_package_entry() */
    uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE];
} tendon_obvious_package;

/**
 * Verifies a package: format, key, signature, then whether this device accepts it. No field is used before the
 * signature is verified.
 * @return TENDON_OK, TENDON_OBVIOUS_ALREADY_APPLIED, or the first of these that applies: BAD_LENGTH, BAD_FORMAT,
 *   UNKNOWN_KEY, SIG_INVALID, BAD_FORMAT, WRONG_PRODUCT, WRONG_DEVICE, REPLAY, NONCE_MISMATCH, FW_TOO_OLD, BAD_FORMAT.
 *   @p out is valid unless the result is BAD_LENGTH, UNKNOWN_KEY, SIG_INVALID or BAD_FORMAT; nonce_used always is.
 */
tendon_status tendon_obvious_verify_package(const uint8_t *data, size_t length, const tendon_obvious_key_ring *ring,
                                            const tendon_obvious_package_state *state, tendon_obvious_package *out);
/** Returns entry @p index; zeros beyond the end. */
tendon_obvious_entry tendon_obvious_package_entry(const tendon_obvious_package *package, size_t index);
/**
 * Returns the toggle that a feature has after an entry was applied.
 * @param known true if the device knew the feature, with the toggle @p present
 */
uint8_t tendon_obvious_entry_toggle(const tendon_obvious_entry *entry, bool known, uint8_t present);

/* ---- firmware manifests ---- */

/** Flag of a manifest: a version that is not newer is permitted. */
#define TENDON_OBVIOUS_MANIFEST_OLDER 1

/** What is known of the device that a firmware is for. */
typedef struct tendon_obvious_manifest_state {
    uint32_t product, current, epoch; /**< current: version code */
} tendon_obvious_manifest_state;

/** A manifest whose signature is valid. */
typedef struct tendon_obvious_manifest {
    uint8_t key_id;
    uint16_t flags;
    uint32_t product, version, min_from, max_from, size, crc32, epoch;
    uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE];
} tendon_obvious_manifest;

/**
 * Verifies a manifest: format, key, signature, then whether this device accepts the firmware.
 * @return TENDON_OK, or the first of these that applies: BAD_LENGTH, BAD_FORMAT, UNKNOWN_KEY, SIG_INVALID, BAD_FORMAT,
 *   TOO_LARGE, WRONG_PRODUCT, DOWNGRADE (epoch), NOT_SUPPORTED (present version), DOWNGRADE (version).
 */
tendon_status tendon_obvious_verify_manifest(const uint8_t *data, size_t length, const tendon_obvious_key_ring *ring,
                                             const tendon_obvious_manifest_state *state, tendon_obvious_manifest *out);
/**
 * Compares an image with its manifest. Both sums may be computed piece by piece.
 * @return TENDON_OK, BAD_LENGTH or HASH_MISMATCH.
 */
tendon_status tendon_obvious_check_image(const tendon_obvious_manifest *manifest, uint64_t length, uint32_t crc32,
                                         const uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
