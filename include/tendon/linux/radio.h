/* SPDX-License-Identifier: MIT */
/*
 * The radio interface. It has two implementations: the kernel's controllers (component linux/adapter) and the virtual
 * radio (Unix sockets). The code above it does not depend on which of them it uses.
 */
#ifndef TENDON_LINUX_RADIO_H
#define TENDON_LINUX_RADIO_H

#include "tendon/host/connection_parameters.h"
#include "tendon/linux/bonds.h"
#include "tendon/linux/loop.h"
#include "tendon/linux/pairing_agent.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_radio tendon_radio;
typedef struct tendon_link tendon_link;
typedef struct tendon_listener tendon_listener;
struct tendon_socket_hooks; /* of the radio's implementation, CSources/linux/socket_link.h */
struct tendon_socket_acceptor;

typedef struct tendon_scan_parameters {
    bool active; /**< false: passive, no scan requests */
    /** Each device is reported once, and after a minute again: the controller's list is cleared by a new start. */
    bool filter_duplicates;
    uint16_t interval_ms; /**< 3 to 10240; 0: 60 */
    uint16_t window_ms;   /**< <= interval; 0: the interval */
    /** On LE Coded besides LE 1M, for devices that advertise with long range: each PHY gets a part of the time. With
     * CAP_NET_ADMIN, also permits LE Coded for the connections of the adapter, until it is removed. */
    bool coded;
} tendon_scan_parameters;

/** A user's part of the scan of a radio. The caller's memory, zeroed before its first use. Opaque. */
typedef struct tendon_scan_lease {
    tendon_scan_parameters parameters;
    struct tendon_scan_lease *next; /**< the radio's */
} tendon_scan_lease;

typedef struct tendon_advertise_parameters {
    const uint8_t *data; /**< AD structures, borrowed for the call */
    size_t length;       /**< 0 to 31 on legacy controllers */
    const uint8_t *scan_response;
    size_t scan_response_length;
    uint16_t interval_ms; /**< 20 to 10240; 0: 100 */
} tendon_advertise_parameters;

/** State of a link. An attempt goes from WAITING to OPEN, or ends as HELD; an open link ends as ENDING. */
typedef enum tendon_link_state {
    TENDON_LINK_CLOSED = 0,
    TENDON_LINK_WAITING,   /**< no socket yet, or none any more: the kernel gets connect() later */
    TENDON_LINK_ASKED,     /**< the kernel connects */
    TENDON_LINK_CONNECTED, /**< it has: the next step of the loop opens the link, or secures the connection first */
    TENDON_LINK_SECURING,  /**< an encryption with a stored key is in progress, and connected() waits for it (bluez) */
    TENDON_LINK_OPEN,      /**< connected() is pending or was called */
    TENDON_LINK_HELD,  /**< an attempt that has ended: closed() is pending, as long as the kernel needs the socket */
    TENDON_LINK_ENDING /**< it was open: closed() is pending */
} tendon_link_state;

/** Callbacks of a link. Any member may be NULL. Never called from within the owner's own calls. */
typedef struct tendon_link_callbacks {
    void *context;
    void (*connected)(void *context, uint64_t now);
    /** One PDU, lent for the call. */
    void (*received)(void *context, const uint8_t *pdu, size_t length, uint64_t now);
    void (*writable)(void *context, uint64_t now); /**< after a send that would have blocked */
    /** Called when the connection is encrypted, by pairing or with a stored key; before the first encrypted PDU. */
    void (*encrypted)(void *context, uint64_t now);
    /** A key for the peer was stored in this connection: a new one, or a better one. Before encrypted() or after it. */
    void (*bonded)(void *context, uint64_t now);
    /** Called exactly once for each connect() or accept() that started successfully. */
    void (*closed)(void *context, tendon_status reason, uint64_t now);
} tendon_link_callbacks;

/** How secure a connection is, or must be: the levels 1, 2 and 3 of LE security mode 1 (Core Spec Vol 3 Part C 10.2.1).
 */
typedef enum tendon_security {
    TENDON_SECURITY_NONE = 0,
    TENDON_SECURITY_ENCRYPTED,    /**< with a key that the pairing agent is content with */
    TENDON_SECURITY_AUTHENTICATED /**< with a key that was made with a passkey or a comparison */
} tendon_security;

/** State of a pairing procedure that this radio started. Opaque. */
typedef enum tendon_pairing_state {
    TENDON_PAIRING_NONE = 0,
    TENDON_PAIRING_RUNNING,    /**< the two devices exchange keys */
    TENDON_PAIRING_ENCRYPTING, /**< bonded: the encryption with the stored key is in progress */
    TENDON_PAIRING_RETRYING,   /**< the kernel was busy with this peer; the request is sent again */
    TENDON_PAIRING_ENDED       /**< the loop reports the result */
} tendon_pairing_state;

/**
 * A pairing procedure. Each link has a separate one, so several devices can pair at the same time, and a device that
 * never responds delays no other. Opaque.
 */
typedef struct tendon_pairing_attempt {
    uint8_t state;               /**< tendon_pairing_state */
    bool due;                    /**< its deadline passed in this step of the loop */
    bool key_removed;            /**< the kernel had a key that is not in the store; it was removed */
    tendon_status kept;          /**< result of storing the keys */
    tendon_status result;        /**< what the loop reports; TENDON_ERROR_CANCELLED: its caller has given it up */
    uint64_t deadline, retry_at; /**< monotonic ms */
    void (*done)(void *context, tendon_status status, uint64_t now);
    void *done_context;
    /* virtual radio; of an accepted link too: */
    uint8_t key[16];
    bool asked;       /**< the device shows a passkey, and the central enters it */
    uint32_t passkey; /**< that the device shows */
} tendon_pairing_attempt;

/**
 * The transport of one ATT bearer: an L2CAP socket on CID 4, or a Unix socket on the virtual radio.
 * The caller's memory; it may be used again, or released, from within closed().
 */
struct tendon_link {
    tendon_radio *radio;
    tendon_source source;
    tendon_link_callbacks callbacks;
    tendon_address peer;
    tendon_address identity; /**< address and type under which the peer's keys are stored; the peer's own until known */
    uint8_t state;           /**< tendon_link_state */
    bool accepted;           /**< the peer is the central */
    bool background;         /**< see tendon_radio_connect_in_background() */
    bool blocked;            /**< a send would have blocked; writable() is pending */
    bool encrypting;         /**< open, and an encryption with a stored key is in progress (virtual radio) */
    bool encrypted;          /**< by pairing or with a stored key */
    /** dBm, of the answer to the newest tendon_radio_ask_signals(); TENDON_RSSI_UNKNOWN: not known. */
    int8_t rssi;
    bool signal_wanted; /**< a request for it is to be sent; used by the radio */
    /** Connection parameters that are in effect. Interval 0: not known, as on the virtual radio. */
    tendon_connection_timing timing;
    uint8_t singles;       /**< wake-ups in a row that brought one packet; used by the link */
    bool keyed;            /**< a key of `identity` is known: stored by a pairing on this connection, or shown in it */
    uint8_t question;      /**< tendon_pairing_question that waits for an answer */
    bool has_identity_key; /**< a pairing on this connection has revealed the identity key of the peer */
    uint8_t identity_key[16];
    tendon_status reason;
    uint32_t queued;     /**< what waited in the socket when it was last looked at; used by the link */
    uint64_t stalled_at; /**< when a blocked link ends, unless that changes; monotonic ms */
    int error;           /**< errno of the send or receive that found the connection ended; 0: none did */
    uint16_t handle;     /**< connection handle, for captures; 0xFFFF: not known */
    /** PDUs that the kernel dropped because its receive buffer was full: before the PDU that was received last, and
     * after the end of the link all of them. Always 0 on the virtual radio, where the sender waits. */
    uint32_t lost;
    uint64_t received, sent; /**< PDUs */
    /** When the PDU arrived that was received last: monotonic nanoseconds, by the kernel's own stamp where the socket
     * gives one, else the time of the read. Never less than that of the PDU before. */
    uint64_t received_at;
    uint32_t batch; /**< maximum number of PDUs read per wake-up, before other sources are served; 0: 32, the maximum */
    uint64_t deadline; /**< of the attempt to connect */
    tendon_pairing_attempt pairing;
    const struct tendon_socket_hooks *hooks;
    tendon_link *next; /**< the radio's */
};

/** Events that tendon_radio.tap receives. */
typedef enum tendon_tap_kind {
    TENDON_TAP_OPENED = 0, /**< before connected() */
    TENDON_TAP_RECEIVED,   /**< a PDU, before received() */
    TENDON_TAP_SENT,       /**< a PDU that the link accepted */
    TENDON_TAP_CLOSED      /**< an open link was closed; before closed() */
} tendon_tap_kind;

/** Accepts connections from centrals. The caller's memory. */
struct tendon_listener {
    tendon_radio *radio;
    tendon_source source;
    void *context;
    /**
     * Called when a central connects. Returns a closed link with its callbacks set, to accept the connection
     * (connected() follows), or NULL to reject it.
     */
    tendon_link *(*accept)(void *context, const tendon_address *peer, uint64_t now);
    const struct tendon_socket_acceptor *acceptor; /**< set by the radio */
};

/**
 * Which devices this radio may pair with when it is the central. A bonded device can always connect, and a device that
 * does not require pairing too.
 *
 * The default permits every device: a program pairs with the device that it chose. A gateway that connects to whatever
 * advertises near it sets restricted: a stranger's device then cannot become a bonded one.
 */
typedef struct tendon_pairing_policy {
    bool restricted;               /**< false: every device may pair; the other members are ignored */
    const tendon_address *allowed; /**< devices that may pair at any time, with their address types; borrowed */
    size_t allowed_count;
    uint64_t window_until; /**< monotonic ms: until then every device may pair; 0: no window, UINT64_MAX: no end */
} tendon_pairing_policy;

typedef struct tendon_radio_ops {
    const char *name; /**< "bluez" or "virtual" */
    tendon_status (*scan_start)(tendon_radio *radio, const tendon_scan_parameters *parameters);
    tendon_status (*scan_stop)(tendon_radio *radio);
    /** Called when scan_pauses changes to or from 0. NULL if the radio can scan and connect at the same time. */
    void (*scan_paused)(tendon_radio *radio);
    /* All NULL if the radio only receives what is advertised. */
    tendon_status (*advertise_start)(tendon_radio *radio, const tendon_advertise_parameters *parameters);
    tendon_status (*advertise_stop)(tendon_radio *radio);
    tendon_status (*connect)(tendon_radio *radio, tendon_link *link, const tendon_address *peer, uint64_t deadline);
    tendon_status (*listen)(tendon_radio *radio, tendon_listener *listener);
    void (*unlisten)(tendon_radio *radio, tendon_listener *listener);
    void (*link_close)(tendon_link *link);
    /* Always. */
    void (*close)(tendon_radio *radio);
    /* Pairing; all members are NULL if the radio does not support pairing. */
    uint8_t bond_radio; /**< tendon_bond_radio */
    tendon_status (*use_bonds)(tendon_radio *radio);
    /** Whether a connection to a bonded peer can be made by its identity address, or why not. NULL: always. */
    tendon_status (*resolves)(tendon_radio *radio);
    tendon_status (*set_pairable)(tendon_radio *radio, bool pairable);
    /** The IO capability of radio->agent counts from now on. May be NULL. */
    tendon_status (*set_io)(tendon_radio *radio);
    /** Starts pairing over an open link that this radio started; ends with tendon_pairing_finish(). */
    tendon_status (*pair)(tendon_radio *radio, tendon_link *link);
    /** Answers the question of a link, link->question. */
    void (*answer)(tendon_radio *radio, tendon_link *link, bool accepted, uint32_t passkey, uint64_t now);
    /** The result of pair() is no longer needed. */
    void (*pair_cancel)(tendon_radio *radio, const tendon_link *link);
    /** The bond was removed from the store: removes its keys from the kernel, and disconnects the peer. */
    tendon_status (*unpair)(tendon_radio *radio, const tendon_address *peer);
    /** Asks for the signal of an open link; link->rssi follows. NULL: the radio does not know it. */
    tendon_status (*ask_signal)(tendon_radio *radio, tendon_link *link);
    /** Asks for these parameters of an open link that this radio has made. NULL: connections have none. */
    tendon_status (*set_parameters)(tendon_link *link, const tendon_connection_parameters *parameters);
} tendon_radio_ops;

/** Maximum number of resolvable private addresses that a radio remembers: sets of entries, found by the hash. */
#define TENDON_RESOLVER_SETS 128
#define TENDON_RESOLVER_WAYS 8

/**
 * Which bond resolves which address, so that a report does not cost an encryption for each bond. A device has a new
 * address every 15 minutes or so; in a full set the oldest entry is replaced. Opaque.
 */
typedef struct tendon_resolver {
    bool used, has_keys; /**< has_keys: a bond has an identity key; without one nothing is looked up */
    uint32_t changes;    /**< of the bonds, when the entries were made */
    uint64_t refresh_at; /**< the file of the bonds is looked at again */
    uint64_t computed;   /**< counter: addresses that were not in the table */
    uint8_t next[TENDON_RESOLVER_SETS];
    struct {
        uint8_t address[6];
        uint8_t result; /**< 0: the entry is free, 1: no bond, otherwise the index of the bond + 2 */
    } entries[TENDON_RESOLVER_SETS][TENDON_RESOLVER_WAYS];
} tendon_resolver;

/** First member of every radio implementation. */
struct tendon_radio {
    const tendon_radio_ops *ops;
    tendon_loop *loop;
    tendon_address address; /**< our own */
    bool scanning;
    /** The latest scan receives what the scan of another program brings; ours starts when that one ends. */
    bool scan_joined;
    /** The latest scan is passive although an active one was requested: there are no scan responses. */
    bool scan_passive;
    tendon_scan_parameters scan; /**< while scanning: what the leases come to */
    tendon_scan_lease *leases;   /**< list */
    tendon_scan_lease own_lease; /**< of tendon_radio_scan_start() */
    uint32_t scan_pauses;        /**< see tendon_radio_pause_scan() */
    void *report_context;
    /**
     * Called for every advertisement and scan response while scanning; lent for the call. A bonded device that uses
     * private addresses is reported with its identity address, to which connect() connects too.
     */
    void (*on_report)(void *context, const tendon_ad_report *report, uint64_t now);
    /** Called when the adapter was removed or failed. The radio is then unusable. May be NULL. */
    void (*on_failure)(void *context, tendon_status status, uint64_t now);
    /**
     * Called when pairing with @p peer failed, and when a connection or an attempt that this radio started ended with
     * another reason than TENDON_ERROR_CANCELLED: the cause behind the error that a session reports. Before the
     * session is notified; must not call the radio. May be NULL.
     */
    void (*on_peer_failure)(void *context, const tendon_address *peer, tendon_status reason, uint64_t now);
    uint64_t reports, malformed;             /**< counters */
    uint64_t lost;                           /**< tendon_link.lost of all links so far */
    tendon_link *links;                      /**< list of the links that are not closed */
    tendon_listener *listener;               /**< NULL: it does not listen */
    tendon_connection_parameters connection; /**< of new connections; max_interval 0: the kernel's */
    tendon_bonds *bonds;                     /**< NULL: no pairing */
    tendon_status bonds_failure;             /**< TENDON_OK: they can be used, or were not requested */
    tendon_status store_failure; /**< why the latest bond was not stored; TENDON_OK: it was, or there was none */
    tendon_resolver resolver;
    tendon_pairing_service pairing;
    tendon_pairing_policy policy;
    uint8_t security; /**< tendon_security, which the connections that this radio makes must have */
    tendon_pairing_agent agent;
    tendon_source pairing_timer; /**< of all pairing procedures */
    bool pairable, pairable_told;
    void *tap_context;
    /** Called for every PDU and state change of the links of this radio, for captures. Must not call the link. May be
     * NULL. */
    void (*tap)(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length);
};

/* These functions call ops. Their errors are of the layers BASE, RADIO, SYSTEM, HCI or MANAGEMENT. */
/**
 * Scans for one more user, or with other parameters for a lease that is held already. One scan of the radio serves all
 * leases: active if one of them is, and likewise on LE Coded; duplicates are filtered if all of them filter; interval
 * and window are those of the lease with the largest share of the time (window / interval), of equal ones the shorter
 * interval. The scan is started again if that changes, and for a new lease: some controllers report a device once per
 * scan, and would not report it to the new user. Reports go to on_report, for all leases. When the radio ends its scan
 * (on_failure), all leases have ended.
 * @param lease borrowed until it is released, or the radio is closed.
 * @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT; TENDON_ERROR_UNSUPPORTED: the controller, or the virtual radio, has
 * no LE Coded; another error of the radio. After an error a new lease is not held, and the others are as before.
 */
tendon_status tendon_radio_scan_acquire(tendon_radio *radio, tendon_scan_lease *lease,
                                        const tendon_scan_parameters *parameters);
/** Gives a lease back; the last one ends the scan. TENDON_OK also if it is not held. */
tendon_status tendon_radio_scan_release(tendon_radio *radio, tendon_scan_lease *lease);
/** A lease that the radio contains, for a program with one user. TENDON_RADIO_ERROR_ALREADY_STARTED: it is held. */
tendon_status tendon_radio_scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters);
tendon_status tendon_radio_scan_stop(tendon_radio *radio); /**< TENDON_OK also when not scanning */
/**
 * Pauses scanning until tendon_radio_resume_scan() was called as often as this function. Use both around several
 * connection attempts on radios that cannot scan and connect at the same time. The scan counts as started while it is
 * paused.
 */
void tendon_radio_pause_scan(tendon_radio *radio);
void tendon_radio_resume_scan(tendon_radio *radio);
/** Advertises until advertise_stop(), also while and after a central is connected. TENDON_RADIO_ERROR_ALREADY_STARTED
 * if it advertises already. */
tendon_status tendon_radio_advertise_start(tendon_radio *radio, const tendon_advertise_parameters *parameters);
tendon_status tendon_radio_advertise_stop(tendon_radio *radio);
/**
 * Starts connecting; connected() or closed(reason) follows. When @p deadline (monotonic ms) passes,
 * closed(TENDON_ERROR_TIMEOUT) is called, on a controller that answers immediately at most 300 ms later; of a slow one,
 * eight times its slowest recent answer is added. A running scan is paused during the attempt.
 *
 * A private address that a bond resolves stands for the identity address of the bond, which link->peer is then: so a
 * device that has paired under a private address is found again under the next one.
 */
tendon_status tendon_radio_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline);
/**
 * The same without a deadline, for a known device that may be absent for hours: connected() follows when it advertises,
 * closed() if tendon_link_close() is called or the radio fails. With the kernel's controllers the device is in the
 * controller's filter accept list meanwhile, and the kernel scans passively for it; a scan of this radio is paused only
 * until the kernel has begun, and while it connects. Nothing is sent to the device before it advertises. If the list is
 * too short for all devices (tendon_bluez_limits.accept_list), the kernel scans without a filter. The virtual radio
 * looks for the device twice per second.
 * @return like tendon_radio_connect(); TENDON_ERROR_TABLE_FULL: TENDON_BLUEZ_BACKGROUND attempts are in progress.
 */
tendon_status tendon_radio_connect_in_background(tendon_radio *radio, tendon_link *link, const tendon_address *peer);
/**
 * The parameters that connections started from now on are requested with; NULL: the kernel's own, 30 to 50 ms on Linux.
 * The kernel takes them with CAP_NET_ADMIN only, the peripheral may ask for others later, and the virtual radio has
 * none: tendon_link.timing tells what a connection has. PHY and data length are requested once it is made, with
 * CAP_NET_RAW, and as far as the controller has them. @return TENDON_OK, TENDON_ERROR_INVALID_ARGUMENT.
 */
tendon_status tendon_radio_set_connection_parameters(tendon_radio *radio,
                                                     const tendon_connection_parameters *parameters);
tendon_status tendon_radio_listen(tendon_radio *radio, tendon_listener *listener);
void tendon_radio_unlisten(tendon_radio *radio, tendon_listener *listener);
/**
 * Asks the controller for the signal strength of each open link. The answers arrive through the loop, in link->rssi;
 * most devices do not advertise while they are connected, so no advertisement tells it. The kernel asks the controller
 * at most once a second. @return TENDON_OK; TENDON_ERROR_UNSUPPORTED; the first error, after which the other links are
 * asked.
 */
tendon_status tendon_radio_ask_signals(tendon_radio *radio);
/** Stops scanning, advertising and listening. Close all links first, and wait until closed() was called for each. A
 * second call does nothing. */
void tendon_radio_close(tendon_radio *radio);

/**
 * Enables pairing (LE; Just Works unless an agent is set) and keeps the bonds from now on. Call it once, before links
 * exist. A connection to a bonded peer is encrypted automatically, by the kernel before connected(). If the peer has
 * lost its key, the connection ends with TENDON_RADIO_ERROR_PAIRING_FAILED. After a failure, pairing over the radio
 * fails with that: a device which pairs is not used without encryption because its bonds cannot be.
 * @param bonds borrowed until the radio is closed.
 * @return TENDON_OK; TENDON_ERROR_UNSUPPORTED; TENDON_ERROR_WRONG_STATE: the radio has bonds already; an error of the
 * management socket (bluez); TENDON_RADIO_ERROR_OTHER_BOND_STORE: the store has keys for this adapter, and another
 * process uses the adapter with another store. The kernel has one list of keys per adapter, so loading these keys would
 * remove the others.
 */
tendon_status tendon_radio_use_bonds(tendon_radio *radio, tendon_bonds *bonds);
/** tendon_bonds_open(), then tendon_radio_use_bonds(): a failure of either is one of the bonds. @return that, or
 * TENDON_OK. */
tendon_status tendon_radio_open_bonds(tendon_radio *radio, tendon_bonds *bonds, const char *path);
/**
 * The radio's pairing as a service, for tendon_connection_init(). NULL before use_bonds(). Valid while the radio is
 * open.
 *
 * start() takes a peer to which this radio has opened a link. Several devices can pair at the same time; each procedure
 * has its own limit of 35 s (done(TENDON_ERROR_TIMEOUT)). If the link closes first, done() is not called. A peer that
 * has paired under a private address has its identity address too, in all functions of the service and in
 * tendon_radio_forget(), for as long as its link is open; later its private addresses stand for the identity address if
 * the bond has its identity key.
 * start() returns TENDON_ERROR_WRONG_STATE: no such link; TENDON_ERROR_BUSY: this peer is pairing;
 * TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED: see tendon_radio_set_pairing_policy(); TENDON_RADIO_ERROR_BONDS_FULL: the
 * store has no free entry for the peer (a device that pairs never evicts another device's bond);
 * TENDON_RADIO_ERROR_PAIRING_TOO_WEAK: an authenticated key is required, and the agent has neither input nor output.
 */
const tendon_pairing_service *tendon_radio_pairing(tendon_radio *radio);
/**
 * Sets which devices may pair from now on; procedures in progress continue. May be called at any time, also to open and
 * close a pairing window. NULL: the default, which permits every device.
 */
void tendon_radio_set_pairing_policy(tendon_radio *radio, const tendon_pairing_policy *policy);
/** True if the policy permits pairing with @p peer at the time @p now. A bond is not required and not looked up. */
bool tendon_radio_may_pair(const tendon_radio *radio, const tendon_address *peer, uint64_t now);
/**
 * Sets the security that a tendon_connection of this radio must have before its session and its application are
 * notified of it, from now on. Until then nothing is sent over it, and the PDUs of the device are discarded. The
 * connection is encrypted with the key of the bond, or the devices pair if the policy permits it, once. With
 * TENDON_SECURITY_AUTHENTICATED, a bond whose key is not authenticated is not used: the devices pair again, and the
 * better key takes its place. If that fails, the bond stays, closed(TENDON_RADIO_ERROR_NOT_SECURE) is called, without
 * another attempt, and on_peer_failure received the cause before. A bare tendon_link, and the connections of centrals,
 * have no such level.
 * @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT: there is no such level.
 */
tendon_status tendon_radio_set_security(tendon_radio *radio, tendon_security security);
/** True if the link has at least this security, as the key that it is encrypted with shows. */
bool tendon_link_has_security(const tendon_link *link, tendon_security security);
/**
 * Sets the agent that answers for the user, and what a key must be worth, from now on: for devices that connect or are
 * connected after the call. A bond that is worth less is not used: the device pairs again when it requires pairing. A
 * bond that was made with a passkey is never replaced by one that was not, and a device that says that it is another
 * bonded device does not replace the bond of that one (RADIO_ERROR_IDENTITY_TAKEN).
 * @param agent copied; NULL: tendon_pairing_agent_accept().
 * @return TENDON_OK; TENDON_RADIO_ERROR_NO_PAIRING_SERVICE before use_bonds(); TENDON_ERROR_INVALID_ARGUMENT: a member
 * is out of its range; an error of the file
 * (TENDON_ERROR_NOT_FOUND, _FILE_PERMISSION, _MALFORMED, a system error), or of the management socket. After an error
 * the previous agent stays.
 */
tendon_status tendon_radio_set_pairing_agent(tendon_radio *radio, const tendon_pairing_agent *agent);
/**
 * Answers the question that ask() passed on. What follows from the answer is reported through the loop, not from within
 * this call. @param passkey for TENDON_PAIRING_ENTER, otherwise ignored.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE: this peer asks nothing (any more); TENDON_ERROR_INVALID_ARGUMENT: not
 * six digits, the question stays.
 */
tendon_status tendon_radio_answer_pairing(tendon_radio *radio, const tendon_address *peer, bool accepted,
                                          uint32_t passkey, uint64_t now);
/**
 * Sets whether centrals can pair with this device. Default: false. Bonded centrals can always connect. If the store is
 * full, the bond of a new central replaces the oldest bond of a central that is not connected.
 * @return TENDON_OK; TENDON_RADIO_ERROR_NO_PAIRING_SERVICE before use_bonds().
 */
tendon_status tendon_radio_set_pairable(tendon_radio *radio, bool pairable);
/**
 * Removes the bond with @p peer from the store, then its keys from the kernel, and disconnects the peer. If the store
 * cannot be changed, nothing else is, and the bond stays.
 * @return TENDON_OK; TENDON_ERROR_NOT_FOUND: there was no bond; TENDON_RADIO_ERROR_NO_PAIRING_SERVICE before
 * use_bonds(); an error of the store, as of tendon_bonds_remove(); one of the management socket (bluez): the kernel may
 * still have the keys.
 */
tendon_status tendon_radio_forget(tendon_radio *radio, const tendon_address *peer);
/**
 * Removes all bonds that were made at this radio's address, and disconnects their peers.
 * @return the number of removed keys; an error as of tendon_radio_forget().
 */
tendon_status tendon_radio_forget_all(tendon_radio *radio);

/** Prepares a closed link with its callbacks. */
void tendon_link_init(tendon_link *link, const tendon_link_callbacks *callbacks);
/**
 * Sends one PDU of 0 to TENDON_ATT_MTU_MAX bytes, whole or not at all.
 * @return TENDON_OK; TENDON_ERROR_WOULD_BLOCK: nothing was sent, and writable() is called later;
 * TENDON_ERROR_DISCONNECTED; TENDON_ERROR_INVALID_ARGUMENT: too long.
 */
tendon_status tendon_link_send(tendon_link *link, const uint8_t *pdu, size_t length);
/** Disconnects, or ends the attempt; the loop then calls closed(TENDON_ERROR_CANCELLED), of an attempt as late
 * as after its deadline: not while the kernel is about to connect. Does nothing if the link is closed. */
void tendon_link_close(tendon_link *link);
/**
 * Asks for other parameters of an open connection that this radio has made; the radio's own stay. Does not wait: what
 * the two controllers agree on arrives through the loop, in link->timing, which stays as it is if they refuse. Requires
 * CAP_NET_RAW.
 * @return TENDON_OK: sent; TENDON_ERROR_INVALID_ARGUMENT; TENDON_ERROR_WRONG_STATE: the link is not open, or the peer
 * is the central; TENDON_ERROR_UNSUPPORTED: the controller does not have the PHY or no data length, or a virtual radio,
 * and nothing was sent; TENDON_RADIO_ERROR_NO_CAP_NET_RAW; another error of the radio.
 */
tendon_status tendon_link_set_parameters(tendon_link *link, const tendon_connection_parameters *parameters);
/** Returns the send function for an ATT bearer. */
tendon_bearer_io tendon_link_io(tendon_link *link);

#ifdef __cplusplus
}
#endif
#endif
