/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/flash.h"

#include <string.h>

enum { ERASED = 0xFF };

tendon_status tendon_simulated_flash_init(tendon_simulated_flash *flash, uint8_t *memory, uint32_t size,
                                          uint32_t page_size) {
    memset(flash, 0, sizeof *flash);
    bool power_of_two = (page_size & (page_size - 1)) == 0; /* or 0, which is too small */
    if (!power_of_two || page_size < TENDON_SIMULATED_FLASH_PAGE_MIN || page_size > TENDON_SIMULATED_FLASH_PAGE_MAX ||
        size % page_size != 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    flash->memory = memory;
    flash->page_size = page_size;
    flash->page_count = size / page_size;
    flash->cut_after = UINT64_MAX;
    flash->random = 1;
    return TENDON_OK;
}

void tendon_simulated_flash_blank(tendon_simulated_flash *flash) {
    for (uint32_t page = 0; page < flash->page_count; page++) {
        uint8_t *bytes = flash->memory + (size_t)page * flash->page_size;
        memset(bytes, ERASED, flash->page_size);
        if (flash->changed != NULL) {
            flash->changed(flash->context, page * flash->page_size, bytes, flash->page_size);
        }
    }
}

static uint8_t random_byte(tendon_simulated_flash *flash) {
    flash->random ^= flash->random << 13;
    flash->random ^= flash->random >> 17;
    flash->random ^= flash->random << 5;
    return (uint8_t)(flash->random >> 8);
}

/* How many of @p length bytes are still changed with power. */
static uint32_t powered(tendon_simulated_flash *flash, uint32_t length) {
    if (flash->cut_after >= length) {
        flash->cut_after -= flash->cut_after == UINT64_MAX ? 0 : length;
        return length;
    }
    uint32_t done = (uint32_t)flash->cut_after;
    flash->cut_after = UINT64_MAX;
    flash->off = true;
    return done;
}

static tendon_status check(tendon_simulated_flash *flash, bool in_range) {
    if (!in_range) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (flash->off) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (flash->fail_next > 0 && flash->fail_after > 0) {
        flash->fail_after--;
    } else if (flash->fail_next > 0) {
        flash->fail_next--;
        return TENDON_ERROR_MALFORMED;
    }
    return TENDON_OK;
}

static void changed(const tendon_simulated_flash *flash, uint32_t at, uint32_t length) {
    if (flash->changed != NULL && length > 0) {
        flash->changed(flash->context, at, flash->memory + at, length);
    }
}

tendon_status tendon_simulated_flash_erase(tendon_simulated_flash *flash, uint32_t page) {
    tendon_status status = check(flash, page < flash->page_count);
    if (status != TENDON_OK) {
        return status;
    }
    uint32_t at = page * flash->page_size, size = flash->page_size;
    uint32_t done = powered(flash, size);
    memset(flash->memory + at, ERASED, done);
    for (uint32_t i = done; i < size; i++) { /* without power: some bits are erased, some are not */
        flash->memory[at + i] |= random_byte(flash);
    }
    if (flash->wear != NULL) {
        flash->wear[page]++;
    }
    flash->erased++;
    changed(flash, at, size);
    return done == size ? TENDON_OK : TENDON_ERROR_WRONG_STATE;
}

tendon_status tendon_simulated_flash_program(tendon_simulated_flash *flash, uint32_t at, const uint8_t *bytes,
                                             uint32_t length) {
    uint64_t size = (uint64_t)flash->page_count * flash->page_size;
    tendon_status status = check(flash, at <= size && length <= size - at);
    if (status != TENDON_OK) {
        return status;
    }
    uint32_t done = powered(flash, length);
    bool same = true;
    for (uint32_t i = 0; i < done; i++) {
        flash->memory[at + i] &= bytes[i];
        same = same && flash->memory[at + i] == bytes[i];
    }
    if (done < length) { /* the byte that is programmed without power */
        flash->memory[at + done] &= (uint8_t)(bytes[done] | random_byte(flash));
    }
    flash->programmed += done;
    changed(flash, at, done < length ? done + 1 : done);
    if (done < length) {
        return TENDON_ERROR_WRONG_STATE;
    }
    return same ? TENDON_OK : TENDON_ERROR_MALFORMED;
}
