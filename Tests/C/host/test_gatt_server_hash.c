/* SPDX-License-Identifier: MIT */
/* The Generic Attribute service of a server. The database and its hash: Core Spec Vol 3 Part G Appendix B. */
#include "gatt_server_fixture.h"

static tendon_uuid u(uint16_t number) {
    return tendon_uuid_from_u16(number);
}

static uint16_t service(tendon_gatt_server *server, uint16_t uuid, bool primary) {
    const tendon_uuid number = u(uuid);
    return (uint16_t)tendon_gatt_add_service(server, &number, primary);
}

static uint16_t characteristic(tendon_gatt_server *server, uint16_t uuid, uint8_t properties) {
    const tendon_uuid number = u(uuid);
    return (uint16_t)tendon_gatt_add_characteristic(server, &number, properties, TENDON_GATT_PERMIT_READ);
}

static void the_example_of_the_core_specification(void **state) {
    (void)state;
    static const uint8_t properties[] = {0, 0};
    tendon_gatt_attribute attributes[32];
    tendon_gatt_server server;
    uint8_t hash[16];
    const tendon_uuid extended = u(0x2900), include = u(0x2802);
    tendon_gatt_server_init(&server, attributes, 32, NULL);
    service(&server, 0x1800, true);
    characteristic(&server, 0x2A00, 0x0A);
    characteristic(&server, 0x2A01, 0x02);
    service(&server, 0x1801, true);
    characteristic(&server, 0x2A05, 0x20);
    characteristic(&server, 0x2B29, 0x0A);
    characteristic(&server, 0x2B2A, 0x02);
    service(&server, 0x1808, true);
    /* The include of 180F at 0014, which is added behind it here: the server includes only what exists. */
    assert_int_equal(characteristic(&server, 0xFFFF, 0x02), 0x10);
    server.count--;
    tendon_gatt_attribute *row = &attributes[0x0E];
    row->type = include;
    memcpy(row->inline_value, (const uint8_t[]){0x14, 0x00, 0x16, 0x00, 0x0F, 0x18}, 6);
    row->length = 6;
    characteristic(&server, 0x2A18, 0xA2);
    uint16_t handle = (uint16_t)tendon_gatt_add_descriptor(&server, &extended, TENDON_GATT_PERMIT_READ);
    assert_int_equal(handle, 0x13);
    assert_int_equal(tendon_gatt_set_static(&server, handle, properties, sizeof properties), TENDON_OK);
    assert_int_equal(service(&server, 0x180F, false), 0x14);
    assert_int_equal(characteristic(&server, 0x2A19, 0x02), 0x16);
    assert_int_equal(server.status, TENDON_OK);
    tendon_gatt_server_hash(&server, hash);
    static const uint8_t expected[] = {0x90, 0xA9, 0xFB, 0xB9, 0xBB, 0x30, 0x88, 0x8A,
                                       0xAC, 0x8B, 0xF5, 0xEC, 0x48, 0x2D, 0xCA, 0xF1};
    assert_memory_equal(hash, expected, sizeof hash);
}

/* Handle and type of a user description count, its text does not. */
static void the_last_attribute_counts(void **state) {
    (void)state;
    static const uint8_t text[] = {'a', 'b'};
    const tendon_uuid description = u(0x2901);
    tendon_gatt_attribute attributes[8];
    tendon_gatt_server server;
    uint8_t before[16], hash[16], with_text[16];
    tendon_gatt_server_init(&server, attributes, 8, NULL);
    service(&server, 0x180F, true);
    characteristic(&server, 0x2A19, 0x02);
    tendon_gatt_server_hash(&server, before);
    uint16_t handle = (uint16_t)tendon_gatt_add_descriptor(&server, &description, TENDON_GATT_PERMIT_READ);
    tendon_gatt_server_hash(&server, hash);
    assert_memory_not_equal(hash, before, sizeof hash);
    assert_int_equal(tendon_gatt_set_static(&server, handle, text, sizeof text), TENDON_OK);
    tendon_gatt_server_hash(&server, with_text);
    assert_memory_equal(hash, with_text, sizeof hash);
}

static void the_service_is_the_last_one_and_covers_all(void **state) {
    (void)state;
    tendon_gatt_attribute attributes[12];
    tendon_gatt_server server;
    uint8_t hash[16];
    tendon_gatt_server_init(&server, attributes, 12, NULL);
    service(&server, 0x180F, true);
    characteristic(&server, 0x2A19, 0x12);
    assert_int_equal(tendon_gatt_add_generic_attribute(&server), 5);
    assert_int_equal(server.count, 10);
    assert_int_equal(server.service_changed, 7);
    /* Core Spec Vol 3 Part G 7.1: Service Changed is indicated, and not readable. */
    assert_int_equal(tendon_gatt_find_attribute(&server, 7)->permissions, 0);
    const tendon_gatt_attribute *value = tendon_gatt_find_attribute(&server, 10);
    assert_ptr_equal(value->value, server.database_hash);
    tendon_gatt_server_hash(&server, hash); /* its own value is no part of it */
    assert_memory_equal(hash, server.database_hash, sizeof hash);
    attributes[1].inline_value[0] ^= 1; /* another property */
    tendon_gatt_server_hash(&server, hash);
    assert_memory_not_equal(hash, server.database_hash, sizeof hash);
    for (size_t capacity = 4; capacity < 10; capacity++) {
        tendon_gatt_server_init(&server, attributes, capacity, NULL);
        service(&server, 0x180F, true);
        characteristic(&server, 0x2A19, 0x12);
        assert_int_equal(tendon_gatt_add_generic_attribute(&server), TENDON_ERROR_TABLE_FULL);
    }
}

/* Core Spec Vol 3 Part G 7.4: a server offers enhanced bearers with a bit of Server Supported Features (2B3A), and a
 * client with one of Client Supported Features (2B29). A device of ours has neither, so no peer may open a bearer. */
static void mal_A17_no_enhanced_bearer_is_offered(void **state) {
    (void)state;
    static const uint16_t features[] = {0x2B3A, 0x2B29};
    tendon_gatt_attribute attributes[24];
    tendon_gatt_server server;
    tendon_gatt_server_init(&server, attributes, 24, NULL);
    assert_true(tendon_gatt_add_generic_access(&server, "Tendon", 6, (const uint8_t *)"\0") > 0);
    service(&server, 0x180F, true);
    characteristic(&server, 0x2A19, 0x12);
    assert_true(tendon_gatt_add_generic_attribute(&server) > 0);
    for (size_t i = 0; i < 2; i++) {
        const tendon_uuid uuid = tendon_uuid_from_u16(features[i]);
        for (size_t k = 0; k < server.count; k++) {
            assert_false(tendon_uuid_equal(&server.attributes[k].type, &uuid));
        }
    }
}

typedef struct sent {
    uint8_t bytes[32];
    size_t length;
} sent;

static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    sent *s = context;
    s->length = length;
    memcpy(s->bytes, pdu, length);
    return TENDON_OK;
}

static void service_changed_is_indicated(void **state) {
    (void)state;
    tendon_gatt_attribute attributes[12];
    tendon_gatt_server server;
    tendon_gatt_connection connection;
    tendon_att_bearer bearer;
    uint16_t cccds[1];
    sent s = {.length = 0};
    tendon_gatt_server_init(&server, attributes, 12, NULL);
    service(&server, 0x1800, true);
    for (int generic = 0; generic < 2; generic++) {
        if (generic != 0) {
            assert_int_equal(tendon_gatt_add_generic_attribute(&server), 2);
        }
        tendon_att_bearer_init(&bearer, (tendon_bearer_io){&s, take}, 64);
        const tendon_gatt_connection_config config = {.bearer = &bearer, .cccds = cccds, .cccd_capacity = 1};
        assert_int_equal(tendon_gatt_connection_init(&connection, &server, &config), TENDON_OK);
        assert_int_equal(tendon_gatt_indicate_service_changed(&connection, 1, 0xFFFF, 9),
                         generic != 0 ? TENDON_GATT_ERROR_NOT_SUBSCRIBED : TENDON_ERROR_NOT_FOUND);
    }
    static const uint8_t enable[] = {0x12, 5, 0, 2, 0};
    tendon_att_bearer_receive(&bearer, enable, sizeof enable, 10);
    assert_int_equal(tendon_gatt_indicate_service_changed(&connection, 0x0203, 0xFFFE, 11), TENDON_OK);
    static const uint8_t expected[] = {0x1D, 4, 0, 3, 2, 0xFE, 0xFF};
    assert_int_equal(s.length, sizeof expected);
    assert_memory_equal(s.bytes, expected, sizeof expected);
    static const uint8_t read[] = {0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B};
    tendon_att_bearer_receive(&bearer, read, sizeof read, 12);
    assert_int_equal(s.length, 20);
    assert_memory_equal(s.bytes, "\x09\x12\x07\x00", 4);
    assert_memory_equal(s.bytes + 4, server.database_hash, 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_core_specification),
        cmocka_unit_test(the_last_attribute_counts),
        cmocka_unit_test(the_service_is_the_last_one_and_covers_all),
        cmocka_unit_test(mal_A17_no_enhanced_bearer_is_offered),
        cmocka_unit_test(service_changed_is_indicated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
