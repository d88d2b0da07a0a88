/* SPDX-License-Identifier: MIT */
/*
 * GATT client behind its bearer: any procedures, any PDUs from the server, cancels, a link that blocks, time that
 * jumps. Every request that started completes exactly once.
 */
#include "fuzz.h"
#include "tendon/host.h"

static unsigned started, completed;
static bool blocked;

static tendon_status send_pdu(void *context, const uint8_t *pdu, size_t length) {
    const tendon_att_bearer *bearer = context;
    FUZZ_CHECK(length > 0 && length <= bearer->mtu);
    (void)fuzz_touch(pdu, length);
    return blocked ? TENDON_ERROR_WOULD_BLOCK : TENDON_OK;
}

static void done(void *context, const tendon_gatt_result *result) {
    (void)context;
    completed++;
    (void)fuzz_touch(result->value, result->length);
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context, (void)now;
    (void)fuzz_touch(value->value, value->length);
}

static tendon_gatt_client client;
static union {
    tendon_gatt_service services[3];
    tendon_gatt_characteristic characteristics[3];
    tendon_gatt_descriptor descriptors[3];
    uint8_t value[600];
} tables[4]; /* one per request under way */

static void start(unsigned which, fuzz_input *input, uint64_t now) {
    static const uint8_t value[100] = {1, 2, 3};
    uint16_t a = fuzz_u16(input), b = fuzz_u16(input);
    tendon_uuid uuid = tendon_uuid_from_u16(0x2A00);
    unsigned slot = started % 4;
    tendon_status id = 0;
    switch (which) {
    case 0:
        id = tendon_gatt_exchange_mtu(&client, done, NULL, now);
        break;
    case 1:
        id = tendon_gatt_discover_services(&client, tables[slot].services, 3, done, NULL, now);
        break;
    case 2:
        id = tendon_gatt_discover_services_by_uuid(&client, &uuid, tables[slot].services, 3, done, NULL, now);
        break;
    case 3:
        id = tendon_gatt_find_included(&client, a, b, tables[slot].services, 3, done, NULL, now);
        break;
    case 4:
        id = tendon_gatt_discover_characteristics(&client, a, b, tables[slot].characteristics, 3, done, NULL, now);
        break;
    case 5:
        id = tendon_gatt_discover_characteristics_by_uuid(&client, a, b, &uuid, tables[slot].characteristics, 3, done,
                                                          NULL, now);
        break;
    case 6:
        id = tendon_gatt_discover_descriptors(&client, a, b, tables[slot].descriptors, 3, done, NULL, now);
        break;
    case 7:
        id = tendon_gatt_read(&client, a, done, NULL, now);
        break;
    case 8:
        id = tendon_gatt_read_long(&client, a, b & 0xFFu, tables[slot].value, 600, done, NULL, now);
        break;
    case 9:
        id = tendon_gatt_read_by_uuid(&client, a, b, &uuid, done, NULL, now);
        break;
    case 12:
        id = tendon_gatt_write(&client, a, value, b % 30, done, NULL, now);
        break;
    case 13:
        id = tendon_gatt_write_long(&client, a, b & 0x3Fu, value, 100, done, NULL, now);
        break;
    case 15:
        id = tendon_gatt_subscribe(&client, a, b, (b & 1u) != 0, on_value, NULL, done, NULL, now);
        break;
    case 16:
        id = tendon_gatt_unsubscribe(&client, a, done, NULL, now);
        break;
    case 17:
        (void)tendon_gatt_write_command(&client, a, value, b % 30);
        break;
    case 18:
        (void)tendon_gatt_client_cancel(&client, a, now);
        break;
    default:
        tendon_gatt_client_set_service_changed(&client, a);
        break;
    }
    if (id > 0) {
        started++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    tendon_att_bearer bearer;
    tendon_gatt_request requests[4];
    tendon_gatt_subscription subscriptions[2];
    uint64_t now = 1;
    blocked = false;
    started = completed = 0;
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){&bearer, send_pdu}, 247);
    tendon_gatt_client_config config = {0};
    config.bearer = &bearer;
    config.requests = requests;
    config.request_capacity = 4;
    config.subscriptions = subscriptions;
    config.subscription_capacity = 2;
    FUZZ_CHECK(tendon_gatt_client_init(&client, &config) >= 0);
    while (input.left > 0) {
        uint8_t choice = fuzz_u8(&input);
        blocked = (choice & 0x80u) != 0;
        now += choice & 0x40u ? 7000 : 1;
        if (choice & 0x20u) {
            start((choice & 0x1Fu) % 20, &input, now);
        } else {
            fuzz_block block = fuzz_block_of(&input);
            (void)tendon_att_bearer_receive(&bearer, block.data, block.length, now);
            free(block.data);
        }
        tendon_att_bearer_writable(&bearer, now);
        tendon_att_bearer_tick(&bearer, now);
        (void)tendon_att_bearer_deadline(&bearer);
        FUZZ_CHECK(completed <= started && started - completed <= 4);
    }
    tendon_gatt_client_disconnected(&client, TENDON_ERROR_DISCONNECTED, now);
    FUZZ_CHECK(completed == started);
    return 0;
}
