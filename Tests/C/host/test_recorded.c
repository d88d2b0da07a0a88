/* SPDX-License-Identifier: MIT */
/*
 * Recorded runs of the decoders of this component: values near usual ones, cut, changed, longer. What is written to is
 * full of other bytes before; every field that a decoder sets is noted.
 */
#include "test_recording.h"

#include "tendon/host/advertisement.h"
#include "tendon/host/att.h"
#include "tendon/host/hci.h"
#include "tendon/host/management.h"

enum { RUNS = 8, VALUES = 4000 };

#define SPOILED(type, name)                                                                                            \
    type name;                                                                                                         \
    memset(&(name), 0xA5, sizeof(name))

static void note_uuid(recording *r, const tendon_uuid *uuid) {
    note_bytes(r, "uuid", uuid->bytes, sizeof uuid->bytes);
}

static void note_address(recording *r, const tendon_address *address) {
    note(r, "address type %d", address->type);
    note_bytes(r, "address", address->bytes, sizeof address->bytes);
}

static void note_part(recording *r, const uint8_t *bytes, size_t length) {
    note(r, "%u bytes", (unsigned)length);
    note_bytes(r, "part", bytes, bytes != NULL ? length : 0);
}

/* ---- ATT; Core Spec Vol 3 Part F 3.4 ---- */

static void att(recording *r, const block *b) {
    SPOILED(tendon_att_pdu, p);
    size_t offset = 99;
    tendon_status status = tendon_att_decode(b->data, b->length, &p, &offset);
    note(r, "att %d at %u", status, (unsigned)offset);
    if (status < 0) {
        return;
    }
    note(r, "%x %x %x %d %d, %x %x, mtu %d, offset %d, signature %d", p.opcode, p.request_opcode, p.error, p.format,
         p.flags, p.handle, p.end_handle, p.mtu, p.offset, p.signature != NULL);
    note_uuid(r, &p.type);
    note_part(r, p.data, p.length);
    SPOILED(tendon_att_item, item);
    tendon_att_items items = tendon_att_items_of(&p);
    while (tendon_att_items_next(&items, &item)) {
        note(r, "item %x %x of %u", item.handle, item.end_handle, (unsigned)item.full_length);
        note_part(r, item.value, item.length);
        memset(&item, 0xA5, sizeof item);
    }
    note(r, "items %d", items.reader.status);
    uint8_t out[64] = {0};
    note(r, "encoded %d", tendon_att_encode(&p, out, choose(r, sizeof out)));
    note_bytes(r, "pdu", out, sizeof out);
}

/* ---- HCI; Vol 4 Part E 7.7 ---- */

static void note_report(recording *r, const tendon_ad_report *report) {
    note(r, "report %x, %d dBm, %d dBm, phy %d %d, set %d, truncated %d", report->properties, report->rssi,
         report->tx_power, report->primary_phy, report->secondary_phy, report->set_id, report->truncated);
    note_address(r, &report->address);
    note_part(r, report->data, report->length);
}

static void hci(recording *r, const block *b) {
    SPOILED(tendon_hci_event, event);
    SPOILED(tendon_hci_parameters, p);
    SPOILED(tendon_ad_report, report);
    size_t offset = 99;
    tendon_status status = tendon_hci_event_decode(b->data, b->length, &event, &offset);
    note(r, "event %d at %u", status, (unsigned)offset);
    if (status < 0) {
        return;
    }
    note(r, "%x %x", event.code, event.subevent);
    note_part(r, event.data, event.length);
    status = tendon_hci_decode(&event, &p, &offset);
    note(r, "parameters %d at %u", status, (unsigned)offset);
    if (status >= 0) {
        note(r, "%x %x %d %d %d %d %x %d, phy %d %d, set %d, %d, %x %x", p.status, p.reason, p.role, p.commands,
             p.enabled, p.key_size, p.code, p.clock, p.tx_phy, p.rx_phy, p.set, p.count, p.opcode, p.handle);
        note(r, "%d %d %d %d %x %x", p.interval, p.interval_max, p.latency, p.timeout, p.manufacturer, p.subversion);
        note_address(r, &p.peer);
        note_address(r, &p.local_resolvable);
        note_address(r, &p.peer_resolvable);
        note_part(r, p.data, p.length);
    }
    tendon_hci_reports reports = tendon_hci_reports_of(&event);
    while (tendon_hci_reports_next(&reports, &report)) {
        note_report(r, &report);
        memset(&report, 0xA5, sizeof report);
    }
    note(r, "reports %d", reports.status);
}

/* ---- advertising data; Vol 3 Part C 11, Core Specification Supplement ---- */

static void note_value(recording *r, const tendon_ad_structure *structure) {
    SPOILED(tendon_ad_value, v);
    SPOILED(tendon_uuid, uuid);
    tendon_status status = tendon_ad_decode(structure, &v);
    note(r, "type %x: %d", structure->type, status);
    note_part(r, structure->data, structure->length);
    if (status < 0) {
        return;
    }
    note(r, "%x %d %d, %d, %d %d", v.type, v.kind, v.uuid_size, (int)v.number, v.minimum, v.maximum);
    note_address(r, &v.address);
    note_uuid(r, &v.uuid);
    note_part(r, v.data, v.length);
    for (size_t i = 0; i < 4; i++) {
        if (tendon_ad_uuid_at(&v, i, &uuid)) {
            note_uuid(r, &uuid);
        }
    }
}

static void advertisement(recording *r, const block *b) {
    static const uint8_t types[] = {0x01, 0x09, 0x08, 0x0A, 0x16, 0xFF, 0x19};
    const tendon_uuid battery = tendon_uuid_from_u16(0x180F);
    SPOILED(tendon_ad_structure, structure);
    SPOILED(tendon_uuid, uuid);
    char name[24];
    const uint8_t *value = NULL;
    size_t length = 77;
    int32_t number = 77;
    tendon_ad_iterator iterator = tendon_ad_begin(b->data, b->length);
    while (tendon_ad_next(&iterator, &structure)) {
        note_value(r, &structure);
    }
    uint8_t type = types[choose(r, sizeof types)];
    note(r, "find %d", tendon_ad_find(b->data, b->length, type, &structure));
    note(r, "number %d", tendon_ad_number(b->data, b->length, type, &number));
    note(r, "%d, has %d", (int)number, tendon_ad_has_uuid(b->data, b->length, &battery));
    for (size_t i = 0; i < 4; i++) {
        if (tendon_ad_service_uuid_at(b->data, b->length, i, &uuid)) {
            note_uuid(r, &uuid);
        }
    }
    if (tendon_ad_service_data(b->data, b->length, &battery, &value, &length)) {
        note_part(r, value, length);
    }
    if (tendon_ad_manufacturer_data(b->data, b->length, 0x004C, &value, &length)) {
        note_part(r, value, length);
    }
    memset(name, 'x', sizeof name);
    size_t capacity = choose(r, sizeof name);
    tendon_status status = tendon_ad_name(b->data, b->length, name, capacity);
    note(r, "name %d of %u", status, (unsigned)capacity);
    note_bytes(r, "name", (const uint8_t *)name, sizeof name);
}

/* Fragments of chains of extended reports, of a few advertisers, in any order. */
static void play_chains(recording *r, unsigned number) {
    static uint8_t data[3][200];
    tendon_ad_chain chains[2];
    SPOILED(tendon_ad_reassembler, reassembler);
    uint64_t now = 1000;
    memset(chains, 0xA5, sizeof chains);
    note(r, "chains %u: %d", number, tendon_ad_reassembler_init(&reassembler, chains, 2));
    for (int i = 0; i < VALUES; i++) {
        unsigned from = choose(r, 3);
        tendon_ad_report fragment = {.address = {{(uint8_t)from, 2, 3, 4, 5, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM},
                                     .rssi = -40,
                                     .primary_phy = 1,
                                     .set_id = (uint8_t)choose(r, 2),
                                     .data = data[from]};
        static const uint16_t properties[] = {0x01, 0x21, 0x21, 0x41, 0x13, 0x1B, 0x08};
        fragment.properties = properties[choose(r, 7)];
        fragment.length = choose(r, 200);
        memset(data[from], (int)choose(r, 256), sizeof data[from]);
        SPOILED(tendon_ad_report, whole);
        if (tendon_ad_reassembler_feed(&reassembler, &fragment, now, &whole)) {
            note_report(r, &whole);
        } else {
            note(r, "more");
        }
        now += choose(r, 8) == 0 ? 1990 + choose(r, 20) : choose(r, 30);
    }
}

/* ---- the management interface, ACL data ---- */

static void management(recording *r, const block *b) {
    SPOILED(tendon_management_event, e);
    SPOILED(tendon_management_information, information);
    uint16_t indexes[3] = {7, 7, 7};
    size_t offset = 99;
    tendon_status status = tendon_management_decode(b->data, b->length, &e, &offset);
    note(r, "management %d at %u", status, (unsigned)offset);
    if (status < 0) {
        return;
    }
    note(r, "%x of %d: %x, %d %d %x, %d", e.code, e.index, e.opcode, e.status, e.reason, (unsigned)e.settings,
         e.low_energy);
    note_address(r, &e.peer);
    note_part(r, e.data, e.length);
    status = tendon_management_decode_index_list(e.data, e.length, indexes, choose(r, 4), &offset);
    note(r, "list %d at %u: %d %d %d", status, (unsigned)offset, indexes[0], indexes[1], indexes[2]);
    status = tendon_management_decode_information(e.data, e.length, &information, &offset);
    note(r, "information %d", status);
}

static void acl(recording *r, const block *b) {
    SPOILED(tendon_acl, a);
    size_t offset = 99;
    tendon_status status = tendon_acl_decode(b->data, b->length, &a, &offset);
    note(r, "acl %d at %u", status, (unsigned)offset);
    if (status >= 0) {
        note(r, "%x", a.handle);
        note_part(r, a.data, a.length);
    }
}

static void play_values(recording *r, unsigned number) {
    static const char *const pdus[] = {"01 0a 0300 0a",
                                       "02 b900",
                                       "03 1700",
                                       "04 0100 ffff",
                                       "05 01 0100 0028 0200 0328",
                                       "05 02 0100 000102030405060708090a0b0c0d0e0f",
                                       "06 0100 ffff 0028 0f18",
                                       "07 0100 0500 0600 0900",
                                       "08 0100 ffff 0328",
                                       "09 07 0200 02 0300 002a",
                                       "08 0100 ffff 000102030405060708090a0b0c0d0e0f",
                                       "0a 0300",
                                       "0b 010203",
                                       "0c 0300 1600",
                                       "0d 0102",
                                       "0e 0300 0500",
                                       "0f 0102",
                                       "10 0100 ffff 0028",
                                       "11 06 0100 0500 0018 0600 0900 0a18",
                                       "12 0300 0100",
                                       "13",
                                       "16 0300 0000 01",
                                       "17 0300 0000 01",
                                       "18 01",
                                       "19",
                                       "1b 0300 0102",
                                       "1d 0300 01",
                                       "1e",
                                       "20 0300 0500",
                                       "21 0200 0102 0100 03",
                                       "23 0300 0200 0102",
                                       "52 0300 01",
                                       "d2 0300 01 000102030405060708090a0b"};
    static const char *const events[] = {
        "0e 04 01 0c20 00",
        "0f 04 00 01 0d20",
        "05 04 00 4000 13",
        "08 04 00 4000 01",
        "59 05 00 4000 01 10",
        "10 01 42",
        "13 05 01 4000 0200",
        "0c 08 00 4000 09 0f00 0100",
        "1a 01 01",
        "3e 13 01 00 4000 00 00 010203040506 1800 0000 2a00 05",
        "3e 1f 0a 00 4000 01 01 010203040506 000000000000 000000000000 1800 0000 2a00 05",
        "3e 0f 02 01 00 01 0102030405c0 03 020106 c4",
        "3e 0a 03 00 4000 1800 0000 2a00",
        "3e 0c 04 00 4000 01 00 00 00 00 00 00 00",
        "3e 0b 06 4000 0600 0c00 0000 2a00",
        "3e 06 0c 00 4000 02 02",
        "3e 06 12 3c 01 4000 05",
        "3e 1d 0d 01 1300 01 0102030405c0 01 00 01 7f c4 0000 00 000000000000 03 020106"};
    static const char *const advertisements[] = {"020106 0303 0f18 0409 414243",
                                                 "020a04 0319 4102 05ff 4c00 0102",
                                                 "1106 000102030405060708090a0b0c0d0e0f 0208 41",
                                                 "0512 0600 0c00 051a a0000000 041a a00000",
                                                 "0416 0f18 64 031b 0102 0a24 6874 7470",
                                                 "0914 0a18 0f18 0018 0118",
                                                 "081b 010203040506 00 091c 010203040506 01",
                                                 "030d 0102 0720 00000000 01 0921 000000"};
    static const char *const commands[] = {"0100 0700 0300 0500 00",
                                           "0200 0700 0300 1900 0a",
                                           "0100 ffff 0900 0300 00 0200 0700 0100",
                                           "0300 0700 0100 42",
                                           "0400 0700 0000",
                                           "0600 0700 0400 01020000",
                                           "0b00 0700 0f00 010203040506 01 00000000 0200 0102",
                                           "0c00 0700 0800 010203040506 02 03",
                                           "0d00 0700 0800 010203040506 01 04",
                                           "1300 0700 0200 06 01"};
    static const char *const packets[] = {"4020 0700 0300 0400 1b 0300", "4010 0300 010203", "ff0e 0500 0100 0600 01"};
    note(r, "values %u", number);
    for (int i = 0; i < VALUES; i++) {
        block b = changed_value(r, pdus, sizeof pdus / sizeof pdus[0]);
        att(r, &b);
        free(b.data);
        b = changed_value(r, events, sizeof events / sizeof events[0]);
        hci(r, &b);
        free(b.data);
        b = changed_value(r, advertisements, sizeof advertisements / sizeof advertisements[0]);
        advertisement(r, &b);
        free(b.data);
        b = changed_value(r, commands, sizeof commands / sizeof commands[0]);
        management(r, &b);
        free(b.data);
        b = changed_value(r, packets, sizeof packets / sizeof packets[0]);
        acl(r, &b);
        free(b.data);
    }
}

static void values_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xF1340D3D, 0xB500F2DF, 0x35441F78, 0xEC842C81, 0xB03B514F, 0x7B9639BD, 0x8E66E5EF, 0x07B2A34A,
    };
    compare_recordings(known, RUNS, play_values);
}

static void chains_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x6D3865A4, 0x6D84AC1F, 0x8A292B8B, 0x13A40533, 0xF9DBC2C3, 0xDB9F93C0, 0x61F4EFB1, 0x49CE00FD,
    };
    compare_recordings(known, RUNS, play_chains);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_as_recorded),
        cmocka_unit_test(chains_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
