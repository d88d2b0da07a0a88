/* SPDX-License-Identifier: MIT */
/*
 * The seam between a peripheral device (a GATT server with a personality: room
 * simulate, or a program's own) and whoever holds its links (room linux, a
 * test). Neither side knows the other's types.
 */
#ifndef TENDON_HOST_PERIPHERAL_H
#define TENDON_HOST_PERIPHERAL_H

#include "tendon/host/bearer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a device wants of its host about pairing, as bits. */
enum {
    TENDON_PERIPHERAL_PAIRABLE = 1, /**< a central may pair now; else it is refused */
    TENDON_PERIPHERAL_FORGETS = 2   /**< all bonds of the device are to go; told once */
};

/**
 * What a device offers to its host. Every member but the last is set; each kind of device has one constant of this
 * type. To disconnect, a device calls tendon_att_bearer_close(). The host then closes the connection and calls
 * disconnected().
 */
typedef struct tendon_peripheral_ops {
    const char *name; /**< of the family: "bose" */
    /** Advertising data and scan response; the length, or TENDON_ERROR_BUFFER_TOO_SMALL. 31 bytes suffice for each. */
    tendon_status (*advertisement)(const void *device, uint8_t *out, size_t capacity);
    tendon_status (*scan_response)(const void *device, uint8_t *out, size_t capacity);
    /**
     * A central is connected: serve @p bearer (init()ed, without a server) until disconnected().
     * TENDON_ERROR_TABLE_FULL: no place is left; close the link.
     */
    tendon_status (*connected)(void *device, tendon_att_bearer *bearer, uint64_t now);
    void (*disconnected)(void *device, tendon_att_bearer *bearer, tendon_status reason, uint64_t now);
    /** The link is encrypted now, by pairing or with a stored key. */
    void (*paired)(void *device, tendon_att_bearer *bearer, uint64_t now);
    /** Some link takes PDUs again. The bearer's own writable() was called before. */
    void (*writable)(void *device, uint64_t now);
    void (*tick)(void *device, uint64_t now);
    /**
     * When tick() is due next: monotonic ms, UINT64_MAX never, a past time: at once. It may change in any call of
     * this table and in every PDU that a bearer takes.
     */
    uint64_t (*deadline)(const void *device);
    /** TENDON_PERIPHERAL_... bits, asked at the end of every step. NULL: always pairable, never forgets by itself. */
    uint32_t (*pairing)(void *device);
} tendon_peripheral_ops;

typedef struct tendon_peripheral_device {
    const tendon_peripheral_ops *ops;
    void *context; /**< the device */
} tendon_peripheral_device;

/** Something between a bearer and its link that holds PDUs back or spoils them; one per link. See simulate/fault.h. */
typedef struct tendon_bearer_filter {
    void *context;
    /** A new link: returns the way out that the bearer uses; what was held for the link before is forgotten. */
    tendon_bearer_io (*wrap)(void *context, tendon_bearer_io link);
    void (*writable)(void *context, uint64_t now); /**< the link takes PDUs again; before the bearer's writable() */
    void (*tick)(void *context, uint64_t now);     /**< also before every PDU that the bearer gets: tells the time */
    uint64_t (*deadline)(const void *context);
    /** True once when PDUs are taken again that send() refused with TENDON_ERROR_WOULD_BLOCK; see after tick(). */
    bool (*take_writable)(void *context);
    /** True once when the link is to be closed. */
    bool (*take_disconnect)(void *context);
} tendon_bearer_filter;

#ifdef __cplusplus
}
#endif
#endif
