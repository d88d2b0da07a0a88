/* SPDX-License-Identifier: MIT */
/*
 * Simulated Fjorden grip: a GATT server that obeys the reference profile of docs/protocols/fjorden.md. It builds its
 * bytes from the tables of that document, not with the codec of the client, so that a shared misreading shows. Changes
 * of its controls become events through the same gesture derivation that firmware would use.
 *
 * It requires an encrypted connection and stores one bond: every other central is rejected until the bond is reset
 * (shutter and fn held, clearBond, a scenario). Device clock: 0 when the first central connects. Records that a central
 * does not receive before the ring is full are lost for this central, which its sequence numbers show. In flat_out
 * mode, a record is made only after all centrals have the previous one.
 */
#ifndef TENDON_SIMULATE_FJORDEN_H
#define TENDON_SIMULATE_FJORDEN_H

#include "tendon/simulate/device.h"
#include "tendon/simulate/fjorden_gesture.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_FJORDEN_ATTRIBUTES 56
#define TENDON_SIMULATED_FJORDEN_QUEUE 64
#define TENDON_SIMULATED_FJORDEN_RESPONSES 2

/** Parts that can be absent from a grip, as bits. */
enum {
    TENDON_SIMULATED_FJORDEN_NO_SERVICE = 0x01,     /**< the grip service */
    TENDON_SIMULATED_FJORDEN_NO_EVENT = 0x02,       /**< its event characteristic */
    TENDON_SIMULATED_FJORDEN_NO_STATE = 0x04,       /**< its control state */
    TENDON_SIMULATED_FJORDEN_NO_CONTROL = 0x08,     /**< its control point */
    TENDON_SIMULATED_FJORDEN_NO_FIRMWARE = 0x10,    /**< the firmware revision */
    TENDON_SIMULATED_FJORDEN_NO_INFORMATION = 0x20, /**< all of the Device Information service */
    TENDON_SIMULATED_FJORDEN_NO_BATTERY = 0x40,     /**< the Battery service */
    TENDON_SIMULATED_FJORDEN_NO_NOTIFY =
        0x80 /**< every attempt to enable notifications is rejected for lack of security */
};

typedef struct tendon_simulated_fjorden_options {
    uint32_t lacks;       /**< bits above */
    bool open;            /**< requires no encryption */
    bool rejects_pairing; /**< rejects pairing with every central */
    bool mute;            /**< executes requests at the control point, but sends no responses */
    bool bonded;          /**< bonded with another host, from the start */
    bool hand;            /**< repeats a script of 10 s that uses every control */
    bool flat_out;        /**< sends detents as fast as the connection accepts them, one record per notification */
    uint8_t battery;      /**< percent; 0: 80 */
    uint64_t event_limit; /**< number of records after which flat_out and hand stop; 0: no limit */
    const char *name;     /**< NULL: "Fjorden Grip Simulator" */
    const char *firmware; /**< NULL: "1.2.0" */
    const char *serial;   /**< NULL: "TENDON-FJORDEN-1" */
} tendon_simulated_fjorden_options;

typedef struct tendon_simulated_fjorden_counters {
    uint64_t notifications;  /**< event notifications sent */
    uint64_t records;        /**< records made, without those lost on demand */
    uint64_t sent;           /**< records sent, counted once per central */
    uint64_t lost;           /**< on demand */
    uint64_t overwritten;    /**< records lost because a central was too slow */
    uint64_t malformed;      /**< notifications and values malformed on demand */
    uint64_t blocked;        /**< sends delayed because the connection could not send */
    uint64_t requests;       /**< requests at the control point that were answered with OK */
    uint64_t refused_writes; /**< answered with another status, or rejected with an ATT error */
} tendon_simulated_fjorden_counters;

/** Notifications that are pending for one central. */
typedef struct tendon_simulated_fjorden_outbox {
    uint64_t next; /**< number of the record that is sent next */
    bool battery, key;
    bool held;
} tendon_simulated_fjorden_outbox;

typedef enum tendon_simulated_fjorden_malformation {
    TENDON_FJORDEN_MALFORM_EMPTY = 0, /**< an empty notification */
    TENDON_FJORDEN_MALFORM_LENGTH,    /**< a notification of three bytes */
    TENDON_FJORDEN_MALFORM_VALUE,     /**< a turn of no detents */
    TENDON_FJORDEN_MALFORM_UNKNOWN,   /**< an unknown code */
    TENDON_FJORDEN_MALFORM_STATE,     /**< a control state of another version, at the next read */
    TENDON_FJORDEN_MALFORM_COUNT
} tendon_simulated_fjorden_malformation;

typedef struct tendon_simulated_fjorden {
    tendon_simulated_fjorden_options options;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_FJORDEN_ATTRIBUTES];
    tendon_simulated_centrals centrals;
    tendon_simulated_fjorden_outbox outboxes[TENDON_SIMULATED_CENTRALS];
    tendon_simulated_fjorden_counters counters;
    tendon_fjorden_gesture_engine gestures;
    uint16_t event_handle, state_handle, control_handle, battery_handle, key_handle;
    uint8_t battery, led_mode;
    uint16_t led_ms;
    int16_t dial_position;
    uint16_t key; /**< HID consumer usage */
    bool bonded, clears_bonds;
    uint8_t leaving; /**< after a clearBond or powerOff: its opcode, until the response is confirmed */
    uint64_t clock_base;
    uint64_t gone_at;   /**< time when it disconnects all centrals; UINT64_MAX: never */
    bool resets;        /**< it also removes its bond */
    uint64_t next_move; /**< of the hand: device clock */
    uint32_t move;
    uint8_t sequence; /**< of the next record */
    uint64_t made;    /**< records in the ring so far */
    uint8_t ring[TENDON_SIMULATED_FJORDEN_QUEUE][5];
    struct {
        uint8_t central, length, bytes[20];
    } responses[TENDON_SIMULATED_FJORDEN_RESPONSES];
    uint8_t response_count;
    bool confirming; /**< the first indication is outstanding */
    uint32_t lose_next, double_next, malformed_next, malformed_kind;
    uint8_t value[20]; /**< lent to readers */
} tendon_simulated_fjorden;

/** @param options copied; the strings are borrowed for the life of the device. NULL: all defaults. */
tendon_status tendon_simulated_fjorden_init(tendon_simulated_fjorden *device,
                                            const tendon_simulated_fjorden_options *options);

/** Moves a control: see tendon_fjorden_gesture_input(). TENDON_ERROR_INVALID_ARGUMENT: the control has no such
 * position. */
tendon_status tendon_simulated_fjorden_move(tendon_simulated_fjorden *device, tendon_fjorden_control control,
                                            int32_t value, uint64_t now);
/** Sends a record without a check: for custom buttons and unknown codes. */
void tendon_simulated_fjorden_event(tendon_simulated_fjorden *device, uint8_t code, int8_t value, uint64_t now);
/** Notifies the battery level; below 30 percent it is also reported by an event. */
void tendon_simulated_fjorden_set_battery(tendon_simulated_fjorden *device, uint8_t percent, uint64_t now);
/** Removes the bond and disconnects, as the reset gesture does. */
void tendon_simulated_fjorden_reset_bond(tendon_simulated_fjorden *device, uint64_t now);
/** Restarts the grip: it reports the restart and disconnects all centrals. */
void tendon_simulated_fjorden_power_off(tendon_simulated_fjorden *device, uint64_t now);
/** Drops the next records; their sequence numbers are used. */
void tendon_simulated_fjorden_lose(tendon_simulated_fjorden *device, uint32_t count);
/** Sends the next records twice. */
void tendon_simulated_fjorden_duplicate(tendon_simulated_fjorden *device, uint32_t count);
/** Injects malformed notifications, malformed records with their own sequence numbers (at most 64), or malformed values
 * for the next reads. */
void tendon_simulated_fjorden_inject(tendon_simulated_fjorden *device, tendon_simulated_fjorden_malformation kind,
                                     uint32_t count, uint64_t now);

/** Returns the interface that hosts of any device use. */
tendon_peripheral_device tendon_simulated_fjorden_device(tendon_simulated_fjorden *device);

/**
 * Scenario commands: shutter released|half|full, fn up|down, dial_button up|down, dial cw|ccw DETENTS,
 * lever left|neutral|right, event CODE [VALUE], battery PERCENT, lose COUNT, duplicate COUNT, malformed KIND [COUNT],
 * reset_bond, power_off, pairing on|off. Kinds: empty, length, value, unknown, state.
 */
tendon_scenario_actor tendon_simulated_fjorden_actor(tendon_simulated_fjorden *device);

#ifdef __cplusplus
}
#endif
#endif
