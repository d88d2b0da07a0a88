/* SPDX-License-Identifier: MIT */
/*
 * Obvious manager: the operations on one device, over its session. Device information, feature status, toggles, feature
 * update with provisioning, firmware check, firmware upgrade. One operation at a time. The part of the cloud is an
 * event NEED, which the application answers with tendon_obvious_manager_give(); nothing reaches the device before it
 * was verified.
 *
 * Events never come from within a call of this header. Each started operation ends with exactly one event DONE.
 */
#ifndef TENDON_DEVICES_OBVIOUS_MANAGER_H
#define TENDON_DEVICES_OBVIOUS_MANAGER_H

#include "tendon/devices/obvious_package.h"
#include "tendon/devices/obvious_session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_obvious_operation {
    TENDON_OBVIOUS_GET_INFO = 0x01,
    TENDON_OBVIOUS_CHECK_STATUS = 0x02, /**< of features */
    TENDON_OBVIOUS_TOGGLE = 0x04,       /**< one feature, to the opposite of its present toggle */
    TENDON_OBVIOUS_SET_TOGGLES = 0x08,
    TENDON_OBVIOUS_UPDATE_FEATURES = 0x10,
    TENDON_OBVIOUS_CHECK_FIRMWARE = 0x20,
    TENDON_OBVIOUS_UPGRADE_FIRMWARE = 0x40
} tendon_obvious_operation;

/** Results of a feature update; of the other operations SUCCESS, FAILED and UNAVAILABLE. */
typedef enum tendon_obvious_update_result {
    TENDON_OBVIOUS_UPDATE_SUCCESS = 0,
    TENDON_OBVIOUS_UPDATE_SUCCESS_RESETTING = 1, /**< event UPDATE only */
    TENDON_OBVIOUS_UPDATE_RESET_COMPLETE = 2,    /**< event UPDATE only */
    TENDON_OBVIOUS_UPDATE_CLEAR_SUCCESS = 3,     /**< event UPDATE only */
    TENDON_OBVIOUS_UPDATE_NOT_PROVISIONED = 10,
    TENDON_OBVIOUS_UPDATE_DOWNLOAD_FAILED = 11,
    TENDON_OBVIOUS_UPDATE_WRITE_FAILED = 12,
    TENDON_OBVIOUS_UPDATE_CLEAR_FAILED = 13,
    TENDON_OBVIOUS_UPDATE_FAILED = 14,
    TENDON_OBVIOUS_UPDATE_TIMEOUT = 15,
    TENDON_OBVIOUS_UNAVAILABLE = 16 /**< firmware check: the device is fine, but there is no (valid) newer firmware */
} tendon_obvious_update_result;

/** Results of a provisioning (event PROVISIONING). */
enum {
    TENDON_OBVIOUS_PROVISION_SUCCESS = 0,
    TENDON_OBVIOUS_PROVISION_START = 1,
    TENDON_OBVIOUS_PROVISION_DOWNLOAD_FAILED = 11,
    TENDON_OBVIOUS_PROVISION_WRITE_FAILED = 12,
    TENDON_OBVIOUS_PROVISION_FAILED = 14,
    TENDON_OBVIOUS_PROVISION_TIMEOUT = 15
};

/** Results of a firmware upgrade. */
typedef enum tendon_obvious_upgrade_result {
    TENDON_OBVIOUS_UPGRADE_SUCCESS = 0,
    TENDON_OBVIOUS_UPGRADE_DOWNLOAD_FAILED = 1,
    TENDON_OBVIOUS_UPGRADE_FAILED = 2,
    TENDON_OBVIOUS_UPGRADE_BOND_CANCELLED = 3,
    TENDON_OBVIOUS_UPGRADE_UNAVAILABLE = 4
} tendon_obvious_upgrade_result;

/** Progress that is not a percentage. */
enum { TENDON_OBVIOUS_PROGRESS_PREPARING = -1, TENDON_OBVIOUS_PROGRESS_RESETTING = -2 };

/** What an operation requires of the cloud. */
typedef enum tendon_obvious_need {
    TENDON_OBVIOUS_NEED_PACKAGE = 0, /**< counter, nonce and fw of the manager describe the device */
    TENDON_OBVIOUS_NEED_PROVISION,   /**< the same */
    TENDON_OBVIOUS_NEED_FIRMWARE,    /**< information with the manifest */
    TENDON_OBVIOUS_NEED_IMAGE,       /**< manifest and image; config.read() must return the image afterwards */
    TENDON_OBVIOUS_NEED_REPORT       /**< to report the result; no answer */
} tendon_obvious_need;

typedef enum tendon_obvious_event_kind {
    TENDON_OBVIOUS_EVENT_NEED = 0,     /**< code: tendon_obvious_need */
    TENDON_OBVIOUS_EVENT_PROVISIONING, /**< code: TENDON_OBVIOUS_PROVISION_... */
    TENDON_OBVIOUS_EVENT_UPDATE,       /**< code: an intermediate tendon_obvious_update_result */
    TENDON_OBVIOUS_EVENT_PROGRESS,     /**< code: percent, or TENDON_OBVIOUS_PROGRESS_... */
    TENDON_OBVIOUS_EVENT_CHANGED, /**< features, count: EVT_FEATURE_CHANGED, after the open operation, or when there are
                                     64 */
    TENDON_OBVIOUS_EVENT_DONE     /**< code: the result; status: TENDON_OK or the cause; features, count: of the
                                     application, with what the device reported if code is SUCCESS */
} tendon_obvious_event_kind;

/** Lent for the callback. */
typedef struct tendon_obvious_event {
    tendon_obvious_event_kind kind;
    tendon_obvious_operation operation;
    int code;
    tendon_status status;
    const tendon_obvious_feature *features;
    size_t count;
} tendon_obvious_event;

/** Results of the cloud. */
typedef enum tendon_obvious_answer_kind {
    TENDON_OBVIOUS_ANSWER_GIVEN = 0,
    TENDON_OBVIOUS_ANSWER_NOTHING,   /**< 204: nothing new */
    TENDON_OBVIOUS_ANSWER_REFUSED,   /**< 404 without inField, 403 */
    TENDON_OBVIOUS_ANSWER_PROVISION, /**< 404 with inField: provision the device first */
    TENDON_OBVIOUS_ANSWER_FAILED,    /**< everything else */
    TENDON_OBVIOUS_ANSWER_COUNT
} tendon_obvious_answer_kind;

typedef struct tendon_obvious_answer {
    tendon_obvious_answer_kind kind;
    tendon_status status; /**< FAILED: the cause */
    const uint8_t *data;  /**< package or manifest: lent until DONE */
    size_t length;
    uint64_t image_length; /**< NEED_IMAGE: length, CRC-32 and SHA-256 (32 bytes, lent) of the downloaded image */
    uint32_t image_crc32;
    const uint8_t *image_sha256;
} tendon_obvious_answer;

/* ---- journal ---- */

enum {
    TENDON_OBVIOUS_JOURNAL_NONE = 0,
    TENDON_OBVIOUS_JOURNAL_SEND,
    TENDON_OBVIOUS_JOURNAL_ACTIVATE,
    TENDON_OBVIOUS_JOURNAL_REJOIN
};

#define TENDON_OBVIOUS_RECORD_SIZE 73

/** What survives a restart of the gateway; one per device. */
typedef struct tendon_obvious_record {
    uint8_t state;    /**< TENDON_OBVIOUS_JOURNAL_...: of the upgrade; a feature update leaves it */
    uint32_t version; /**< of the firmware that the upgrade installs */
    uint32_t caps;    /**< before the upgrade */
    uint64_t serial;
    uint64_t counter; /**< highest of the feature packages that were verified and applied; the device's word never
                         changes it */
    uint64_t before;  /**< feature counter of the device before the upgrade, for the self test */
    uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE]; /**< of the image */
} tendon_obvious_record;

void tendon_obvious_encode_record(const tendon_obvious_record *record, uint8_t out[TENDON_OBVIOUS_RECORD_SIZE]);
/** Also of version 1, whose one counter is both. @return TENDON_OK, TENDON_ERROR_TRUNCATED or TENDON_ERROR_MALFORMED
 * (magic, state, CRC). */
tendon_status tendon_obvious_decode_record(const uint8_t *data, size_t length, tendon_obvious_record *out);

/* ---- the manager ---- */

typedef struct tendon_obvious_manager_config {
    tendon_obvious_session *session; /**< initialized; the manager receives its events first, then passes them on */
    const tendon_obvious_key_ring *ring;
    uint32_t product;    /**< expected; another one fails with WRONG_PRODUCT */
    uint16_t chunk_max;  /**< of transfers; 4000 unless there is a reason */
    uint8_t min_battery; /**< percent, for a firmware upgrade; usually 20 */
    void *context;
    void (*on_event)(void *context, const tendon_obvious_event *event, uint64_t now);
    /** Reads a part of the firmware image. @return TENDON_OK, or an error, which fails the operation. */
    tendon_status (*read)(void *context, uint32_t offset, uint8_t *buffer, size_t length);
    /** Makes the record durable before it returns; an error fails the operation. NULL: no journal. */
    tendon_status (*store)(void *context, const tendon_obvious_record *record);
    /** Reads the record of the device with the serial number of @p record: an upgrade continues from it, a firmware
     * check confirms the trial that it names, an update accepts no lower counter. Leaves @p record as it is if there is
     * none. NULL: there is none of any device. */
    void (*load)(void *context, tendon_obvious_record *record);
} tendon_obvious_manager_config;

/** Caller's memory. An application may read what is above the line; it writes only what says so. */
typedef struct tendon_obvious_manager {
    uint8_t operation;      /**< tendon_obvious_operation; 0: none is open */
    uint8_t flags, battery; /**< of the device, as fw to counter, after GET_DEVICE_INFO */
    /* Private until the next comment; members that are used often come first: shorter instructions. */
    uint8_t state, result;
    tendon_obvious_session *session;
    /* Of an operation: zero at its start, up to the record. */
    uint8_t obj, package_kind, tries, corrections, activations, reason;
    bool answered, cancelled, restarted, resumes, provisioned, end_sent, announced, rejoining, reboots, bound, connects;
    int8_t percent;
    uint8_t held_count;
    bool recorded; /* the record is that of the device, or there is none */
    uint16_t chunk, length;
    tendon_status status;
    uint32_t transfer, size, crc32, offset, sent, prefix, sum, epoch, active, boot_id;
    uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE]; /* of the object in transfer */
    tendon_obvious_record record;
    tendon_obvious_feature *features; /* of the caller */
    size_t feature_count, feature_at;
    tendon_obvious_answer answer;
    uint64_t now, deadline, limit;
    /* The application's again. */
    uint32_t fw, bootloader, stack; /**< fw: of FW_STATE, for firmware */
    uint64_t serial, counter;       /**< counter: of the device; after an update that of the package */
    bool other_trial; /**< firmware check, upgrade: the device runs firmware on trial that the record does not name. It
                         is left alone: who installed it confirms it, or the device goes back */
    tendon_obvious_nonce nonce;    /**< NEED_PACKAGE, NEED_PROVISION: of the device, if it gives nonces */
    tendon_obvious_manifest offer; /**< firmware check with SUCCESS, upgrade after the download */
    uint32_t illegal_inputs;
    /** The application may replace `ring` and `product` while no operation is open. */
    tendon_obvious_manager_config config;
    /* ---- */
    tendon_obvious_on_response on_response; /* of the manager's requests */
    void *next_context;                     /* of the session's events */
    void (*next_event)(void *context, const tendon_obvious_session_event *event, uint64_t now);
    tendon_obvious_feature held[TENDON_OBVIOUS_LIST_MAX];
} tendon_obvious_manager;

/** The inputs of a manager and its session, for tendon_connection_attach(): with them the session has no others. */
extern const tendon_session_inputs tendon_obvious_manager_inputs;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT. */
tendon_status tendon_obvious_manager_init(tendon_obvious_manager *manager, const tendon_obvious_manager_config *config);

/**
 * Starts an operation; DONE follows. The first step is one of the manager's deadline: with tendon/linux, call
 * tendon_connection_refresh() after this one, unless it is in a callback of this manager. UPDATE_FEATURES and
 * UPGRADE_FIRMWARE connect if necessary. After an operation that was cancelled, the next one waits until the device has
 * answered the last request of that one.
 * @param features CHECK_STATUS, TOGGLE (one), SET_TOGGLES: lent until DONE. Ids, and the toggles to set (1, 2), go in;
 *   after SUCCESS they contain what the device reported. Else NULL.
 * @return TENDON_OK, TENDON_ERROR_BUSY, TENDON_ERROR_INVALID_ARGUMENT.
 */
tendon_status tendon_obvious_manager_start(tendon_obvious_manager *manager, tendon_obvious_operation operation,
                                           tendon_obvious_feature *features, size_t count, uint64_t now);
/** Ends the operation; DONE with TENDON_ERROR_CANCELLED follows. Does nothing if none is open. */
void tendon_obvious_manager_cancel(tendon_obvious_manager *manager, uint64_t now);
/** Answers NEED (all but REPORT). @return TENDON_OK; TENDON_ERROR_WRONG_STATE; TENDON_ERROR_INVALID_ARGUMENT. */
tendon_status tendon_obvious_manager_give(tendon_obvious_manager *manager, const tendon_obvious_answer *answer,
                                          uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
