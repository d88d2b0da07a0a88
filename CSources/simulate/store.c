/* SPDX-License-Identifier: MIT */
/* A version: length u32, number u32, CRC-32 over both and the content, then the content, padded to a multiple of 4. */
#include "tendon/base/crc.h"
#include "tendon/simulate/flash.h"

enum { HEADER = TENDON_SIMULATED_STORE_OVERHEAD, CHECKED = 8, ALIGNMENT = 4 };

static uint32_t bank_start(const tendon_simulated_store *store, uint8_t bank) {
    return (store->first_page + bank * store->bank_pages) * store->flash->page_size;
}

static uint32_t bank_size(const tendon_simulated_store *store) {
    return store->bank_pages * store->flash->page_size;
}

static uint32_t padded(uint32_t length) {
    return (length + ALIGNMENT - 1) & ~(uint32_t)(ALIGNMENT - 1);
}

static uint32_t crc_of(const uint8_t *header, const uint8_t *content, uint32_t length) {
    return tendon_crc32(tendon_crc32(0, header, CHECKED), content, length);
}

static bool is_erased(const uint8_t *bytes, uint32_t length) {
    uint8_t all = 0xFF;
    for (uint32_t i = 0; i < length; i++) {
        all &= bytes[i];
    }
    return all == 0xFF;
}

/* Reads one bank. What follows its last complete version can be used only if it is erased. */
static void scan(tendon_simulated_store *store, uint8_t bank) {
    const uint32_t start = bank_start(store, bank), size = bank_size(store);
    const uint8_t *bytes = store->flash->memory + start;
    uint32_t position = 0;
    bool found = false;
    while (size - position >= HEADER) {
        tendon_reader reader = tendon_reader_make(bytes + position, HEADER);
        uint32_t length = tendon_read_u32le(&reader), number = tendon_read_u32le(&reader);
        if (length > size - position - HEADER ||
            tendon_read_u32le(&reader) != crc_of(bytes + position, bytes + position + HEADER, length)) {
            break;
        }
        if (number > store->number) {
            store->number = number;
            store->at = start + position + HEADER;
            store->length = length;
            store->bank = bank;
            found = true;
        }
        position += HEADER + padded(length);
    }
    if (found) {
        store->end = is_erased(bytes + position, size - position) ? start + position : 0;
    }
}

void tendon_simulated_store_mount(tendon_simulated_store *store, tendon_simulated_flash *flash, uint32_t first_page,
                                  uint32_t bank_pages) {
    *store = (tendon_simulated_store){.flash = flash, .first_page = first_page, .bank_pages = bank_pages};
    scan(store, 0);
    scan(store, 1);
}

const uint8_t *tendon_simulated_store_read(const tendon_simulated_store *store, size_t *length) {
    *length = store->length;
    return store->number != 0 ? store->flash->memory + store->at : NULL;
}

/* The other bank becomes empty. */
static tendon_status change_bank(tendon_simulated_store *store, uint8_t bank) {
    for (uint32_t i = 0; i < store->bank_pages; i++) {
        tendon_status status =
            tendon_simulated_flash_erase(store->flash, store->first_page + bank * store->bank_pages + i);
        if (status != TENDON_OK) {
            return status;
        }
    }
    return TENDON_OK;
}

tendon_status tendon_simulated_store_write(tendon_simulated_store *store, const uint8_t *bytes, uint32_t length) {
    uint8_t header[HEADER], bank = store->bank;
    uint32_t size = bank_size(store), at = store->end;
    if (length > size - HEADER || padded(length) > size - HEADER) {
        return TENDON_ERROR_OVERFLOW;
    }
    store->end = 0; /* unless this version becomes complete, the rest of the bank is not used */
    if (at == 0 || HEADER + padded(length) > bank_start(store, bank) + size - at) {
        bank = store->number == 0 ? 0 : bank ^ 1u;
        at = bank_start(store, bank);
        tendon_status status = change_bank(store, bank);
        if (status != TENDON_OK) {
            return status;
        }
    }
    tendon_writer writer = tendon_writer_make(header, sizeof header);
    tendon_write_u32le(&writer, length);
    tendon_write_u32le(&writer, store->number + 1);
    tendon_write_u32le(&writer, crc_of(header, bytes, length));
    tendon_status status = tendon_simulated_flash_program(store->flash, at + HEADER, bytes, length);
    if (status == TENDON_OK) {
        status = tendon_simulated_flash_program(store->flash, at, header, sizeof header);
    }
    if (status != TENDON_OK) {
        return status;
    }
    store->bank = bank;
    store->number++;
    store->at = at + HEADER;
    store->length = length;
    store->end = at + HEADER + padded(length);
    return TENDON_OK;
}
