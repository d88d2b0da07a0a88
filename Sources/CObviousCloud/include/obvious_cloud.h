/* SPDX-License-Identifier: MIT */
/*
 * The cloud's answers: JSON text to values, strictly. Everything a hostile cloud can send passes through here.
 *
 * Limits are checked before a parser sees the text, so the memory that parsing takes is bounded by them. Unknown
 * members are ignored; a required member that is missing, of another type or out of range rejects the whole answer.
 * Texts and arrays in results belong to the answer and are valid until tendon_cloud_answer_release(). The API:
 * docs/protocols/obvious.md.
 */
#ifndef OBVIOUS_CLOUD_H
#define OBVIOUS_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TENDON_CLOUD_BODY_MAX (1024 * 1024) /**< bytes of a JSON text */
#define TENDON_CLOUD_DEPTH_MAX 16           /**< arrays and objects in each other */
#define TENDON_CLOUD_STRING_MAX (64 * 1024) /**< bytes of one string, as it is written */
#define TENDON_CLOUD_ITEMS_MAX 2048         /**< elements of one array, members of one object */
#define TENDON_CLOUD_PACKAGE_MAX 8316       /**< bytes of a feature package */
#define TENDON_CLOUD_MANIFEST_SIZE 136      /**< bytes of a firmware manifest */
#define TENDON_CLOUD_IMAGE_MAX (16 * 1024 * 1024)
#define TENDON_CLOUD_FEATURE_MAX 1024 /**< highest id of a feature */
#define TENDON_CLOUD_VERSION_MAX 999999999

typedef enum tendon_cloud_status {
    TENDON_CLOUD_OK,
    TENDON_CLOUD_TOO_LARGE,       /**< the text exceeds TENDON_CLOUD_BODY_MAX */
    TENDON_CLOUD_TOO_DEEP,        /**< TENDON_CLOUD_DEPTH_MAX */
    TENDON_CLOUD_STRING_TOO_LONG, /**< TENDON_CLOUD_STRING_MAX */
    TENDON_CLOUD_TOO_MANY_ITEMS,  /**< TENDON_CLOUD_ITEMS_MAX */
    TENDON_CLOUD_NOT_JSON,
    TENDON_CLOUD_MISSING,      /**< a required member is missing */
    TENDON_CLOUD_WRONG_TYPE,   /**< a member is of another type */
    TENDON_CLOUD_OUT_OF_RANGE, /**< a value is out of its range, or its text is malformed */
    TENDON_CLOUD_DUPLICATE,    /**< an id or a name occurs twice */
    TENDON_CLOUD_NO_MEMORY
} tendon_cloud_status;

/** One line about a status. Never NULL. */
const char *tendon_cloud_status_text(tendon_cloud_status status);

/** Checks the limits of a JSON text; allocates nothing. Texts that are not JSON may pass. */
tendon_cloud_status tendon_cloud_check_limits(const char *text, size_t length);

/** Decodes base64 with padding (RFC 4648 section 4), strictly. @return bytes, or -1: malformed, or more than @p size.
 */
ptrdiff_t tendon_cloud_base64(const char *text, size_t length, uint8_t *out, size_t size);

/** A parsed answer. Zero it before its first use. */
typedef struct tendon_cloud_answer {
    void *root;
    const char *member; /**< the member that a status is about, NULL: none */
} tendon_cloud_answer;

/** Text of an answer: no terminator, no zero byte, valid UTF-8. */
typedef struct tendon_cloud_text {
    const char *data;
    size_t length;
} tendon_cloud_text;

/** Checks the limits and parses; the text must be one JSON object. Release the answer whatever the status is. */
tendon_cloud_status tendon_cloud_answer_parse(const char *text, size_t length, tendon_cloud_answer *answer);
void tendon_cloud_answer_release(tendon_cloud_answer *answer);

/* ---- features ---- */

typedef struct tendon_cloud_feature {
    uint16_t id;
    bool toggleable;
    tendon_cloud_text name;
} tendon_cloud_feature;

/** Checks all features; ids and names are unique. @p count: how many. */
tendon_cloud_status tendon_cloud_features(tendon_cloud_answer *answer, size_t *count);
/** Feature @p index of an answer that tendon_cloud_features() accepted. */
tendon_cloud_feature tendon_cloud_feature_at(const tendon_cloud_answer *answer, size_t index);

typedef struct tendon_cloud_package {
    uint64_t counter;
    uint8_t sha256[32]; /**< as the answer states it: compare it with the hash of the bytes */
    size_t length;
} tendon_cloud_package;

/** The package's bytes go to @p bytes: TENDON_CLOUD_PACKAGE_MAX bytes. */
tendon_cloud_status tendon_cloud_decode_package(tendon_cloud_answer *answer, tendon_cloud_package *out, uint8_t *bytes);

/* ---- firmware ---- */

typedef struct tendon_cloud_firmware {
    uint32_t version_code;
    uint32_t size;
    uint32_t crc32;
    uint8_t sha256[32];
    uint8_t manifest[TENDON_CLOUD_MANIFEST_SIZE];
    tendon_cloud_text version_name;
    tendon_cloud_text release_notes;
    tendon_cloud_text upgrade_message;
    tendon_cloud_text url;
} tendon_cloud_firmware;

tendon_cloud_status tendon_cloud_decode_firmware(tendon_cloud_answer *answer, tendon_cloud_firmware *out);

/* ---- shop ---- */

typedef struct tendon_cloud_item {
    int64_t id;
    size_t feature_count;
    tendon_cloud_text name;
    tendon_cloud_text description;
    tendon_cloud_text price; /**< decimal digits, optionally a point and further digits */
    tendon_cloud_text currency;
    tendon_cloud_text image_url;
    tendon_cloud_text thumbnail_url;
} tendon_cloud_item;

/** Checks all items of the catalog; ids are unique. @p count: how many. */
tendon_cloud_status tendon_cloud_items(tendon_cloud_answer *answer, size_t *count);
/** Item @p index of an answer that tendon_cloud_items() accepted. */
tendon_cloud_item tendon_cloud_item_at(const tendon_cloud_answer *answer, size_t index);
/** Feature id @p feature of item @p index, below its feature_count. */
uint16_t tendon_cloud_item_feature(const tendon_cloud_answer *answer, size_t index, size_t feature);

typedef struct tendon_cloud_cart {
    int64_t id;
    int64_t total_price; /**< minor units of the currency */
    tendon_cloud_text currency;
} tendon_cloud_cart;

tendon_cloud_status tendon_cloud_decode_cart(tendon_cloud_answer *answer, tendon_cloud_cart *out);

typedef enum tendon_cloud_payment_status {
    TENDON_CLOUD_PAYMENT_SUCCEEDED,
    TENDON_CLOUD_PAYMENT_PENDING,
    TENDON_CLOUD_PAYMENT_ACTION_REQUIRED,
    TENDON_CLOUD_PAYMENT_FAILED
} tendon_cloud_payment_status;

/** Members that the status does not have are empty. */
typedef struct tendon_cloud_payment {
    tendon_cloud_payment_status status;
    tendon_cloud_text payment_id;
    tendon_cloud_text secret;
    tendon_cloud_text action_url;
    tendon_cloud_text code;
    tendon_cloud_text message;
} tendon_cloud_payment;

tendon_cloud_status tendon_cloud_decode_payment(tendon_cloud_answer *answer, tendon_cloud_payment *out);

/* ---- errors ---- */

typedef struct tendon_cloud_error {
    tendon_cloud_text code;
    tendon_cloud_text message; /**< empty: none */
    bool in_field;             /**< of NOT_PROVISIONED */
} tendon_cloud_error;

tendon_cloud_status tendon_cloud_decode_error(tendon_cloud_answer *answer, tendon_cloud_error *out);

#endif
