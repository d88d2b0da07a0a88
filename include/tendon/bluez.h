/* SPDX-License-Identifier: MIT */
/*
 * Tendon: component linux/adapter. The kernel's controllers as a radio: HCI raw socket
 * for scanning and advertising, L2CAP sockets for connections, management socket for
 * power. tendon/tools/monitor.h has the monitor socket, for captures.
 *
 * Present only in builds with TENDON_HAVE_BLUEZ; those with libbluetooth are GPL-2.0-or-later, see NOTICE.
 * This header needs no header of libbluetooth.
 *
 * Capabilities: CAP_NET_RAW to scan and to advertise (missing:
 * TENDON_RADIO_ERROR_NO_CAP_NET_RAW; with it alone scans are passive, see
 * tendon_radio.scan_passive); CAP_NET_ADMIN to power an adapter on and to
 * pair (missing: TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN). Connections alone need none:
 * TENDON_BLUEZ_CONNECTIONS_ONLY. `tendon doctor` prints the command that fixes it.
 */
#ifndef TENDON_BLUEZ_H
#define TENDON_BLUEZ_H

#include "tendon/host/hci.h"
#include "tendon/host/management.h"
#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Connection attempts of one radio that can be in progress at the same time; a further connect() fails with
 * TENDON_ERROR_TABLE_FULL. */
#define TENDON_BLUEZ_ATTEMPTS 8
/** Likewise for attempts in the background, see tendon_radio_connect_in_background(). */
#define TENDON_BLUEZ_BACKGROUND 24
#define TENDON_BLUEZ_SLOTS (TENDON_BLUEZ_ATTEMPTS + TENDON_BLUEZ_BACKGROUND)
/** connect() of an attempt in the background is repeated after this time, in ms: before the kernel's own limit, 24 h,
 * and so that a report of the peer that was missed costs no more. */
#define TENDON_BLUEZ_RENEWAL_MS 3600000u
/** Chains of extended advertising reports that are reassembled at the same time. */
#define TENDON_BLUEZ_CHAINS 4
/** Maximum time to the response to one HCI command, in ms. */
#define TENDON_BLUEZ_COMMAND_TIMEOUT_MS 3000u
/**
 * Number of HCI commands without a response after which the adapter is powered off and on, or, if that is not possible,
 * the radio fails with TENDON_RADIO_ERROR_COMMAND_TIMEOUT: in a row, or of one activity since it was last enabled.
 * After fewer (a response can be lost in a full receive buffer) the radio resets the controller to a known state.
 */
#define TENDON_BLUEZ_UNANSWERED_MAX 3
/** The adapter is powered off and on at most so often in this time, in ms. */
#define TENDON_BLUEZ_CYCLES_MAX 3
#define TENDON_BLUEZ_CYCLES_WINDOW_MS 600000u
/** Maximum time to power it off and on, in ms: a controller that answers nothing costs the kernel 2 s for each command.
 */
#define TENDON_BLUEZ_CYCLE_LIMIT_MS 30000u
/** A scan without a report for so long, in ms, after reports had come, is started again; after as long again, the
 * adapter is powered off and on. */
#define TENDON_BLUEZ_SILENCE_MS 60000u
/** Silence is the controller's if reports of so many devices came this long before it at most. */
#define TENDON_BLUEZ_SILENCE_DEVICES 3
#define TENDON_BLUEZ_SILENCE_AT_ONCE_MS 10000u
/** So long after the latest data of a connection, in ms, the controller is asked whether it still responds. */
#define TENDON_BLUEZ_DATA_PAUSE_MS 2000u
/** A scan that filters duplicates is started again after this time, in ms: controllers keep their list until it ends.
 */
#define TENDON_BLUEZ_REFRESH_MS 60000u
/** A radio whose scan has joined that of another program checks after this time without a report, in ms, whether the
 * scanner is free; after so many rejections without a sign of another scan, its own scan fails. */
#define TENDON_BLUEZ_JOIN_CHECK_MS 5000u
#define TENDON_BLUEZ_JOIN_CHECKS 18
/** So many connect() calls in a row on which the kernel does not act: the discovery that it may be waiting for is
 * stopped, then the adapter is powered off and on. */
#define TENDON_BLUEZ_STUCK_DISCOVERY 3
#define TENDON_BLUEZ_STUCK_MAX 10
/** Time that such a row takes at least before that, in ms: several attempts at the same time count together. With
 * connections, which end then, it takes longer. */
#define TENDON_BLUEZ_STUCK_MS 3000u
#define TENDON_BLUEZ_STUCK_CONNECTED_MS 30000u
/** Maximum time to one reply of the management socket in tendon_bluez_open() (powering on takes longest), in ms. */
#define TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS 5000u
/** Longest advertising data of an extended advertising set, which is sent in one command, in bytes. */
#define TENDON_BLUEZ_ADVERTISING_MAX 251
/** Bits of tendon_bluez_limits.features. */
#define TENDON_BLUEZ_FEATURE_DATA_LENGTH (UINT64_C(1) << 5)
#define TENDON_BLUEZ_FEATURE_2M (UINT64_C(1) << 8)
#define TENDON_BLUEZ_FEATURE_CODED (UINT64_C(1) << 11)
#define TENDON_BLUEZ_FEATURE_EXTENDED_ADVERTISING (UINT64_C(1) << 12)
/** Advertising handle of our set on controllers with the extended commands; 0 on an adapter with a static address that
 * no other program uses. */
#define TENDON_BLUEZ_ADVERTISING_SET 0x1D

/* The states below are described in docs/bluez-states.md. All of these types are opaque. */

/** State of scanning or advertising in the controller, as far as this radio knows. */
typedef enum tendon_bluez_activity_state {
    TENDON_BLUEZ_OFF = 0, /**< disabled; a part of its configuration may have been sent */
    TENDON_BLUEZ_READY,   /**< configured, not enabled */
    TENDON_BLUEZ_ON,      /**< enabled */
    TENDON_BLUEZ_STALE    /**< possibly enabled, with an unknown or old configuration: it is disabled first */
} tendon_bluez_activity_state;
#define TENDON_BLUEZ_ACTIVITY_STATES 4

/** The HCI commands of an activity: of the extended set, or of the legacy one. */
typedef enum tendon_bluez_set {
    TENDON_BLUEZ_SET_UNPROVEN =
        0,                  /**< no command has succeeded: the controller may have the extended ones in name only */
    TENDON_BLUEZ_SET_TRIED, /**< it has rejected the extended ones, and the legacy ones are tried */
    TENDON_BLUEZ_SET_PROVEN
} tendon_bluez_set;

/** Scanning or advertising. */
typedef struct tendon_bluez_activity {
    uint8_t state;         /**< tendon_bluez_activity_state */
    uint8_t set;           /**< tendon_bluez_set */
    uint8_t step;          /**< of the configuration: index of its next command */
    bool requested;        /**< by the owner of the radio */
    bool confirmed;        /**< enabled at least once since it was requested: a later rejection is retried */
    bool cleared;          /**< the activity that a killed program left enabled was disabled once */
    uint8_t retries;       /**< since it was last enabled */
    uint8_t unanswered;    /**< its commands without a response, since it was last enabled or started */
    tendon_status failure; /**< to be reported from the loop; TENDON_OK: none */
    uint64_t retry_at;     /**< monotonic ms; 0: no pause */
} tendon_bluez_activity;

/** A device whose report came. */
typedef struct tendon_bluez_heard {
    tendon_address peer;
    uint64_t at; /**< monotonic ms; 0: no device */
} tendon_bluez_heard;

typedef struct tendon_bluez_scan {
    tendon_bluez_activity activity; /**< first */
    tendon_scan_parameters parameters;
    bool joined;           /**< ours waits for the end of that scan; we have enabled nothing since */
    bool has_scanned;      /**< this radio has: a discovery of the kernel may be our scan */
    bool replaces;         /**< ours is in the place of the kernel's, which it has disabled */
    uint8_t unseen;        /**< rejections from which that scan is concluded; 0: a report or a command has shown it */
    bool heard;            /**< reports came since the watchdog's last step */
    bool restarted;        /**< the watchdog has started it again, and no report has come since */
    uint64_t heard_at;     /**< the last report, or the start after it; monotonic ms */
    uint64_t enabled_at;   /**< monotonic ms */
    uint64_t silent_since; /**< the last report before the watchdog started it again; monotonic ms */
    tendon_bluez_heard latest[TENDON_BLUEZ_SILENCE_DEVICES]; /**< devices, in no order */
} tendon_bluez_scan;

/** The kernel's connection attempts: it makes one connection at a time. */
typedef enum tendon_bluez_creating {
    TENDON_BLUEZ_CREATES_NONE = 0,
    TENDON_BLUEZ_CREATES, /**< the controller connects, until it reports a connection or a failure */
    TENDON_BLUEZ_EXAMINES /**< it has connected, and the kernel reads the peer's features before connect() completes */
} tendon_bluez_creating;

/** A discovery of the kernel, that it takes our scan for; see discovery.c. */
typedef enum tendon_bluez_discovery {
    TENDON_BLUEZ_DISCOVERY_OFF = 0,
    TENDON_BLUEZ_DISCOVERY_ON,
    TENDON_BLUEZ_DISCOVERY_STOPPING
} tendon_bluez_discovery;

/** What the kernel and other programs do with the controller, as their commands and its events show it. */
typedef struct tendon_bluez_kernel {
    bool scans;              /**< the scan of the kernel, or of another program, is on */
    bool filters;            /**< the latest scan parameters that were not ours have the filter accept list */
    bool value;              /**< that the command in `opcode` sets; of scan parameters: the same as in `filters` */
    uint16_t opcode;         /**< of a command about scanning in flight that is not ours; 0: none */
    uint8_t creating;        /**< tendon_bluez_creating */
    uint8_t discovery;       /**< tendon_bluez_discovery */
    uint8_t kinds;           /**< address types of the discovery */
    uint16_t connections;    /**< that the controller has reported, of all programs */
    uint16_t handle;         /**< of the connection to `peer`, while it exists; 0xFFFF: none */
    tendon_address peer;     /**< of the latest attempt to create a connection */
    uint64_t begins_until;   /**< it has ended its scan, and may be about to create a connection; monotonic ms */
    uint64_t examines_until; /**< TENDON_BLUEZ_EXAMINES: monotonic ms */
    uint64_t stops_until;    /**< its answer to Stop Discovery is waited for; monotonic ms */
    uint64_t disables_until; /**< it disables our scan, because the discovery is being stopped; monotonic ms, 0: no */
} tendon_bluez_kernel;

typedef struct tendon_bluez_advertising {
    tendon_bluez_activity activity; /**< first */
    bool set_made;                  /**< extended commands: our set exists in the controller */
    uint8_t set;                    /**< its handle */
    uint16_t interval_ms;
    uint16_t length, response_length;
    uint8_t data[TENDON_BLUEZ_ADVERTISING_MAX], response[TENDON_BLUEZ_ADVERTISING_MAX];
} tendon_bluez_advertising;

/** Which random address the controller has, of an adapter without a public one. */
typedef enum tendon_bluez_address_state {
    TENDON_BLUEZ_ADDRESS_UNKNOWN = 0,
    TENDON_BLUEZ_ADDRESS_OURS,
    TENDON_BLUEZ_ADDRESS_OF_OTHERS /**< the kernel, or another program, has set another one */
} tendon_bluez_address_state;

/** Power state of the adapter, which determines if commands can be sent. */
typedef enum tendon_bluez_power_state {
    TENDON_BLUEZ_POWERED = 0, /**< commands are sent */
    TENDON_BLUEZ_FAULTY,     /**< the controller reported a hardware error; no commands until the kernel has reset it */
    TENDON_BLUEZ_RECOVERING, /**< the kernel has not begun a reset: commands are sent, power-off still means a reset */
    TENDON_BLUEZ_RESETTING,  /**< powered off, by the kernel or by this radio, to reset it: no commands */
    TENDON_BLUEZ_CYCLING,    /**< this radio has asked the kernel to power it off: no commands */
    TENDON_BLUEZ_FAILED      /**< the radio is unusable */
} tendon_bluez_power_state;
#define TENDON_BLUEZ_POWER_STATES 6

typedef struct tendon_bluez_power {
    uint8_t state;         /**< tendon_bluez_power_state */
    bool failure_reported; /**< on_failure was called for the end of the radio */
    tendon_status status;  /**< why it failed */
    uint64_t deadline;     /**< of the state, monotonic ms */
    uint64_t reset_until;  /**< monotonic ms: when a reset must have ended */
    tendon_status cause;   /**< why this radio powers it off and on; TENDON_OK: it does not */
    uint8_t cycles;        /**< since the time below */
    uint64_t cycled_since; /**< monotonic ms */
} tendon_bluez_power;

/** Purpose of a command; TENDON_BLUEZ_SEND_NOTHING: no command. */
typedef enum tendon_bluez_request {
    TENDON_BLUEZ_SEND_NOTHING = 0,
    TENDON_BLUEZ_SEND_ADDRESS, /**< LE Set Random Address, before any other */
    TENDON_BLUEZ_SEND_CONFIGURATION,
    TENDON_BLUEZ_SEND_ENABLE,
    TENDON_BLUEZ_SEND_DISABLE,
    TENDON_BLUEZ_SEND_PROBE /**< Read Local Version Information: whether the controller responds */
} tendon_bluez_request;

/** The command queue: one HCI command of ours at a time. */
typedef enum tendon_bluez_queue_state {
    TENDON_BLUEZ_IDLE = 0,  /**< the next command can be sent */
    TENDON_BLUEZ_IN_FLIGHT, /**< a command waits for its response */
    TENDON_BLUEZ_PAUSED /**< the kernel rejected a command because the adapter is off; it is sent again after a pause
                         */
} tendon_bluez_queue_state;
#define TENDON_BLUEZ_QUEUE_STATES 3

typedef struct tendon_bluez_queue {
    uint8_t state;                   /**< tendon_bluez_queue_state */
    uint8_t request;                 /**< tendon_bluez_request of the command in flight */
    uint8_t refused;                 /**< sends rejected in a row */
    uint8_t unanswered;              /**< commands without a response in a row */
    uint16_t opcode;                 /**< of the command in flight; 0: none */
    tendon_bluez_activity *activity; /**< that the command in flight belongs to; NULL: none */
    uint64_t retry_at;               /**< PAUSED: monotonic ms */
    uint64_t sent_at;                /**< IN_FLIGHT: monotonic ms */
    uint32_t response_ms;            /**< the longest time that a response took of late */
} tendon_bluez_queue;

/**
 * Limits of a controller; 0: unknown. HCI has no command to read the maximum number of connections. A connect() beyond
 * that limit fails with TENDON_HCI_ERROR(0x09), connection limit exceeded, which is not retried, or (0x0D), limited
 * resources, which is, for another connection may end.
 */
typedef struct tendon_bluez_limits {
    uint16_t packet_length;      /**< maximum length of one LE ACL data packet, in bytes */
    uint8_t packets;             /**< LE ACL data packets that the controller buffers, for all connections together */
    uint8_t accept_list;         /**< entries of the filter accept list */
    uint8_t resolving_list;      /**< entries of the resolving list */
    uint8_t advertising_sets;    /**< extended advertising sets */
    uint16_t advertising_length; /**< maximum length of extended advertising data, in bytes */
    uint64_t states;             /**< LE_States (Vol 4 Part E 7.8.27): activities that can be combined */
    uint64_t features;           /**< LE_Features (Vol 6 Part B 4.6): TENDON_BLUEZ_FEATURE_... and others */
} tendon_bluez_limits;

/** Reason of a disconnection that the controller reported. */
typedef struct tendon_bluez_disconnect_reason {
    uint16_t handle;
    uint8_t reason; /**< HCI error code; 0: unused, or reported already */
} tendon_bluez_disconnect_reason;
#define TENDON_BLUEZ_ENDINGS 24
#define TENDON_BLUEZ_LEAVING 8

/** A connection that this radio has disconnected, and that the controller has not confirmed yet. */
typedef struct tendon_bluez_pending_disconnect {
    tendon_address peer;
    uint16_t handle;
    uint64_t until; /**< monotonic ms */
} tendon_bluez_pending_disconnect;

/** Parameters of a connection that the controller has reported. */
typedef struct tendon_bluez_timing {
    uint16_t handle;
    tendon_connection_timing timing; /**< interval 0: unused */
} tendon_bluez_timing;
#define TENDON_BLUEZ_TIMINGS 32

typedef struct tendon_bluez_attempt {
    tendon_link *link;       /**< NULL: free */
    uint8_t old_connections; /**< left behind by killed programs, ended by this attempt */
    uint8_t failure;         /**< HCI error code of the kernel's last attempt to connect to this peer; 0: none */
    bool parked;             /**< in the background, and the kernel was seen to scan for it */
    uint64_t begun_at;       /**< when connect() was called */
    uint64_t check_at;       /**< when its progress is checked next */
} tendon_bluez_attempt;

/** The kernel has encrypted a connection: with the key of a bond, or with one that is in no bond. */
typedef struct tendon_bluez_key_seen {
    bool used, of_bond;
    uint16_t handle;
} tendon_bluez_key_seen;

typedef struct tendon_bluez_counters {
    uint64_t commands; /**< HCI commands sent by this radio */

    uint64_t scan_pauses;      /**< scans paused for a connect */
    uint64_t connect_reissues; /**< connect() calls repeated because the kernel did not act on the first */
    uint64_t renewals;         /**< connect() calls in the background repeated because nothing scanned any more */
    uint64_t unanswered;       /**< commands without a response */
    uint64_t scan_refreshes;   /**< scans started again to clear the controller's list of duplicates */
    uint64_t scan_restarts;    /**< scans started again because no report came */
    uint64_t power_cycles;     /**< the adapter was powered off and on because it did nothing */
    uint64_t scan_joins;       /**< scans that have joined the scan of another program */
} tendon_bluez_counters;

/** How a radio gets along with other programs that use its adapter, bluetoothd among them. */
typedef enum tendon_bluez_use {
    /** Others may use the adapter. This radio adapts itself: it does not disable what others have enabled, its scan
     * joins that of another program (one of the kernel that receives only an accept list is replaced), and it powers
     * the adapter off and on only while no other program has it open. */
    TENDON_BLUEZ_SHARED = 0,
    /** No other program uses the adapter when the radio is opened, and radios of this library that are opened later are
     * refused, except observers. */
    TENDON_BLUEZ_SOLE,
    /** The radio sends nothing and changes nothing: while it scans, it receives the advertisements that the scans of
     * others bring. */
    TENDON_BLUEZ_OBSERVER,
    /** The radio connects to known addresses and listens, which needs no capability. Scanning and advertising fail with
     * TENDON_RADIO_ERROR_NO_CAP_NET_RAW, pairing with _NO_CAP_NET_ADMIN; powering the adapter on requires CAP_NET_ADMIN
     * here too. A closed connection ends when the kernel drops it, 2 s later; until then a new connect() to the same
     * peer waits. A connect() that the kernel does not act on is not detected. */
    TENDON_BLUEZ_CONNECTIONS_ONLY
} tendon_bluez_use;

/** Runs @p work(@p index) once, on any thread: not before an earlier one has returned. @p work blocks for up to 10 s.
 */
typedef void (*tendon_bluez_worker)(void *context, void (*work)(uint16_t index), uint16_t index);

/** A setting of the adapter. */
typedef enum tendon_bluez_mode {
    TENDON_BLUEZ_MODE_OF_OTHERS = 0, /**< as other programs have set it */
    TENDON_BLUEZ_MODE_OFF,
    TENDON_BLUEZ_MODE_ON
} tendon_bluez_mode;

typedef struct tendon_bluez_radio {
    tendon_radio radio;        /**< first */
    uint16_t index;            /**< N of hciN */
    bool extended_scan;        /**< the controller has the extended scan commands, and has not rejected them at their
                                * first use: only they are used */
    bool extended_advertising; /**< likewise */
    bool opened;
    bool unprivileged;     /**< opened with TENDON_BLUEZ_CONNECTIONS_ONLY */
    uint8_t use;           /**< tendon_bluez_use; _SHARED for _CONNECTIONS_ONLY */
    uint8_t address_state; /**< tendon_bluez_address_state: the random address of the controller */
    tendon_bluez_limits limits;
    uint32_t settings;        /**< of the adapter: TENDON_MANAGEMENT_POWERED, ... */
    tendon_source hci;        /**< raw socket; its deadline is that of the command in flight */
    tendon_source management; /**< reports when the adapter is powered off or removed */
    tendon_source timer;      /**< retries, and failures to be reported */
    void *worker_context;
    tendon_bluez_worker worker; /**< see tendon_bluez_set_worker() */
    int leases[2];              /**< show other processes the use of the adapter, and the bond store in use */
    uint8_t bondable;           /**< tendon_bluez_mode: who decides about it */
    bool bondable_before;       /**< as it was before that */
    bool io_set;                /**< the adapter has this radio's IO capability */
    uint8_t io;
    bool identities_loaded; /**< the kernel has the identity keys of the bonds */
    bool identity_received; /**< the kernel has made one in a pairing */
    bool unresolved;        /**< the controller does not resolve addresses; false: not known */
    tendon_bluez_kernel kernel;
    tendon_bluez_power power;
    tendon_bluez_queue command;
    tendon_bluez_scan scan;
    tendon_bluez_advertising advertising;
    tendon_bluez_attempt attempts[TENDON_BLUEZ_SLOTS]; /**< in the background: the last TENDON_BLUEZ_BACKGROUND */
    uint8_t stuck_connects;                            /**< connect() calls in a row on which the kernel did not act */
    uint64_t stuck_since;                              /**< the first of them; monotonic ms */
    uint64_t data_at;      /**< latest data of a connection, of the last ones; monotonic ms */
    bool data_watched;     /**< the controller is asked when they pause */
    bool probe_requested;  /**< now */
    uint64_t signal_until; /**< for the kernel's answer about a connection; monotonic ms */
    tendon_bluez_disconnect_reason endings[TENDON_BLUEZ_ENDINGS];
    uint8_t next_ending;
    tendon_bluez_key_seen keys[TENDON_BLUEZ_SLOTS];
    uint8_t next_key;
    tendon_bluez_pending_disconnect leaving[TENDON_BLUEZ_LEAVING];
    tendon_bluez_timing timings[TENDON_BLUEZ_TIMINGS];
    uint8_t next_timing;
    tendon_bluez_counters counters;
    tendon_ad_reassembler reassembler;
    tendon_ad_chain chains[TENDON_BLUEZ_CHAINS];
} tendon_bluez_radio;

/**
 * Opens an adapter, powers it on and enables LE if they are off, and reads which commands and limits it has. Blocks:
 * milliseconds if the adapter is on, up to a second to power it on; never longer than the limits above.
 *
 * Scanning and advertising start and stop in the background. A start that the controller rejects is reported by
 * on_failure: TENDON_RADIO_ERROR_ADAPTER_BUSY (another program advertises, or a scan was rejected for 90 s and no other
 * scan was seen), or the controller's HCI error. A scan beside that of another program joins it: it delivers the
 * reports of that scan, and starts when that one ends (docs/bluez-states.md, "A scan that joins another one"). An
 * activity that failed has ended; the radio stays usable. An activity that was enabled once is retried: a rejected scan
 * for 10 s, rejected advertising for 10 s, or as long as connections exist. A controller that does nothing more is
 * powered off and on, if no other program has it open (docs/bluez-states.md, "Watchdog"); its links end then, and what
 * was started starts again. After all other statuses (TENDON_RADIO_ERROR_COMMAND_TIMEOUT, _NO_ADAPTER, _ADAPTER_DOWN,
 * system errors) the radio is unusable and connection attempts end with that status: close it.
 *
 * An adapter without a public address, or whose static address the kernel uses, gets a static random address (address
 * type TENDON_ADDRESS_TYPE_RANDOM in radio.address). It is made once, of random bytes, and stored accessible only by
 * its owner, in a file in the directory of the bonds: $XDG_STATE_HOME/tendon/address-hciN, else
 * $HOME/.local/state/tendon/address-hciN, else /var/lib/tendon/address-hciN. If the adapter is on with another address,
 * it is powered off and on, unless another program has it open (_ADAPTER_BUSY).
 *
 * The call blocks while the kernel powers the adapter on, up to 5 s if it does so for another program.
 *
 * @param name "hci0"; its address, "00:1A:7D:DA:71:13"; its USB path, "1-1.4", which is the port that it is plugged
 * into; NULL: the adapter with the lowest index. Indexes may change at each start of the machine and each replug.
 * Of adapters with one public address, as some USB adapters have it, one can be used: Linux finds the adapter of a
 * connection by its address. An adapter whose address another one has that is on does not open (_SAME_ADDRESS), and
 * one that is open ends with that status if the other one is switched on.
 *
 * @return TENDON_OK, or TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, _NO_ADAPTER, _UNCONFIGURED (it has no address),
 * _SAME_ADDRESS, _RFKILL (blocked), _NO_CAP_NET_RAW, _NO_CAP_NET_ADMIN (a capability is missing), _ADAPTER_DOWN (it is
 * off and cannot be powered on), _ADAPTER_BUSY (another program uses it exclusively, or the kernel is busy for longer),
 * _COMMAND_TIMEOUT; TENDON_ERROR_UNSUPPORTED: no LE; TENDON_ERROR_INVALID_ARGUMENT: not the name of an adapter;
 * TENDON_ERROR_FILE_PERMISSION, _MALFORMED, TENDON_SYSTEM_ERROR, TENDON_ERROR_BUSY: of the address file. Nothing stays
 * open after an error.
 */
tendon_status tendon_bluez_open(tendon_bluez_radio *radio, tendon_loop *loop, const char *name);

/**
 * Like tendon_bluez_open(), which shares the adapter, but declares the use.
 *
 * Sole: @return TENDON_RADIO_ERROR_ADAPTER_BUSY, too, if another program has a Bluetooth socket open that may be for
 * this adapter (bluetoothd, but also btmon: the kernel does not tell what a socket is for); TENDON_ERROR_UNSUPPORTED:
 * /proc/self/net/hci cannot be read, so this is not known. A program that is not of this library can come later.
 *
 * Shared: _ADAPTER_BUSY, too, if a radio of this library has the adapter for its sole use.
 *
 * Connections only: @return _NO_CAP_NET_ADMIN if the adapter is off, and never _NO_CAP_NET_RAW.
 *
 * Observer: needs CAP_NET_RAW and an adapter that is on (else _ADAPTER_DOWN), beside any other program. Parameters of
 * a scan have no effect, and without a scan of others nothing is received. Everything except scanning fails with
 * TENDON_ERROR_UNSUPPORTED; radio.limits and the commands of the controller are not read.
 */
tendon_status tendon_bluez_open_as(tendon_bluez_radio *radio, tendon_loop *loop, const char *name,
                                   tendon_bluez_use use);

/**
 * What tendon_bluez_open_as() does before it needs the loop, which is all that blocks: up to 20 s on an adapter that
 * does not respond, in which no other radio of the loop would work. May be called on any thread. Then
 * tendon_bluez_attach() on the loop's; in between tendon_radio_use_bonds() may be called, which blocks, too, and
 * tendon_radio_close().
 * @return like tendon_bluez_open_as().
 */
tendon_status tendon_bluez_prepare(tendon_bluez_radio *radio, const char *name, tendon_bluez_use use);

/** The rest. Does not block. @return TENDON_OK; TENDON_ERROR_WRONG_STATE: it is not prepared, or attached already;
 * TENDON_SYSTEM_ERROR: of epoll; nothing stays open. */
tendon_status tendon_bluez_attach(tendon_bluez_radio *radio, tendon_loop *loop);

/**
 * Powering an adapter off and on that does nothing more blocks for up to 2 s, and the loop with it. With a worker it
 * does not. @param worker NULL: it does. @p context lives until the last work has returned, also after the radio is
 * closed.
 */
void tendon_bluez_set_worker(tendon_bluez_radio *radio, void *context, tendon_bluez_worker worker);

/** Number of PDUs of this link that the kernel dropped because the process read too slowly; 0 if the link is closed. */
uint32_t tendon_bluez_link_lost(const tendon_link *link);

/** For "1-1.4", with the ports of up to six hubs. */
#define TENDON_BLUEZ_USB_PATH_SIZE 24

/** One adapter of this machine. */
typedef struct tendon_bluez_adapter {
    uint16_t index;
    tendon_address address;
    bool static_address;                       /**< the address is a static random one, see tendon_bluez_open() */
    char name[9];                              /**< "hci0" */
    char usb_path[TENDON_BLUEZ_USB_PATH_SIZE]; /**< "1-1.4": where it is plugged in; empty: not a USB adapter */
    bool low_energy;                           /**< supports LE */
    bool powered;      /**< on; an adapter that the kernel is about to power off again counts as off */
    bool blocked;      /**< by rfkill, soft or hard */
    bool hard_blocked; /**< by a hardware switch */
    uint8_t version;   /**< HCI version: 6 is Bluetooth 4.0, 9 is 5.0 */
    uint32_t supported_settings, current_settings;
    tendon_status status; /**< TENDON_OK; why it cannot be opened: TENDON_RADIO_ERROR_UNCONFIGURED (nothing else is
                             known of it), _SAME_ADDRESS */
} tendon_bluez_adapter;

/**
 * Lists the adapters, in order of their index, then those that are unconfigured. Requires no capability; powers nothing
 * on. An adapter whose static address has not been made yet has an address of zeros.
 * @return the number of adapters (only the first @p capacity are stored), TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, ...
 */
tendon_status tendon_bluez_list(tendon_bluez_adapter *adapters, size_t capacity);

#define TENDON_BLUEZ_OFF_CHECK_MS 5000u

/** Which adapter is meant; see tendon_bluez_open(). Opaque. */
typedef struct tendon_bluez_name {
    int index; /**< N of hciN; -1: not by its index */
    bool has_address;
    tendon_address address;
    char usb_path[TENDON_BLUEZ_USB_PATH_SIZE]; /**< empty: not by its USB path */
} tendon_bluez_name;

/** A program that waits for an adapter. The caller owns the memory. */
typedef struct tendon_bluez_arrival {
    tendon_loop *loop;
    tendon_source source; /**< a management socket */
    int lease;            /**< shows radios that this socket uses no adapter */
    bool usable;          /**< one that another program has switched off is not enough */
    uint32_t off;         /**< a bit for each hciN below 32 that another program has switched off */
    tendon_bluez_name name;
    void *context;
    void (*on_adapter)(void *context, tendon_status status, uint64_t now);
} tendon_bluez_arrival;

/**
 * Waits until an adapter exists and the kernel has set it up, for a radio that ended with
 * TENDON_RADIO_ERROR_NO_ADAPTER: on_adapter() is called once, from the loop, and may open it; in the loop's next
 * step if it exists already. Called as well when one appears that is not configured, for opening it reports that
 * (TENDON_RADIO_ERROR_UNCONFIGURED). Nothing is asked periodically, and nothing wakes up before. Needs no capability.
 * @param name as for tendon_bluez_open(): an adapter that returns is found under its new index; NULL: any.
 * @param on_adapter status TENDON_OK: it is there; else why it is no longer waited for. The arrival is closed by then.
 * @return TENDON_OK; TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, TENDON_ERROR_INVALID_ARGUMENT (not the name of an adapter),
 * TENDON_SYSTEM_ERROR: nothing stays open, and on_adapter() is not called.
 */
tendon_status tendon_bluez_await_adapter(tendon_bluez_arrival *arrival, tendon_loop *loop, const char *name,
                                         void *context,
                                         void (*on_adapter)(void *context, tendon_status status, uint64_t now));
/**
 * The same for a radio that ended because its adapter was switched off (TENDON_RADIO_ERROR_ADAPTER_DOWN, _RFKILL):
 * waits until an adapter is on, or no other program has an HCI socket that could switch it on again; then opening it
 * does. bluetoothd switches its adapters off when it ends. While one is off, the sockets are looked at every
 * TENDON_BLUEZ_OFF_CHECK_MS.
 */
tendon_status tendon_bluez_await_usable_adapter(tendon_bluez_arrival *arrival, tendon_loop *loop, const char *name,
                                                void *context,
                                                void (*on_adapter)(void *context, tendon_status status, uint64_t now));
/** Ends the waiting without a call of on_adapter(). A second call does nothing. */
void tendon_bluez_arrival_close(tendon_bluez_arrival *arrival);

/**
 * Reads the limits of an adapter that is on, for `tendon doctor`. Changes nothing, also while other programs use it.
 * Blocks for milliseconds.
 * @return TENDON_OK; TENDON_RADIO_ERROR_NO_CAP_NET_RAW, _ADAPTER_DOWN (it is off), _NO_ADAPTER, _COMMAND_TIMEOUT, ...
 */
tendon_status tendon_bluez_read_limits(uint16_t index, tendon_bluez_limits *out);

/** Capabilities of this process and support by the kernel, for `tendon doctor`. */
typedef struct tendon_bluez_capabilities {
    bool kernel_support;     /**< AF_BLUETOOTH sockets */
    bool net_raw, net_admin; /**< the kernel grants them to this process; not those of a user namespace, as in a
                                container without root. Without kernel_support: the effective ones */
    uint32_t other_sockets;  /**< HCI sockets of other programs (bluetoothd has one or two); 0 if unknown */
} tendon_bluez_capabilities;

void tendon_bluez_get_capabilities(tendon_bluez_capabilities *out);

#ifdef __cplusplus
}
#endif
#endif
