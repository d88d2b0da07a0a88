/* SPDX-License-Identifier: MIT */
/*
 * Fleet: every wearable in range on one loop: searched for, connected, streamed, connected again. It joins admission,
 * search and devices of the gateway component with radios and connections. What happens is reported as JSON lines of
 * docs/events.md.
 *
 * One thread, no heap: all memory is the caller's. A program with a loop of its own drives the tendon_loop from that:
 * see tendon_loop_deadline(). An adapter that is missing, is unplugged or switched off is waited for.
 */
#ifndef TENDON_FLEET_FLEET_H
#define TENDON_FLEET_FLEET_H

#include "tendon/fleet/options.h"
#include "tendon/fleet/turns.h"
#include "tendon/linux/connection.h"
#include "tendon/linux/ending.h"
#include "tendon/linux/gateway.h"
#include "tendon/linux/gatt_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of devices that are known at a time, and that can be connected. */
#define TENDON_FLEET_DEVICES 32
/** Of a line, in bytes; a longer one is dropped, as a device file can have with many names in a list. */
#define TENDON_FLEET_LINE_SIZE 65536
/** Places of admission: three quarters of them are devices in range. */
#define TENDON_FLEET_SLOTS 1024
/** Time that sessions have for their end after their radio has failed, and at the end of the fleet, in ms. */
#define TENDON_FLEET_LEAVE_MS 2000u
#define TENDON_FLEET_END_MS 5000u

typedef struct tendon_fleet tendon_fleet;

/** What is reported. All is lent for the call. */
typedef struct tendon_fleet_line {
    const char *text;              /**< JSON with a line feed, and a terminator */
    size_t length;                 /**< without the terminator */
    bool is_sample;                /**< there are many of these; a reader that is late may miss some */
    const tendon_view *view;       /**< the numbers of the same event; NULL: it has none */
    const tendon_address *address; /**< of the device; NULL: the line is about none */
    const char *event;             /**< member `event`: a word */
    const char *family;            /**< member `family`; NULL: the line has none */
    const char *name;              /**< of the device, as it was advertised, perhaps no UTF-8; NULL: not known */
    size_t name_length;
    uint64_t wall_us;     /**< member `time`: microseconds since 1970 */
    tendon_status status; /**< of a failure: why; else TENDON_OK */
} tendon_fleet_line;

/** @return false: the line was dropped, which counts in the summary. Must not call the fleet, except
 * tendon_fleet_act(), after which the line is no longer valid, and tendon_fleet_end(). */
typedef bool (*tendon_fleet_on_line)(void *context, const tendon_fleet_line *line);
/** See tendon_fleet_end_then(). Must not call the fleet. */
typedef void (*tendon_fleet_on_ended)(void *context);

/** Numbers since the fleet was opened. */
typedef struct tendon_fleet_counters {
    uint64_t devices;   /**< that had a turn */
    uint64_t connected; /**< sessions that were opened */
    uint64_t samples, delivered, dropped;
    uint64_t malformed;
    uint64_t dropped_lines; /**< other lines than samples */
    uint64_t lost_packets;  /**< that the kernel dropped, of radios that were closed */
    uint64_t found;         /**< devices of the families that were received */
} tendon_fleet_counters;

typedef enum tendon_fleet_slot_state {
    TENDON_FLEET_SLOT_FREE = 0,
    TENDON_FLEET_SLOT_IDLE, /**< a device is known, and has no turn */
    TENDON_FLEET_SLOT_TURN,
    TENDON_FLEET_SLOT_ENDED /**< its session has ended; the connection is not idle yet, or it was not looked at */
} tendon_fleet_slot_state;

/** What a device needs for its turns. Memory that is used first with the first turn. Private. */
typedef struct tendon_fleet_body {
    tendon_device device;
    tendon_connection connection;
    tendon_gatt_cache cache;
} tendon_fleet_body;

/** A device that has, or had, a turn. Private. */
typedef struct tendon_fleet_slot {
    tendon_fleet *fleet;
    uint8_t state; /**< tendon_fleet_slot_state */
    uint8_t radio; /**< number of that of the turn */
    uint8_t family, name_length;
    bool is_set_up;   /**< body was used */
    bool must_close;  /**< the turn is ended as soon as it can be */
    bool is_answered; /**< in this turn a connection was made */
    tendon_address address;
    tendon_status cause; /**< what the radio reported of the device in this turn */
    tendon_device_event ended;
    uint64_t used_at;
    tendon_connection_timing timing;
    char name[TENDON_AD_LEGACY_MAX];
    tendon_fleet_body *body;
} tendon_fleet_slot;

typedef enum tendon_fleet_radio_state {
    TENDON_FLEET_RADIO_WAITING = 0, /**< not open */
    TENDON_FLEET_RADIO_OPEN,
    TENDON_FLEET_RADIO_LEAVING,  /**< it has failed: its connections end */
    TENDON_FLEET_RADIO_PREPARING /**< it is opened, on another thread, which has its memory */
} tendon_fleet_radio_state;

/** One radio. Private. */
typedef struct tendon_fleet_radio {
    tendon_fleet *fleet;
    uint8_t number, state;
    bool was_open, was_tried;
    tendon_status prepared; /**< result of the other thread */
    tendon_status failure;  /**< why it is not open, or fails */
    tendon_status reported; /**< the failure that was reported last */
    uint64_t leave_at;
    tendon_adapter_wait wait;
    tendon_scan_lease scan;
    tendon_radio *radio; /**< NULL: not open */
    tendon_bonds bonds;
    union {
        tendon_virtual_radio virtual_radio;
#if defined(TENDON_HAVE_BLUEZ)
        tendon_bluez_radio bluez_radio;
#endif
        uint64_t room[TENDON_GATEWAY_RADIO_SIZE / sizeof(uint64_t)];
    } memory;
} tendon_fleet_radio;

/** Caller's memory, about 590 KiB; it is used as far as there are devices. A program may read counters; all other
 * members are private. Must not be moved while open. */
struct tendon_fleet {
    tendon_fleet_counters counters;
    tendon_loop *loop;
    void *context;
    tendon_fleet_on_line on_line;
    tendon_fleet_on_ended on_ended;
    tendon_source timer;
    bool is_open, is_ending, is_due;
    uint8_t radio_count, untried; /**< radios; those whose first attempt has no result yet */
    tendon_status first_failure;  /**< why waiting cannot help */
    uint64_t end_at;              /**< when turns end without their sessions */
    uint64_t look_at;             /**< when the parameters of the connections are looked at */
    uint32_t look_pause;
    uint64_t pair_until;
    tendon_gatt_store store;
    tendon_line line;
    tendon_fleet_options options;
    tendon_turns turns;
    char text[TENDON_FLEET_LINE_SIZE + 1];
    tendon_fleet_radio radios[TENDON_FLEET_RADIOS];
    tendon_search_advertiser advertisers[TENDON_SEARCH_ADVERTISERS];
    tendon_admission_record records[TENDON_FLEET_SLOTS];
    tendon_fleet_slot slots[TENDON_FLEET_DEVICES];
    tendon_fleet_body bodies[TENDON_FLEET_DEVICES];
};

/** Size of tendon_fleet, and of tendon_fleet_options, for callers that cannot use sizeof. */
size_t tendon_fleet_size(void);
size_t tendon_fleet_options_size(void);

/**
 * Opens the radios and begins to search. Adapters that do not open are waited for, unless waiting cannot help. Lines
 * can be reported in this call.
 * @param fleet closed, or memory that was never used. @param loop borrowed until the fleet is closed.
 * @param options copied; what they borrow is borrowed until the fleet is closed.
 * @return TENDON_OK, also while adapters are opened elsewhere (options->run); TENDON_RADIO_ERROR_NO_CAP_NET_RAW: this
 * process lacks the capability; TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT: of a build without adapters; an error of the
 * virtual radio; TENDON_ERROR_INVALID_ARGUMENT: an adapter's name is none, or no family is served. Nothing stays open
 * after an error.
 */
tendon_status tendon_fleet_open(tendon_fleet *fleet, tendon_loop *loop, const tendon_fleet_options *options,
                                tendon_fleet_on_line on_line, void *context);
/**
 * Ends all turns; no other one begins. tendon_fleet_has_ended() becomes true from the loop, at most
 * TENDON_FLEET_END_MS later, or when an adapter that is opened elsewhere has responded.
 */
void tendon_fleet_end(tendon_fleet *fleet);
bool tendon_fleet_has_ended(const tendon_fleet *fleet);
/** The same for a program that does not run the loop itself.
 * @param on_ended called once, from the loop, with the context of the fleet: tendon_fleet_has_ended() is true then.
 * NULL: not called. */
void tendon_fleet_end_then(tendon_fleet *fleet, tendon_fleet_on_ended on_ended);
/** Reports the line `summary`. */
void tendon_fleet_summarize(tendon_fleet *fleet);
/** Closes the radios. Call tendon_fleet_end() first, and the loop until the end: connections that are open are lost
 * without a word, and the memory of an adapter that is opened elsewhere is in use. Not from within a callback. */
void tendon_fleet_close(tendon_fleet *fleet);

/**
 * Has a device do something. Of an address of the type TENDON_ADDRESS_TYPE_ANONYMOUS only the bytes count. A line
 * `action` or `action_failed` follows, from the loop or in this call.
 * @param action "vibrate 90": the name, and arguments, separated by spaces.
 * @return TENDON_OK: it was started, or waits for others; TENDON_ERROR_NOT_FOUND: no such device is connected, or it
 * has no such action; another error of tendon_device_act(). After an error the line was reported.
 */
tendon_status tendon_fleet_act(tendon_fleet *fleet, const tendon_address *address, const char *action, size_t length);

/**
 * Takes back an action that waits for others: it is not begun, and no line follows.
 * @param address as for tendon_fleet_act().
 * @param index of the actions of the device that have not ended, in the order of their calls: 0 is the first.
 * @return false: it is in progress, or there is none.
 */
bool tendon_fleet_withdraw(tendon_fleet *fleet, const tendon_address *address, size_t index);

/**
 * Reports an action that the program itself carried out, or a request that it refused: `action` or `action_failed`.
 * @param address as for tendon_fleet_act(); NULL: of no device. @param action may be empty. @param failure why it
 * failed: a sentence; NULL: it did not.
 */
void tendon_fleet_acted(tendon_fleet *fleet, const tendon_address *address, const char *action, size_t length,
                        const char *failure);

/** Returns whether a radio is open, or was. */
bool tendon_fleet_was_open(const tendon_fleet *fleet);

#ifdef __cplusplus
}
#endif
#endif
