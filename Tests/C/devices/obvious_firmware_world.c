/* SPDX-License-Identifier: MIT */
#include "obvious_firmware_world.h"

#include "tendon/base/crc.h"

obvious_firmware_world w;
obvious_fixture *f;

void make_manifest(uint32_t version, uint32_t epoch, uint32_t product) {
    uint8_t *m = w.manifest;
    memset(m, 0, sizeof w.manifest);
    memcpy(m, "OFM1\1\1", 6);
    put_number(m, 8, product, 4);
    put_number(m, 12, version, 4);
    put_number(m, 20, 999999999, 4);
    put_number(m, 24, IMAGE, 4);
    put_number(m, 28, tendon_crc32(0, w.image, IMAGE), 4);
    memcpy(m + 32, w.sha256, 32);
    put_number(m, 64, epoch, 4);
    mark_of(w.key.bytes, (const uint8_t *)"OBVIOUS-OFM1", 13, m, 72, m + 72);
}

void answer(int need) {
    const tendon_obvious_answer *given = need == TENDON_OBVIOUS_NEED_FIRMWARE ? &w.offer : &w.download;
    assert_int_equal(tendon_obvious_manager_give(&w.manager, given, f->now), TENDON_OK);
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    static const char *const needs[] = {"package", "provision", "firmware", "image", "report"};
    (void)context, (void)now;
    switch (event->kind) {
    case TENDON_OBVIOUS_EVENT_NEED:
        note("need:%s ", needs[event->code]);
        if (event->code != TENDON_OBVIOUS_NEED_REPORT && !w.silent_cloud) {
            answer(event->code);
        }
        break;
    case TENDON_OBVIOUS_EVENT_PROGRESS:
        if (event->code == TENDON_OBVIOUS_PROGRESS_PREPARING || event->code == TENDON_OBVIOUS_PROGRESS_RESETTING) {
            note(event->code == TENDON_OBVIOUS_PROGRESS_PREPARING ? "prep " : "resetting ");
        } else {
            note("%d%% ", event->code);
        }
        break;
    case TENDON_OBVIOUS_EVENT_DONE:
        w.done++;
        note("done:%d/%s ", event->code, tendon_obvious_status_name(event->status));
        break;
    default:
        fail();
    }
}

static void step(void) {
    if (!w.cut && ++w.steps == w.cut_at) {
        w.cut = true;
        f->devices[0].silent = true; /* the device hears nothing more */
    }
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    assert_true(offset <= IMAGE && length <= IMAGE - offset);
    w.reads++;
    w.passes += offset == 0;
    if (w.heals && w.passes == 2) { /* the flash memory of the device works the second time */
        f->device.error[TENDON_OBVIOUS_XFER_END] = 0;
    }
    memcpy(buffer, w.image + offset, length);
    step();
    return w.unreadable ? TENDON_ERROR_NOT_FOUND : TENDON_OK;
}

static tendon_status store(void *context, const tendon_obvious_record *record) {
    (void)context;
    if (w.cut) { /* there is no gateway any more */
        return TENDON_OK;
    }
    if (w.traces_records) {
        note("rec:%d ", record->state);
    }
    assert_true(w.stores < JOURNAL_MAX);
    w.journal[w.stores++] = *record;
    step();
    return w.stores == w.fail_store ? TENDON_ERROR_TABLE_FULL : TENDON_OK;
}

/* What a trial boot does: the staged image runs. */
void boot_staged(obvious_fixture *fixture) {
    fixture_device *d = &fixture->device;
    if (d->staged_state == 2) {
        d->rollback = d->active;
        d->active = d->fw = d->staged;
        d->active_state = 2;
        d->staged = 0xFFFFFFFF;
        d->staged_state = 0;
    }
}

static void load(void *context, tendon_obvious_record *record) {
    (void)context;
    if (w.kept.serial == record->serial) {
        *record = w.kept;
    }
}

void init_manager(void) {
    const tendon_obvious_manager_config config = {.session = &f->session,
                                                  .ring = &w.ring,
                                                  .product = 1234,
                                                  .chunk_max = 4000,
                                                  .min_battery = 20,
                                                  .on_event = on_event,
                                                  .read = read_image,
                                                  .store = store,
                                                  .load = load};
    assert_int_equal(tendon_obvious_manager_init(&w.manager, &config), TENDON_OK);
}

void begin(void) {
    memset(&w, 0, sizeof w);
    f = fixture_new();
    f->quiet = true;
    f->device.reboots = true;
    f->device.on_reset = boot_staged;
    f->device.chunk_max = 1000;
    w.ring = signer_ring(&w.key, &w.verified);
    for (size_t i = 0; i < IMAGE; i++) {
        w.image[i] = (uint8_t)(7 * i);
    }
    signer_sha256(NULL, w.image, IMAGE, w.sha256);
    make_manifest(NEW, 3, 1234);
    w.offer = (tendon_obvious_answer){.data = w.manifest, .length = sizeof w.manifest};
    w.download = w.offer;
    w.download.image_length = IMAGE;
    w.download.image_crc32 = tendon_crc32(0, w.image, IMAGE);
    w.download.image_sha256 = w.sha256;
    init_manager();
    tendon_memory_radio_attach(&f->air, &tendon_obvious_manager_inputs, &w.manager);
}

void end(void) {
    assert_int_equal(w.manager.illegal_inputs, 0);
    fixture_free(f);
}

void start_from(tendon_obvious_operation operation, const tendon_obvious_record *record) {
    w.kept = record != NULL ? *record : (tendon_obvious_record){0};
    assert_int_equal(tendon_obvious_manager_start(&w.manager, operation, NULL, 0, f->now), TENDON_OK);
}

void upgrade(void) {
    start_from(TENDON_OBVIOUS_UPGRADE_FIRMWARE, NULL);
}

void perform_upgrade(void) {
    unsigned before = w.done;
    upgrade();
    fixture_run(f, 2000000);
    assert_int_equal(w.done, before + 1);
}

const tendon_obvious_record *last_record(void) {
    assert_true(w.stores > 0);
    return &w.journal[w.stores - 1];
}

void run_to(uint8_t opcode, unsigned times) {
    for (int i = 0; i < 100000 && fixture_times(f, opcode) < times; i++) {
        tendon_memory_radio_tick(&f->air, f->now);
        f->now = tendon_memory_radio_deadline(&f->air) > f->now ? f->now + 1 : f->now;
    }
    assert_true(fixture_times(f, opcode) >= times);
}

void roll_back(obvious_fixture *fixture) {
    fixture->device.staged = 0xFFFFFFFF;
    fixture->device.staged_state = 0;
}

void leaves(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->devices[0].present = false;
}

uint8_t mute_after_reset;

void boot_and_mute(obvious_fixture *fixture) {
    boot_staged(fixture);
    fixture->device.mute[mute_after_reset] = true;
}

/* Requests without a response, of the trial firmware and before. */
