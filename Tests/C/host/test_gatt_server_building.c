/* SPDX-License-Identifier: MIT */
/* Building the database: what has no room, what is not allowed, and what a connection needs of it. */
#include "gatt_server_fixture.h"

static void building_without_room_or_service(void **state) {
    (void)state;
    tendon_gatt_server server;
    tendon_gatt_attribute table[5];
    tendon_uuid uuid = tendon_uuid_from_u16(0x180A);
    tendon_gatt_server_init(&server, table, 5, NULL);
    assert_int_equal(tendon_gatt_add_characteristic(&server, &uuid, TENDON_GATT_READ, 1),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), TENDON_ERROR_INVALID_ARGUMENT); /* sticky */
    tendon_gatt_server_init(&server, table, 1, NULL);
    assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), 1); /* the last place */
    assert_int_equal(tendon_gatt_set_static(&server, 2, (const uint8_t *)"x", 1), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_gatt_server_init(&server, table, 1, NULL);
    assert_int_equal(tendon_gatt_set_static(&server, 1, (const uint8_t *)"x", 1), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_gatt_server_init(&server, table, 5, NULL);
    assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), 1);
    assert_int_equal(tendon_gatt_add_characteristic(&server, &uuid, TENDON_GATT_READ, 1), 3);
    assert_int_equal(tendon_gatt_add_characteristic(&server, &uuid, TENDON_GATT_NOTIFY, 0), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(server.count, 3); /* nothing by halves */
    assert_int_equal(tendon_gatt_set_static(&server, 3, NULL, 0), TENDON_ERROR_TABLE_FULL);
    for (size_t over = 0; over <= 1; over++) { /* a CCCD has an index of 15 bits */
        tendon_gatt_server_init(&server, table, 5, NULL);
        assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), 1);
        server.cccd_count = (size_t)INT16_MAX - 1 + over;
        assert_int_equal(tendon_gatt_add_characteristic(&server, &uuid, TENDON_GATT_NOTIFY, 0),
                         over == 0 ? 3 : TENDON_ERROR_TABLE_FULL);
    }
    tendon_gatt_server_init(&server, table, 0, NULL); /* the first error stays, whatever is wrong besides */
    assert_int_equal(tendon_gatt_add_generic_access(&server, "", 249, (const uint8_t *)"\0"), TENDON_ERROR_TABLE_FULL);
    tendon_gatt_connection connection;
    tendon_att_bearer bearer;
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){0}, 23);
    tendon_gatt_connection_config config = {&bearer, NULL, 0, NULL, 0, NULL};
    assert_int_equal(tendon_gatt_connection_init(&connection, &server, &config), TENDON_ERROR_TABLE_FULL);
}

static void building_what_is_not_allowed(void **state) {
    fixture *f = *state;
    const uint16_t declarations[] = {0x2800, 0x2801, 0x2802, 0x2803, 0x2902};
    for (size_t i = 0; i < 5; i++) {
        tendon_uuid uuid = tendon_uuid_from_u16(declarations[i]);
        f->server.status = TENDON_OK;
        assert_int_equal(tendon_gatt_add_descriptor(&f->server, &uuid, 1), TENDON_ERROR_INVALID_ARGUMENT);
        f->server.status = TENDON_OK;
        assert_int_equal(tendon_gatt_add_characteristic(&f->server, &uuid, 2, 1), TENDON_ERROR_INVALID_ARGUMENT);
    }
    const uint16_t includes[] = {0, 2, 0x19, 0x1C}; /* none, no service, the open service, past the end */
    for (size_t i = 0; i < 4; i++) {
        f->server.status = TENDON_OK;
        assert_int_equal(tendon_gatt_add_include(&f->server, includes[i]), TENDON_ERROR_INVALID_ARGUMENT);
    }
    f->server.status = TENDON_OK; /* after a characteristic it is too late */
    assert_int_equal(tendon_gatt_add_include(&f->server, 5), TENDON_ERROR_INVALID_ARGUMENT);
    const uint16_t fixed[] = {0, 1, 2, 4, 0x1C};
    for (size_t i = 0; i < 5; i++) {
        f->server.status = TENDON_OK;
        assert_int_equal(tendon_gatt_set_static(&f->server, fixed[i], f->value, 1), TENDON_ERROR_INVALID_ARGUMENT);
    }
    f->server.status = TENDON_OK;
    assert_int_equal(tendon_gatt_set_static(&f->server, 0x0D, f->value, 513), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(f->server.count, 0x1B);
    f->server.status = TENDON_OK;
    assert_int_equal(tendon_gatt_set_static(&f->server, 0x0D, NULL, 1), TENDON_ERROR_INVALID_ARGUMENT);
    f->server.status = TENDON_OK;
    assert_int_equal(tendon_gatt_set_static(&f->server, 0x0D, f->value, 512), TENDON_OK);
    assert_int_equal(tendon_gatt_set_static(&f->server, 0x0D, NULL, 0), TENDON_OK);
    exchange(f, "0c 0d 00 00 00", "0d");
}

/* What may follow each kind of attribute. */
static void what_follows_what(void **state) {
    (void)state;
    enum { SERVICE, SECONDARY, INCLUDE, VALUE, CCCD, DESCRIPTOR, LASTS };
    const tendon_uuid uuid = tendon_uuid_from_u16(0x1812);
    for (int last = SERVICE; last < LASTS; last++) {
        for (int added = 0; added < 3; added++) {
            tendon_gatt_server server;
            tendon_gatt_attribute table[8];
            tendon_gatt_server_init(&server, table, 8, NULL);
            assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), 1);
            assert_int_equal(tendon_gatt_add_service(&server, &uuid, last != SECONDARY), 2);
            if (last == INCLUDE) {
                assert_int_equal(tendon_gatt_add_include(&server, 1), 3);
            } else if (last >= VALUE) {
                uint8_t properties = last == CCCD ? TENDON_GATT_NOTIFY : TENDON_GATT_READ;
                assert_int_equal(tendon_gatt_add_characteristic(&server, &uuid, properties, 1), 4);
            }
            if (last == DESCRIPTOR) {
                assert_int_equal(tendon_gatt_add_descriptor(&server, &uuid, 1), 5);
            }
            tendon_status status = added == 0   ? tendon_gatt_add_include(&server, 1)
                                   : added == 1 ? tendon_gatt_add_characteristic(&server, &uuid, TENDON_GATT_READ, 1)
                                                : tendon_gatt_add_descriptor(&server, &uuid, 1);
            bool allowed = added == 0 ? last <= INCLUDE : added == 1 || last >= VALUE;
            assert_int_equal(status >= 0, allowed);
            assert_int_equal(server.status, allowed ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT);
        }
    }
}

static void a_descriptor_can_be_dynamic(void **state) {
    fixture *f = *state;
    tendon_uuid uuid = tendon_uuid_from_u16(0x2908);
    assert_int_equal(tendon_gatt_add_descriptor(&f->server, &uuid, TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE),
                     0x1C);
    exchange(f, "0a 1c 00", "0b 30 31 32 33 34 35 36 37 38 39");
    exchange(f, "12 1c 00 07", "13"); /* a descriptor has no properties to ask */
    receive(f, "52 1c 00 08");
    assert_int_equal(f->writes, 2);
    tendon_gatt_server_init(&f->server, f->attributes, 32, NULL);
    assert_int_equal(tendon_gatt_add_descriptor(&f->server, &uuid, 1), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_gatt_server_init(&f->server, f->attributes, 32, NULL);
    assert_int_equal(tendon_gatt_add_include(&f->server, 1), TENDON_ERROR_INVALID_ARGUMENT);
}

static void an_include_of_a_long_service_has_no_uuid(void **state) {
    fixture *f = *state;
    tendon_uuid uuid = tendon_uuid_from_u16(0x1812);
    assert_int_equal(tendon_gatt_add_service(&f->server, &uuid, true), 0x1C);
    const uint16_t wrong[] = {0, 0x02, 0x1C, 0x1D}; /* none, no service, itself, past the end */
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tendon_gatt_add_include(&f->server, wrong[i]), TENDON_ERROR_INVALID_ARGUMENT);
        f->server.status = TENDON_OK;
    }
    assert_int_equal(tendon_gatt_add_include(&f->server, 0x0A), 0x1D);
    exchange(f, "08 1c 00 ff ff 02 28", "09 06 1d 00 0a 00 18 00");
    assert_int_equal(tendon_gatt_add_descriptor(&f->server, &uuid, 1), TENDON_ERROR_INVALID_ARGUMENT);
}

static void a_connection_needs_room_for_its_cccds(void **state) {
    fixture *f = *state;
    tendon_gatt_connection connection;
    tendon_gatt_connection_config config = f->connection.config;
    config.cccd_capacity = 2;
    assert_int_equal(tendon_gatt_connection_init(&connection, &f->server, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config.cccd_capacity = 3; /* one each */
    assert_int_equal(tendon_gatt_connection_init(&connection, &f->server, &config), TENDON_OK);
    config.cccd_capacity = 4;
    config.prepared = NULL;
    assert_int_equal(tendon_gatt_connection_init(&connection, &f->server, &config), TENDON_ERROR_INVALID_ARGUMENT);
}

/* Memory that was used before: every subscription starts as none, one of them as well as many. */
static void a_single_cccd_starts_as_zero(void **state) {
    (void)state;
    tendon_gatt_server server;
    tendon_gatt_attribute table[4];
    tendon_gatt_connection connection;
    tendon_att_bearer bearer;
    uint16_t cccd = 0xFFFF;
    tendon_uuid uuid = tendon_uuid_from_u16(0x180D);
    tendon_gatt_server_init(&server, table, 4, NULL);
    assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), 1);
    assert_int_equal(tendon_gatt_add_characteristic(&server, &uuid, TENDON_GATT_NOTIFY, 0), 3);
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){0}, 23);
    const tendon_gatt_connection_config config = {&bearer, &cccd, 1, NULL, 0, NULL};
    assert_int_equal(tendon_gatt_connection_init(&connection, &server, &config), TENDON_OK);
    assert_int_equal(cccd, 0);
    const tendon_gatt_connection_config without = {&bearer, NULL, 1, NULL, 0, NULL};
    assert_int_equal(tendon_gatt_connection_init(&connection, &server, &without), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_gatt_server_init(&server, table, 4, NULL); /* without a CCCD none is needed */
    assert_int_equal(tendon_gatt_add_service(&server, &uuid, true), 1);
    assert_int_equal(tendon_gatt_connection_init(&connection, &server, &without), TENDON_OK);
}

static void without_handlers_dynamic_values_are_refused(void **state) {
    fixture *f = *state;
    memset(&f->server.handlers, 0, sizeof f->server.handlers);
    exchange(f, "0a 0d 00", "01 0a 0d 00 02");
    exchange(f, "12 0d 00 01", "01 12 0d 00 03");
    exchange(f, "12 0e 00 01 00", "13");
    exchange(f, "12 04 00 02 00", "13");
    assert_int_equal(tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now), TENDON_OK);
    assert_int_equal(receive(f, "1e"), TENDON_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        server_test(building_without_room_or_service),
        server_test(building_what_is_not_allowed),
        cmocka_unit_test(what_follows_what),
        server_test(a_descriptor_can_be_dynamic),
        server_test(an_include_of_a_long_service_has_no_uuid),
        server_test(a_connection_needs_room_for_its_cccds),
        server_test(a_single_cccd_starts_as_zero),
        server_test(without_handlers_dynamic_values_are_refused),
    };
    return cmocka_run_group_tests_name("host_gatt_server_building", tests, NULL, NULL);
}
