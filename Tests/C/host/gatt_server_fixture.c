/* SPDX-License-Identifier: MIT */
#include "gatt_server_fixture.h"

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    fixture *f = context;
    (void)connection;
    (void)handle;
    *value = f->lend_nothing ? NULL : f->value;
    *length = f->value_length;
    return f->read_result;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    fixture *f = context;
    (void)connection;
    (void)now;
    f->writes++;
    f->written_handle = handle;
    f->written_offset = offset;
    f->written_length = length;
    f->written_by_command = command;
    memcpy(f->written, value, length);
    return f->write_result;
}

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                          uint64_t now) {
    fixture *f = context;
    (void)connection;
    (void)now;
    f->subscriptions++;
    f->subscribed_handle = value_handle;
    f->subscribed_value = value;
}

static void on_confirmed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, tendon_status status,
                         uint64_t now) {
    fixture *f = context;
    (void)connection;
    (void)value_handle;
    (void)now;
    f->confirmations++;
    f->confirmed = status;
}

static tendon_status on_send(void *context, const uint8_t *pdu, size_t length) {
    fixture *f = context;
    if (f->link != TENDON_OK) {
        return f->link;
    }
    assert_true(length <= sizeof f->sent);
    memcpy(f->sent, pdu, length);
    f->sent_length = length;
    f->sends++;
    return TENDON_OK;
}

static tendon_uuid uuid_of(const char *text) {
    tendon_uuid uuid;
    assert_int_equal(tendon_uuid_parse(text, strlen(text), &uuid, NULL), TENDON_OK);
    return uuid;
}

static uint16_t add_service(fixture *f, const char *uuid, bool primary) {
    tendon_uuid parsed = uuid_of(uuid);
    tendon_status handle = tendon_gatt_add_service(&f->server, &parsed, primary);
    assert_true(handle > 0);
    return (uint16_t)handle;
}

static uint16_t add(fixture *f, const char *uuid, int properties, int permissions) {
    tendon_uuid parsed = uuid_of(uuid);
    tendon_status handle =
        tendon_gatt_add_characteristic(&f->server, &parsed, (uint8_t)properties, (uint8_t)permissions);
    assert_true(handle > 0);
    return (uint16_t)handle;
}

static void set(fixture *f, uint16_t handle, const char *text) {
    assert_int_equal(tendon_gatt_set_static(&f->server, handle, (const uint8_t *)text, strlen(text)), TENDON_OK);
}

static void build(fixture *f) {
    const int both = TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE;
    const int read_write = TENDON_GATT_READ | TENDON_GATT_WRITE;
    add_service(f, "1801", true);
    assert_int_equal(add(f, "2A05", TENDON_GATT_INDICATE, 0), 0x03);
    uint16_t information = add_service(f, "180A", true);
    set(f, add(f, "2A29", TENDON_GATT_READ, TENDON_GATT_PERMIT_READ), "Tendon");
    set(f, add(f, "2A24", TENDON_GATT_READ, TENDON_GATT_PERMIT_READ), "Model1");
    add_service(f, LONG_UUID, true);
    assert_int_equal(tendon_gatt_add_include(&f->server, information), 0x0B);
    assert_int_equal(
        add(f, LONG_VALUE_UUID, read_write | TENDON_GATT_WRITE_WITHOUT_RESPONSE | TENDON_GATT_NOTIFY, both), 0x0D);
    tendon_uuid description = tendon_uuid_from_u16(0x2901);
    assert_int_equal(tendon_gatt_add_descriptor(&f->server, &description, TENDON_GATT_PERMIT_READ), 0x0F);
    set(f, 0x0F, "abc");
    assert_int_equal(add(f, "FF01", TENDON_GATT_WRITE, TENDON_GATT_PERMIT_WRITE), 0x11);
    assert_int_equal(add(f, "FF02", read_write | TENDON_GATT_NOTIFY,
                         both | TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_WRITE_ENCRYPTED),
                     0x13);
    assert_int_equal(
        add(f, "FF03", read_write, both | TENDON_GATT_READ_AUTHENTICATED | TENDON_GATT_WRITE_AUTHENTICATED), 0x16);
    assert_int_equal(add(f, "FF04", read_write, both | TENDON_GATT_READ_AUTHORIZED | TENDON_GATT_WRITE_AUTHORIZED),
                     0x18);
    add_service(f, "180F", false);
    set(f, add(f, "2A19", TENDON_GATT_READ, TENDON_GATT_PERMIT_READ), "d");
    assert_int_equal(f->server.count, 0x1B);
}

int fixture_setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -1;
    }
    const tendon_gatt_handlers handlers = {f, on_read, on_write, on_subscribed, on_confirmed};
    memset(f->attributes, 0xA5, sizeof f->attributes); /* what the memory held before */
    memset(f->cccds, 0xA5, sizeof f->cccds);
    tendon_gatt_server_init(&f->server, f->attributes, 32, &handlers);
    build(f);
    tendon_bearer_io io = {f, on_send};
    memset(&f->bearer, 0xA5, sizeof f->bearer); /* what the memory held before */
    tendon_att_bearer_init(&f->bearer, io, 185);
    const tendon_gatt_connection_config config = {&f->bearer, f->cccds, 4, f->prepared, 3, NULL};
    if (tendon_gatt_connection_init(&f->connection, &f->server, &config) != TENDON_OK) {
        return -1;
    }
    memcpy(f->value, "0123456789", 10);
    f->value_length = 10;
    f->now = 1000;
    *state = f;
    return 0;
}

int fixture_teardown(void **state) {
    free(*state);
    return 0;
}
