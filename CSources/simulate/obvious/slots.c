/* SPDX-License-Identifier: MIT */
/*
 * Simulated Obvious device: where its flash memory has what, and what the bootloader keeps about the two images. Its
 * record: active u8, trial u8, boots u8, 0, epoch u32, trial_since u64, then two slots {state u8, version u32, size
 * u32, crc32 u32, epoch u32, sha256}. It is written before each step that it describes, so a power cut repeats the step
 * or leaves it undone.
 */
#include "obvious_parts.h"

#include "tendon/base/crc.h"

enum { BOOT_RECORD = 114, RECORD_PAGES = 256, PROGRESS_PAGES = 64, FEATURE_PAGES = 8256 };
/* Of a new device without an image of its own. */
static const uint8_t first_image[] = "Simulated Obvious firmware: it does nothing, but its bytes are checked.";

/* ---- layout ---- */

static uint32_t pages_of(const tendon_simulated_obvious *device, uint32_t bytes) {
    return TENDON_SIMULATED_OBVIOUS_PAGES(bytes, device->options.flash->page_size);
}

static uint32_t mount(tendon_simulated_obvious *device, tendon_simulated_store *store, uint32_t page, uint32_t bytes) {
    uint32_t pages = pages_of(device, bytes);
    tendon_simulated_store_mount(store, device->options.flash, page, pages);
    return page + 2 * pages;
}

static uint32_t lay_out(tendon_simulated_obvious *device) {
    uint32_t page = mount(device, &device->feature_store, 0, FEATURE_PAGES);
    page = mount(device, &device->boot_store, page, RECORD_PAGES);
    page = mount(device, &device->session_store, page, RECORD_PAGES);
    page = mount(device, &device->progress_store, page, PROGRESS_PAGES);
    device->package_page = page;
    page += pages_of(device, TENDON_OBVIOUS_PACKAGE_MAX);
    device->slot_page[0] = page;
    device->slot_page[1] = page + pages_of(device, device->options.image_max);
    return device->slot_page[1] + pages_of(device, device->options.image_max);
}

tendon_status tendon_simulated_obvious_lay_out(tendon_simulated_obvious *device) {
    uint32_t needed = pages_of(device, FEATURE_PAGES) + 2 * pages_of(device, RECORD_PAGES) +
                      pages_of(device, PROGRESS_PAGES) + pages_of(device, device->options.image_max);
    needed = 2 * needed + pages_of(device, TENDON_OBVIOUS_PACKAGE_MAX);
    return needed <= device->options.flash->page_count ? TENDON_OK : TENDON_ERROR_BUFFER_TOO_SMALL;
}

/* ---- the record ---- */

static void write_slot(tendon_writer *writer, const tendon_simulated_obvious_slot *slot) {
    tendon_write_u8(writer, slot->state);
    tendon_write_u32le(writer, slot->version);
    tendon_write_u32le(writer, slot->size);
    tendon_write_u32le(writer, slot->crc32);
    tendon_write_u32le(writer, slot->epoch);
    tendon_write_bytes(writer, slot->sha256, sizeof slot->sha256);
}

static void read_slot(tendon_reader *reader, tendon_simulated_obvious_slot *slot) {
    slot->state = tendon_read_u8(reader);
    slot->version = tendon_read_u32le(reader);
    slot->size = tendon_read_u32le(reader);
    slot->crc32 = tendon_read_u32le(reader);
    slot->epoch = tendon_read_u32le(reader);
    const uint8_t *sha256 = tendon_read_bytes(reader, sizeof slot->sha256);
    if (sha256 != NULL) {
        memcpy(slot->sha256, sha256, sizeof slot->sha256);
    }
}

uint8_t tendon_simulated_obvious_write_boot(tendon_simulated_obvious *device,
                                            const tendon_simulated_obvious_boot *boot) {
    uint8_t record[BOOT_RECORD];
    tendon_writer writer = tendon_writer_make(record, sizeof record);
    tendon_write_u8(&writer, boot->active);
    tendon_write_u8(&writer, boot->trial);
    tendon_write_u8(&writer, boot->boots);
    tendon_write_u8(&writer, 0);
    tendon_write_u32le(&writer, boot->epoch);
    tendon_write_u64le(&writer, boot->trial_since);
    write_slot(&writer, &boot->slots[0]);
    write_slot(&writer, &boot->slots[1]);
    if (tendon_simulated_store_write(&device->boot_store, record, (uint32_t)writer.length) != TENDON_OK) {
        return FLASH_FAILED;
    }
    device->boot = *boot;
    return OK;
}

static bool read_boot(tendon_simulated_obvious *device) {
    size_t length;
    const uint8_t *record = tendon_simulated_store_read(&device->boot_store, &length);
    if (record == NULL) {
        return false;
    }
    tendon_simulated_obvious_boot boot = {0};
    tendon_reader reader = tendon_reader_make(record, length);
    boot.active = tendon_read_u8(&reader);
    boot.trial = tendon_read_u8(&reader);
    boot.boots = tendon_read_u8(&reader);
    (void)tendon_read_u8(&reader);
    boot.epoch = tendon_read_u32le(&reader);
    boot.trial_since = tendon_read_u64le(&reader);
    read_slot(&reader, &boot.slots[0]);
    read_slot(&reader, &boot.slots[1]);
    if (!tendon_reader_ok(&reader) || boot.active > 1) {
        return false;
    }
    device->boot = boot;
    return true;
}

/* A new device gets its firmware in slot 0. The record comes last: what is interrupted is done again. */
static void manufacture(tendon_simulated_obvious *device) {
    tendon_simulated_flash *flash = device->options.flash;
    const uint8_t *image = device->options.image != NULL ? device->options.image : first_image;
    uint32_t length = device->options.image != NULL ? device->options.image_length : sizeof first_image;
    uint32_t page = device->slot_page[0];
    tendon_simulated_obvious_boot boot = {.epoch = device->options.epoch};
    boot.slots[0] = (tendon_simulated_obvious_slot){.state = SLOT_CONFIRMED,
                                                    .version = device->options.firmware,
                                                    .size = length,
                                                    .crc32 = tendon_crc32(0, image, length),
                                                    .epoch = device->options.epoch};
    const tendon_obvious_crypto *crypto = &device->options.keys->crypto;
    crypto->sha256(crypto->context, image, length, boot.slots[0].sha256);
    for (uint32_t i = 0; i < pages_of(device, length); i++) {
        (void)tendon_simulated_flash_erase(flash, page + i);
    }
    if (tendon_simulated_flash_program(flash, page * flash->page_size, image, length) == TENDON_OK) {
        (void)tendon_simulated_obvious_write_boot(device, &boot);
    }
}

void tendon_simulated_obvious_load_slots(tendon_simulated_obvious *device) {
    (void)lay_out(device);
    if (!read_boot(device)) {
        manufacture(device);
    }
}

bool tendon_simulated_obvious_is_expired(const tendon_simulated_obvious *device, uint64_t now) {
    return device->boot.boots > 0 && now - device->boot.trial_since >= TENDON_SIMULATED_OBVIOUS_TRIAL_MS;
}

/* ---- images ---- */

uint32_t tendon_simulated_obvious_version(const tendon_simulated_obvious *device) {
    return device->boot.slots[device->slot].version;
}

bool tendon_simulated_obvious_in_trial(const tendon_simulated_obvious *device) {
    return device->slot != device->boot.active && !device->recovery &&
           device->boot.slots[device->slot].state != SLOT_CONFIRMED;
}

uint16_t tendon_simulated_obvious_trial_left(const tendon_simulated_obvious *device, uint64_t now) {
    if (!tendon_simulated_obvious_in_trial(device) || device->boot.trial == 0 ||
        tendon_simulated_obvious_is_expired(device, now)) {
        return 0;
    }
    uint64_t passed = now - device->boot.trial_since;
    return (uint16_t)((TENDON_SIMULATED_OBVIOUS_TRIAL_MS - passed) / 1000);
}

uint8_t tendon_simulated_obvious_clear_slot(tendon_simulated_obvious *device) {
    tendon_simulated_obvious_boot boot = device->boot;
    if (boot.slots[boot.active ^ 1].state == SLOT_EMPTY) {
        return OK;
    }
    boot.slots[boot.active ^ 1].state = SLOT_EMPTY;
    return tendon_simulated_obvious_write_boot(device, &boot);
}

uint8_t tendon_simulated_obvious_stage(tendon_simulated_obvious *device, const tendon_obvious_manifest *manifest) {
    tendon_simulated_obvious_boot boot = device->boot;
    tendon_simulated_obvious_slot *slot = &boot.slots[boot.active ^ 1];
    slot->state = SLOT_COMPLETE;
    slot->version = manifest->version;
    slot->size = manifest->size;
    slot->crc32 = manifest->crc32;
    slot->epoch = manifest->epoch;
    memcpy(slot->sha256, manifest->sha256, sizeof slot->sha256);
    return tendon_simulated_obvious_write_boot(device, &boot);
}

/* ---- the rest ---- */

uint32_t tendon_simulated_obvious_random(tendon_simulated_obvious *device) {
    device->random ^= device->random << 13;
    device->random ^= device->random >> 7;
    device->random ^= device->random << 17;
    return (uint32_t)(device->random >> 16);
}

uint8_t tendon_simulated_obvious_caps(const tendon_simulated_obvious *device) {
    uint32_t all = device->recovery ? CAP_OTA | CAP_RESUME | CAP_TRIAL | CAP_NONCE : 0xFFu;
    return (uint8_t)(all & ~(uint32_t)device->options.lacks_caps);
}
