/* SPDX-License-Identifier: MIT */
/*
 * Tendon: room linux/bluez. The kernel's controllers as a radio: HCI raw socket
 * for scanning and advertising, L2CAP sockets for links, management socket for
 * power, monitor socket for captures.
 *
 * Present only in builds with TENDON_HAVE_BLUEZ (GPL-2.0-or-later, see NOTICE).
 * This header needs no header of libbluetooth.
 *
 * Rights: CAP_NET_RAW to scan, to advertise and to capture (missing:
 * TENDON_RADIO_ERROR_NO_CAP_NET_RAW); CAP_NET_ADMIN to switch an adapter on and to
 * pair (missing: TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN). Links alone need none:
 * tendon_bluez_open_unprivileged(). `tendon doctor` tells the command that mends it.
 */
#ifndef TENDON_BLUEZ_H
#define TENDON_BLUEZ_H

#include "tendon/host/hci.h"
#include "tendon/host/management.h"
#include "tendon/linux/capture.h"
#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Links of one radio that may be under way at once; one more connect() gives TENDON_ERROR_TABLE_FULL. */
#define TENDON_BLUEZ_ATTEMPTS 8
/** Extended advertisements in parts that are put together at once. */
#define TENDON_BLUEZ_CHAINS 4
/** A command that has no answer for so long: TENDON_RADIO_ERROR_COMMAND_TIMEOUT. */
#define TENDON_BLUEZ_COMMAND_TIMEOUT_MS 3000u
/** Longest wait for one reply of the management socket in tendon_bluez_open() (switching on takes longest). */
#define TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS 5000u
/** Longest advertising data of an extended set, which goes out in one command. */
#define TENDON_BLUEZ_ADVERTISING_MAX 251
/** The advertising set that is ours on controllers with the extended commands. */
#define TENDON_BLUEZ_ADVERTISING_SET 0x1D

/** Scanning: what is wanted, and where the controller stands. Opaque. */
typedef struct tendon_bluez_scan {
    tendon_scan_parameters parameters;
    bool wanted;     /**< by the radio's owner */
    bool configured; /**< our parameters are in the controller */
    bool on;         /**< enabled by us */
    bool foreign;    /**< enabled by the kernel or another program */
    bool proven;     /**< enabled once since it was wanted: later refusals are waited out */
    bool clearing;   /**< switching off what a program that died left on */
    uint8_t retries;
    tendon_status refusal; /**< to be told from the loop */
    uint64_t retry_at;     /**< monotonic ms; UINT64_MAX: now, if anything is to be done */
} tendon_bluez_scan;

/** What the kernel makes of our scan: see bluez_discovery.c. Opaque. */
typedef struct tendon_bluez_discovery {
    bool expected; /**< we have scanned */
    bool on;       /**< the kernel says that it looks for devices, and means our scan */
    bool stopping;
    uint8_t kinds; /**< of addresses */
} tendon_bluez_discovery;

/** Advertising, likewise. Opaque. */
typedef struct tendon_bluez_advertising {
    bool wanted;
    bool on;
    bool proven;
    bool clearing;
    bool waiting;          /**< for the end of a link: the controller advertises no more while it has one */
    uint8_t step;          /**< of the commands that lead to advertising */
    bool cleared;          /**< that was tried once */
    bool set_made;         /**< extended: our set is in the controller */
    tendon_status refusal; /**< to be told from the loop */
    uint16_t interval_ms;
    uint16_t length, response_length;
    uint8_t data[TENDON_BLUEZ_ADVERTISING_MAX], response[TENDON_BLUEZ_ADVERTISING_MAX];
} tendon_bluez_advertising;

/**
 * What a controller says of its limits when it is opened; 0: not known. No command tells how many links it takes: one
 * more is refused with TENDON_HCI_ERROR(0x09), connection limit exceeded, or (0x0D), limited resources, which is told
 * at once and not tried again.
 */
typedef struct tendon_bluez_limits {
    uint16_t packet_length; /**< of one ACL packet to the air */
    uint8_t packets;        /**< that wait in the controller, of all links together */
    uint8_t accept_list;    /**< peers that can be waited for at once */
    uint64_t states;        /**< LE_States (Vol 4 Part E 7.8.27): what can be done at the same time */
} tendon_bluez_limits;

/** What a controller said about the end of a link, or of an attempt. Opaque. */
typedef struct tendon_bluez_ending {
    uint16_t handle;
    uint8_t reason;
} tendon_bluez_ending;
#define TENDON_BLUEZ_ENDINGS 8

/** A connection that we have ended and that the controller has not confirmed yet. Opaque. */
typedef struct tendon_bluez_leaving {
    tendon_address peer;
    uint16_t handle;
    uint64_t until; /**< monotonic ms */
} tendon_bluez_leaving;

typedef struct tendon_bluez_counters {
    uint64_t commands; /**< sent by us */

    uint64_t scan_pauses;      /**< scans paused for a connect */
    uint64_t connect_reissues; /**< attempts that were handed to the kernel once more, for it did nothing about them */
} tendon_bluez_counters;

typedef struct tendon_bluez_radio {
    tendon_radio radio;        /**< first */
    uint16_t index;            /**< N of hciN */
    bool extended_scan;        /**< the controller has the extended scan commands: only they are used */
    bool extended_advertising; /**< likewise */
    tendon_bluez_limits limits;
    bool opened, failed, told;
    bool unprivileged; /**< see tendon_bluez_open_unprivileged() */
    tendon_status failure;
    bool reset_down;          /**< the kernel has the adapter off, to reset it after a hardware error */
    uint8_t refused_sends;    /**< one after the other, since the adapter is off */
    uint64_t reset_until;     /**< monotonic ms: when it must be through */
    uint32_t settings;        /**< of the adapter: TENDON_MANAGEMENT_POWERED, ... */
    tendon_source hci;        /**< raw socket; its deadline is the command watchdog */
    tendon_source management; /**< tells when the adapter is switched off or goes away */
    int leases[3];            /**< show other processes the adapter of the two sockets above, and the bond store */
    tendon_source timer;      /**< retries, and what on_failure is to be told */
    bool address_set;         /**< the controller was told our static random address */
    uint16_t command;         /**< opcode in flight, 0: none */
    bool command_advertises;  /**< it belongs to advertising, else to scanning */
    uint8_t command_value;    /**< what an enable command sets */
    uint16_t foreign_command; /**< opcode of a scan command in flight that is not ours */
    uint8_t foreign_value;
    tendon_bluez_scan scan;
    tendon_bluez_discovery discovery;
    tendon_bluez_advertising advertising;
    tendon_link *attempts[TENDON_BLUEZ_ATTEMPTS];
    uint8_t stale[TENDON_BLUEZ_ATTEMPTS];     /**< connections left behind that each of them has ended */
    uint64_t begun_at[TENDON_BLUEZ_ATTEMPTS]; /**< when the kernel was asked for each of them */
    uint64_t check_at[TENDON_BLUEZ_ATTEMPTS]; /**< when it is to be looked at whether it does something about it */
    uint64_t connects_until; /**< the kernel has the controller connect; UINT64_MAX: until it is through */
    tendon_listener *listener;
    tendon_bluez_ending endings[TENDON_BLUEZ_ENDINGS];
    uint8_t next_ending;
    tendon_bluez_leaving leaving[TENDON_BLUEZ_ENDINGS];
    uint8_t connect_failure; /**< HCI status of the latest attempt of the kernel that failed, 0: none */
    tendon_bluez_counters counters;
    tendon_ad_reassembler reassembler;
    tendon_ad_chain chains[TENDON_BLUEZ_CHAINS];
} tendon_bluez_radio;

/**
 * Opens an adapter, switches it and its LE side on when they are off, and finds out which commands it has.
 * Blocks: milliseconds when the adapter is on, up to a second to switch it on; never longer than the limits above.
 *
 * Scanning and advertising start and stop in the background. A refused start is told through on_failure:
 * TENDON_RADIO_ERROR_ADAPTER_BUSY (another program scans or advertises), or the controller's HCI error; that activity
 * is then over and the rest of the radio goes on. After the other statuses (TENDON_RADIO_ERROR_COMMAND_TIMEOUT,
 * _NO_ADAPTER, _ADAPTER_DOWN, system errors) the radio is unusable and attempts to connect end with that status: close
 * it.
 *
 * An adapter without a public address, or whose static address the kernel uses, gets the static random address of this
 * machine: made of the board's serial number and /etc/machine-id, so always the same (without both: the same until the
 * next boot), and radio.address, of kind TENDON_ADDRESS_TYPE_RANDOM. If it is on with another one it is switched off
 * and on, unless another program has it open (_ADAPTER_BUSY).
 *
 * @param name "hci0", ...; NULL: the adapter with the lowest index.
 * @return TENDON_OK, or TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, _NO_ADAPTER, _RFKILL (blocked), _NO_CAP_NET_RAW,
 * _NO_CAP_NET_ADMIN (a capability is missing), _ADAPTER_DOWN (it is off and does not come up), _ADAPTER_BUSY (another
 * program has it to itself), _COMMAND_TIMEOUT; TENDON_ERROR_UNSUPPORTED: no LE; TENDON_ERROR_INVALID_ARGUMENT: no such
 *         kind of name. Nothing stays open after an error.
 */
tendon_status tendon_bluez_open(tendon_bluez_radio *radio, tendon_loop *loop, const char *name);

/**
 * Opens an adapter for links alone, without a capability: connects to known addresses and listens. Scanning and
 * advertising are refused with TENDON_RADIO_ERROR_NO_CAP_NET_RAW, pairing with _NO_CAP_NET_ADMIN; switching the adapter
 * on needs CAP_NET_ADMIN here too. A link that is closed ends when the kernel drops it, 2 s later, and so long a new
 * connect to the same peer waits; a connect that the kernel forgets is not noticed.
 * @return like tendon_bluez_open(), but for _NO_CAP_NET_RAW; _NO_CAP_NET_ADMIN: the adapter is off.
 */
tendon_status tendon_bluez_open_unprivileged(tendon_bluez_radio *radio, tendon_loop *loop, const char *name);

/** PDUs of this link that the kernel has dropped because the process read too slowly; 0 when it is closed. */
uint32_t tendon_bluez_link_lost(const tendon_link *link);

/** One adapter of this machine. */
typedef struct tendon_bluez_adapter {
    uint16_t index;
    tendon_address address;
    bool static_address; /**< the address is a static random one, see tendon_bluez_open() */
    char name[9];        /**< "hci0" */
    bool low_energy;     /**< has LE */
    bool powered;        /**< on; adapters that the kernel is about to switch off again count as off */
    bool blocked;        /**< by rfkill, soft or hard */
    bool hard_blocked;   /**< by a switch of the machine */
    uint8_t version;     /**< HCI version: 6 is Bluetooth 4.0, 9 is 5.0 */
    uint32_t supported_settings, current_settings;
} tendon_bluez_adapter;

/**
 * Lists the adapters, in order of their index. Needs no rights, switches nothing on.
 * @return how many there are (only the first @p capacity are stored), TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, ...
 */
tendon_status tendon_bluez_list(tendon_bluez_adapter *adapters, size_t capacity);

/** What this process and this machine offer, for `tendon doctor`. */
typedef struct tendon_bluez_rights {
    bool kernel_support;     /**< AF_BLUETOOTH sockets */
    bool net_raw, net_admin; /**< effective capabilities of this process */
    uint32_t other_sockets;  /**< HCI sockets of other programs (bluetoothd has one or two); 0 when that is unknown */
} tendon_bluez_rights;

void tendon_bluez_probe(tendon_bluez_rights *out);

/**
 * Loads the connection parameters that the kernel asks for when it connects to these peers; replaces the list that was
 * there. @return TENDON_OK, or a status of the management layer or of RADIO.
 */
tendon_status tendon_bluez_load_connection_parameters(tendon_bluez_radio *radio,
                                                      const tendon_management_connection_parameters *items,
                                                      size_t count);

/** Every HCI packet between the kernel and its controllers, into a capture. The caller's memory. */
typedef struct tendon_bluez_monitor {
    tendon_loop *loop;
    tendon_source source;
    tendon_capture *capture;
    bool all;
    uint16_t index;   /**< the adapter, unless all */
    uint64_t records; /**< written */
} tendon_bluez_monitor;

/**
 * Starts writing to @p capture (borrowed until closed) from the loop. In a capture with datalink
 * TENDON_CAPTURE_MONITOR stands all that the kernel tells (adapters that come and go, management messages), in one
 * with TENDON_CAPTURE_H4 the HCI packets alone. A failed write ends it: capture->status tells why.
 * @param name "hci0"; NULL: all adapters.
 * @return TENDON_OK, TENDON_RADIO_ERROR_NO_CAP_NET_RAW (CAP_NET_RAW), _NO_KERNEL_SUPPORT, ...
 */
tendon_status tendon_bluez_monitor_open(tendon_bluez_monitor *monitor, tendon_loop *loop, tendon_capture *capture,
                                        const char *name);
/** Records that the kernel dropped because the process read too slowly. */
uint32_t tendon_bluez_monitor_lost(const tendon_bluez_monitor *monitor);
/** Takes what is there already, then stops. Twice does nothing. */
void tendon_bluez_monitor_close(tendon_bluez_monitor *monitor);

#ifdef __cplusplus
}
#endif
#endif
