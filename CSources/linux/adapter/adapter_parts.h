/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder. */
#ifndef TENDON_LINUX_ADAPTER_ADAPTER_PARTS_H
#define TENDON_LINUX_ADAPTER_ADAPTER_PARTS_H

#if !defined(TENDON_HAVE_BLUEZ)
typedef int tendon_bluez_absent; /* ISO C requires a declaration in every file */
#else
#include "../pairing/pairing.h"
#include "../socket_link.h"
#include "sockets.h"
#include "tendon/bluez.h"

/** HCI error codes (Core Spec Vol 1 Part F) with special handling. */
enum { HCI_UNKNOWN_COMMAND_ERROR = 0x01, HCI_COMMAND_DISALLOWED_ERROR = 0x0C };

/** Handle value of a connection without a handle, or whose handle was reused for another connection. */
#define TENDON_BLUEZ_HANDLE_UNKNOWN 0xFFFFu
/** How long a connect() waits for the end of the last connection to the same peer, in ms. */
#define TENDON_BLUEZ_LEAVING_LIMIT_MS 3000u
/** A kernel that has not started to scan for a peer by then, in ms, never does: that takes it up to six commands. */
#define TENDON_BLUEZ_BEGIN_LIMIT_MS(radio) (300u + 8u * (radio)->command.response_ms)
/** For the kernel's answer to a question about a connection, in ms: it waits 2 s for the controller. */
#define TENDON_BLUEZ_SIGNAL_LIMIT_MS 5000u
/** A rejected activity that was enabled before is retried so often, after this pause in ms. */
#define TENDON_BLUEZ_RETRIES 40
#define TENDON_BLUEZ_RETRY_MS 250u
/** The raw HCI socket gets the receive buffer of one of this many connections. */
#define TENDON_BLUEZ_HCI_SHARE 8u

/** One buffer for a command. */
typedef struct tendon_bluez_command {
    uint8_t bytes[TENDON_HCI_COMMAND_MAX];
    tendon_status length; /**< 0: nothing to send; < 0: cannot be encoded */
} tendon_bluez_command;

/* Inputs of the state tables; docs/bluez-states.md describes them. The tables' columns are in this order. */

/** Of scanning and advertising. */
typedef enum tendon_bluez_activity_inputs {
    TENDON_BLUEZ_CONFIGURED = 0, /**< a configuration command succeeded; more follow */
    TENDON_BLUEZ_CONFIGURED_ALL, /**< the last one did */
    TENDON_BLUEZ_ENABLED,
    TENDON_BLUEZ_DISABLED,    /**< by us; a rejection means that it was off already */
    TENDON_BLUEZ_REJECTED,    /**< the controller rejected configuration or enabling */
    TENDON_BLUEZ_UNANSWERED,  /**< the outcome of a command is unknown, or a killed program has enabled it */
    TENDON_BLUEZ_RESTARTED,   /**< the owner starts it with another configuration */
    TENDON_BLUEZ_OVERWRITTEN, /**< another program, or the kernel, has configured it */
    TENDON_BLUEZ_STOPPED,     /**< the controller or another program has disabled it */
    TENDON_BLUEZ_RESET        /**< the controller was reset */
} tendon_bluez_activity_inputs;
#define TENDON_BLUEZ_ACTIVITY_INPUTS 10

/** Demand of an activity. */
typedef enum tendon_bluez_demand {
    TENDON_BLUEZ_HALT = 0, /**< not requested, or paused for a connection attempt */
    TENDON_BLUEZ_WAIT,     /**< requested, but not before its retry time */
    TENDON_BLUEZ_RUN
} tendon_bluez_demand;
#define TENDON_BLUEZ_DEMANDS 3

/** Of the adapter's power. */
typedef enum tendon_bluez_power_inputs {
    TENDON_BLUEZ_HARDWARE_ERROR = 0,
    TENDON_BLUEZ_SWITCHED_OFF,
    TENDON_BLUEZ_SWITCHED_ON,
    TENDON_BLUEZ_POWER_DEADLINE,
    TENDON_BLUEZ_POWER_LOST,   /**< adapter removed, socket error, commands unanswered */
    TENDON_BLUEZ_POWER_STALLED /**< the controller does nothing more: it is to be powered off and on */
} tendon_bluez_power_inputs;
#define TENDON_BLUEZ_POWER_INPUTS 6

static inline bool tendon_bluez_failed(const tendon_bluez_radio *radio) {
    return radio->power.state == TENDON_BLUEZ_FAILED;
}
static inline bool tendon_bluez_is_random(const tendon_address *address) {
    return address->type == TENDON_ADDRESS_TYPE_RANDOM || address->type == TENDON_ADDRESS_TYPE_RANDOM_IDENTITY;
}

/** tendon_bluez_timer_expired() not later than @p time; 0: at the end of the loop's step. */
static inline void tendon_bluez_wake_at(tendon_bluez_radio *radio, uint64_t time) {
    if (time < radio->timer.deadline) {
        radio->timer.deadline = time;
    }
}

/** In hci_dev_info.flags: the adapter is on. */
#define TENDON_BLUEZ_IS_UP 1u

/* The files, from the ground up: one calls only those above it in this list. */

/* sockets.c: sockets of this family, all CLOEXEC and NONBLOCK */
/** @return a descriptor bound to a channel of the HCI family, or a status. */
tendon_status tendon_bluez_channel_socket(uint16_t index, uint16_t channel);
/** errno of socket(), bind() and the like as a status. */
tendon_status tendon_bluez_socket_status(int number);
/** The machine's memory, in bytes; 0: unknown. */
uint64_t tendon_bluez_memory(void);
/**
 * Size of one receive buffer, in bytes, on a machine with @p memory bytes if so many sockets share its memory. The
 * kernel silently drops what does not fit, and counts the size of its own buffers, about 800 bytes for a notification
 * of 20: its default of 208 KiB is full after 50 ms of a fast peer that the process does not read.
 */
uint32_t tendon_bluez_buffer_size(uint64_t memory, size_t sockets);
/** Sets a receive buffer, as far as the kernel lets this process. */
void tendon_bluez_set_buffer(int fd, uint32_t size);
/** @p fd is the socket of a further link: all links of the radio get their share of the memory. */
void tendon_bluez_share_buffers(const tendon_bluez_radio *radio, int fd);
/** Packets carry the time of their arrival, and those that follow a dropped one the count of the dropped. */
void tendon_bluez_ask_for_details(int fd);
/** Packets that the kernel dropped because the receive buffer was full. */
uint32_t tendon_bluez_dropped(int fd);
/** Waits until the socket is readable; false when @p until passed first. */
bool tendon_bluez_wait_readable(int fd, uint64_t until);
/** Whether there is something to read from the controller: then what is known of it is not the newest. */
bool tendon_bluez_has_unread(const tendon_bluez_radio *radio);
/** The adapter, the bond store and the sole use are no longer used by this radio, nor shown as used by it. */
void tendon_bluez_close_sockets(tendon_bluez_radio *radio);
/** Sets the filter of a raw socket and checks that the kernel kept all of it. */
tendon_status tendon_bluez_set_filter(int fd);

/* kernel.c: the only place that knows what the kernel and other programs are doing. It gets their commands and the
 * controller's events, and sends nothing; the other files read the struct. */
void tendon_bluez_kernel_init(tendon_bluez_kernel *kernel);
/** The adapter is reset: nothing is enabled, and no connection is left. */
void tendon_bluez_kernel_reset(tendon_bluez_kernel *kernel);
/** Any command of others, as it is sent. Returns true if it configures the scanner. @param begin when the kernel must
 * have begun what may follow the end of its scan. */
bool tendon_bluez_kernel_scan_sent(tendon_bluez_kernel *kernel, uint16_t opcode, tendon_reader *parameters,
                                   uint64_t begin);
/** What its response has changed. */
typedef enum tendon_bluez_scan_change {
    TENDON_BLUEZ_SCAN_SAME = 0, /**< it was rejected */
    TENDON_BLUEZ_SCAN_CONFIGURED,
    TENDON_BLUEZ_SCAN_BEGAN,
    TENDON_BLUEZ_SCAN_ENDED
} tendon_bluez_scan_change;
tendon_bluez_scan_change tendon_bluez_kernel_scan_done(tendon_bluez_kernel *kernel, uint8_t status);
/** Concluded from how the controller takes our commands: another program's scan is on, or none. */
void tendon_bluez_kernel_scans(tendon_bluez_kernel *kernel, bool scans);
bool tendon_bluez_is_extended_scan(uint16_t opcode);
/** The kernel's commands to connect; we have none. */
bool tendon_bluez_creates(uint16_t opcode);
void tendon_bluez_kernel_creates(tendon_bluez_kernel *kernel, uint16_t opcode, tendon_reader *parameters);
/** What it may be about to do is not waited for any more. */
void tendon_bluez_kernel_begins_none(tendon_bluez_kernel *kernel);
/** It is not connecting any more; the latest connection stays known. */
void tendon_bluez_kernel_creates_none(tendon_bluez_kernel *kernel);
/** No attempt waits for a connection to this peer any more. */
void tendon_bluez_kernel_attempt_over(tendon_bluez_kernel *kernel, const tendon_address *peer);
/** The controller has connected. @param until for connect() to complete; 0: no attempt waits. */
void tendon_bluez_kernel_connected(tendon_bluez_kernel *kernel, uint16_t handle, uint64_t until);
/** A connection, perhaps the latest one, has ended, or this radio ends it. */
void tendon_bluez_kernel_disconnected(tendon_bluez_kernel *kernel, uint16_t handle);
/** There is one connection more, or one less, of any program. */
void tendon_bluez_kernel_counts(tendon_bluez_kernel *kernel, int change);
/** Whether an attempt is in progress, to whatever peer. */
bool tendon_bluez_is_creating(const tendon_bluez_kernel *kernel, uint64_t now);
/** The kernel reports a discovery. @param ours it means our scan. */
void tendon_bluez_kernel_discovers(tendon_bluez_kernel *kernel, bool on, bool ours, uint8_t kinds);
/** It may have a discovery of these kinds, which it has not reported to this radio. */
void tendon_bluez_kernel_suspects(tendon_bluez_kernel *kernel, uint8_t kinds);
/** It was asked to stop it, or could not be asked. @param until for its answer. @param disables whether it disables our
 * scan with it; false: our scan is off. */
void tendon_bluez_kernel_stops(tendon_bluez_kernel *kernel, bool asked, uint64_t until, bool disables);
/** A scan was disabled. Returns true if it was expected to disable ours. */
bool tendon_bluez_kernel_disabled(tendon_bluez_kernel *kernel);
void tendon_bluez_kernel_forget_discovery(tendon_bluez_kernel *kernel);
/** The same device, whether its random address is known to be its identity or not. */
bool tendon_bluez_is_same_device(const tendon_address *a, const tendon_address *b);

/* name.c: what an adapter is called */
enum { TENDON_BLUEZ_ADAPTERS_MAX = 16 };
/** @param text NULL: any. @return TENDON_OK, TENDON_ERROR_INVALID_ARGUMENT. */
tendon_status tendon_bluez_parse_name(const char *text, tendon_bluez_name *out);
bool tendon_bluez_is_usb_path(const char *text, size_t length);
bool tendon_bluez_is_named(const tendon_bluez_name *name, const tendon_bluez_adapter *adapter);

/* commands.c: commands to the controller */
/** A command of this activity was sent, and its response has not come. */
bool tendon_bluez_in_flight(const tendon_bluez_radio *radio, const tendon_bluez_activity *activity);
/** The command in flight will get no response. */
void tendon_bluez_queue_reset(tendon_bluez_radio *radio);
/** False: not sent, see errno. */
bool tendon_bluez_send_command(int fd, const tendon_bluez_command *command);
/** Writes a command without waiting for its response. */
void tendon_bluez_send_and_forget(tendon_bluez_radio *radio, const tendon_bluez_command *command);

/* mgmt_socket.c: commands to the kernel, and what it lets this process do */
/** @return the length of the return parameters (at @p reply, at most @p capacity), or a status. */
tendon_status tendon_bluez_manage(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                  uint8_t *reply, size_t capacity);
/** The same for a command that the kernel answers while it is sent: nothing is waited for. */
tendon_status tendon_bluez_manage_immediately(int fd, uint16_t opcode, uint16_t index, const uint8_t *data,
                                              size_t length, uint8_t *reply, size_t capacity);
/** The same without waiting: the response arrives among the events. */
tendon_status tendon_bluez_manage_later(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length);
tendon_status tendon_bluez_manage_mode(int fd, uint16_t opcode, uint16_t index, uint8_t mode, uint32_t *settings);
/** Any command whose response is the adapter's settings. */
tendon_status tendon_bluez_manage_settings(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                           uint32_t *settings);
/** Adapters of a machine that are looked at. */
enum { TENDON_BLUEZ_INDEXES_MAX = 64 };
/** The adapters of a list of the management interface, so many at most. @return how many, or a status. */
tendon_status tendon_bluez_decode_indexes(const uint8_t *data, size_t length,
                                          uint16_t indexes[TENDON_BLUEZ_INDEXES_MAX]);
/** A status byte of the management interface as a status. */
tendon_status tendon_bluez_management_status(uint8_t status);
/** This process has CAP_NET_ADMIN. */
bool tendon_bluez_may_administer(void);
/** Longest parameters of a command: the keys of a whole store. */
enum { TENDON_BLUEZ_PARAMETERS_MAX = 2 + 36 * TENDON_BONDS_MAX };
/** Sends a command to the management socket; the response arrives as an event. */
tendon_status tendon_bluez_management_send(const tendon_bluez_radio *radio, uint16_t opcode, const uint8_t *data,
                                           size_t length);
/** Sends a whole PDU of this length; a negative one is the status of its encoding, and nothing is sent. */
tendon_status tendon_bluez_management_write(const tendon_bluez_radio *radio, const uint8_t *pdu, tendon_status size);
/** Of this process, a bit for each of the first 32. */
uint32_t tendon_bluez_effective_capabilities(void);

/* use.c: who else uses an adapter */
/** What a radio, and a program that changes nothing, show to others as their use; what a store of keys begins with. */
#define TENDON_BLUEZ_USE_RADIO "radio"
#define TENDON_BLUEZ_USE_SOLE "sole"
#define TENDON_BLUEZ_USE_WATCHER "watcher"
#define TENDON_BLUEZ_USE_KEYS "keys-"
#define TENDON_BLUEZ_USE_SIZE 64u
/** What radios and watchers of this library show, this one too. */
typedef struct tendon_bluez_names {
    uint16_t index;      /**< "here" is this adapter */
    const char *store;   /**< and this the caller's store */
    int here, elsewhere; /**< HCI sockets */
    bool sole;           /**< a radio has the adapter for itself */
    bool other_store;    /**< one has loaded the keys of another store */
    uint32_t crc;        /**< of all that was read */
} tendon_bluez_names;
/** Shows a use of an adapter, HCI_DEV_NONE for none, to other radios until the returned descriptor is closed. @return
 * -1 and errno on failure. */
int tendon_bluez_lease(uint16_t index, const char *use);
/** Reads the names. @return false if they cannot be read, not all of them at least. */
bool tendon_bluez_read_names(uint16_t index, const char *store, tendon_bluez_names *out);
/** @return HCI sockets of the machine, at the time of @p out; -1: unknown. */
int tendon_bluez_count_sockets(uint16_t index, tendon_bluez_names *out);
/** Shows and checks radio->use. The radio has its sockets, and nothing else was done. */
tendon_status tendon_bluez_claim(tendon_bluez_radio *radio);
/** HCI sockets of others that may be for the radio's adapter; -1: unknown. 0: no program uses the adapter, so a program
 * that has ended enabled the activity. */
int tendon_bluez_users(const tendon_bluez_radio *radio);
/** Those of programs that are not of this library, for any adapter: they may have loaded keys. -1: unknown. */
int tendon_bluez_programs(const tendon_bluez_radio *radio);
/** Calls visit() for each line of a file; one that is longer than the buffer, 4 KiB, is left out. Returns false if the
 * file cannot be read. */
bool tendon_bluez_each_line(const char *path, void (*visit)(void *context, const char *line), void *context);
/** Closes a socket that changes nothing, and what announces it. */
void tendon_bluez_close_watcher(tendon_source *source, int *lease);

/* static_address.c: the file of the static address */
/** A static random address of these random bytes. */
tendon_address tendon_bluez_static_address_from(const uint8_t random[6]);
/** That of adapter @p index. TENDON_ERROR_NOT_FOUND: it has none yet, and @p make_it is false. */
tendon_status tendon_bluez_static_address(uint16_t index, bool make_it, tendon_address *out);

/* listing.c: the adapters of the machine */
/** The index that an adapter of this name has now. @return it, TENDON_RADIO_ERROR_NO_ADAPTER, ... */
tendon_status tendon_bluez_index_of(const tendon_bluez_name *name);
/** Adapters with the data of the management interface, in order of their index; see tendon_bluez_list(). */
tendon_status tendon_bluez_read_adapters(int fd, tendon_bluez_adapter *adapters, size_t capacity);
/** Appends the adapters that the kernel has not configured: they have no valid address. @return how many there are. */
tendon_status tendon_bluez_append_unconfigured(int fd, tendon_status found, tendon_bluez_adapter *adapters,
                                               size_t capacity);
/** Returns the status that is reported if the adapter is off. */
tendon_status tendon_bluez_why_off(uint16_t index);

/* exchange.c: blocking exchanges with the controller, for opening */
/** Sends one command and waits for its response. @return the length of the return parameters after the status byte. */
tendon_status tendon_bluez_exchange(int fd, uint16_t opcode, uint8_t *reply, size_t capacity);
/** Blocks until the response to @p opcode comes, or until @p until. Discards all other packets. */
tendon_status tendon_bluez_await(int fd, uint16_t opcode, uint64_t until, uint8_t *reply, size_t capacity);
/** @return the length, or a status; missing bytes are 0. */
tendon_status tendon_bluez_fetch_features(int fd, uint64_t *out);
/** The others, with the features known, by those of its @p commands. What the controller does not report, or not
 * completely, stays unknown. */
void tendon_bluez_fetch_limits(int fd, const uint8_t commands[64], tendon_bluez_limits *limits);

/* activity.c: scanning and advertising */
void tendon_bluez_activity_input(tendon_bluez_activity *activity, tendon_bluez_activity_inputs input);
/** The next command. */
tendon_bluez_request tendon_bluez_activity_request(const tendon_bluez_activity *activity, tendon_bluez_demand demand);
/** The owner requests it. */
void tendon_bluez_activity_start(tendon_bluez_radio *radio, tendon_bluez_activity *activity);
void tendon_bluez_activity_retry(tendon_bluez_radio *radio, tendon_bluez_activity *activity, uint64_t time);
/**
 * The response to any command of an activity, before it is used. Returns true if the activity is to start again with
 * the legacy commands. @param extended whether it uses the extended ones. @param status its HCI error code; that of the
 * first attempt after the second. @param fits it can be done with the legacy commands.
 */
bool tendon_bluez_activity_changes_set(tendon_bluez_activity *activity, bool *extended, uint8_t *status, bool fits);
/** The controller has rejected it with this HCI error code: decides between a retry, clearing and failure. */
void tendon_bluez_activity_rejected(tendon_bluez_radio *radio, tendon_bluez_activity *activity, uint8_t code,
                                    bool has_other_user, uint64_t now);

/* attempts.c: the table of attempts to connect */
/** @return tendon_link_state of its link; CLOSED: the slot is free. */
uint8_t tendon_bluez_attempt_stage(const tendon_bluez_attempt *attempt);
/** The adapter is about to be powered off: attempts wait until it is on again. */
void tendon_bluez_attempts_wait(tendon_bluez_radio *radio);
/** Closes sockets of ended attempts that were held while the kernel might begin to connect; their owners are notified
 * in the loop's next step. */
void tendon_bluez_release_held(tendon_bluez_radio *radio);
/** The HCI error code of the kernel's last attempt for this link, once; 0: none. */
uint8_t tendon_bluez_attempt_failure(tendon_bluez_radio *radio, const tendon_link *link);
void tendon_bluez_attempt_over(tendon_bluez_radio *radio, const tendon_link *link);
/** Our scan or another one was enabled by another program, or has ended: whether something scans for the peers. */
void tendon_bluez_background_scans(tendon_bluez_radio *radio, bool on, uint64_t now);
/** It is time to repeat connect() of this attempt, whatever scans. Sets the timer. */
bool tendon_bluez_background_due(tendon_bluez_radio *radio, const tendon_bluez_attempt *attempt, uint64_t now);
/** connect() of an attempt is repeated. @return whether the kernel has acted on the previous one. */
bool tendon_bluez_background_renews(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, uint64_t now);
/** NULL: it has none. */
tendon_bluez_attempt *tendon_bluez_attempt_of(tendon_bluez_radio *radio, const tendon_link *link);

/* power.c: the adapter's power, and the end of the radio */
/** The radio is unusable from now on: attempts end with @p status, on_failure is called from the loop. */
void tendon_bluez_fail(tendon_bluez_radio *radio, tendon_status status);
void tendon_bluez_hardware_error(tendon_bluez_radio *radio, uint64_t now);
/** The controller does not do what it is asked to: powers it off and on. False: that is not ours to do, or was done too
 * often. @param cause status of the radio if it does not come back. */
bool tendon_bluez_cycle(tendon_bluez_radio *radio, tendon_status cause, uint64_t now);
/** The radio is closed while the kernel powers the adapter off, as it has asked it to: no other program would power it
 * on again. */
void tendon_bluez_end_cycle(tendon_bluez_radio *radio);
/** The response to Set Powered. */
void tendon_bluez_power_answered(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now);
/** The adapter is on or off. */
void tendon_bluez_powered(tendon_bluez_radio *radio, bool powered, uint64_t now);
/** Its deadline; sets the timer. */
void tendon_bluez_power_timer(tendon_bluez_radio *radio, uint64_t now);

/* address.c: the static address at work */
/** Before the adapter is powered on: gives the kernel the static address, if it needs one. */
tendon_status tendon_bluez_settle_address(tendon_bluez_radio *radio, tendon_bluez_adapter *adapter, uint32_t *settings);
bool tendon_bluez_address_is_random(const tendon_bluez_radio *radio);
/** Replaces the first command by LE Set Random Address. @return whether it did. */
bool tendon_bluez_address_next(const tendon_bluez_radio *radio, const tendon_bluez_activity *activity,
                               tendon_bluez_command *out);
/** The kernel or another program sets the controller's random address. */
void tendon_bluez_address_other_sent(tendon_bluez_radio *radio, tendon_reader *parameters);
void tendon_bluez_address_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now);

/* keys.c: keys that the kernel gets, and those that it uses */
tendon_status tendon_bluez_use_bonds(tendon_radio *radio);
/** The same over the radio's own socket, for callbacks of the loop: nothing is waited for. */
void tendon_bluez_load_again(tendon_bluez_radio *radio);
/** A device may pair, or use its key: the kernel gets the keys, if another program kept them from it until now. */
void tendon_bluez_load_missing(tendon_bluez_radio *radio);
/** The kernel encrypts a connection with the key in these parameters. */
void tendon_bluez_note_key(tendon_bluez_radio *radio, tendon_reader *parameters);
typedef enum tendon_bluez_key {
    TENDON_BLUEZ_NO_KEY = 0, /**< none was seen */
    TENDON_BLUEZ_BOND_KEY,
    TENDON_BLUEZ_OTHER_KEY /**< the kernel has paired, or another program has given it a key */
} tendon_bluez_key;
/** The last such key of this connection. */
tendon_bluez_key tendon_bluez_key_of(const tendon_bluez_radio *radio, uint16_t handle);
/** A new connection has this handle. */
void tendon_bluez_forget_key(tendon_bluez_radio *radio, uint16_t handle);
/** The store has keys of this adapter, which no other process may remove from the kernel. */
void tendon_bluez_keys_stored(tendon_bluez_radio *radio);
tendon_status tendon_bluez_resolves(tendon_radio *radio);

/* resolving.c: private addresses in the controller */
/** Whether this is the identity address of a device with private addresses, whose key this radio has given to the
 * kernel. */
bool tendon_bluez_is_resolved(const tendon_bluez_radio *radio, const tendon_address *peer);
/** Before connect(), and after tendon_bluez_load_parameters(): lets a controller that can resolve the private addresses
 * of this device. */
void tendon_bluez_resolve_in_controller(const tendon_bluez_radio *radio, const tendon_address *peer);
/** Before the parameters of a scan: the reports are to have the addresses that the devices advertise with. */
void tendon_bluez_stop_resolving(tendon_bluez_radio *radio);
/** LE Set Address Resolution Enable. */
bool tendon_bluez_sets_resolution(uint16_t opcode);
/** The kernel, or another program, has sent it with these parameters. */
void tendon_bluez_note_resolution(tendon_bluez_radio *radio, tendon_reader *parameters);

/* parameters.c: parameters of connections, and what they have become */
/** Lets the kernel connect to devices that advertise on LE Coded; asks first what the adapter has. */
void tendon_bluez_allow_coded(tendon_bluez_radio *radio);
/** The response to that question. */
void tendon_bluez_phys_event(tendon_bluez_radio *radio, const tendon_management_event *event);
/** Before connect(): gives the kernel the parameters of the radio for the peers of all attempts. */
void tendon_bluez_load_parameters(tendon_bluez_radio *radio);
/** Of the connection with this handle; interval 0: not known. */
tendon_connection_timing tendon_bluez_timing_of(const tendon_bluez_radio *radio, uint16_t handle);
/** A link has its connection: copies what is known of it, asks the controller for the rest, and requests the PHY and
 * the data length of the radio's parameters. */
void tendon_bluez_link_timing(tendon_link *link);
tendon_status tendon_bluez_set_parameters(tendon_link *link, const tendon_connection_parameters *parameters);
/** A connection was made. Returns false if it is known already. */
bool tendon_bluez_note_timing(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters);
/** LE Connection Update Complete, LE PHY Update Complete, LE Data Length Change. */
void tendon_bluez_note_change(tendon_bluez_radio *radio, uint8_t subevent, const tendon_hci_parameters *parameters);
/** The return parameters of LE Read PHY. */
void tendon_bluez_phy_read(tendon_bluez_radio *radio, const uint8_t *data, size_t length);
/** It has ended. Returns false if it was not known: of another transport, or older than this radio. */
bool tendon_bluez_forget_timing(tendon_bluez_radio *radio, uint16_t handle);

/* peer.c: one peer */
/** The connection handle, by which HCI events and captures name the connection. */
uint16_t tendon_bluez_handle_of(int fd);
/** Why a connection to a bonded peer is not encrypted. */
tendon_status tendon_bluez_why_not_encrypted(tendon_bluez_radio *radio, const tendon_link *link);
/** A command about one peer: its address, then the @p size (0 to 4) lowest bytes of @p more. */
tendon_status tendon_bluez_about(tendon_bluez_radio *radio, uint16_t opcode, const tendon_address *peer, size_t size,
                                 uint32_t more);
/** The open link to a peer that the kernel names by its address, or by its identity address once it knows that. */
tendon_link *tendon_bluez_link_of(const tendon_bluez_radio *radio, const tendon_address *peer);
tendon_status tendon_bluez_ask_signal(tendon_radio *radio, tendon_link *link);
/** The answer to it. */
void tendon_bluez_signal_event(tendon_bluez_radio *radio, const tendon_management_event *event);

/* pairing.c: pairing */
tendon_status tendon_bluez_set_pairable(tendon_radio *radio, bool pairable);
tendon_status tendon_bluez_set_io(tendon_radio *radio);
/** Settings of the adapter follow what this radio does: after it began or ceased to listen. */
void tendon_bluez_pairing_settle(tendon_bluez_radio *radio);
/** They are as they were before this radio: it is closed. */
void tendon_bluez_pairing_restore(tendon_bluez_radio *radio);
tendon_status tendon_bluez_pair(tendon_radio *radio, tendon_link *link);
void tendon_bluez_answer(tendon_radio *radio, tendon_link *link, bool accepted, uint32_t passkey, uint64_t now);
void tendon_bluez_pair_cancel(tendon_radio *radio, const tendon_link *link);
tendon_status tendon_bluez_unpair(tendon_radio *radio, const tendon_address *peer);
/** The encryption of a connection was enabled or disabled. */
void tendon_bluez_encryption_changed(tendon_bluez_radio *radio, uint16_t handle, bool enabled, uint64_t now);
bool tendon_bluez_is_encrypted(const tendon_link *link);
/** Encrypts a new connection to a bonded peer. Returns false if the peer is not bonded, or the connection is encrypted
 * already. */
bool tendon_bluez_secure(tendon_link *link);
/** An event of the management socket about our adapter. */
void tendon_bluez_pairing_event(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now);

/* discovery.c: how the kernel interprets our scan */
void tendon_bluez_discovery_event(tendon_bluez_radio *radio, const tendon_management_event *event);
/** Our scan may be off now: ends the search that the kernel takes it for. */
void tendon_bluez_discovery_settle(tendon_bluez_radio *radio, uint64_t now);
/** Our scan is to be disabled: whether the kernel does that, with the discovery that it takes the scan for. False: we
 * have to. */
bool tendon_bluez_discovery_disables(tendon_bluez_radio *radio, uint64_t now);
/** The scan was disabled by a command that is not ours. Returns true if it was the kernel's for this radio. */
bool tendon_bluez_discovery_disabled(tendon_bluez_radio *radio);
/** The radio is closed: ends that search. Returns true if nothing else has to be done to disable our scan. */
bool tendon_bluez_discovery_close(tendon_bluez_radio *radio);
/** Disables the activity of a program that has ended; the controller rejects it if nothing is enabled. */
void tendon_bluez_discovery_recover(tendon_bluez_radio *radio);
/** The scan that is taken over may be a discovery of another program: it is stopped as one first. */
void tendon_bluez_discovery_suspect(tendon_bluez_radio *radio);
/** Our scan was disabled. */
void tendon_bluez_scan_disabled(tendon_bluez_radio *radio);
/** Ours is off and has taken over the kernel's scan: the kernel scans again. */
void tendon_bluez_scan_restore(tendon_bluez_radio *radio);
/** Neither our scan nor a discovery of the kernel is in the way of a connection attempt. */
bool tendon_bluez_scan_idle(const tendon_bluez_radio *radio);

/* watchdog.c: a controller, or a kernel, that does nothing more */
/** Commands get no response. */
void tendon_bluez_watch_commands(tendon_bluez_radio *radio, uint64_t now);
/** Our scan was enabled; reports have come; data of a connection have come. */
void tendon_bluez_watch_enabled(tendon_bluez_radio *radio, uint64_t now);
void tendon_bluez_watch_heard(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now);
void tendon_bluez_watch_data(tendon_bluez_radio *radio, uint64_t now);
/** Starts a scan again that has fallen silent, and requests a probe when connections have; sets the timer. */
void tendon_bluez_watch(tendon_bluez_radio *radio, uint64_t now);
/** The kernel has not acted on a connect(). */
void tendon_bluez_watch_connects(tendon_bluez_radio *radio, uint64_t now);

/* links.c: connections */
extern const tendon_socket_hooks tendon_bluez_link_hooks;
/** The name of one end of a link. */
struct sockaddr_l2 tendon_bluez_name_of(const tendon_address *address);
/** Why an attempt failed, or a link ended. */
tendon_status tendon_bluez_link_reason(tendon_link *link, int number, bool connecting);
/** A connection has ended. */
void tendon_bluez_note_ending(tendon_bluez_radio *radio, uint16_t handle, uint8_t cause, uint64_t now);
/** A new connection has the handle of this event: what else had it has ended. */
void tendon_bluez_note_new_handle(tendon_bluez_radio *radio, const tendon_hci_parameters *event);
/** Disconnects, if the handle still belongs to this peer. */
void tendon_bluez_end_connection(tendon_bluez_radio *radio, const tendon_address *peer, uint16_t handle);
/** The kernel has a connection to @p peer. */
bool tendon_bluez_is_connected(const tendon_bluez_radio *radio, const tendon_address *peer);
/** The kernel may not have recognized the end of its attempt to connect to @p peer: the next one waits until it has. */
void tendon_bluez_await_kernel(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now);
/** Nothing of this radio waits for the connection that the kernel has just got: it is disconnected if it comes of an
 * attempt that was given up. */
void tendon_bluez_end_given_up(tendon_bluez_radio *radio, uint64_t now);
/** Returns the time at which a connect() to @p peer can start, or is to be considered again; 0 means now. */
uint64_t tendon_bluez_free_at(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now);
void tendon_bluez_link_close(tendon_link *link);
/** The kernel gave an attempt up: a connection that it got all the same is disconnected. */
void tendon_bluez_connect_failed_event(tendon_bluez_radio *radio, const tendon_management_event *event);
tendon_status tendon_bluez_listen(tendon_radio *radio, tendon_listener *listener);
void tendon_bluez_unlisten(tendon_radio *radio, tendon_listener *listener);

/* connector.c: attempts to connect */
/** Advances all attempts. */
void tendon_bluez_connect_waiting(tendon_bluez_radio *radio);
/** It failed. */
void tendon_bluez_note_connect_failure(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters,
                                       uint64_t now);
/** The controller has connected as central; the kernel still reads the peer's features before connect() completes. */
void tendon_bluez_note_connected(tendon_bluez_radio *radio, uint16_t handle, uint64_t now);
tendon_status tendon_bluez_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline);
/** The same after the commands that a call of the owner sends: an attempt that nothing is in the way of begins within
 * that call. @return why it could not; it is over then. */
tendon_status tendon_bluez_connect_now(tendon_bluez_radio *radio, tendon_link *link);

/* scanner.c: the scan */
tendon_bluez_request tendon_bluez_scan_next(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out);
void tendon_bluez_scan_done(tendon_bluez_radio *radio, tendon_bluez_request request, uint8_t status, uint64_t now);
/** A command that is not ours, as it is sent. */
void tendon_bluez_scan_other_sent(tendon_bluez_radio *radio, uint16_t opcode, tendon_reader *parameters);
/** Processes its response. */
void tendon_bluez_scan_other_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now);
void tendon_bluez_scan_reports(tendon_bluez_radio *radio, const tendon_hci_event *event, uint64_t now);
void tendon_bluez_scan_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out);
tendon_status tendon_bluez_scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters);

/* advertiser.c: the advertising */
tendon_bluez_request tendon_bluez_advertise_next(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out);
void tendon_bluez_advertise_done(tendon_bluez_radio *radio, tendon_bluez_request request, uint8_t status, uint64_t now);
/** A command of the kernel or of another program, as it is sent. */
void tendon_bluez_advertise_other_sent(tendon_bluez_radio *radio, uint16_t opcode, tendon_reader *parameters);
/** A central has connected to this radio's advertising: the controller advertises no more. */
void tendon_bluez_advertise_ended(tendon_bluez_radio *radio);
/** A connection has ended: a rejected advertisement is tried again. */
void tendon_bluez_advertise_disconnected(tendon_bluez_radio *radio);
void tendon_bluez_advertise_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out);
tendon_status tendon_bluez_advertise_start(tendon_radio *radio, const tendon_advertise_parameters *parameters);

/* steps.c: what the radio does next */
/** Reports failures, then decides about all that is pending: what an event changes, this function acts upon. */
void tendon_bluez_timer_expired(void *context, uint64_t now);
/** Sends the next command, unless one is in flight. */
void tendon_bluez_step(tendon_bluez_radio *radio);
/** The response to a command had this HCI error code; 0: success. */
void tendon_bluez_answered(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now);
void tendon_bluez_hci_expired(void *context, uint64_t now);

/* hci_socket.c: what the controller, the kernel and other programs have sent */
void tendon_bluez_hci_ready(void *context, uint32_t events, uint64_t now);

/* adapter.c: opening, closing, and the calls of the owner */
/** An unopened radio without sockets. */
void tendon_bluez_init(tendon_bluez_radio *radio);
/** The radio has its two sockets: the loop watches them from now on. */
tendon_status tendon_bluez_begin(tendon_bluez_radio *radio, tendon_loop *loop);

#endif
#endif
