/* SPDX-License-Identifier: MIT */
/* Bose: recorded runs of all values near those that devices send, of changes of a configuration, and of a search among
 * wearables that come and go. */
#include "test_recording.h"

#include "tendon/devices/bose_codec.h"
#include "tendon/devices/bose_search.h"

enum { RUNS = 12, VALUES = 2500, LIVES = 20, REPORTS = 150, CAPACITY = 4 };

/* ---- values ---- */

static void device_information(recording *r, const block *b, tendon_bose_device_information *out) {
    tendon_bose_device_information v = {0};
    size_t offset = 99;
    tendon_status status = tendon_bose_decode_device_information(b->data, b->length, &v, &offset);
    note(r, "device %d: %d %d %x %d %x %x, %d %d %d, %x, %u more, at %u", status, v.major, v.minor, v.product_id,
         v.variant, (unsigned)v.sensor_mask, (unsigned)v.gesture_mask, v.transmission_period_ms, v.max_payload,
         v.max_active_sensors, v.status, (unsigned)v.trailing_bytes, (unsigned)offset);
    note(r, "suspended %d by %s; %s %s", tendon_bose_suspended(v.status),
         tendon_bose_suspension_reason_name(tendon_bose_suspension_reason_of(v.status)),
         tendon_bose_product_name(v.product_id), tendon_bose_variant_name(v.product_id, v.variant));
    *out = status == TENDON_OK ? v : *out;
}

static void sensor_information(recording *r, const block *b, tendon_bose_sensor_information *out) {
    tendon_bose_sensor_information v;
    memset(&v, 0, sizeof v);
    size_t offset = 99;
    tendon_status status = tendon_bose_decode_sensor_information(b->data, b->length, &v, &offset);
    note(r, "sensors %d: %u, %u rejected, %u again, %u more, at %u", status, (unsigned)v.count,
         (unsigned)v.rejected_count, (unsigned)v.duplicates, (unsigned)v.trailing_bytes, (unsigned)offset);
    note_bytes(r, "usual", v.usual, sizeof v.usual);
    for (size_t i = 0; i < v.count; i++) {
        const tendon_bose_sensor_record *record = &v.records[i];
        note(r, "sensor %d: %d %d, %d %d, %x, %d, found %d", record->sensor_id, record->scaled_min, record->scaled_max,
             record->raw_min, record->raw_max, record->period_mask, record->sample_length,
             tendon_bose_find_sensor(&v, record->sensor_id) == record);
    }
    for (size_t i = 0; i < v.rejected_count; i++) {
        note(r, "rejected %d at %d: %d", v.rejected[i].sensor_id, v.rejected[i].offset, v.rejected[i].status);
    }
    *out = status == TENDON_OK && v.count > 0 ? v : *out;
}

static void note_configuration(recording *r, const tendon_bose_sensor_configuration *c) {
    uint8_t bytes[3 * TENDON_BOSE_SENSORS_MAX] = {0};
    size_t capacity = choose(r, 4) == 0 ? choose(r, 12) : sizeof bytes;
    note(r, "encoded %d", tendon_bose_encode_sensor_configuration(c, bytes, capacity));
    note_bytes(r, "bytes", bytes, 3 * c->count);
    note(r, "period %d", tendon_bose_enabled_period(c));
}

static void sensor_configuration(recording *r, const block *b, const tendon_bose_sensor_information *sensors) {
    static const uint16_t periods[] = {0, 5, 10, 20, 40, 80, 160, 320, 33};
    tendon_bose_sensor_configuration c;
    memset(&c, 0, sizeof c);
    size_t offset = 99;
    note(r, "configuration %d", tendon_bose_decode_sensor_configuration(b->data, b->length, &c, &offset));
    note(r, "%u, %u more, at %u", (unsigned)c.count, (unsigned)c.trailing_bytes, (unsigned)offset);
    for (int i = 0; i < 4; i++) {
        note_configuration(r, &c);
        uint16_t period = periods[choose(r, 9)];
        uint8_t id = (uint8_t)choose(r, 6);
        const tendon_bose_sensor_information *known = choose(r, 3) == 0 ? NULL : sensors;
        switch (choose(r, 8)) {
        case 0:
            note(r, "disable %d", tendon_bose_disable_sensor(&c, id));
            break;
        case 1:
            note(r, "period %d", tendon_bose_set_sensor_period(&c, period, known));
            break;
        case 2:
            tendon_bose_disable_all_sensors(&c);
            break;
        default:
            note(r, "enable %d", tendon_bose_enable_sensor(&c, id, period, known));
            break;
        }
    }
    note_configuration(r, &c);
}

static void sensor_data(recording *r, const block *b, const tendon_bose_sensor_information *sensors) {
    bool fixed = choose(r, 3) == 0;
    tendon_bose_sensor_data walk =
        tendon_bose_sensor_data_begin(b->data, b->length, fixed && choose(r, 2) == 0 ? NULL : sensors,
                                      fixed ? TENDON_BOSE_PROFILE_FIXED : TENDON_BOSE_PROFILE_REPORTED);
    for (;;) {
        tendon_bose_sample s;
        tendon_bose_skipped skipped;
        memset(&s, 0, sizeof s);
        memset(&skipped, 0, sizeof skipped);
        tendon_bose_step step = tendon_bose_sensor_data_next(&walk, &s, &skipped);
        if (step == TENDON_BOSE_STEP_END) {
            break;
        }
        note(r, "step %d to %u: skipped %d at %u by %d", step, (unsigned)walk.position, skipped.sensor_id,
             (unsigned)skipped.offset, skipped.reason);
        note(r, "sample %d at %d: %d%d%d%d%d %d %d", s.sensor_id, s.timestamp, s.has_vector, s.has_quaternion,
             s.has_accuracy, s.has_bias, s.accuracy_unknown, s.accuracy, s.accuracy_raw);
        for (int i = 0; i < 4; i++) {
            note(r, "%d bias %d", s.raw[i], s.raw_bias[i]);
        }
    }
    note(r, "end %d at %u", walk.status, (unsigned)walk.error_offset);
}

static void gestures(recording *r, const block *list, const block *configuration, const block *data,
                     tendon_bose_gesture_information *known) {
    tendon_bose_gesture_information v;
    tendon_bose_gesture_configuration c;
    tendon_bose_gesture_data g = {0};
    memset(&v, 0, sizeof v);
    memset(&c, 0, sizeof c);
    size_t offset = 99;
    tendon_status status = tendon_bose_decode_gesture_information(list->data, list->length, &v, &offset);
    note(r, "gestures %d: %u of %d, %u more, at %u", status, (unsigned)v.count, v.record_size,
         (unsigned)v.trailing_bytes, (unsigned)offset);
    for (size_t i = 0; i < v.count; i++) {
        note(r, "gesture %d of %d", v.records[i].gesture_id, v.records[i].payload_length);
    }
    *known = status == TENDON_OK && v.count > 0 ? v : *known;
    status = tendon_bose_decode_gesture_configuration(configuration->data, configuration->length, known, &c, &offset);
    note(r, "configuration %d: %u, %u, at %u", status, (unsigned)c.count, (unsigned)c.length, (unsigned)offset);
    for (size_t i = 0; i < c.count; i++) {
        note(r, "gesture %d is %d, %d of %d", c.entries[i].gesture_id, c.entries[i].enabled,
             c.entries[i].payload_offset, c.entries[i].payload_length);
    }
    if (status == TENDON_OK) {
        static const uint8_t ids[] = {0x80, 0x81, 0x82, 0x83, 0xC0, 0xC1, 0xC2, 0x99};
        uint8_t id = ids[choose(r, 8)], bytes[TENDON_BOSE_GESTURE_CONFIGURATION_MAX] = {0};
        bool on = choose(r, 2) == 0;
        note(r, "set %d", tendon_bose_set_gesture(&c, id, on));
        size_t capacity = choose(r, 4) == 0 ? choose(r, 12) : sizeof bytes;
        note(r, "encoded %d", tendon_bose_encode_gesture_configuration(&c, bytes, capacity));
        tendon_bose_set_all_gestures(&c, !on);
        note(r, "encoded %d", tendon_bose_encode_gesture_configuration(&c, bytes, sizeof bytes));
        note_bytes(r, "bytes", bytes, c.length);
    }
    status = tendon_bose_decode_gesture_data(data->data, data->length, &g, &offset);
    note(r, "gesture %d: %d at %d, %u more, at %u", status, g.gesture_id, g.timestamp, (unsigned)g.trailing_bytes,
         (unsigned)offset);
}

static void intent(recording *r, const tendon_bose_device_information *device,
                   const tendon_bose_sensor_information *sensors, const tendon_bose_gesture_information *gestures_of) {
    tendon_bose_intent_check check;
    memset(&check, 0, sizeof check);
    tendon_bose_intent wanted = {.sensors = choose(r, 2) == 0 ? choose(r, 16) : 1u << choose(r, 8)};
    wanted.periods = (uint16_t)(choose(r, 2) == 0 ? 1u << choose(r, 9) : choose(r, 128));
    wanted.gestures = choose(r, 2) == 0 ? 1u << choose(r, 10) : 0;
    note(r, "intent %d", tendon_bose_check_intent(&wanted, device, sensors, gestures_of, &check));
    note(r, "missing %x %x %x, %d %d", (unsigned)check.missing_sensors, check.missing_periods,
         (unsigned)check.missing_gestures, check.too_many_sensors, check.over_payload);
}

static void play_values(recording *r, unsigned number) {
    static const char *const devices[] = {"01 02 402c 01 0000000f 00000047 14 0030 04 0001",
                                          "01 00 4024 02 0000003f 00000000 00 0000 00 0008",
                                          "02 01 ffff 00 80000001 80000000 28 0064 02 300a"};
    static const char *const sensors[] = {
        "00 fff8 0008 8000 7fff 001f 07  01 f830 07d0 8000 7fff 001f 07  02 ffff 0001 c000 4000 000f 0a",
        "00 fff8 0008 8000 7fff 007f 07  03 ffff 0001 c000 4000 0010 08  00 fff8 0008 8000 7fff 001f 07",
        "05 0008 fff8 8000 7fff 0001 07  06 fc00 0400 8000 7fff 0003 0d  09 0000 0001 0000 0001 0001 03"};
    static const char *const configurations[] = {"000000 010000 020000 030000", "000014 010014 020000 030000",
                                                 "000028 090021 020028", "000000 010000 020140"};
    static const char *const data[] = {
        "00 03e8 0000 0000 f000 03", "00 000a 0000 0100 0200 03 03 000b 0001 0002 0003 0004",
        "02 0004 0000 0100 0200 0300 0400 0a00", "01 000b 0000 0100 0200 03 00 000c 0001",
        "06 0001 0001 0002 0003 0004 0005 0006 02"};
    static const char *const lists[] = {"810000 820000 830000 c00000", "8100 8200 c000 c100 c200", "990004 810000"};
    static const char *const entries[] = {"8101 8200 8300 c000", "8100 8201 c001 c100 c200", "9901 01020304 8100"};
    static const char *const one[] = {"c1 2710", "81 0001 ff"};
    tendon_bose_device_information device = {.sensor_mask = 15};
    tendon_bose_sensor_information known = {.count = 0};
    tendon_bose_gesture_information known_gestures = {.count = 0};
    note(r, "values %u", number);
    for (int i = 0; i < VALUES; i++) {
        block b = changed_value(r, devices, 3);
        device_information(r, &b, &device);
        free(b.data);
        b = changed_value(r, sensors, 3);
        sensor_information(r, &b, &known);
        free(b.data);
        b = changed_value(r, configurations, 4);
        sensor_configuration(r, &b, &known);
        free(b.data);
        b = changed_value(r, data, 5);
        sensor_data(r, &b, &known);
        free(b.data);
        b = changed_value(r, lists, 3);
        block entry = changed_value(r, entries, 3), event = changed_value(r, one, 2);
        gestures(r, &b, &entry, &event, &known_gestures);
        free(b.data);
        free(entry.data);
        free(event.data);
        intent(r, &device, &known, &known_gestures);
    }
}

/* ---- a search ---- */

static void advertise(recording *r, tendon_bose_search *search, uint64_t now) {
    /* UUIDs FDD2 and FEBE, the mark of old firmware, complete and shortened names as long as each other. */
    static const char *const texts[] = {"0303d2fd",
                                        "0303d2fd 0509 46726161",
                                        "0303befe 05ff9e000109",
                                        "0303befe",
                                        "0509 46726162",
                                        "0509 46726163",
                                        "0508 46726164",
                                        "0308 4672",
                                        "0709 4672616d6573",
                                        "0201 06"};
    static const int8_t strengths[] = {-90, -71, -70, -69, -50, 0, 20, TENDON_RSSI_UNKNOWN};
    block data = changed_value(r, texts, 10);
    const uint8_t who = (uint8_t)choose(r, 7);
    const tendon_ad_report report = {
        .address = {{0xC0, 0, 0, 0, 0, who},
                    choose(r, 8) == 0 ? TENDON_ADDRESS_TYPE_PUBLIC : TENDON_ADDRESS_TYPE_RANDOM},
        .rssi = strengths[choose(r, 8)],
        .data = data.data,
        .length = data.length};
    const tendon_bose_found *device = NULL;
    tendon_bose_search_change change = tendon_bose_search_on_advertisement(search, &report, now, &device);
    note(r, "advertised %d: %d", change, device != NULL ? (int)(device - search->found) : -1);
    free(data.data);
}

static void note_found(recording *r, const char *what, const tendon_bose_found *d) {
    note(r, "%s %d %d, %d dBm, old %d, complete %d, at %u", what, d->address.bytes[5], d->address.type, d->rssi,
         d->old_firmware, d->complete_name, (unsigned)d->seen_ms);
    note_bytes(r, "name", (const uint8_t *)d->name, d->name_length);
}

static void search_life(recording *r, unsigned number) {
    tendon_bose_found table[CAPACITY], lost;
    tendon_bose_search search;
    uint64_t now = 1000;
    memset(table, 0xA5, sizeof table);
    tendon_bose_search_init(&search, table, 1 + number % CAPACITY);
    for (int i = 0; i < REPORTS; i++) {
        unsigned what = choose(r, 12);
        if (what == 0) {
            search.lost_after_ms = choose(r, 3) * 700;
        } else if (what == 1) {
            search.rssi_cutoff = choose(r, 3) == 0 ? -70 : INT8_MIN;
        } else {
            advertise(r, &search, now);
        }
        now += choose(r, 3) == 0 ? choose(r, 500) : choose(r, 2);
        note(r, "due %lld", (long long)tendon_bose_search_deadline(&search));
        while (choose(r, 5) != 0 && tendon_bose_search_take_lost(&search, now, &lost)) {
            note_found(r, "lost", &lost);
        }
        const tendon_bose_found *best = tendon_bose_search_strongest(&search);
        note(r, "%u, %u replaced, strongest %d", (unsigned)search.count, (unsigned)search.replaced_count,
             best != NULL ? (int)(best - table) : -1);
        for (size_t k = 0; k < search.count; k++) {
            note_found(r, "has", &search.found[k]);
        }
    }
}

static void play_search(recording *r, unsigned number) {
    play_lives(r, number, LIVES, search_life);
}

static void values_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x675C8ED4, 0x6D0EE348, 0xB668C41A, 0xCF7B49A5, 0x744B30F4, 0xCFDBCC5A,
        0x7C6B4457, 0xF2A77368, 0x2C14F652, 0xACA1AE8B, 0xC43706B0, 0x2EB9D9A0,
    };
    compare_recordings(known, RUNS, play_values);
}

static void a_search_is_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x7D30690A, 0x2BDDD23A, 0xE49642D0, 0x22F725F9, 0x6105577F, 0xD13E7625,
        0x0890E05E, 0x4FE5A61A, 0xC05327EE, 0x28C5D303, 0x7F54E569, 0xDAADEA39,
    };
    compare_recordings(known, RUNS, play_search);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_as_recorded),
        cmocka_unit_test(a_search_is_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
