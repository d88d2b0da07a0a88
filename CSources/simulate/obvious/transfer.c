/* SPDX-License-Identifier: MIT */
/*
 * Simulated Obvious device: transfers of objects. Data is programmed as it arrives. At the end of each page, the offset
 * and the CRC so far are recorded: after a disconnection or a reboot the transfer continues there, and a page that is
 * not complete is erased and written again.
 */
#include "obvious_parts.h"

#include "tendon/base/crc.h"

enum { BEGIN_SIZE = 46, DATA_HEADER = 8, FLAG_RESUME = 1, REASON_MAX = 3, RESULT_STAGED = 2 };
enum { SESSION_RECORD = 191, PROGRESS_RECORD = 12, VERSION_AT = 12 };

/* ---- records ---- */

static uint8_t write_session(tendon_simulated_obvious *device) {
    const tendon_simulated_obvious_session *session = &device->session;
    uint8_t record[SESSION_RECORD];
    tendon_writer writer = tendon_writer_make(record, sizeof record);
    tendon_write_u32le(&writer, session->id);
    tendon_write_u8(&writer, session->obj);
    tendon_write_u8(&writer, session->state);
    tendon_write_u8(&writer, session->slot);
    tendon_write_u32le(&writer, session->size);
    tendon_write_u32le(&writer, session->crc32);
    tendon_write_bytes(&writer, session->sha256, sizeof session->sha256);
    tendon_write_bytes(&writer, session->manifest, sizeof session->manifest);
    tendon_write_u64le(&writer, session->began);
    return tendon_simulated_store_write(&device->session_store, record, (uint32_t)writer.length) == TENDON_OK
               ? OK
               : FLASH_FAILED;
}

static uint8_t write_progress(tendon_simulated_obvious *device, uint32_t offset, uint32_t crc) {
    uint8_t record[PROGRESS_RECORD];
    tendon_writer writer = tendon_writer_make(record, sizeof record);
    tendon_write_u32le(&writer, device->session.id);
    tendon_write_u32le(&writer, offset);
    tendon_write_u32le(&writer, crc);
    if (tendon_simulated_store_write(&device->progress_store, record, sizeof record) != TENDON_OK) {
        return FLASH_FAILED;
    }
    device->session.page_offset = offset;
    device->session.page_crc = crc;
    return OK;
}

/* Where the object is in the flash memory. */
static uint32_t place_of(const tendon_simulated_obvious *device) {
    uint32_t page =
        device->session.obj == OBJ_FIRMWARE ? device->slot_page[device->session.slot] : device->package_page;
    return page * device->options.flash->page_size;
}

/* Back to the last page that is complete. */
static void rewind_to_page(tendon_simulated_obvious_session *session) {
    session->offset = session->page_offset;
    session->crc = session->page_crc;
}

static void load_progress(tendon_simulated_obvious *device) {
    size_t length;
    const uint8_t *record = tendon_simulated_store_read(&device->progress_store, &length);
    if (record == NULL) {
        return;
    }
    tendon_reader reader = tendon_reader_make(record, length);
    uint32_t id = tendon_read_u32le(&reader), offset = tendon_read_u32le(&reader), crc = tendon_read_u32le(&reader);
    const uint8_t *data = device->options.flash->memory + place_of(device);
    if (tendon_reader_ok(&reader) && id == device->session.id && offset <= device->session.size &&
        tendon_crc32(0, data, offset) == crc) {
        device->session.page_offset = offset;
        device->session.page_crc = crc;
    }
}

/* The largest object of its kind. */
static uint32_t size_max(const tendon_simulated_obvious *device, uint8_t obj) {
    return obj == OBJ_FIRMWARE ? device->options.image_max : TENDON_OBVIOUS_PACKAGE_MAX;
}

/* False: not a record of this device. The file of the flash memory is the host's. */
static bool read_session(const tendon_simulated_obvious *device, tendon_reader *reader,
                         tendon_simulated_obvious_session *session) {
    session->id = tendon_read_u32le(reader);
    session->obj = tendon_read_u8(reader);
    session->state = tendon_read_u8(reader);
    session->slot = tendon_read_u8(reader);
    session->size = tendon_read_u32le(reader);
    session->crc32 = tendon_read_u32le(reader);
    const uint8_t *sha256 = tendon_read_bytes(reader, sizeof session->sha256);
    const uint8_t *manifest = tendon_read_bytes(reader, sizeof session->manifest);
    session->began = tendon_read_u64le(reader);
    if (!tendon_reader_ok(reader) || session->slot > 1 || session->size > size_max(device, session->obj)) {
        return false;
    }
    memcpy(session->sha256, sha256, sizeof session->sha256);
    memcpy(session->manifest, manifest, sizeof session->manifest);
    return true;
}

void tendon_simulated_obvious_load_session(tendon_simulated_obvious *device, uint64_t now) {
    tendon_simulated_obvious_session *session = &device->session, stored = {0};
    size_t length;
    const uint8_t *record = tendon_simulated_store_read(&device->session_store, &length);
    memset(session, 0, sizeof *session);
    if (record == NULL) {
        return;
    }
    tendon_reader reader = tendon_reader_make(record, length);
    if (!read_session(device, &reader, &stored)) {
        return;
    }
    *session = stored;
    session->began = session->began > now ? now : session->began; /* the host's clock has started again */
    if (session->id != 0) {
        load_progress(device);
        rewind_to_page(session);
        tendon_simulated_obvious_settle_session(device);
    }
}

void tendon_simulated_obvious_settle_session(tendon_simulated_obvious *device) {
    if (device->session.obj == OBJ_FIRMWARE && device->session.slot == device->boot.active) {
        device->session.state = STATE_APPLIED;
    }
}

const tendon_simulated_obvious_session *tendon_simulated_obvious_current(tendon_simulated_obvious *device,
                                                                         uint64_t now) {
    tendon_simulated_obvious_session *session = &device->session;
    if (session->id != 0 && now - session->began >= TENDON_SIMULATED_OBVIOUS_SESSION_MS) {
        memset(session, 0, sizeof *session);
        (void)write_session(device);
    }
    return session;
}

void tendon_simulated_obvious_disown(tendon_simulated_obvious *device, const tendon_simulated_obvious_link *link) {
    if (device->session.owner == link) {
        device->session.owner = NULL;
        rewind_to_page(&device->session);
    }
}

/* ---- who may ---- */

/* True if another gateway transfers now. */
static bool is_busy(obvious_request *r) {
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(r->device, r->now);
    return session->state == STATE_RECEIVING && session->owner != r->link && session->active != 0 &&
           r->now - session->active < TENDON_SIMULATED_OBVIOUS_BUSY_MS;
}

static void own(obvious_request *r) {
    r->device->session.owner = r->link;
    r->device->session.active = r->now;
}

/* The session that a request names. */
static uint8_t check_session(obvious_request *r, uint32_t id) {
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(r->device, r->now);
    if (session->id == 0 || id != session->id) {
        return NO_SESSION;
    }
    if (session->owner != NULL && is_busy(r)) {
        return BUSY;
    }
    own(r);
    return OK;
}

/* ---- XFER_BEGIN ---- */

typedef struct begin {
    uint8_t obj, flags;
    uint16_t chunk_max, manifest_length;
    uint32_t size, crc32;
    const uint8_t *sha256, *manifest;
} begin;

static uint8_t read_begin(obvious_request *r, begin *out) {
    out->obj = tendon_read_u8(&r->in);
    out->flags = tendon_read_u8(&r->in);
    out->chunk_max = tendon_read_u16le(&r->in);
    out->size = tendon_read_u32le(&r->in);
    out->crc32 = tendon_read_u32le(&r->in);
    out->sha256 = tendon_read_bytes(&r->in, TENDON_OBVIOUS_SHA256_SIZE);
    out->manifest_length = tendon_read_u16le(&r->in);
    if (r->length != BEGIN_SIZE + (size_t)out->manifest_length) {
        return BAD_LENGTH;
    }
    out->manifest = tendon_read_bytes(&r->in, out->manifest_length);
    size_t manifest_length = out->obj == OBJ_FIRMWARE ? TENDON_OBVIOUS_MANIFEST_SIZE : 0;
    bool good = out->obj >= OBJ_PACKAGE && out->obj <= OBJ_PROVISION && (out->flags & ~FLAG_RESUME) == 0 &&
                out->chunk_max != 0 && out->size >= 1 && out->size <= TENDON_OBVIOUS_OBJECT_MAX &&
                out->manifest_length == manifest_length;
    return good ? OK : BAD_PARAM;
}

/* Whether the device takes such an object now. */
static uint8_t check_begin(obvious_request *r, const begin *wish) {
    static const uint8_t caps[] = {
        [OBJ_PACKAGE] = CAP_UPDATE, [OBJ_FIRMWARE] = CAP_OTA | CAP_TRIAL, [OBJ_PROVISION] = CAP_PROVISIONING};
    tendon_simulated_obvious *device = r->device;
    uint8_t needs = (uint8_t)(caps[wish->obj] | ((wish->flags & FLAG_RESUME) != 0 ? CAP_RESUME : 0));
    if ((needs & ~tendon_simulated_obvious_caps(device)) != 0) {
        return NOT_SUPPORTED;
    }
    if (wish->size > size_max(device, wish->obj)) {
        return TOO_LARGE;
    }
    if (wish->obj == OBJ_PACKAGE && !device->provisioned) {
        return NOT_PROVISIONED;
    }
    if (wish->obj == OBJ_FIRMWARE && device->battery < BATTERY_LOW) {
        return LOW_POWER;
    }
    if (wish->obj == OBJ_FIRMWARE && device->boot.trial != 0) {
        return BUSY; /* the other slot holds what it would go back to */
    }
    return OK;
}

static uint8_t start_session(obvious_request *r, const begin *wish) {
    tendon_simulated_obvious *device = r->device;
    tendon_simulated_obvious_session *session = &device->session;
    if (wish->obj == OBJ_FIRMWARE) {
        uint8_t status = tendon_simulated_obvious_clear_slot(device);
        if (status != OK) {
            return status;
        }
    }
    memset(session, 0, sizeof *session);
    do {
        session->id = tendon_simulated_obvious_random(device);
    } while (session->id == 0);
    session->obj = wish->obj;
    session->slot = device->boot.active ^ 1u;
    session->state = STATE_RECEIVING;
    session->size = wish->size;
    session->crc32 = wish->crc32;
    memcpy(session->sha256, wish->sha256, sizeof session->sha256);
    memcpy(session->manifest, wish->manifest, wish->manifest_length);
    session->began = r->now;
    return write_session(device);
}

/* Continues where the last complete page ends. */
static uint8_t continue_session(obvious_request *r) {
    tendon_simulated_obvious_session *session = &r->device->session;
    rewind_to_page(session);
    session->began = r->now;
    return write_session(r->device);
}

static void write_begin(obvious_request *r, uint16_t chunk_max) {
    tendon_simulated_obvious *device = r->device;
    const tendon_simulated_obvious_session *session = &device->session;
    tendon_simulated_obvious_lie lie = TENDON_SIMULATED_OBVIOUS_LIE_COUNT;
    if (device->lie_next > 0 && device->lie <= TENDON_SIMULATED_OBVIOUS_LIE_SESSION) {
        device->lie_next--;
        device->counters.faults++;
        lie = (tendon_simulated_obvious_lie)device->lie;
    }
    tendon_write_u32le(&r->out, lie == TENDON_SIMULATED_OBVIOUS_LIE_SESSION ? 0 : session->id);
    tendon_write_u32le(&r->out, lie == TENDON_SIMULATED_OBVIOUS_LIE_OFFSET ? session->size + 1 : session->offset);
    tendon_write_u16le(&r->out, chunk_max);
    tendon_write_u32le(&r->out, session->crc ^ (lie == TENDON_SIMULATED_OBVIOUS_LIE_CRC ? 1u : 0));
}

uint8_t tendon_simulated_obvious_xfer_begin(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    begin wish;
    uint8_t status = read_begin(r, &wish);
    if (status == OK) {
        status = check_begin(r, &wish);
    }
    if (status != OK) {
        return status;
    }
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(device, r->now);
    bool same = session->id != 0 && session->obj == wish.obj && session->size == wish.size &&
                session->crc32 == wish.crc32 && memcmp(session->sha256, wish.sha256, sizeof session->sha256) == 0 &&
                memcmp(session->manifest, wish.manifest, wish.manifest_length) == 0;
    if (!same && is_busy(r)) {
        return BUSY;
    }
    bool resumes = same && (wish.flags & FLAG_RESUME) != 0 && session->state != STATE_APPLIED;
    status = resumes ? continue_session(r) : start_session(r, &wish);
    if (status != OK) {
        return status;
    }
    own(r);
    uint32_t room = r->link->frame_max - (uint32_t)(FRAME_SIZE_MIN + DATA_HEADER);
    uint32_t chunk_max = wish.chunk_max < device->options.chunk_max ? wish.chunk_max : device->options.chunk_max;
    write_begin(r, (uint16_t)(chunk_max < room ? chunk_max : room));
    return OK;
}

/* ---- XFER_DATA ---- */

/* Up to the end of a page. */
static uint8_t program_part(tendon_simulated_obvious *device, const uint8_t *bytes, uint32_t length) {
    tendon_simulated_obvious_session *session = &device->session;
    tendon_simulated_flash *flash = device->options.flash;
    uint32_t at = place_of(device) + session->offset;
    if (session->offset % flash->page_size == 0 &&
        tendon_simulated_flash_erase(flash, at / flash->page_size) != TENDON_OK) {
        return FLASH_FAILED;
    }
    if (tendon_simulated_flash_program(flash, at, bytes, length) != TENDON_OK) {
        return FLASH_FAILED;
    }
    session->offset += length;
    session->crc = tendon_crc32(session->crc, bytes, length);
    bool complete = session->offset % flash->page_size == 0 || session->offset == session->size;
    return complete ? write_progress(device, session->offset, session->crc) : OK;
}

static void report_progress(tendon_simulated_obvious *device) {
    uint8_t payload[12];
    tendon_writer writer = tendon_writer_make(payload, sizeof payload);
    tendon_write_u32le(&writer, device->session.id);
    tendon_write_u32le(&writer, device->session.page_offset);
    tendon_write_u32le(&writer, device->session.size);
    tendon_simulated_obvious_event(device, EVT_XFER_PROGRESS, payload, sizeof payload, NULL);
}

static uint8_t program(tendon_simulated_obvious *device, const uint8_t *bytes, uint32_t length) {
    uint32_t page_size = device->options.flash->page_size, before = device->session.page_offset;
    uint8_t status = OK;
    while (length > 0 && status == OK) {
        uint32_t room = page_size - device->session.offset % page_size;
        uint32_t part = length < room ? length : room;
        status = program_part(device, bytes, part);
        bytes += part;
        length -= part;
    }
    if (status != OK) {
        rewind_to_page(&device->session);
    } else if (device->options.reports_progress && device->session.page_offset != before) {
        report_progress(device);
    }
    return status;
}

uint8_t tendon_simulated_obvious_xfer_data(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    uint32_t id = tendon_read_u32le(&r->in), offset = tendon_read_u32le(&r->in);
    uint32_t length = (uint32_t)(r->length - DATA_HEADER);
    uint8_t status = length > device->options.chunk_max ? BAD_LENGTH : check_session(r, id);
    if (status != OK) {
        return status;
    }
    tendon_simulated_obvious_session *session = &device->session;
    if (offset != session->offset) {
        tendon_write_u32le(&r->out, session->offset);
        return BAD_OFFSET;
    }
    if (length > session->size - session->offset) {
        return TOO_LARGE;
    }
    status = program(device, tendon_read_bytes(&r->in, length), length);
    if (status != OK) {
        return status;
    }
    device->counters.data_bytes += length;
    bool lie = device->lie_next > 0 && device->lie == TENDON_SIMULATED_OBVIOUS_LIE_NEXT;
    device->lie_next -= lie;
    device->counters.faults += lie;
    tendon_write_u32le(&r->out, session->offset + (lie ? 1u : 0));
    return OK;
}

/* ---- the others ---- */

uint8_t tendon_simulated_obvious_xfer_status(obvious_request *r) {
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(r->device, r->now);
    uint32_t id = tendon_read_u32le(&r->in);
    if (id != 0 && id != session->id) {
        return NO_SESSION;
    }
    tendon_write_u8(&r->out, session->obj);
    tendon_write_u8(&r->out, session->state);
    tendon_write_u32le(&r->out, session->id);
    tendon_write_u32le(&r->out, session->offset);
    tendon_write_u32le(&r->out, session->size);
    tendon_write_u32le(&r->out, session->crc32);
    tendon_write_bytes(&r->out, session->sha256, sizeof session->sha256);
    return OK;
}

/* What arrived is not what was announced: it starts again. */
static uint8_t discard(tendon_simulated_obvious *device) {
    (void)write_progress(device, 0, 0);
    device->session.page_offset = device->session.page_crc = 0;
    rewind_to_page(&device->session);
    return HASH_MISMATCH;
}

static uint8_t take_firmware(tendon_simulated_obvious *device, const uint8_t *data) {
    const tendon_simulated_obvious_session *session = &device->session;
    const tendon_obvious_manifest_state state = {.product = device->options.product,
                                                 .current = tendon_simulated_obvious_version(device),
                                                 .epoch = device->boot.epoch};
    tendon_obvious_manifest manifest;
    if (device->boot.trial != 0) {
        return BUSY;
    }
    tendon_status verified = tendon_obvious_verify_manifest(session->manifest, sizeof session->manifest,
                                                            device->options.keys, &state, &manifest);
    if (verified == TENDON_OK) {
        uint32_t crc = tendon_crc32(0, data, session->size);
        verified = tendon_obvious_check_image(&manifest, session->size, crc, session->sha256);
    }
    if (session->slot == device->boot.active) {
        return NO_SESSION;
    }
    return verified == TENDON_OK ? tendon_simulated_obvious_stage(device, &manifest) : TENDON_STATUS_CODE(verified);
}

uint8_t tendon_simulated_obvious_xfer_end(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    tendon_simulated_obvious_session *session = &device->session;
    uint8_t status = check_session(r, tendon_read_u32le(&r->in)), hash[TENDON_OBVIOUS_SHA256_SIZE];
    if (status != OK) {
        return status;
    }
    if (session->offset != session->size) {
        return BAD_LENGTH;
    }
    const uint8_t *data = device->options.flash->memory + place_of(device);
    const tendon_obvious_crypto *crypto = &device->options.keys->crypto;
    crypto->sha256(crypto->context, data, session->size, hash);
    if (session->crc != session->crc32 || memcmp(hash, session->sha256, sizeof hash) != 0) {
        return discard(device);
    }
    uint8_t result = RESULT_STAGED, flags = 0, done = STATE_COMPLETE;
    if (session->obj == OBJ_FIRMWARE) {
        status = take_firmware(device, data);
    } else {
        status = tendon_simulated_obvious_apply_package(r, data, session->size, session->obj, &result, &flags);
        done = STATE_APPLIED;
    }
    if (status != OK) {
        return status;
    }
    if (session->state != done) {
        session->state = done;
        (void)write_session(device); /* if it fails: after a boot, the end can be requested again */
    }
    tendon_write_u8(&r->out, result);
    tendon_write_u8(&r->out, flags);
    tendon_write_u16le(&r->out, 0);
    return OK;
}

uint8_t tendon_simulated_obvious_xfer_abort(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(device, r->now);
    uint32_t id = tendon_read_u32le(&r->in);
    if (tendon_read_u8(&r->in) > REASON_MAX) {
        return BAD_PARAM;
    }
    if (session->id == 0 || (id != 0 && id != session->id)) {
        return id == 0 ? OK : NO_SESSION;
    }
    if (session->owner != NULL && is_busy(r)) {
        return BUSY;
    }
    memset(&device->session, 0, sizeof device->session);
    return write_session(device);
}
