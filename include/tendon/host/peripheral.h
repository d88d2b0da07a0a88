/* SPDX-License-Identifier: MIT */
/*
 * The interface between a peripheral device (a GATT server of the simulate component or of an application) and the
 * owner of its connections (the linux component, or a test). Neither side depends on the types of the other.
 */
#ifndef TENDON_HOST_PERIPHERAL_H
#define TENDON_HOST_PERIPHERAL_H

#include "tendon/host/bearer.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pairing requests of a device to its host, as bits. */
enum {
    TENDON_PERIPHERAL_PAIRABLE = 1,   /**< a central can pair now; otherwise pairing is rejected */
    TENDON_PERIPHERAL_CLEAR_BONDS = 2 /**< the host must remove all bonds of the device; reported once */
};

/**
 * Functions of a device that its host calls. All members are set except the last, which may be NULL. Each device type
 * has one constant of this type. To disconnect, a device calls tendon_att_bearer_close(). The host then closes the
 * connection and calls disconnected().
 */
typedef struct tendon_peripheral_ops {
    const char *name; /**< of the family: "bose" */
    /** Writes the advertising data or the scan response. Returns the length (at most 31), or
     * TENDON_ERROR_BUFFER_TOO_SMALL. */
    tendon_status (*advertisement)(const void *device, uint8_t *out, size_t capacity);
    tendon_status (*scan_response)(const void *device, uint8_t *out, size_t capacity);
    /**
     * Called when a central is connected. The device serves @p bearer (initialized, without a server) until
     * disconnected(). TENDON_ERROR_TABLE_FULL if the device has no free slot: the host disconnects the central.
     */
    tendon_status (*connected)(void *device, tendon_att_bearer *bearer, uint64_t now);
    void (*disconnected)(void *device, tendon_att_bearer *bearer, tendon_status reason, uint64_t now);
    /** Called when the connection is encrypted, by pairing or with a stored key. */
    void (*paired)(void *device, tendon_att_bearer *bearer, uint64_t now);
    /** Called when a connection can send PDUs again, after tendon_att_bearer_writable(). */
    void (*writable)(void *device, uint64_t now);
    void (*tick)(void *device, uint64_t now);
    /**
     * Returns the monotonic time in ms at which tick() must be called; UINT64_MAX means never, a past time means now.
     * Query it again after every call to a function of this table, and after every PDU passed to a bearer.
     */
    uint64_t (*deadline)(const void *device);
    /** Returns TENDON_PERIPHERAL_... bits. Called at the end of every step. NULL: always pairable, never removes bonds.
     */
    uint32_t (*pairing)(void *device);
} tendon_peripheral_ops;

typedef struct tendon_peripheral_device {
    const tendon_peripheral_ops *ops;
    void *context; /**< the device */
} tendon_peripheral_device;

/** A filter between a bearer and its connection that delays, drops or corrupts PDUs; one per connection. See
 * simulate/fault.h. */
typedef struct tendon_bearer_filter {
    void *context;
    /** Called for a new connection. Returns the send function for the bearer, and discards the delayed PDUs of the
     * previous connection. */
    tendon_bearer_io (*wrap)(void *context, tendon_bearer_io link);
    void (*writable)(void *context, uint64_t now); /**< PDUs can be sent again; called before the bearer's writable() */
    void (*tick)(void *context, uint64_t now);     /**< also called before every received PDU, to set the time */
    uint64_t (*deadline)(const void *context);
    /** Returns true once after send() returned TENDON_ERROR_WOULD_BLOCK and PDUs can be sent again; checked after
     * tick(). */
    bool (*take_writable)(void *context);
    /** Returns true once if the filter requests a disconnection. */
    bool (*take_disconnect)(void *context);
} tendon_bearer_filter;

#ifdef __cplusplus
}
#endif
#endif
