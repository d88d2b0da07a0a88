/* SPDX-License-Identifier: MIT */
/* GATT server behind its bearer: any PDUs from a client, a link that blocks at will, time that jumps. */
#include "fuzz.h"
#include "tendon/host.h"

static uint8_t stored[64];
static bool blocked;

static tendon_status send_pdu(void *context, const uint8_t *pdu, size_t length) {
    const tendon_att_bearer *bearer = context;
    FUZZ_CHECK(length > 0 && length <= bearer->mtu);
    (void)fuzz_touch(pdu, length);
    return blocked ? TENDON_ERROR_WOULD_BLOCK : TENDON_OK;
}

static tendon_status read_value(void *context, tendon_gatt_connection *connection, uint16_t handle,
                                const uint8_t **value, size_t *length) {
    (void)context, (void)connection;
    *value = stored;
    *length = sizeof(stored);
    return handle % 5 == 4 ? TENDON_ATT_ERROR(0x80) : TENDON_OK;
}

static tendon_status write_value(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                                 const uint8_t *value, size_t length, bool command, uint64_t now) {
    (void)context, (void)connection, (void)handle, (void)command, (void)now;
    FUZZ_CHECK(length <= TENDON_ATT_VALUE_MAX && offset <= TENDON_ATT_VALUE_MAX);
    (void)fuzz_touch(value, length);
    return TENDON_OK;
}

static void build(tendon_gatt_server *server, tendon_gatt_attribute *attributes, size_t capacity) {
    static const tendon_gatt_handlers handlers = {NULL, read_value, write_value, NULL, NULL};
    tendon_uuid uuid = tendon_uuid_from_u16(0xFDD2), wide = tendon_uuid_from_u32(0x12345678);
    tendon_gatt_server_init(server, attributes, capacity, &handlers);
    uint16_t first = (uint16_t)tendon_gatt_add_service(server, &uuid, true);
    (void)tendon_gatt_add_characteristic(server, &uuid, TENDON_GATT_READ | TENDON_GATT_WRITE | TENDON_GATT_NOTIFY,
                                         TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE);
    (void)tendon_gatt_add_characteristic(server, &wide, TENDON_GATT_READ | TENDON_GATT_INDICATE,
                                         TENDON_GATT_PERMIT_READ | TENDON_GATT_READ_ENCRYPTED);
    (void)tendon_gatt_add_descriptor(server, &uuid, TENDON_GATT_PERMIT_READ);
    (void)tendon_gatt_add_service(server, &wide, true);
    (void)tendon_gatt_add_include(server, first);
    (void)tendon_gatt_add_characteristic(server, &uuid, TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    FUZZ_CHECK(server->status >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tendon_gatt_prepared prepared[3];
    fuzz_input input = {data, size};
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[24];
    tendon_gatt_connection connection;
    tendon_att_bearer bearer;
    uint16_t cccds[4];
    uint64_t now = 1;
    blocked = false;
    build(&server, attributes, 24);
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){&bearer, send_pdu}, 247);
    const tendon_gatt_connection_config config = {&bearer, cccds, 4, prepared, 3, NULL};
    FUZZ_CHECK(tendon_gatt_connection_init(&connection, &server, &config) >= 0);
    while (input.left > 0) {
        uint8_t choice = fuzz_u8(&input);
        blocked = (choice & 0x80u) != 0;
        now += choice & 0x40u ? 20000 : 1;
        if ((choice & 0x07u) == 7) {
            (void)tendon_gatt_notify(&connection, fuzz_u16(&input), stored, choice >> 2 & 0x0Fu);
            (void)tendon_gatt_indicate(&connection, fuzz_u16(&input), stored, 20, now);
        } else {
            fuzz_block block = fuzz_block_of(&input);
            (void)tendon_att_bearer_receive(&bearer, block.data, block.length, now);
            free(block.data);
        }
        connection.security = choice >> 3 & 1u;
        tendon_att_bearer_writable(&bearer, now);
        tendon_att_bearer_tick(&bearer, now);
        (void)tendon_att_bearer_deadline(&bearer);
    }
    tendon_gatt_connection_closed(&connection, TENDON_ERROR_DISCONNECTED, now);
    return 0;
}
