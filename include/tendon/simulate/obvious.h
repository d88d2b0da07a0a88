/* SPDX-License-Identifier: MIT */
/*
 * Simulated Obvious device: a GATT server that speaks OGP/1 of docs/protocols/obvious.md. It builds and checks frames
 * and payloads from the tables of that document, not with the codec of the client, so that a shared misreading shows.
 * Segments are received and sent with the receiver and the sender of the client, which are the same on both sides.
 *
 * All that it keeps is in a simulated flash memory: features, transfers, two firmware images, what the bootloader
 * needs. A power cut at any byte leaves the old or the new table of features, and an image that boots.
 */
#ifndef TENDON_SIMULATE_OBVIOUS_H
#define TENDON_SIMULATE_OBVIOUS_H

#include "tendon/devices/obvious.h"
#include "tendon/simulate/device.h"
#include "tendon/simulate/flash.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One feature that the device knows. */
typedef struct tendon_simulated_obvious_feature {
    uint16_t id;
    uint8_t enable, toggle;
    uint32_t value;
} tendon_simulated_obvious_feature;

/**
 * Applies a package: fills a new table and leaves the old one alone, so that a device can switch between them in one
 * step. A full or clear package removes the features that it does not list; a provisioning package changes none.
 * @param old @p count features, ordered by id
 * @param out @p capacity features; TENDON_OBVIOUS_FEATURE_MAX always suffice
 * @return the number of features in @p out, ordered by id; TENDON_ERROR_TABLE_FULL if they do not fit
 */
tendon_status tendon_simulated_obvious_apply(const tendon_obvious_package *package,
                                             const tendon_simulated_obvious_feature *old, size_t count,
                                             tendon_simulated_obvious_feature *out, size_t capacity);

/* ---- responses ---- */

#define TENDON_SIMULATED_OBVIOUS_RESPONSES 4
/** Longest response that is kept: the status of 64 features. */
#define TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX 271

typedef struct tendon_simulated_obvious_response {
    uint16_t length; /* 0: free */
    uint16_t corr;
    uint8_t opcode;
    uint32_t crc; /* of the request */
    uint8_t frame[TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX];
} tendon_simulated_obvious_response;

/** The last responses, so that a repeated request is not executed again. Zeroed: empty, as after a disconnection. */
typedef struct tendon_simulated_obvious_responses {
    tendon_simulated_obvious_response items[TENDON_SIMULATED_OBVIOUS_RESPONSES];
    uint8_t next; /* to be replaced */
} tendon_simulated_obvious_responses;

/** Keeps the response to a valid request frame; a longer response than RESPONSE_MAX is not kept. */
void tendon_simulated_obvious_keep(tendon_simulated_obvious_responses *responses, const uint8_t *request,
                                   size_t request_length, const uint8_t *response, size_t response_length);
/** Returns the response to a request frame that was executed before, valid until the next keep(); NULL if it was not.
 */
const uint8_t *tendon_simulated_obvious_kept(const tendon_simulated_obvious_responses *responses,
                                             const uint8_t *request, size_t request_length, size_t *response_length);

/* ---- the device ---- */

#define TENDON_SIMULATED_OBVIOUS_ATTRIBUTES 36
#define TENDON_SIMULATED_OBVIOUS_FRAMES 4       /**< responses and events that wait for the connection */
#define TENDON_SIMULATED_OBVIOUS_CONTROLS 8     /**< control segments that wait */
#define TENDON_SIMULATED_OBVIOUS_BUSY_MS 60000u /**< idle time after which another gateway may replace a transfer */
#define TENDON_SIMULATED_OBVIOUS_SESSION_MS 604800000u /**< how long an incomplete transfer is kept: 7 days */
#define TENDON_SIMULATED_OBVIOUS_TRIAL_MS 300000u      /**< longest trial of a firmware */
#define TENDON_SIMULATED_OBVIOUS_TRIAL_BOOTS 3

/** Pages of @p bytes. */
#define TENDON_SIMULATED_OBVIOUS_PAGES(bytes, page_size) (((bytes) + (page_size)-1) / (page_size))
/** Bytes of flash memory for firmware images of at most @p image_max bytes. */
#define TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(page_size, image_max)                                                      \
    ((2 * (TENDON_SIMULATED_OBVIOUS_PAGES(8256, page_size) + 2 * TENDON_SIMULATED_OBVIOUS_PAGES(256, page_size) +      \
           TENDON_SIMULATED_OBVIOUS_PAGES(64, page_size) + TENDON_SIMULATED_OBVIOUS_PAGES(image_max, page_size)) +     \
      TENDON_SIMULATED_OBVIOUS_PAGES(TENDON_OBVIOUS_PACKAGE_MAX, page_size)) *                                         \
     (page_size))
/** The same as a function, for sizes that are known at run time and for languages that import no macros. */
uint32_t tendon_simulated_obvious_flash_size(uint32_t page_size, uint32_t image_max);

/** Parts that can be absent from a device, as bits. */
enum {
    TENDON_SIMULATED_OBVIOUS_NO_SERVICE = 0x01,     /**< the OGP service */
    TENDON_SIMULATED_OBVIOUS_NO_DATA = 0x02,        /**< its OGP_DATA */
    TENDON_SIMULATED_OBVIOUS_NO_STATUS = 0x04,      /**< its OGP_STATUS */
    TENDON_SIMULATED_OBVIOUS_NO_INFORMATION = 0x08, /**< the Device Information service */
    TENDON_SIMULATED_OBVIOUS_NO_BATTERY = 0x10      /**< the Battery service */
};

/** What it answers wrongly on demand. */
typedef enum tendon_simulated_obvious_lie {
    TENDON_SIMULATED_OBVIOUS_LIE_CRC = 0, /**< XFER_BEGIN: another CRC of what it has */
    TENDON_SIMULATED_OBVIOUS_LIE_OFFSET,  /**< XFER_BEGIN: an offset beyond the end */
    TENDON_SIMULATED_OBVIOUS_LIE_SESSION, /**< XFER_BEGIN: session 0 */
    TENDON_SIMULATED_OBVIOUS_LIE_NEXT,    /**< XFER_DATA: another next offset */
    TENDON_SIMULATED_OBVIOUS_LIE_SERIAL,  /**< GET_DEVICE_INFO: another serial number */
    TENDON_SIMULATED_OBVIOUS_LIE_PRODUCT, /**< GET_DEVICE_INFO: another product */
    TENDON_SIMULATED_OBVIOUS_LIE_COUNT
} tendon_simulated_obvious_lie;

/** Why it starts, or why it will start again: as in EVT_REBOOTING. */
typedef enum tendon_simulated_obvious_cause {
    TENDON_SIMULATED_OBVIOUS_POWER = 0,
    TENDON_SIMULATED_OBVIOUS_USER = 1,
    TENDON_SIMULATED_OBVIOUS_FEATURES = 2,
    TENDON_SIMULATED_OBVIOUS_TRIAL = 3,
    TENDON_SIMULATED_OBVIOUS_ROLLBACK = 4,
    TENDON_SIMULATED_OBVIOUS_WATCHDOG = 5
} tendon_simulated_obvious_cause;

/** Options; those of numbers have the default that is named here if they are 0. All pointers are borrowed. */
typedef struct tendon_simulated_obvious_options {
    tendon_simulated_flash *flash; /**< required: at least TENDON_SIMULATED_OBVIOUS_FLASH_SIZE() */
    uint32_t image_max;            /**< required: longest firmware image, as in that size */
    /** Signing keys of the product and the functions that verify; required. The device accepts what they accept. */
    const tendon_obvious_key_ring *keys;
    const tendon_simulated_obvious_feature
        *features; /**< of a new device, ordered by id: what its firmware implements */
    size_t feature_count;
    uint64_t counter;           /**< of a new device; 0 */
    bool unprovisioned;         /**< a new device */
    const uint8_t *image;       /**< firmware of a new device; NULL: a few bytes */
    uint32_t image_length;      /**< 1 to image_max, if @p image is set */
    uint32_t firmware;          /**< version code of @p image; 1.3.0 */
    uint32_t epoch;             /**< security epoch of @p image; 0 */
    uint64_t serial;            /**< 0x1122334455667788 */
    uint32_t product;           /**< 1234 */
    uint32_t bootloader, stack; /**< version codes; 1.0.2, 6.1.1 */
    uint64_t seed;              /**< of boot ids, nonces and sessions; 1. Choose another one for each process */
    uint32_t boot_ms;           /**< time from a reset until it is connectable; 300 */
    uint16_t frame_max;         /**< 4096; at least 256 */
    uint16_t chunk_max;         /**< 4000 */
    uint8_t window;             /**< segments; 8 */
    uint8_t battery;            /**< percent, 255 unknown; 87 */
    uint8_t lacks_caps;         /**< TENDON_OBVIOUS_CAP bits that it does not have */
    uint8_t profile;            /**< version in OGP_STATUS; 1 */
    uint32_t lacks;             /**< bits above */
    bool open;                  /**< requires no encryption */
    bool rejects_pairing;       /**< rejects pairing with every central */
    bool with_response;         /**< OGP_DATA has Write instead of Write Without Response */
    bool indicates;             /**< OGP_DATA has Indicate instead of Notify */
    bool mute;                  /**< executes requests, but sends no responses */
    bool waits_for_reboot;      /**< after a package that requires a reboot, it waits for the request to reboot */
    bool reports_progress;      /**< EVT_XFER_PROGRESS at each page that was programmed */
    const char *name;           /**< "Obvious Simulator" */
} tendon_simulated_obvious_options;

typedef struct tendon_simulated_obvious_counters {
    uint64_t requests;       /**< executed */
    uint64_t repeats;        /**< requests that got the response they got before */
    uint64_t refusals;       /**< responses with a status other than 0 */
    uint64_t ignored;        /**< frames that are no requests */
    uint64_t bad_frames;     /**< with an error, reported by NAK */
    uint64_t segment_errors; /**< reported by the receiver, including duplicates */
    uint64_t link_errors;    /**< messages that no gateway acknowledged */
    uint64_t dropped;        /**< responses and events that did not fit the queue */
    uint64_t faults;         /**< segments with a fault on demand */
    uint64_t boots, rollbacks, power_cuts;
    uint64_t packages;   /**< applied */
    uint64_t data_bytes; /**< of objects, accepted */
} tendon_simulated_obvious_counters;

/** One gateway. Private. */
typedef struct tendon_simulated_obvious_link {
    struct tendon_simulated_obvious *device;
    tendon_gatt_connection *connection;
    bool ready;   /* HELLO was answered */
    bool inside;  /* in a callback of the GATT server: data segments wait */
    bool blocked; /* the connection takes nothing now */
    bool asks;    /* the sender waits for tendon_obvious_sender_writable() */
    bool limits;  /* the receiver gets the limits below */
    bool held;    /* a segment that is sent after the next one */
    uint8_t gateway_window;
    uint16_t frame_max;
    uint64_t now;
    tendon_obvious_nonce nonce;
    tendon_obvious_receiver receiver;
    tendon_obvious_sender sender;
    tendon_simulated_obvious_responses kept;
    uint8_t frame_first, frame_count, control_first, control_count;
    struct {
        uint16_t length;
        uint8_t bytes[TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX];
    } frames[TENDON_SIMULATED_OBVIOUS_FRAMES];
    uint8_t controls[TENDON_SIMULATED_OBVIOUS_CONTROLS][TENDON_OBVIOUS_CONTROL_SIZE];
    uint16_t held_length;
    uint8_t held_segment[TENDON_OBVIOUS_SEGMENT_MAX];
    uint8_t memory[TENDON_OBVIOUS_FRAME_MAX];
} tendon_simulated_obvious_link;

/** A firmware image. */
typedef struct tendon_simulated_obvious_slot {
    uint8_t state; /**< 0 empty, 1 complete and not confirmed, 2 confirmed */
    uint32_t version, size, crc32, epoch;
    uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE];
} tendon_simulated_obvious_slot;

/** What the bootloader keeps. */
typedef struct tendon_simulated_obvious_boot {
    uint8_t active; /**< slot of the confirmed firmware */
    uint8_t trial;  /**< 1: the other slot is booted */
    uint8_t boots;  /**< of the trial */
    uint32_t epoch;
    uint64_t trial_since; /**< time of the first boot of the trial */
    tendon_simulated_obvious_slot slots[2];
} tendon_simulated_obvious_boot;

/** The transfer in progress, or the last one. */
typedef struct tendon_simulated_obvious_session {
    uint8_t obj, state; /**< state as in XFER_STATUS */
    uint8_t slot;       /**< of a firmware image */
    uint32_t id;        /**< 0: none */
    uint32_t size, crc32;
    uint8_t sha256[TENDON_OBVIOUS_SHA256_SIZE];
    uint8_t manifest[TENDON_OBVIOUS_MANIFEST_SIZE];
    uint64_t began;
    /* Not in the record: */
    uint32_t offset, crc;           /**< received bytes and their CRC */
    uint32_t page_offset, page_crc; /**< the same at the last page that is complete */
    uint64_t active;                /**< time of the last request */
    tendon_simulated_obvious_link *owner;
} tendon_simulated_obvious_session;

/** The caller's memory. Public are options, counters and boot, for reading. */
typedef struct tendon_simulated_obvious {
    bool (*on_frame)(tendon_simulated_obvious_link *link, const uint8_t *frame, size_t length, uint64_t now);
    tendon_simulated_obvious_options options;
    tendon_simulated_obvious_counters counters;
    tendon_simulated_obvious_boot boot;
    tendon_simulated_obvious_session session;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_OBVIOUS_ATTRIBUTES];
    tendon_simulated_centrals centrals;
    tendon_simulated_obvious_link links[TENDON_SIMULATED_CENTRALS];
    uint16_t data_handle, status_handle, battery_handle, firmware_handle;
    uint8_t battery;
    bool battery_changed[TENDON_SIMULATED_CENTRALS];
    uint64_t random;
    /* power */
    bool running, recovery, next_recovery;
    uint8_t cause; /* of the next boot: tendon_simulated_obvious_cause */
    uint8_t slot;  /* of the firmware that runs */
    uint64_t down_until, reboot_at;
    uint8_t announce; /* reason of EVT_REBOOTING that follows the response; 0: none */
    uint16_t announce_ms;
    bool reboot_needed;                /* by a package that was applied */
    uint32_t boot_id, time, time_base; /* time: of SET_TIME, at second time_base of the host's clock */
    /* flash memory */
    tendon_simulated_store feature_store, boot_store, session_store, progress_store;
    uint32_t package_page, slot_page[2];
    /* features: two tables, of which one is current */
    bool provisioned, has_last;
    uint8_t table;
    uint16_t feature_count;
    uint64_t counter;
    uint8_t last_sha256[TENDON_OBVIOUS_SHA256_SIZE];
    tendon_simulated_obvious_feature features[2][TENDON_OBVIOUS_FEATURE_MAX];
    uint8_t record[8256]; /* of the features, while it is written */
    /* faults */
    uint32_t lose_next, double_next, swap_next, corrupt_next, deaf_next, reject_next, lie_next;
    uint8_t reject_status, lie, credit; /* credit: highest that is granted, 0: no limit */
    uint64_t pause_until;
    uint8_t serial_text[16];
    uint8_t value[16]; /* lent to readers */
} tendon_simulated_obvious;

/**
 * Prepares a device; it starts with the first call that has a time.
 * @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT if a required option is absent or out of range;
 *   TENDON_ERROR_BUFFER_TOO_SMALL if the flash memory is too small.
 */
tendon_status tendon_simulated_obvious_init(tendon_simulated_obvious *device,
                                            const tendon_simulated_obvious_options *options);
/** Returns the interface that hosts of any device use. */
tendon_peripheral_device tendon_simulated_obvious_device(tendon_simulated_obvious *device);

/** Cuts the power, and restores it: all centrals are disconnected, and what is not in the flash memory is lost. */
void tendon_simulated_obvious_power_cut(tendon_simulated_obvious *device, uint64_t now);
/** Resets the device as its watchdog does. During the trial of a firmware, the old one is booted. */
void tendon_simulated_obvious_watchdog(tendon_simulated_obvious *device, uint64_t now);
/** Restarts it in an orderly way, after EVT_REBOOTING. */
void tendon_simulated_obvious_reboot(tendon_simulated_obvious *device, bool recovery, uint64_t now);

/** Returns the current state of a feature; false if the device does not know it. */
bool tendon_simulated_obvious_get(const tendon_simulated_obvious *device, uint16_t id,
                                  tendon_simulated_obvious_feature *out);
/**
 * Changes a feature by the hand of its user or of a service technician: EVT_FEATURE_CHANGED to all gateways.
 * @return TENDON_OK; TENDON_ERROR_NOT_FOUND if the device does not know the feature; an error of the flash memory.
 */
tendon_status tendon_simulated_obvious_set(tendon_simulated_obvious *device, uint16_t id, uint8_t enable,
                                           uint8_t toggle, uint64_t now);
/** Notifies the battery level: 0 to 100, 255 unknown. */
void tendon_simulated_obvious_set_battery(tendon_simulated_obvious *device, uint8_t percent, uint64_t now);
/** Rejects the next requests with a status byte. */
void tendon_simulated_obvious_reject(tendon_simulated_obvious *device, uint8_t status, uint32_t count);
/** Answers the next requests of this kind wrongly. */
void tendon_simulated_obvious_answer_wrongly(tendon_simulated_obvious *device, tendon_simulated_obvious_lie lie,
                                             uint32_t count);
/** Grants no credit until a time; then credit is granted again. */
void tendon_simulated_obvious_pause(tendon_simulated_obvious *device, uint32_t ms, uint64_t now);

/**
 * Scenario commands: enable|disable ID, toggle ID on|off, battery PERCENT, power_cut [BYTES], watchdog,
 * reboot [recovery], reject STATUS [COUNT], wrong KIND [COUNT], lose|duplicate|swap|corrupt|ignore COUNT, credit
 * SEGMENTS, pause MS, pairing on|off, mute on|off. power_cut BYTES: after so many more bytes of flash memory were
 * changed. Kinds: crc, offset, session, next, serial, product.
 */
tendon_scenario_actor tendon_simulated_obvious_actor(tendon_simulated_obvious *device);

#ifdef __cplusplus
}
#endif
#endif
