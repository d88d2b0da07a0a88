/* SPDX-License-Identifier: MIT */
/*
 * Faults in the PDUs from a simulated device to its central: a filter between the bearer and the connection.
 * Deterministic: the same seed and the same PDUs result in the same faults.
 */
#ifndef TENDON_SIMULATE_FAULT_H
#define TENDON_SIMULATE_FAULT_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_fault_kind {
    TENDON_FAULT_DROP = 0,   /**< the PDU is dropped */
    TENDON_FAULT_DELAY,      /**< the PDU, and all PDUs after it, are delayed by delay_ms (a bearer keeps the order) */
    TENDON_FAULT_DUPLICATE,  /**< the PDU is sent twice */
    TENDON_FAULT_TRUNCATE,   /**< the PDU is truncated: 1 to all of its bytes after the opcode are removed */
    TENDON_FAULT_GARBAGE,    /**< the bytes after the opcode are random */
    TENDON_FAULT_DISCONNECT, /**< the PDU is dropped and the device disconnects */
    TENDON_FAULT_COUNT
} tendon_fault_kind;

/** Fault options. Rates are per million PDUs. A PDU has at most one fault, so the sum of the rates is at most
 * 1,000,000. */
typedef struct tendon_fault_options {
    uint32_t rate_ppm[TENDON_FAULT_COUNT];
    uint32_t delay_ms;       /**< 0: 100 */
    uint32_t seed;           /**< 0: 1 */
    bool notifications_only; /**< responses and confirmations have no faults: a lost response costs the client 30 s and
                              * the bearer
                              */
} tendon_fault_options;

/**
 * Adds one setting, e.g. "drop=0.01", "garbage=5%", "delay_ms=250", "seed=7", "notifications_only"; several are
 * separated by commas. @p options was zeroed before the first.
 * @param offset offset of the first wrong character; may be NULL.
 * @return TENDON_OK; TENDON_ERROR_MALFORMED or TENDON_ERROR_OVERFLOW (rates above 1): options unchanged.
 */
tendon_status tendon_fault_parse(tendon_fault_options *options, const char *text, size_t length, size_t *offset);
/** "drop", "delay", ...; "unknown". Static storage. */
const char *tendon_fault_name(tendon_fault_kind kind);

#define TENDON_FAULT_QUEUE 8

/** The filter of one connection. The caller's memory. */
typedef struct tendon_fault {
    tendon_fault_options options;
    tendon_bearer_io link;
    uint64_t now;
    uint32_t random;
    uint32_t struck[TENDON_FAULT_COUNT]; /**< counters */
    uint64_t passed;                     /**< PDUs without a fault */
    bool disconnect, blocked, refused;
    uint8_t head, count;
    struct {
        uint64_t due;
        uint16_t length;
        uint8_t pdu[TENDON_ATT_MTU_MAX];
    } queue[TENDON_FAULT_QUEUE];
} tendon_fault;

void tendon_fault_init(tendon_fault *fault, const tendon_fault_options *options);
tendon_bearer_filter tendon_fault_filter(tendon_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
