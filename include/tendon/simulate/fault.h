/* SPDX-License-Identifier: MIT */
/*
 * Faults on the way from a simulated device to its central: a filter between
 * its bearer and its link. Deterministic: same seed, same PDUs, same faults.
 */
#ifndef TENDON_SIMULATE_FAULT_H
#define TENDON_SIMULATE_FAULT_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_fault_kind {
    TENDON_FAULT_DROP = 0,   /**< the PDU vanishes */
    TENDON_FAULT_DELAY,      /**< it waits delay_ms; what comes after it waits behind it (a bearer keeps order) */
    TENDON_FAULT_DUPLICATE,  /**< it is sent twice */
    TENDON_FAULT_TRUNCATE,   /**< it loses 1 to all of its bytes after the opcode */
    TENDON_FAULT_GARBAGE,    /**< its bytes after the opcode are random */
    TENDON_FAULT_DISCONNECT, /**< it vanishes and the link ends */
    TENDON_FAULT_COUNT
} tendon_fault_kind;

/** Rates are per million PDUs; at most one fault strikes a PDU, so their sum is at most 1,000,000. */
typedef struct tendon_fault_options {
    uint32_t rate_ppm[TENDON_FAULT_COUNT];
    uint32_t delay_ms;       /**< 0: 100 */
    uint32_t seed;           /**< 0: 1 */
    bool notifications_only; /**< responses and confirmations pass: a lost response costs the client 30 s and the bearer
                              */
} tendon_fault_options;

/**
 * Adds one setting, e.g. "drop=0.01", "garbage=5%", "delay_ms=250", "seed=7", "notifications_only"; several are
 * separated by commas. @p options was zeroed before the first.
 * @param offset where the first wrong character stands; may be NULL.
 * @return TENDON_OK; TENDON_ERROR_MALFORMED or TENDON_ERROR_OVERFLOW (rates above 1): options unchanged.
 */
tendon_status tendon_fault_parse(tendon_fault_options *options, const char *text, size_t length, size_t *offset);
/** "drop", "delay", ...; "unknown". Static storage. */
const char *tendon_fault_name(tendon_fault_kind kind);

#define TENDON_FAULT_QUEUE 8

/** The filter of one link. The caller's memory. */
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
