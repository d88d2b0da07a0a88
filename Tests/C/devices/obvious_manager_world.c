/* SPDX-License-Identifier: MIT */
#include "obvious_manager_world.h"

obvious_manager_world w;
obvious_fixture *f;

void sign(uint8_t *data, size_t length, const char *domain) {
    mark_of(w.key.bytes, (const uint8_t *)domain, 13, data, length - 64, data + length - 64);
}

size_t make_package(uint8_t *out, uint8_t kind, uint8_t flags, uint64_t counter, uint16_t entries) {
    size_t length = 124 + 8 * (size_t)entries;
    memset(out, 0, length);
    memcpy(out, "OFP1\1", 5);
    out[5] = kind;
    out[6] = 1;
    out[7] = flags;
    put_number(out, 8, 1234, 4);
    put_number(out, 12, 0x1122334455667788, 8);
    put_number(out, 20, counter, 8);
    if ((flags & 1) != 0) {
        memset(out + 36, 0xA5, 16);
    }
    put_number(out, 56, entries, 2);
    put_number(out, 58, 8, 2);
    for (uint16_t i = 0; i < entries; i++) {
        put_number(out, 60 + 8u * i, i + 1u, 2);
        out[62 + 8u * i] = 1;
        out[63 + 8u * i] = 1;
    }
    sign(out, length, "OBVIOUS-OFP1");
    return length;
}

void give(int need) {
    assert_int_equal(tendon_obvious_manager_give(&w.manager, &w.answers[need], f->now), TENDON_OK);
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    static const char *const needs[] = {"package", "provision", "firmware", "image", "report"};
    (void)context, (void)now;
    switch (event->kind) {
    case TENDON_OBVIOUS_EVENT_NEED:
        note("need:%s ", needs[event->code]);
        if (event->code != TENDON_OBVIOUS_NEED_REPORT && !w.silent_cloud) {
            give(event->code);
        }
        break;
    case TENDON_OBVIOUS_EVENT_PROVISIONING:
        note("prov:%d ", event->code);
        break;
    case TENDON_OBVIOUS_EVENT_UPDATE:
        note("update:%d ", event->code);
        break;
    case TENDON_OBVIOUS_EVENT_CHANGED:
        note("changed:%zu ", event->count);
        break;
    default:
        w.done++;
        note("done:%d/%s ", event->code, tendon_obvious_status_name(event->status));
        break;
    }
}

static tendon_status store(void *context, const tendon_obvious_record *record) {
    (void)context;
    w.stores++;
    w.record = *record;
    return TENDON_OK;
}

static void load(void *context, tendon_obvious_record *record) {
    (void)context;
    if (w.kept.serial == record->serial) {
        *record = w.kept;
    }
}

void begin_world(uint16_t frame_max) {
    memset(&w, 0, sizeof w);
    f = fixture_new_with(frame_max, 8);
    f->quiet = true;
    w.ring = signer_ring(&w.key, &w.verified);
    const tendon_obvious_manager_config config = {.session = &f->session,
                                                  .ring = &w.ring,
                                                  .product = 1234,
                                                  .chunk_max = 4000,
                                                  .on_event = on_event,
                                                  .store = store,
                                                  .load = load};
    assert_int_equal(tendon_obvious_manager_init(&w.manager, &config), TENDON_OK);
    tendon_memory_radio_attach(&f->air, &tendon_obvious_manager_inputs, &w.manager);
    w.package_length = make_package(w.package, 1, 0, 42, 200);
    (void)make_package(w.provision, 4, 0, 42, 0);
    w.answers[TENDON_OBVIOUS_NEED_PACKAGE] = (tendon_obvious_answer){.data = w.package, .length = w.package_length};
    w.answers[TENDON_OBVIOUS_NEED_PROVISION] = (tendon_obvious_answer){.data = w.provision, .length = 124};
}

void begin(void) {
    begin_world(4096);
}

void end(void) {
    assert_int_equal(w.manager.illegal_inputs, 0);
    fixture_free(f);
}

void start_with(tendon_obvious_operation operation, tendon_obvious_feature *features, size_t count, uint64_t lowest) {
    w.kept = (tendon_obvious_record){.serial = 0x1122334455667788, .counter = lowest};
    assert_int_equal(tendon_obvious_manager_start(&w.manager, operation, features, count, f->now), TENDON_OK);
}

void start(tendon_obvious_operation operation) {
    start_with(operation, NULL, 0, 0);
}

/* Started, run to its end. */
void perform(tendon_obvious_operation operation) {
    unsigned before = w.done;
    start(operation);
    fixture_run(f, 1900000);
    assert_int_equal(w.done, before + 1);
}

void leave(obvious_fixture *fixture) {
    fixture->devices[0].present = false;
}
