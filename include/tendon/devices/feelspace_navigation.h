/* SPDX-License-Identifier: MIT */
/*
 * feelSpace naviBelt: the navigation controller, a layer on top of a session. Its state is the application's and
 * outlives connections; belt and buttons follow it and change it. State table: docs/protocols/feelspace.md.
 *
 * It processes the session's events: set tendon_feelspace_navigation_on_event as the session's on_event with the
 * navigation as context, or call it from your own on_event.
 */
#ifndef TENDON_DEVICES_FEELSPACE_NAVIGATION_H
#define TENDON_DEVICES_FEELSPACE_NAVIGATION_H

#include "tendon/devices/feelspace_session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_feelspace_navigation_state {
    TENDON_FEELSPACE_STOPPED = 0,
    TENDON_FEELSPACE_PAUSED,
    TENDON_FEELSPACE_NAVIGATING,
    TENDON_FEELSPACE_NAVIGATION_STATE_COUNT
} tendon_feelspace_navigation_state;

typedef enum tendon_feelspace_navigation_event_kind {
    TENDON_FEELSPACE_NAVIGATION_EVENT_STATE = 0,     /**< navigation->state: onNavigationStateChange */
    TENDON_FEELSPACE_NAVIGATION_EVENT_HOME_BUTTON,   /**< navigating: onBeltHomeButtonPressed */
    TENDON_FEELSPACE_NAVIGATION_EVENT_INTENSITY,     /**< value, % */
    TENDON_FEELSPACE_NAVIGATION_EVENT_ORIENTATION,   /**< value: heading as received; accurate */
    TENDON_FEELSPACE_NAVIGATION_EVENT_BATTERY,       /**< value: whole %; power */
    TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY,      /**< enabled: onCompassAccuracySignalStateUpdated */
    TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION,    /**< connection, error: onBeltConnectionStateChanged */
    TENDON_FEELSPACE_NAVIGATION_EVENT_NOT_AVAILABLE, /**< onBluetoothNotAvailable */
    TENDON_FEELSPACE_NAVIGATION_EVENT_POWERED_OFF,   /**< onBluetoothPoweredOff */
    TENDON_FEELSPACE_NAVIGATION_EVENT_LOST,          /**< onBeltConnectionLost; CONNECTION follows */
    TENDON_FEELSPACE_NAVIGATION_EVENT_FAILED,        /**< error: onBeltConnectionFailed; CONNECTION follows */
    TENDON_FEELSPACE_NAVIGATION_EVENT_NO_BELT,       /**< onNoBeltFound */
    TENDON_FEELSPACE_NAVIGATION_EVENT_FOUND,         /**< found: onBeltFound */
    TENDON_FEELSPACE_NAVIGATION_EVENT_SEARCHED       /**< onBeltSearchFinished: a search ended, whatever the cause */
} tendon_feelspace_navigation_event_kind;

/** Lent for the callback. Members that the kind does not name are 0. */
typedef struct tendon_feelspace_navigation_event {
    tendon_feelspace_navigation_event_kind kind;
    int32_t value;
    bool navigating, accurate, enabled;
    uint8_t power; /**< tendon_feelspace_power */
    tendon_feelspace_state connection;
    tendon_feelspace_connection_error error;
    const tendon_feelspace_event *found; /**< the session's event: name, address ... */
} tendon_feelspace_navigation_event;

/** A repeated signal and its direction. */
typedef struct tendon_feelspace_navigation_signal_at {
    int32_t direction; /**< degrees */
    bool is_bearing;   /**< from magnetic north; otherwise from the front of the belt */
    int32_t signal;    /**< tendon_feelspace_navigation_signal */
} tendon_feelspace_navigation_signal_at;

typedef struct tendon_feelspace_navigation_config {
    tendon_feelspace_session *session; /**< initialized */
    void *context;
    void (*on_event)(void *context, const tendon_feelspace_navigation_event *event, uint64_t now);
    /**
     * Called when the navigation signal must be sent, at most as often as pacing allows. For applications with their
     * own signals. NULL means tendon_feelspace_navigation_send(), which such an application may also call.
     */
    void (*send)(void *context, const tendon_feelspace_navigation_signal_at *signal, uint64_t now);
} tendon_feelspace_navigation_config;

#define TENDON_FEELSPACE_NAVIGATION_PACE_MS 100u

/** Caller's memory. A program may read state and signal. */
typedef struct tendon_feelspace_navigation {
    bool pause_for_navigation, has_sent, has_timer, connect_first; /* private, like the times */
    uint8_t pending_mode;
    tendon_feelspace_navigation_state state;
    tendon_feelspace_navigation_signal_at signal; /**< sent while navigating, otherwise only kept */
    tendon_feelspace_navigation_config config;
    uint64_t now, sent, timer;
} tendon_feelspace_navigation;

/** @return TENDON_OK, TENDON_ERROR_INVALID_ARGUMENT: a mandatory member is missing. */
tendon_status tendon_feelspace_navigation_init(tendon_feelspace_navigation *navigation,
                                               const tendon_feelspace_navigation_config *config);

/** Processes an event of the session. Has the type tendon_feelspace_on_event; @p navigation is a
 * tendon_feelspace_navigation. */
void tendon_feelspace_navigation_on_event(void *navigation, const tendon_feelspace_event *event, uint64_t now);

/** Sends signals whose time has come. */
void tendon_feelspace_navigation_tick(tendon_feelspace_navigation *navigation, uint64_t now);
/** Returns the time at which tick() must be called; UINT64_MAX: never. */
uint64_t tendon_feelspace_navigation_deadline(const tendon_feelspace_navigation *navigation);

/** Inputs that drive session and navigation together, for tendon_connection_attach() with the navigation as session. */
extern const tendon_session_inputs tendon_feelspace_navigation_inputs;

/* ---- connection ---- */

/** Disconnects, then searches and connects to the first belt found. @return as tendon_feelspace_session_scan(). */
tendon_status tendon_feelspace_navigation_search_and_connect(tendon_feelspace_navigation *navigation, uint64_t now);
/** Searches only: FOUND, then SEARCHED. */
tendon_status tendon_feelspace_navigation_search(tendon_feelspace_navigation *navigation, uint64_t now);
tendon_status tendon_feelspace_navigation_connect(tendon_feelspace_navigation *navigation, const tendon_address *belt,
                                                  uint64_t now);
/** Disconnects; also ends a search. */
void tendon_feelspace_navigation_disconnect(tendon_feelspace_navigation *navigation, uint64_t now);

/* ---- navigation ---- */

/** Starts or resumes navigation. @return false if the signal is temporary or invalid; then nothing changes. */
bool tendon_feelspace_navigation_start(tendon_feelspace_navigation *navigation, int32_t direction, bool is_bearing,
                                       int32_t signal, uint64_t now);
/** Changes direction and signal. @return false as start(), and if navigation is not in progress. */
bool tendon_feelspace_navigation_update(tendon_feelspace_navigation *navigation, int32_t direction, bool is_bearing,
                                        int32_t signal, uint64_t now);
/** Pauses navigation. Does nothing unless navigating. */
void tendon_feelspace_navigation_pause(tendon_feelspace_navigation *navigation, uint64_t now);
/** Stops navigation. Does nothing when stopped. */
void tendon_feelspace_navigation_stop(tendon_feelspace_navigation *navigation, uint64_t now);

/** Sends the packet of the signal; the default of config.send. @return as the session's commands. */
tendon_status tendon_feelspace_navigation_send(tendon_feelspace_navigation *navigation,
                                               const tendon_feelspace_navigation_signal_at *signal, uint64_t now);

/* ---- notifications: one signal, in every mode. @return as the session's commands ---- */

/** @p stop: stops navigation first, even if not connected. */
tendon_status tendon_feelspace_navigation_notify_destination(tendon_feelspace_navigation *navigation, bool stop,
                                                             uint64_t now);
tendon_status tendon_feelspace_navigation_notify_direction(tendon_feelspace_navigation *navigation, int32_t direction,
                                                           bool is_bearing, uint64_t now);
tendon_status tendon_feelspace_navigation_notify_warning(tendon_feelspace_navigation *navigation, bool critical,
                                                         uint64_t now);
tendon_status tendon_feelspace_navigation_notify_battery(tendon_feelspace_navigation *navigation, uint64_t now);

/* ---- values and settings ---- */

/** Sets the intensity, 5 to 100 %. */
tendon_status tendon_feelspace_navigation_set_intensity(tendon_feelspace_navigation *navigation, int32_t intensity,
                                                        bool feedback, uint64_t now);
/** Enables or disables the accuracy signal in both modes. @p persistent: the belt stores the setting, also for its own
 * compass mode, so inform the user. */
tendon_status tendon_feelspace_navigation_set_accuracy_signal(tendon_feelspace_navigation *navigation, bool enable,
                                                              bool persistent, uint64_t now);

/* -1: unknown. Intensity, heading offset and firmware are the session's. */
int32_t tendon_feelspace_navigation_heading(const tendon_feelspace_navigation *navigation);         /**< 0 to 359 */
int32_t tendon_feelspace_navigation_accurate(const tendon_feelspace_navigation *navigation);        /**< 1, 0 */
int32_t tendon_feelspace_navigation_battery_level(const tendon_feelspace_navigation *navigation);   /**< whole % */
int32_t tendon_feelspace_navigation_accuracy_signal(const tendon_feelspace_navigation *navigation); /**< 1, 0 */

#ifdef __cplusplus
}
#endif
#endif
