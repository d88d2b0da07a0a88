/* SPDX-License-Identifier: MIT */
/*
 * The kernel's Bluetooth as the sockets of this process see it, with a clock: raw HCI, management and L2CAP sockets,
 * several adapters, other programs, devices in the air. A test describes what is there, calls the library's public
 * functions, and lets time pass. Nothing of it knows the library: fake_kernel.c has the system calls, fake_adapter.c
 * the controllers and what Linux does with them.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include "../../../../CSources/linux/adapter/sockets.h"
#include "tendon/bluez.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FAKE_ADAPTERS = 18, FAKE_DEVICES = 24, FAKE_NOBODY = -1, FAKE_KERNEL = -2, FAKE_OTHER = -3 };

/** A device in the air. */
typedef struct fake_device {
    bool present;
    bool of_other;   /**< another program has its channel ATT */
    uint8_t wire[6]; /**< address, least significant byte first */
    uint8_t type;    /**< 1: random */
    uint64_t interval, next;
    uint16_t handle; /**< of its connection; 0: none */
    int adapter;     /**< that has the connection */
    uint64_t unused; /**< since when no socket uses the connection; 0: one does */
} fake_device;

typedef struct fake_adapter {
    bool present, powered, unconfigured, extended;
    bool mute;           /**< answers no command */
    bool answers_listed; /**< no command but those of its list */
    bool stays_off;      /**< Set Powered succeeds and does nothing */
    bool lenient;        /**< it accepts a scan command that changes nothing */
    uint8_t rejects;     /**< each command gets this HCI error code */
    uint16_t index;
    uint8_t wire[6], static_wire[6]; /**< its address, and the one that a program has set */
    uint64_t listed;                 /**< since when the list of adapters has it: one in exclusive use is in none */
    uint8_t extended_scan;           /**< bits of the two extended scan commands in the list of its commands */
    bool blocked; /**< by rfkill: it cannot be switched on; what sysfs has about it is fake_sysfs() */
    uint32_t supported, settings;
    uint8_t io;        /**< IO capability; no command reads it */
    int scanner;       /**< who has the scan on: the descriptor of a socket of this process, or FAKE_... */
    bool filters;      /**< the scan reports the accept list alone */
    bool awaits;       /**< the kernel waits for a device of another program, and scans for it */
    uint8_t discovers; /**< the scan of the kernel is a discovery of another program, of these kinds; 0: none */
    bool orphaned;     /**< a raw command has disabled it, and the kernel considers it on */
    unsigned tried;    /**< devices that the kernel waited for when it last tried to scan for them */
    unsigned wronged;  /**< a scan was ended by a program that had not enabled it */
    bool legacy_on;    /**< advertising with the legacy commands */
    uint64_t sets_on;  /**< advertising sets, a bit for each of the handles below 64 */
    bool sets_enabled; /**< any program has enabled advertising: the kernel pauses it for its own purposes */
    int creating;      /**< device that the kernel connects to; -1: none */
    uint64_t created;  /**< when that is done */
    uint64_t next;     /**< command: when the kernel sends it at the earliest */
    unsigned powered_off;
} fake_adapter;

/** Calls that can be refused. */
typedef enum fake_call {
    FAKE_SOCKET,
    FAKE_BIND,
    FAKE_LISTEN,
    FAKE_CONNECT,
    FAKE_ACCEPT,
    FAKE_SEND, /**< to the management interface */
    FAKE_COMMAND,
    FAKE_SEND_PDU,
    FAKE_RECEIVE,
    FAKE_RECEIVE_MANY,
    FAKE_RECEIVE_RECORD,
    FAKE_FORCE_BUFFER,
    FAKE_SET_BUFFER,
    FAKE_SET_FILTER,
    FAKE_GET_FILTER,
    FAKE_SET_SECURITY,
    FAKE_GET_SECURITY,
    FAKE_GET_HANDLE,
    FAKE_GET_DROPS,
    FAKE_SOCKET_ERROR, /**< the result of a connect() in progress */
    FAKE_IOCTL,
    FAKE_GET_CONNECTION,
    FAKE_EPOLL,
    FAKE_EPOLL_MODIFY,
    FAKE_POLL,
    FAKE_SYSINFO,
    FAKE_OPEN,
    FAKE_CALLS
} fake_call;

typedef struct fake_refusal {
    int number, after, times; /**< errno; so many calls before; so many that fail */
} fake_refusal;

/** How a command of the management interface, or of HCI, is answered if not as usual. */
typedef struct fake_answer {
    uint16_t opcode;
    uint8_t status; /**< 0: without data */
    bool none;      /**< no answer */
    int times;      /**< 0: always */
} fake_answer;

typedef struct fake_kernel {
    uint64_t now; /**< monotonic, ms */
    fake_adapter adapters[FAKE_ADAPTERS];
    fake_device devices[FAKE_DEVICES];
    int programs;        /**< others, with an HCI socket each; -1: nobody may read the list of them */
    bool user_namespace; /**< of this process: its capabilities, which capget() reports, are none for the kernel */
    fake_refusal refuse[FAKE_CALLS];
    unsigned counts[FAKE_CALLS];       /**< calls so far */
    unsigned made, refuse_at, refused; /**< of all calls: so many; the one that fails; so many did */
    int refuse_number;
    fake_answer answer;
    bool hurries;        /**< programs read a response and the next command, of another program, together */
    int deaf;            /**< packets for this socket are lost */
    unsigned slept;      /**< ms in which this process waited within a call */
    unsigned down_takes; /**< ms of HCIDEVDOWN: of a controller that answers nothing 2,000 */
    unsigned handles;    /**< connections so far */
    bool unwatched;      /**< the loop finds no socket ready: the test says when */

    bool scripted; /**< what is sent to the sockets that open stays in their other ends, fake_far(), for the test */
    int latest;    /**< Bluetooth socket */
    int connects;  /**< connect() calls */
    int old_connections;             /**< scripted: so many of them succeed immediately */
    int centrals;                    /**< that wait to be accepted */
    uint16_t handle;                 /**< connection handle of sockets that are connected to no fake_device */
    struct hci_conn_info connection; /**< scripted: that the kernel has to every peer; state 0: none */
    bdaddr_t asked_peer;             /**< of the latest HCIGETCONNINFO */
    uint8_t asked_type;
    struct sockaddr_l2 bound, target; /**< names of the latest bind() and connect() */
    int buffer;                       /**< the latest receive buffer */
    int filter_loses;                 /**< a bit of this word of the filter: 1 types, 2 and 3 events; 0: none */
    uint32_t drops;                   /**< packets that the kernel dropped, of every socket */
    uint8_t security_level;           /**< of every socket; setsockopt() changes it */
    /** Sees a command before it is sent. @return false: it is refused, and errno is set. */
    bool (*on_send)(int fd, uint16_t opcode, const uint8_t *packet, size_t length);
    void (*on_open)(const char *path); /**< of a file, before that */

    char log[4096]; /**< what this process sent: " 7:h200c=1" a command to hci7, " 7:m0005=1" to the kernel about it */
} fake_kernel;
extern fake_kernel fake;

/** No adapter, no device, nobody; the clock at 100 s. */
void fake_start(void);
/** This process has nothing of the kernel open, and no adapter scans or advertises for it. */
void fake_settled(void);
/** All that happens now; what this process has closed is closed. */
void fake_run(void);
/** The same, at the end. */
void fake_end(void);
/** An adapter that is off, with a public address that ends in its index. Programs get Index Added. */
fake_adapter *fake_add(uint16_t index, bool extended);
/** One that is not configured. Programs get Unconfigured Index Added. */
fake_adapter *fake_add_unconfigured(uint16_t index);
void fake_remove(uint16_t index);
fake_adapter *fake_of(uint16_t index);
/** A file of sysfs or procfs, or a link with the name "device", in the place of what this kernel has there; NULL: it is
 * removed, with what is below it. */
void fake_file(const char *path, const char *text);
/** The same in the adapter's directory of sysfs: "rfkill0/soft", or "device". */
void fake_sysfs(uint16_t index, const char *name, const char *text);
/** Another program switches it on or off. */
void fake_power(uint16_t index, bool on);
/** Another program, or the kernel for it, sends a command to the controller. */
void fake_other(uint16_t index, uint16_t opcode, const void *parameters, uint8_t length);
/** A device with a random address, C0:00:00:00:00:N, that advertises so often. */
fake_device *fake_advertiser(int number, uint64_t interval);
tendon_address fake_address(const fake_device *device);
/** Another program connects to it. */
void fake_taken(fake_device *device, uint16_t index);
/** It ends its connection with this HCI error code. */
void fake_leaves(fake_device *device, uint8_t reason);
/** The loop runs for so long. */
void fake_pass(tendon_loop *loop, uint64_t ms);
/** An event of the controller. */
void fake_event(uint16_t index, uint8_t code, const void *parameters, size_t length, uint64_t delay);
/** The other end of a Bluetooth socket of this process; -1: it is none. */
int fake_far(int fd);
bool fake_sent(const char *entry);
/** What was sent since the log was forgotten, without indexes and parameters: " m0005 h200c". It is forgotten. */
const char *fake_opcodes(void);
void fake_forget_log(void);

/* Between the two files. */

/** What comes from a controller or from the kernel, this many ms from now, to one socket or, with FAKE_NOBODY, to all
 * of that channel but @p except. */
void fake_post(uint64_t delay, uint16_t channel, int index, int fd, int except, const uint8_t *packet, size_t length);
void fake_note(int index, char kind, uint16_t opcode, int parameter);
/** A program's packet. */
void fake_command(fake_adapter *a, int fd, const uint8_t *packet, size_t length);
void fake_manage(int fd, const uint8_t *pdu, size_t length);
/** Time has come to @p fake.now. */
void fake_adapters_run(void);
/** When something happens next. */
uint64_t fake_adapters_next(void);
/** The adapter over which an L2CAP socket with this address of its own connects; -1: none. */
int fake_route(const uint8_t own[6]);
void fake_closed(int index, const uint8_t peer[6]);
/** Sockets that wait for a connection to this device get it, or lose what they have; @p number 0: connected. */
void fake_sockets_end(int index, const uint8_t peer[6], int number);
bool fake_waits(int index, const uint8_t peer[6], bool or_is_connected);
fake_device *fake_device_of(const uint8_t wire[6]);

#endif
