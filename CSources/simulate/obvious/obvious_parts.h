/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: internal interface of its files. The numbers are those of the tables of
 * docs/protocols/obvious.md; they are not taken from the client's headers. */
#ifndef TENDON_SIMULATE_OBVIOUS_OBVIOUS_PARTS_H
#define TENDON_SIMULATE_OBVIOUS_OBVIOUS_PARTS_H

#include "tendon/simulate/obvious.h"

/* Frames. */
enum { HEADER_SIZE = 10, CRC_SIZE = 4, FRAME_SIZE_MIN = HEADER_SIZE + CRC_SIZE, FRAME_VERSION = 1 };
enum { FLAG_RESPONSE = 1, FLAG_EVENT = 2, FLAG_ERROR = 4, FLAGS_KNOWN = 7 };

/* Status bytes. */
enum {
    OK = 0,
    UNKNOWN_OPCODE = 1,
    BAD_LENGTH = 2,
    BAD_PARAM = 3,
    BUSY = 4,
    NOT_READY = 5,
    NOT_SUPPORTED = 6,
    NOT_PROVISIONED = 7,
    UNKNOWN_FEATURE = 8,
    FEATURE_DISABLED = 9,
    TOGGLE_UNSUPPORTED = 10,
    BAD_FORMAT = 15,
    BAD_OFFSET = 16,
    TOO_LARGE = 17,
    HASH_MISMATCH = 18,
    NO_SESSION = 20,
    FLASH_FAILED = 21,
    LOW_POWER = 22,
    INTERNAL = 255
};

enum { EVT_FEATURE_CHANGED = 0x80, EVT_REBOOTING = 0x81, EVT_XFER_PROGRESS = 0x82, EVT_FW_TRIAL = 0x83 };
enum { CAP_FEATURES = 1, CAP_TOGGLE = 2, CAP_UPDATE = 4, CAP_OTA = 8, CAP_RESUME = 16, CAP_TRIAL = 32 };
enum { CAP_PROVISIONING = 64, CAP_NONCE = 128 };
enum { OBJ_PACKAGE = 1, OBJ_FIRMWARE = 2, OBJ_PROVISION = 3 };
enum { STATE_NONE = 0, STATE_RECEIVING = 1, STATE_COMPLETE = 2, STATE_APPLIED = 3 };
enum { SLOT_EMPTY = 0, SLOT_COMPLETE = 1, SLOT_CONFIRMED = 2 };
enum { FEATURE_ID_MAX = 1024, LIST_MAX = 64, BATTERY_LOW = 20, BATTERY_UNKNOWN = 255 };
#define VERSION_ABSENT 0xFFFFFFFFu
#define VERSION_MAX 999999999u

/* One request; a handler writes the payload of the response and returns its status. */
typedef struct obvious_request {
    tendon_simulated_obvious *device;
    tendon_simulated_obvious_link *link;
    tendon_reader in;
    size_t length; /* of the payload */
    uint64_t now;
    tendon_writer out;
} obvious_request;

/* The files, from the ground up: one calls only those above it in this list. */

/* slots.c */
/** Assigns the pages of the flash memory. TENDON_ERROR_BUFFER_TOO_SMALL if there are too few. */
tendon_status tendon_simulated_obvious_lay_out(tendon_simulated_obvious *device);
/** Reads what the bootloader keeps; that of a new device if there is none. */
void tendon_simulated_obvious_load_slots(tendon_simulated_obvious *device);
/** The trial has taken too long. */
bool tendon_simulated_obvious_is_expired(const tendon_simulated_obvious *device, uint64_t now);
/** True while a firmware that is not confirmed runs. */
bool tendon_simulated_obvious_in_trial(const tendon_simulated_obvious *device);
/** Writes what the bootloader keeps. A status byte. */
uint8_t tendon_simulated_obvious_write_boot(tendon_simulated_obvious *device,
                                            const tendon_simulated_obvious_boot *boot);
uint32_t tendon_simulated_obvious_random(tendon_simulated_obvious *device);
/** Version of the firmware that runs. */
uint32_t tendon_simulated_obvious_version(const tendon_simulated_obvious *device);
uint16_t tendon_simulated_obvious_trial_left(const tendon_simulated_obvious *device, uint64_t now);
/** Forgets a complete image that is not confirmed and not in use. A status byte. */
uint8_t tendon_simulated_obvious_clear_slot(tendon_simulated_obvious *device);
/** Keeps a complete image. A status byte. */
uint8_t tendon_simulated_obvious_stage(tendon_simulated_obvious *device, const tendon_obvious_manifest *manifest);
uint8_t tendon_simulated_obvious_caps(const tendon_simulated_obvious *device);

/* link.c */
void tendon_simulated_obvious_link_open(tendon_simulated_obvious_link *link, tendon_simulated_obvious *device,
                                        tendon_gatt_connection *connection);
void tendon_simulated_obvious_link_receive(tendon_simulated_obvious_link *link, const uint8_t *value, size_t length,
                                           uint64_t now);
/** Adds a frame to what is sent. */
void tendon_simulated_obvious_link_queue(tendon_simulated_obvious_link *link, const uint8_t *frame, size_t length);
/** Sends until the connection is full. */
void tendon_simulated_obvious_link_flush(tendon_simulated_obvious_link *link, uint64_t now);
void tendon_simulated_obvious_link_tick(tendon_simulated_obvious_link *link, uint64_t now);
uint64_t tendon_simulated_obvious_link_deadline(const tendon_simulated_obvious_link *link);
/** True if the gateway has everything. */
bool tendon_simulated_obvious_link_idle(const tendon_simulated_obvious_link *link);
/** Grants credit again. */
void tendon_simulated_obvious_link_resume(tendon_simulated_obvious_link *link);

/* frames.c */
/** Completes a frame around a payload that is in place. Returns its length. */
size_t tendon_simulated_obvious_seal(uint8_t *frame, uint8_t flags, uint16_t corr, uint8_t opcode, uint8_t status,
                                     size_t length);
/** Queues an event for each gateway that said HELLO, except @p but. */
void tendon_simulated_obvious_event(tendon_simulated_obvious *device, uint8_t opcode, const uint8_t *payload,
                                    size_t length, const tendon_simulated_obvious_link *but);

/* state.c */
/** Reads the table of features; that of a new device if there is none. */
void tendon_simulated_obvious_load_features(tendon_simulated_obvious *device);
/** Writes the other table, with what goes with it, and makes it current in one step. A status byte. */
uint8_t tendon_simulated_obvious_commit(tendon_simulated_obvious *device, size_t count, bool provisioned,
                                        uint64_t counter, const uint8_t *sha256);
/** The table that is not current, to be filled. */
tendon_simulated_obvious_feature *tendon_simulated_obvious_spare(tendon_simulated_obvious *device);
/** Verifies and applies a package from the staging pages. A status byte; @p result as in XFER_END. */
uint8_t tendon_simulated_obvious_apply_package(obvious_request *r, const uint8_t *data, size_t length, uint8_t obj,
                                               uint8_t *result, uint8_t *flags);
/** A feature changes by itself. */
tendon_status tendon_simulated_obvious_change(tendon_simulated_obvious *device, uint16_t id, uint8_t enable,
                                              uint8_t toggle);
uint8_t tendon_simulated_obvious_feature_status(obvious_request *r);
uint8_t tendon_simulated_obvious_feature_toggle(obvious_request *r);
uint8_t tendon_simulated_obvious_feature_counter(obvious_request *r);

/* transfer.c */
/** Reads the transfer that was in progress before the boot. */
void tendon_simulated_obvious_load_session(tendon_simulated_obvious *device, uint64_t now);
/** A transferred firmware is applied when it is confirmed: its slot is not written again. */
void tendon_simulated_obvious_settle_session(tendon_simulated_obvious *device);
/** The transfer; none after 7 days. */
const tendon_simulated_obvious_session *tendon_simulated_obvious_current(tendon_simulated_obvious *device,
                                                                         uint64_t now);
/** A gateway has disconnected. */
void tendon_simulated_obvious_disown(tendon_simulated_obvious *device, const tendon_simulated_obvious_link *link);
uint8_t tendon_simulated_obvious_xfer_begin(obvious_request *r);
uint8_t tendon_simulated_obvious_xfer_data(obvious_request *r);
uint8_t tendon_simulated_obvious_xfer_status(obvious_request *r);
uint8_t tendon_simulated_obvious_xfer_end(obvious_request *r);
uint8_t tendon_simulated_obvious_xfer_abort(obvious_request *r);

/* boot.c */
/** Starts the device if it is time. */
void tendon_simulated_obvious_wake(tendon_simulated_obvious *device, uint64_t now);
/** Stops it now. */
void tendon_simulated_obvious_go_down(tendon_simulated_obvious *device, uint8_t cause, uint64_t now);
/** Announces a restart and schedules it. */
void tendon_simulated_obvious_restart(tendon_simulated_obvious *device, uint8_t reason, uint16_t delay_ms,
                                      uint64_t now);
/** Rolls back and restarts what is due. */
void tendon_simulated_obvious_boot_tick(tendon_simulated_obvious *device, uint64_t now);
uint64_t tendon_simulated_obvious_boot_deadline(const tendon_simulated_obvious *device);
uint8_t tendon_simulated_obvious_fw_activate(obvious_request *r);
uint8_t tendon_simulated_obvious_fw_confirm(obvious_request *r);
uint8_t tendon_simulated_obvious_fw_state(obvious_request *r);
uint8_t tendon_simulated_obvious_reboot_request(obvious_request *r);

/* requests.c */
/** A frame that a link received. False if it has an error. */
bool tendon_simulated_obvious_frame(tendon_simulated_obvious_link *link, const uint8_t *frame, size_t length,
                                    uint64_t now);

#endif
