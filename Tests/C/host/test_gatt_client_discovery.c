/* SPDX-License-Identifier: MIT */
/* Discovery, modelled on test purposes GATT/CL/GAD. Hostile pages: test_gatt_client_pages.c. */
#include "../../../CSources/host/gatt_client_parts.h"
#include "gatt_client_peer.h"
#include "test_bytes.h"

#define UUID_LONG "11223344-5566-7788-99aa-bbccddeeff00"
#define WIRE_LONG "00 FF EE DD CC BB AA 99 88 77 66 55 44 33 22 11"

static void check_uuid(const tendon_uuid *uuid, const char *text) {
    char printed[TENDON_UUID_STRING_SIZE];
    tendon_uuid wanted;
    assert_int_equal(tendon_uuid_parse(text, strlen(text), &wanted, NULL), TENDON_OK);
    if (!tendon_uuid_equal(uuid, &wanted)) {
        fail_msg("uuid %s, expected %s", tendon_uuid_format(uuid, printed), text);
    }
}

static void check_service(const tendon_gatt_service *service, uint16_t start, uint16_t end, const char *uuid) {
    assert_int_equal(service->start_handle, start);
    assert_int_equal(service->end_handle, end);
    check_uuid(&service->uuid, uuid);
}

static void check_characteristic(const tendon_gatt_characteristic *c, uint16_t declaration, uint16_t value,
                                 uint16_t end, uint8_t properties, const char *uuid) {
    assert_int_equal(c->declaration, declaration);
    assert_int_equal(c->value_handle, value);
    assert_int_equal(c->end_handle, end);
    assert_int_equal(c->properties, properties);
    check_uuid(&c->uuid, uuid);
}

static void gatt_cl_gad_bv_01_c_all_primary_services(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_services(p);
    peer_exchange(p, "10 01 00 FF FF 00 28", "11 06 10 00 13 00 00 18 20 00 29 00 B0 68 30 00 32 00 19 18");
    peer_exchange(p, "10 33 00 FF FF 00 28", "11 14 90 00 96 00 " WIRE_LONG);
    peer_exchange(p, "10 97 00 FF FF 00 28", "01 10 97 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 4);
    check_service(&p->services[0], 0x10, 0x13, "1800");
    check_service(&p->services[1], 0x20, 0x29, "68b0");
    check_service(&p->services[2], 0x30, 0x32, "1819");
    check_service(&p->services[3], 0x90, 0x96, UUID_LONG);
    peer_alive(p);
    peer_close(p);
}

static void gatt_cl_gad_bv_01_c_ends_with_handle_ffff(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_services(p);
    peer_exchange(p, "10 01 00 FF FF 00 28", "11 06 01 00 0F 00 00 18 10 00 FF FF 01 18");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 2);
    peer_close(p);
}

static void gatt_cl_gad_bv_02_c_services_by_uuid(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_services_by_uuid(p);
    peer_exchange(p, "06 01 00 FF FF 00 28 0A 18", "07 01 00 07 00");
    peer_exchange(p, "06 08 00 FF FF 00 28 0A 18", "07 10 00 1F 00 30 00 3F 00");
    peer_exchange(p, "06 40 00 FF FF 00 28 0A 18", "01 06 40 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 3);
    check_service(&p->services[0], 0x01, 0x07, "180a");
    check_service(&p->services[2], 0x30, 0x3F, "180a");
    peer_close(p);
}

static void gatt_cl_gad_bv_02_c_services_by_long_uuid(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_uuid uuid;
    assert_int_equal(tendon_uuid_parse(UUID_LONG, 36, &uuid, NULL), TENDON_OK);
    tendon_status id =
        tendon_gatt_discover_services_by_uuid(&p->client, &uuid, p->services, 8, peer_on_done, p, p->now);
    peer_exchange(p, "06 01 00 FF FF 00 28 " WIRE_LONG, "07 10 00 FF FF");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 1);
    check_service(&p->services[0], 0x10, 0xFFFF, UUID_LONG);
    peer_close(p);
}

/* A server that declares a 16-bit UUID with all its 128 bits: seen with bumble. */
#define WIRE_180A_LONG "FB 34 9B 5F 80 00 00 80 00 10 00 00 0A 18 00 00"

static void gatt_cl_gad_bv_02_c_services_by_uuid_declared_long(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_services_by_uuid(p);
    peer_exchange(p, "06 01 00 FF FF 00 28 0A 18", "01 06 01 00 0A");
    peer_exchange(p, "06 01 00 FF FF 00 28 " WIRE_180A_LONG, "07 10 00 1F 00");
    peer_exchange(p, "06 20 00 FF FF 00 28 " WIRE_180A_LONG, "01 06 20 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 1);
    check_service(&p->services[0], 0x10, 0x1F, "180a");
    peer_close(p);
}

/* All of it is written, whatever the memory held. */
static void a_long_uuid_is_whole(void **state) {
    (void)state;
    tendon_gatt_request request = {
        .kind = GATTC_SERVICES_BY_UUID, .flags = GATTC_LONG, .uuid = tendon_uuid_from_u16(0x180A)};
    tendon_att_pdu pdu = {0};
    uint8_t scratch[16];
    memset(scratch, 0xA5, sizeof scratch);
    assert_int_equal(tendon_gattc_discovery_build(&request, &pdu, scratch), TENDON_OK);
    assert_hex(scratch, pdu.length, WIRE_180A_LONG);
}

static void services_by_uuid_not_there_in_either_form(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_services_by_uuid(p);
    peer_exchange(p, "06 01 00 FF FF 00 28 0A 18", "01 06 01 00 0A");
    peer_exchange(p, "06 01 00 FF FF 00 28 " WIRE_180A_LONG, "01 06 01 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 0);
    peer_alive(p);
    peer_close(p);
}

static void gatt_cl_gad_bv_03_c_included_services(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_included(p);
    peer_exchange(p, "08 01 00 10 00 02 28", "09 08 02 00 15 00 19 00 0F 18");
    peer_exchange(p, "08 03 00 10 00 02 28", "09 06 03 00 20 00 2F 00 04 00 30 00 3F 00");
    peer_exchange(p, "08 05 00 10 00 02 28", "01 08 05 00 0A");
    /* The two without UUID: read from the declarations of the services. */
    peer_exchange(p, "0A 20 00", "0B " WIRE_LONG);
    peer_exchange(p, "0A 30 00", "0B " WIRE_LONG);
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 3);
    check_service(&p->services[0], 0x15, 0x19, "180f");
    assert_int_equal(p->services[0].declaration, 2);
    check_service(&p->services[1], 0x20, 0x2F, UUID_LONG);
    check_service(&p->services[2], 0x30, 0x3F, UUID_LONG);
    assert_int_equal(p->services[2].declaration, 4);
    peer_close(p);
}

static void included_service_whose_uuid_cannot_be_read(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_included(p);
    peer_exchange(p, "08 01 00 10 00 02 28", "09 06 10 00 20 00 2F 00");
    peer_exchange(p, "0A 20 00", "01 0A 20 00 05");
    peer_done(p, id, ATT(0x05));
    assert_int_equal(p->result.count, 1);
    assert_int_equal(p->result.handle, 0x20);
    peer_close(p);
}

static void gatt_cl_gad_bv_04_c_characteristics_of_a_service(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_characteristics(p);
    peer_exchange(p, "08 01 00 10 00 03 28", "09 07 02 00 02 03 00 00 2A 04 00 1A 05 00 01 2A");
    peer_exchange(p, "08 05 00 10 00 03 28", "09 15 08 00 10 09 00 " WIRE_LONG);
    peer_exchange(p, "08 09 00 10 00 03 28", "01 08 09 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 3);
    check_characteristic(&p->characteristics[0], 2, 3, 3, 0x02, "2a00");
    check_characteristic(&p->characteristics[1], 4, 5, 7, 0x1A, "2a01");
    check_characteristic(&p->characteristics[2], 8, 9, 0x10, 0x10, UUID_LONG);
    peer_close(p);
}

static void gatt_cl_gad_bv_05_c_characteristics_by_uuid(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_characteristics_by_uuid(p);
    /* The end of a kept one comes from the next declaration, kept or not. */
    peer_exchange(p, "08 01 00 10 00 03 28", "09 07 02 00 02 03 00 00 2A 04 00 1A 05 00 29 2A");
    peer_exchange(p, "08 05 00 10 00 03 28", "09 07 08 00 02 09 00 00 2A 0A 00 02 0B 00 29 2A");
    peer_exchange(p, "08 0B 00 10 00 03 28", "01 08 0B 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 2);
    check_characteristic(&p->characteristics[0], 4, 5, 7, 0x1A, "2a29");
    check_characteristic(&p->characteristics[1], 0x0A, 0x0B, 0x10, 0x02, "2a29");
    peer_close(p);
}

/* The three variants of the public unit tests: short UUIDs, long UUIDs, several pages. */
static void gatt_cl_gad_bv_06_c_descriptors(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_descriptors(p);
    peer_exchange(p, "04 04 00 10 00", "05 01 04 00 02 29 05 00 01 29");
    peer_exchange(p, "04 06 00 10 00", "05 02 06 00 " WIRE_LONG);
    peer_exchange(p, "04 07 00 10 00", "01 04 07 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 3);
    assert_int_equal(p->descriptors[0].handle, 4);
    check_uuid(&p->descriptors[0].uuid, "2902");
    assert_int_equal(p->descriptors[2].handle, 6);
    check_uuid(&p->descriptors[2].uuid, UUID_LONG);
    id = op_descriptors(p);
    peer_exchange(p, "04 04 00 10 00", "05 01 10 00 02 29"); /* ends at the end of the range */
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 1);
    peer_close(p);
}

static void nothing_found_is_success(void **state) {
    (void)state;
    static const struct {
        peer_operation op;
        const char *out, *in;
    } cases[] = {
        {op_services, "10 01 00 FF FF 00 28", "01 10 01 00 0A"},
        {op_included, "08 01 00 10 00 02 28", "01 08 01 00 0A"},
        {op_characteristics, "08 01 00 10 00 03 28", "01 08 01 00 0A"},
        {op_characteristics_by_uuid, "08 01 00 10 00 03 28", "01 08 01 00 0A"},
        {op_descriptors, "04 04 00 10 00", "01 04 04 00 0A"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        tendon_status id = cases[i].op(p);
        peer_exchange(p, cases[i].out, cases[i].in);
        peer_done(p, id, TENDON_OK);
        assert_int_equal(p->result.count, 0);
        peer_alive(p);
        peer_close(p);
    }
}

static void arguments_out_of_range(void **state) {
    (void)state;
    peer *p = peer_open();
    const tendon_status wrong = TENDON_ERROR_INVALID_ARGUMENT;
    assert_int_equal(tendon_gatt_discover_descriptors(&p->client, 0, 5, p->descriptors, 8, NULL, p, 0), wrong);
    assert_int_equal(tendon_gatt_discover_descriptors(&p->client, 6, 5, p->descriptors, 8, NULL, p, 0), wrong);
    assert_int_equal(tendon_gatt_find_included(&p->client, 1, 5, NULL, 8, NULL, p, 0), wrong);
    assert_int_equal(p->client.queued, 0);
    peer_alive(p);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(gatt_cl_gad_bv_01_c_all_primary_services),
        RUN(gatt_cl_gad_bv_01_c_ends_with_handle_ffff),
        RUN(gatt_cl_gad_bv_02_c_services_by_uuid),
        RUN(gatt_cl_gad_bv_02_c_services_by_uuid_declared_long),
        RUN(a_long_uuid_is_whole),
        RUN(services_by_uuid_not_there_in_either_form),
        RUN(gatt_cl_gad_bv_02_c_services_by_long_uuid),
        RUN(gatt_cl_gad_bv_03_c_included_services),
        RUN(included_service_whose_uuid_cannot_be_read),
        RUN(gatt_cl_gad_bv_04_c_characteristics_of_a_service),
        RUN(gatt_cl_gad_bv_05_c_characteristics_by_uuid),
        RUN(gatt_cl_gad_bv_06_c_descriptors),
        RUN(nothing_found_is_success),
        RUN(arguments_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
