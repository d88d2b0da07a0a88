/* SPDX-License-Identifier: MIT */
/*
 * Our client against our server over a link in memory: every procedure end to
 * end, at several MTUs, on a link that blocks at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tendon/host.h"

#define MAIN_UUID "11223344-5566-7788-99aa-bbccddeeff00"
#define VALUE_UUID "11223344-5566-7788-99aa-bbccddeeff01"
#define OTHER_UUID "aabbccdd-5566-7788-99aa-bbccddeeff00"

/* One direction of the link. */
typedef struct pipe_end {
    uint8_t *pdus[64];
    size_t lengths[64];
    size_t count;
    uint32_t random;
    bool blocks; /* refuse at random */
    bool refused;
} pipe_end;

typedef struct pair {
    pipe_end to_server, to_client;
    tendon_att_bearer client_bearer, server_bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[8];
    tendon_gatt_subscription subscriptions[4];
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[32];
    tendon_gatt_connection connection;
    uint16_t cccds[4];
    tendon_gatt_prepared prepared[40];
    uint64_t now;
    /* handles of the database */
    uint16_t information, other, main_service, service_changed, maker, other_value, value, locked, description;
    uint8_t stored[TENDON_ATT_VALUE_MAX];
    size_t stored_length;
    unsigned confirmed;
    /* what the client got */
    unsigned completions, values, changes;
    tendon_gatt_result result;
    uint8_t result_value[TENDON_ATT_VALUE_MAX];
    tendon_gatt_value received;
    uint8_t received_value[TENDON_ATT_VALUE_MAX];
    tendon_gatt_service services[8];
    tendon_gatt_characteristic characteristics[8];
    tendon_gatt_descriptor descriptors[8];
    uint8_t buffer[TENDON_ATT_VALUE_MAX];
    uint8_t data[TENDON_ATT_VALUE_MAX + 100]; /* bytes 0, 1, 2, ... */
} pair;

static tendon_status push(void *context, const uint8_t *pdu, size_t length) {
    pipe_end *end = context;
    end->random = end->random * 1664525u + 1013904223u;
    if (end->blocks && (end->random >> 16) % 3 == 0) {
        end->refused = true;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    assert_true(end->count < 64);
    end->pdus[end->count] = malloc(length);
    memcpy(end->pdus[end->count], pdu, length);
    end->lengths[end->count++] = length;
    return TENDON_OK;
}

static bool pop(pipe_end *end, tendon_att_bearer *to, uint64_t now) {
    if (end->count == 0) {
        return false;
    }
    uint8_t *pdu = end->pdus[0];
    size_t length = end->lengths[0];
    end->count--;
    memmove(end->pdus, end->pdus + 1, end->count * sizeof(end->pdus[0]));
    memmove(end->lengths, end->lengths + 1, end->count * sizeof(end->lengths[0]));
    (void)tendon_att_bearer_receive(to, pdu, length, now);
    free(pdu);
    return true;
}

/* Carries PDUs until neither side has more to say. */
static void run(pair *p) {
    for (unsigned i = 0; i < 20000; i++) {
        bool moved = pop(&p->to_server, &p->server_bearer, p->now);
        moved = pop(&p->to_client, &p->client_bearer, p->now) || moved;
        if (p->to_server.refused) {
            p->to_server.refused = false;
            tendon_att_bearer_writable(&p->client_bearer, p->now);
            moved = true;
        }
        if (p->to_client.refused) {
            p->to_client.refused = false;
            tendon_att_bearer_writable(&p->server_bearer, p->now);
            moved = true;
        }
        if (!moved) {
            return;
        }
    }
    fail_msg("the two talk for ever");
}

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    pair *p = context;
    (void)connection;
    (void)handle;
    *value = p->stored;
    *length = p->stored_length;
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    pair *p = context;
    (void)connection;
    (void)handle;
    (void)command;
    (void)now;
    if (offset + length > sizeof(p->stored)) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    memcpy(p->stored + offset, value, length);
    p->stored_length = offset + length;
    return TENDON_OK;
}

static void on_confirmed(void *context, tendon_gatt_connection *connection, uint16_t handle, tendon_status status,
                         uint64_t now) {
    pair *p = context;
    (void)connection;
    (void)handle;
    (void)now;
    assert_int_equal(status, TENDON_OK);
    p->confirmed++;
}

static void on_done(void *context, const tendon_gatt_result *result) {
    pair *p = context;
    p->completions++;
    p->result = *result;
    if (result->value != NULL) {
        memcpy(p->result_value, result->value, result->length);
    }
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    pair *p = context;
    (void)now;
    p->values++;
    p->received = *value;
    memcpy(p->received_value, value->value, value->length);
}

static void on_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    pair *p = context;
    (void)now;
    assert_int_equal(start, 1);
    assert_int_equal(end, 0xFFFF);
    p->changes++;
}

static tendon_uuid uuid_of(const char *text) {
    tendon_uuid uuid;
    assert_int_equal(tendon_uuid_parse(text, strlen(text), &uuid, NULL), TENDON_OK);
    return uuid;
}

static uint16_t service(pair *p, const char *uuid) {
    tendon_uuid parsed = uuid_of(uuid);
    return (uint16_t)tendon_gatt_add_service(&p->server, &parsed, true);
}

static uint16_t characteristic(pair *p, const char *uuid, unsigned properties, unsigned permissions) {
    tendon_uuid parsed = uuid_of(uuid);
    return (uint16_t)tendon_gatt_add_characteristic(&p->server, &parsed, (uint8_t)properties, (uint8_t)permissions);
}

static void build(pair *p) {
    tendon_uuid description = tendon_uuid_from_u16(0x2901);
    service(p, "1801");
    p->service_changed = characteristic(p, "2A05", TENDON_GATT_INDICATE, 0);
    p->information = service(p, "180A");
    p->maker = characteristic(p, "2A29", TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    (void)tendon_gatt_set_static(&p->server, p->maker, (const uint8_t *)"Tendon", 6);
    p->other = service(p, OTHER_UUID);
    p->other_value = characteristic(p, "2A29", TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    (void)tendon_gatt_set_static(&p->server, p->other_value, (const uint8_t *)"other", 5);
    p->main_service = service(p, MAIN_UUID);
    (void)tendon_gatt_add_include(&p->server, p->information);
    (void)tendon_gatt_add_include(&p->server, p->other);
    p->value = characteristic(p, VALUE_UUID,
                              TENDON_GATT_READ | TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE |
                                  TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE,
                              TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE);
    p->description = (uint16_t)tendon_gatt_add_descriptor(&p->server, &description, TENDON_GATT_PERMIT_READ);
    (void)tendon_gatt_set_static(&p->server, p->description, (const uint8_t *)"abc", 3);
    p->locked = characteristic(p, "FF01", TENDON_GATT_READ, TENDON_GATT_PERMIT_READ | TENDON_GATT_READ_AUTHENTICATED);
    assert_int_equal(p->server.status, TENDON_OK);
}

static pair *open_pair(uint16_t mtu, bool blocks) {
    pair *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    p->now = 1000;
    p->to_client.random = 1;
    p->to_server.random = 2;
    p->to_client.blocks = p->to_server.blocks = blocks;
    for (size_t i = 0; i < sizeof(p->data); i++) {
        p->data[i] = (uint8_t)(i ^ i >> 8);
    }
    const tendon_gatt_handlers handlers = {p, on_read, on_write, NULL, on_confirmed};
    tendon_gatt_server_init(&p->server, p->attributes, 32, &handlers);
    build(p);
    tendon_att_bearer_init(&p->server_bearer, (tendon_bearer_io){&p->to_client, push}, TENDON_ATT_MTU_MAX);
    tendon_att_bearer_init(&p->client_bearer, (tendon_bearer_io){&p->to_server, push}, mtu);
    const tendon_gatt_connection_config connection = {&p->server_bearer, p->cccds, 4, p->prepared, 40, NULL};
    assert_int_equal(tendon_gatt_connection_init(&p->connection, &p->server, &connection), TENDON_OK);
    const tendon_gatt_client_config client = {.bearer = &p->client_bearer,
                                              .requests = p->requests,
                                              .request_capacity = 8,
                                              .subscriptions = p->subscriptions,
                                              .subscription_capacity = 4,
                                              .context = p,
                                              .on_service_changed = on_service_changed};
    assert_int_equal(tendon_gatt_client_init(&p->client, &client), TENDON_OK);
    assert_true(tendon_gatt_exchange_mtu(&p->client, on_done, p, p->now) > 0);
    run(p);
    assert_int_equal(p->result.status, TENDON_OK);
    assert_int_equal(p->client_bearer.mtu, mtu);
    assert_int_equal(p->server_bearer.mtu, mtu);
    p->completions = 0;
    return p;
}

static void expect(pair *p, tendon_status id, tendon_status status) {
    assert_true(id > 0);
    run(p);
    assert_int_equal(p->completions, 1);
    assert_int_equal(p->result.request, id);
    assert_int_equal(p->result.status, status);
    p->completions = 0;
}

static void yields(pair *p, tendon_status id, const void *value, size_t length) {
    expect(p, id, TENDON_OK);
    assert_int_equal(p->result.length, length);
    assert_memory_equal(p->result_value, value, length);
}

/* The procedures, one each. */

static void services(pair *p) {
    expect(p, tendon_gatt_discover_services(&p->client, p->services, 8, on_done, p, p->now), TENDON_OK);
    assert_int_equal(p->result.count, 4);
    tendon_uuid uuid = uuid_of(MAIN_UUID);
    assert_int_equal(p->services[1].start_handle, p->information);
    assert_int_equal(p->services[2].end_handle, p->main_service - 1);
    assert_true(tendon_uuid_equal(&p->services[3].uuid, &uuid));
}

static void services_by_uuid(pair *p) {
    tendon_uuid uuid = uuid_of(MAIN_UUID);
    expect(p, tendon_gatt_discover_services_by_uuid(&p->client, &uuid, p->services, 8, on_done, p, p->now), TENDON_OK);
    assert_int_equal(p->result.count, 1);
    assert_int_equal(p->services[0].start_handle, p->main_service);
    uuid = tendon_uuid_from_u16(0x180A);
    expect(p, tendon_gatt_discover_services_by_uuid(&p->client, &uuid, p->services, 8, on_done, p, p->now), TENDON_OK);
    assert_int_equal(p->result.count, 1);
    assert_int_equal(p->services[0].start_handle, p->information);
}

static void included(pair *p) {
    tendon_uuid uuid = uuid_of(OTHER_UUID);
    expect(p, tendon_gatt_find_included(&p->client, p->main_service, 0xFFFF, p->services, 8, on_done, p, p->now),
           TENDON_OK);
    assert_int_equal(p->result.count, 2);
    assert_int_equal(p->services[0].start_handle, p->information);
    assert_int_equal(p->services[1].start_handle, p->other);
    assert_true(tendon_uuid_equal(&p->services[1].uuid, &uuid));
}

static void characteristics(pair *p) {
    tendon_uuid uuid = uuid_of(VALUE_UUID);
    expect(p,
           tendon_gatt_discover_characteristics(&p->client, p->main_service, 0xFFFF, p->characteristics, 8, on_done, p,
                                                p->now),
           TENDON_OK);
    assert_int_equal(p->result.count, 2);
    assert_int_equal(p->characteristics[0].value_handle, p->value);
    assert_int_equal(p->characteristics[0].end_handle, p->description);
    assert_int_equal(p->characteristics[1].value_handle, p->locked);
    expect(p,
           tendon_gatt_discover_characteristics_by_uuid(&p->client, 1, 0xFFFF, &uuid, p->characteristics, 8, on_done, p,
                                                        p->now),
           TENDON_OK);
    assert_int_equal(p->result.count, 1);
    assert_int_equal(p->characteristics[0].value_handle, p->value);
}

static void descriptors(pair *p) {
    expect(p,
           tendon_gatt_discover_descriptors(&p->client, (uint16_t)(p->value + 1), p->description, p->descriptors, 8,
                                            on_done, p, p->now),
           TENDON_OK);
    assert_int_equal(p->result.count, 2);
    assert_int_equal(p->descriptors[1].handle, p->description);
}

static void reads(pair *p) {
    tendon_uuid uuid = tendon_uuid_from_u16(0x2A29);
    yields(p, tendon_gatt_read(&p->client, p->maker, on_done, p, p->now), "Tendon", 6);
    yields(p, tendon_gatt_read(&p->client, p->description, on_done, p, p->now), "abc", 3);
    yields(p, tendon_gatt_read_by_uuid(&p->client, 1, 0xFFFF, &uuid, on_done, p, p->now), "Tendon", 6);
    assert_int_equal(p->result.handle, p->maker);
}

static void refusals(pair *p) {
    expect(p, tendon_gatt_read(&p->client, 0x7777, on_done, p, p->now), TENDON_ATT_ERROR(0x01));
    expect(p, tendon_gatt_read(&p->client, p->service_changed, on_done, p, p->now), TENDON_ATT_ERROR(0x02));
    expect(p, tendon_gatt_read(&p->client, p->locked, on_done, p, p->now), TENDON_ATT_ERROR(0x05));
    expect(p, tendon_gatt_write(&p->client, p->maker, p->data, 1, on_done, p, p->now), TENDON_ATT_ERROR(0x03));
    expect(p, tendon_gatt_read_database_hash(&p->client, on_done, p, p->now), TENDON_ATT_ERROR(0x0A));
    p->connection.security = TENDON_GATT_SECURITY_AUTHENTICATED;
    expect(p, tendon_gatt_read(&p->client, p->locked, on_done, p, p->now), TENDON_OK);
}

static void writes(pair *p) {
    tendon_status status;
    expect(p, tendon_gatt_write(&p->client, p->value, p->data, 20, on_done, p, p->now), TENDON_OK);
    assert_int_equal(p->stored_length, 20);
    assert_memory_equal(p->stored, p->data, 20);
    do {
        status = tendon_gatt_write_command(&p->client, p->value, p->data + 5, 3);
        run(p);
    } while (status == TENDON_ERROR_WOULD_BLOCK);
    assert_int_equal(status, TENDON_OK);
    assert_int_equal(p->stored_length, 3);
    assert_memory_equal(p->stored, p->data + 5, 3);
}

/* Every length around the sizes of the parts, written and read back. */
static void long_values(pair *p) {
    for (size_t length = 0; length <= TENDON_ATT_VALUE_MAX; length++) {
        if (length > 60 && length < 505 && length % 37 != 0) {
            continue;
        }
        expect(p, tendon_gatt_write_long(&p->client, p->value, 0, p->data, length, on_done, p, p->now), TENDON_OK);
        assert_int_equal(p->stored_length, length);
        assert_memory_equal(p->stored, p->data, length);
        yields(p, tendon_gatt_read_long(&p->client, p->value, 0, p->buffer, sizeof(p->buffer), on_done, p, p->now),
               p->data, length);
        if (length > 7) {
            yields(p, tendon_gatt_read_long(&p->client, p->value, 7, p->buffer, sizeof(p->buffer), on_done, p, p->now),
                   p->data + 7, length - 7);
        }
    }
}

static void notifications(pair *p) {
    uint16_t cccd = (uint16_t)(p->value + 1);
    size_t room = p->client_bearer.mtu - 3u;
    size_t longest = room < TENDON_ATT_VALUE_MAX ? room : TENDON_ATT_VALUE_MAX;
    expect(p, tendon_gatt_subscribe(&p->client, p->value, cccd, false, on_value, p, on_done, p, p->now), TENDON_OK);
    assert_int_equal(tendon_gatt_connection_cccd(&p->connection, p->value), 1);
    unsigned sent = 0;
    for (unsigned i = 0; i < 100; i++) {
        if (tendon_gatt_notify(&p->connection, p->value, p->data + i, longest) == TENDON_OK) {
            sent++;
            run(p);
            assert_int_equal(p->received.length, longest);
            assert_memory_equal(p->received_value, p->data + i, longest);
        }
        run(p);
    }
    assert_int_equal(p->values, sent);
    assert_true(sent > 40);
    expect(p, tendon_gatt_subscribe(&p->client, p->value, cccd, true, on_value, p, on_done, p, p->now), TENDON_OK);
    p->values = 0;
    for (unsigned i = 0; i < 20; i++) {
        unsigned before = p->values;
        if (tendon_gatt_indicate(&p->connection, p->value, p->data, 5, p->now) != TENDON_OK) {
            run(p);
            continue;
        }
        run(p);
        assert_int_equal(p->values, before + 1);
        assert_true(p->received.indication);
    }
    assert_int_equal(p->confirmed, p->values);
    assert_true(p->values > 5);
    expect(p, tendon_gatt_unsubscribe(&p->client, p->value, on_done, p, p->now), TENDON_OK);
    assert_int_equal(tendon_gatt_connection_cccd(&p->connection, p->value), 0);
    assert_int_equal(tendon_gatt_notify(&p->connection, p->value, p->data, 1), TENDON_GATT_ERROR_NOT_SUBSCRIBED);
}

static void service_changed(pair *p) {
    static const uint8_t all[] = {0x01, 0x00, 0xFF, 0xFF};
    tendon_gatt_client_set_service_changed(&p->client, p->service_changed);
    expect(p,
           tendon_gatt_subscribe(&p->client, p->service_changed, (uint16_t)(p->service_changed + 1), true, on_value, p,
                                 on_done, p, p->now),
           TENDON_OK);
    while (tendon_gatt_indicate(&p->connection, p->service_changed, all, 4, p->now) == TENDON_ERROR_WOULD_BLOCK) {
        run(p);
    }
    run(p);
    assert_int_equal(p->changes, 1);
}

static const struct {
    const char *name;
    void (*check)(pair *p);
} procedures[] = {{"services", services},
                  {"services by uuid", services_by_uuid},
                  {"included", included},
                  {"characteristics", characteristics},
                  {"descriptors", descriptors},
                  {"reads", reads},
                  {"refusals", refusals},
                  {"writes", writes},
                  {"long values", long_values},
                  {"notifications", notifications},
                  {"service changed", service_changed}};

static void check_all(bool blocks) {
    static const uint16_t mtus[] = {23, 24, 25, 64, 185, 247, 517};
    for (size_t m = 0; m < sizeof(mtus) / sizeof(mtus[0]); m++) {
        for (size_t i = 0; i < sizeof(procedures) / sizeof(procedures[0]); i++) {
            pair *p = open_pair(mtus[m], blocks);
            procedures[i].check(p);
            if (p->client_bearer.counters.malformed + p->server_bearer.counters.malformed != 0 ||
                p->client_bearer.counters.unexpected_response != 0) {
                fail_msg("%s at MTU %u: one of the two does not understand the other", procedures[i].name, mtus[m]);
            }
            assert_int_equal(p->client.queued, 0);
            assert_int_equal(p->client_bearer.counters.sent, p->server_bearer.counters.received);
            assert_int_equal(p->server_bearer.counters.sent, p->client_bearer.counters.received);
            free(p);
        }
    }
}

static void every_procedure_end_to_end(void **state) {
    (void)state;
    check_all(false);
}

static void every_procedure_on_a_link_that_blocks(void **state) {
    (void)state;
    check_all(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_procedure_end_to_end),
        cmocka_unit_test(every_procedure_on_a_link_that_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
