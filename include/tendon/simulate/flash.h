/* SPDX-License-Identifier: MIT */
/*
 * Simulated flash memory, and a store of records in it that survives power cuts.
 *
 * Pages are erased to 0xFF; programming only clears bits. A power cut can be armed at any byte: in the middle of an
 * erasure or of a programming, the rest of the page is left in a state that no program wrote. Every change can be
 * written through to a file, so that the content survives the process.
 */
#ifndef TENDON_SIMULATE_FLASH_H
#define TENDON_SIMULATE_FLASH_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_FLASH_PAGE_MIN 64
#define TENDON_SIMULATED_FLASH_PAGE_MAX 65536

/** Flash memory in the caller's memory. */
typedef struct tendon_simulated_flash {
    uint8_t *memory;
    uint32_t page_size, page_count;
    uint32_t *wear; /**< erasures of each page; the caller's, may be NULL */
    /** Called after each change with the new content; may be NULL. Does not return a status: a copy that cannot be
     * written is a copy after a power cut. */
    void (*changed)(void *context, uint32_t at, const uint8_t *bytes, uint32_t length);
    void *context;
    uint64_t cut_after; /**< bytes that are still erased or programmed before the power is cut; UINT64_MAX: no cut */
    bool off;           /**< the power was cut: nothing can be changed until it is cleared */
    uint32_t fail_after, fail_next; /**< operations that still succeed, then those that fail without a change */
    uint32_t random;
    uint64_t erased, programmed; /**< counters: pages, bytes */
} tendon_simulated_flash;

/**
 * Prepares flash memory; its content stays.
 * @param memory @p size bytes; a multiple of @p page_size
 * @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT if the page size is not a power of two in the range above, or the
 *   size not a multiple of it.
 */
tendon_status tendon_simulated_flash_init(tendon_simulated_flash *flash, uint8_t *memory, uint32_t size,
                                          uint32_t page_size);
/** Sets all bytes to 0xFF, as a new chip has them. Is not counted as an erasure. */
void tendon_simulated_flash_blank(tendon_simulated_flash *flash);

/* Both return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT beyond the end; TENDON_ERROR_WRONG_STATE without power;
 * TENDON_ERROR_MALFORMED if the operation failed, or bytes were programmed that were not erased. */
tendon_status tendon_simulated_flash_erase(tendon_simulated_flash *flash, uint32_t page);
tendon_status tendon_simulated_flash_program(tendon_simulated_flash *flash, uint32_t at, const uint8_t *bytes,
                                             uint32_t length);

/* ---- records ---- */

#define TENDON_SIMULATED_STORE_OVERHEAD 12

/**
 * A record of variable content in two banks of pages. Each version is appended with a number and a CRC; when a bank is
 * full, the other one is erased. So the last complete version is never erased: after a power cut, the store contains
 * the old version or the new one.
 */
typedef struct tendon_simulated_store {
    tendon_simulated_flash *flash;
    uint32_t first_page, bank_pages;
    uint32_t number;     /* of the last version; 0: none */
    uint32_t at, length; /* of its content */
    uint32_t end;        /* where the next version starts; 0: only in the other bank */
    uint8_t bank;        /* of the last version */
} tendon_simulated_store;

/** Finds the last complete version in pages @p first_page to @p first_page + 2 * @p bank_pages - 1. */
void tendon_simulated_store_mount(tendon_simulated_store *store, tendon_simulated_flash *flash, uint32_t first_page,
                                  uint32_t bank_pages);
/** Returns the last version, which is lent until the next write; NULL if there is none. */
const uint8_t *tendon_simulated_store_read(const tendon_simulated_store *store, size_t *length);
/**
 * Writes the next version. After an error, the store contains the version before it, or none.
 * @return TENDON_OK, TENDON_ERROR_OVERFLOW if it does not fit a bank, or an error of the flash memory.
 */
tendon_status tendon_simulated_store_write(tendon_simulated_store *store, const uint8_t *bytes, uint32_t length);

#ifdef __cplusplus
}
#endif
#endif
