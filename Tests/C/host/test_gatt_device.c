/* SPDX-License-Identifier: MIT */
/* A device of the program's own as the owner of its links sees it: three places, centrals that send literal PDUs. */
#include "tendon/host.h"
#include "test_bytes.h"

enum { PLACES = 3, PREPARED = 2 };

/* Handles: 1 service 1800, 2 3 name, 4 5 appearance; 6 service 180D, 7 8 rate with CCCD 9, 10 11 control point;
 * 12 service 1801, 13 14 Service Changed with CCCD 15, 16 17 hash. */
enum { RATE = 8, RATE_CCCD = 9, CONTROL = 11 };

typedef struct central {
    tendon_att_bearer bearer;
    tendon_status link; /**< what its link answers */
    uint8_t sent[64];
    size_t length;
    int sends;
} central;

static struct stage {
    tendon_gatt_attribute attributes[17];
    tendon_gatt_server server;
    tendon_gatt_central places[PLACES];
    uint16_t cccds[PLACES * 2];
    tendon_gatt_prepared prepared[PLACES * PREPARED];
    tendon_gatt_device_config config;
    tendon_gatt_device device;
    tendon_peripheral_device served;
    central centrals[PLACES + 1];
    uint8_t written[32];
    size_t written_length;
    int ready, confirmed;
    tendon_status confirmation;
} s;

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    (void)connection;
    (void)now;
    assert_ptr_equal(context, &s);
    assert_int_equal(handle, CONTROL);
    assert_int_equal(offset, 0);
    assert_false(command);
    memcpy(s.written, value, length);
    s.written_length = length;
    return TENDON_OK;
}

static void on_confirmed(void *context, tendon_gatt_connection *connection, uint16_t handle, tendon_status status,
                         uint64_t now) {
    (void)context;
    (void)connection;
    (void)handle;
    (void)now;
    s.confirmed++;
    s.confirmation = status;
}

static void on_ready(void *context, uint64_t now) {
    (void)now;
    assert_ptr_equal(context, &s);
    s.ready++;
}

static tendon_status on_send(void *context, const uint8_t *pdu, size_t length) {
    central *one = context;
    if (one->link == TENDON_OK) {
        memcpy(one->sent, pdu, length);
        one->length = length;
        one->sends++;
    }
    return one->link;
}

static int setup(void **state) {
    (void)state;
    static const uint8_t appearance[2] = {0x41, 0x03};
    static const uint8_t advertisement[] = {2, 1, 6, 3, 3, 0x0D, 0x18}, response[] = {3, 9, 'H', 'R'};
    const tendon_gatt_handlers handlers = {.context = &s, .write = on_write, .confirmed = on_confirmed};
    const tendon_uuid heart_rate = tendon_uuid_from_u16(0x180D), rate = tendon_uuid_from_u16(0x2A37),
                      control = tendon_uuid_from_u16(0x2A39);
    memset(&s, 0, sizeof s);
    tendon_gatt_server_init(&s.server, s.attributes, 17, &handlers);
    assert_int_equal(tendon_gatt_add_generic_access(&s.server, "HR", 2, appearance), 1);
    assert_int_equal(tendon_gatt_add_service(&s.server, &heart_rate, true), 6);
    assert_int_equal(tendon_gatt_add_characteristic(&s.server, &rate, TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE, 0),
                     RATE);
    assert_int_equal(tendon_gatt_add_characteristic(&s.server, &control, TENDON_GATT_WRITE, TENDON_GATT_PERMIT_WRITE),
                     CONTROL);
    assert_int_equal(tendon_gatt_add_generic_attribute(&s.server), 12);
    memset(s.cccds, 0xA5, sizeof s.cccds); /* what the memory held before */
    s.places[1].used = true;
    s.config = (tendon_gatt_device_config){.advertisement = advertisement,
                                           .advertisement_length = sizeof advertisement,
                                           .scan_response = response,
                                           .scan_response_length = sizeof response,
                                           .centrals = {.places = s.places,
                                                        .capacity = PLACES,
                                                        .cccds = s.cccds,
                                                        .cccd_capacity = 2,
                                                        .prepared = s.prepared,
                                                        .prepared_capacity = PREPARED},
                                           .context = &s,
                                           .ready = on_ready};
    assert_int_equal(tendon_gatt_device_init(&s.device, &s.server, &s.config), TENDON_OK);
    s.served = tendon_gatt_device_peripheral(&s.device);
    for (int i = 0; i <= PLACES; i++) {
        tendon_att_bearer_init(&s.centrals[i].bearer, (tendon_bearer_io){&s.centrals[i], on_send}, 64);
    }
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

static tendon_status connect_central(int i) {
    return s.served.ops->connected(s.served.context, &s.centrals[i].bearer, 1);
}

static void disconnect_central(int i, tendon_status reason) {
    s.served.ops->disconnected(s.served.context, &s.centrals[i].bearer, reason, 2);
}

/** One PDU of a central; its answer, "" for none. */
static void exchange(int i, const char *hex, const char *answer) {
    central *one = &s.centrals[i];
    block pdu = block_hex(hex);
    int before = one->sends;
    (void)tendon_att_bearer_receive(&one->bearer, pdu.data, pdu.length, 1);
    free(pdu.data);
    assert_int_equal(one->sends - before, answer[0] != 0 ? 1 : 0);
    if (answer[0] != 0) {
        assert_hex(one->sent, one->length, answer);
    }
}

static void last_sent(int i, const char *hex) {
    assert_hex(s.centrals[i].sent, s.centrals[i].length, hex);
}

static void it_advertises_what_it_was_given(void **state) {
    (void)state;
    uint8_t out[31];
    assert_hex(out, (size_t)s.served.ops->advertisement(s.served.context, out, 31), "020106 03030d18");
    assert_hex(out, (size_t)s.served.ops->scan_response(s.served.context, out, 31), "03094852");
    assert_int_equal(s.served.ops->advertisement(s.served.context, out, 6), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(s.served.ops->scan_response(s.served.context, out, 3), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, NULL, 0, NULL, 0), TENDON_OK);
    assert_int_equal(s.served.ops->advertisement(s.served.context, out, 31), 0);
    assert_int_equal(s.served.ops->scan_response(s.served.context, out, 31), 0);
    assert_string_equal(s.served.ops->name, "gatt");
    s.served.ops->tick(s.served.context, 5);
    assert_true(s.served.ops->deadline(s.served.context) == UINT64_MAX);
}

/* What a device must not advertise: cut at each position, longer than an advertisement. */
static void bad_advertising_data_change_nothing(void **state) {
    (void)state;
    static const uint8_t data[32] = {2, 1, 6, 3, 3, 0x0D, 0x18, 3, 9, 'A', 'B', 0};
    uint8_t out[31];
    for (size_t length = 0; length <= 11; length++) {
        bool whole = length == 0 || length == 3 || length == 7 || length == 11;
        size_t offset = 99;
        tendon_status expected = whole ? TENDON_OK : TENDON_ERROR_TRUNCATED;
        assert_int_equal(tendon_ad_check(data, length, &offset), expected);
        assert_int_equal(offset, whole ? length : length < 3 ? 0 : length < 7 ? 3 : 7);
        assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, data, length, NULL, 0), expected);
        assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, NULL, 0, data, length), expected);
    }
    assert_int_equal(tendon_ad_check(data, 31, NULL), TENDON_OK); /* a length of 0 ends them */
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, data, 31, data, 31), TENDON_OK);
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, data, 3, data, 7), TENDON_OK);
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, data, 31, data, 32), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, data, 32, data, 31), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, NULL, 1, data, 3), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_gatt_device_set_advertisement(&s.device, data, 3, NULL, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(s.served.ops->advertisement(s.served.context, out, 31), 3);
    assert_int_equal(s.served.ops->scan_response(s.served.context, out, 31), 7);
}

static tendon_status again(void) {
    tendon_gatt_device device;
    return tendon_gatt_device_init(&device, &s.server, &s.config);
}

static void what_cannot_be_served_is_refused(void **state) {
    (void)state;
    const tendon_gatt_device_config good = s.config;
    assert_int_equal(again(), TENDON_OK);
    s.config.centrals.capacity = 0;
    assert_int_equal(again(), TENDON_ERROR_INVALID_ARGUMENT);
    s.config.centrals.capacity = 33;
    assert_int_equal(again(), TENDON_ERROR_INVALID_ARGUMENT);
    s.config = good;
    s.config.centrals.places = NULL;
    assert_int_equal(again(), TENDON_ERROR_INVALID_ARGUMENT);
    s.config = good;
    s.config.centrals.cccd_capacity = 1;
    assert_int_equal(again(), TENDON_ERROR_INVALID_ARGUMENT);
    s.config = good;
    s.config.centrals.cccds = NULL;
    assert_int_equal(again(), TENDON_ERROR_INVALID_ARGUMENT);
    s.config = good;
    s.config.centrals.prepared = NULL;
    assert_int_equal(again(), TENDON_ERROR_INVALID_ARGUMENT);
    s.config.centrals.prepared_capacity = 0;
    assert_int_equal(again(), TENDON_OK);
    s.config.scan_response_length = 32;
    assert_int_equal(again(), TENDON_ERROR_OVERFLOW);
    s.config = good;
    s.server.status = TENDON_ERROR_TABLE_FULL;
    assert_int_equal(again(), TENDON_ERROR_TABLE_FULL);
    s.server.status = TENDON_OK;
    s.device.config.centrals.cccd_capacity = 1; /* the server's own check */
    assert_int_equal(connect_central(0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_false(s.places[0].used);
}

static void each_central_has_its_own_subscriptions_and_mtu(void **state) {
    (void)state;
    uint32_t blocked = 99;
    for (int i = 0; i < PLACES; i++) {
        assert_int_equal(connect_central(i), i);
    }
    assert_int_equal(connect_central(PLACES), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, (const uint8_t *)"\0\x48", 2, &blocked), 0);
    assert_int_equal(blocked, 0);
    exchange(0, "12 0900 0100", "13");
    exchange(2, "12 0900 0300", "13");
    exchange(2, "02 2800", "03 4000"); /* 40 there, 64 here */
    exchange(1, "0a 0900", "0b 0000");
    exchange(2, "0a 0900", "0b 0300");
    assert_true(tendon_gatt_centrals_subscribed(s.places, PLACES, RATE, 2));
    assert_false(tendon_gatt_centrals_subscribed(s.places, PLACES, 14, 2)); /* Service Changed */
    uint8_t value[40];
    memset(value, 7, sizeof value);
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, value, 40, NULL), 2);
    assert_int_equal(s.centrals[0].length, 23); /* cut to what the link takes */
    assert_int_equal(s.centrals[2].length, 40);
    assert_int_equal(s.centrals[1].sends, 1); /* the answer above alone */
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, NULL, 1, &blocked), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, NULL, 0, &blocked), 2);
    last_sent(0, "1b 0800");
}

static void a_full_link_is_named_and_is_ready_later(void **state) {
    (void)state;
    uint32_t blocked = 0;
    assert_int_equal(connect_central(0), 0);
    assert_int_equal(connect_central(1), 1);
    exchange(0, "12 0900 0100", "13");
    exchange(1, "12 0900 0100", "13");
    s.centrals[1].link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, (const uint8_t *)"\0\x48", 2, &blocked), 1);
    assert_int_equal(blocked, 2);
    last_sent(0, "1b 0800 0048");
    s.centrals[1].link = TENDON_ERROR_DISCONNECTED; /* it is gone: nothing to wait for */
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, (const uint8_t *)"\0\x48", 2, &blocked), 1);
    assert_int_equal(blocked, 0);
    s.served.ops->writable(s.served.context, 3);
    assert_int_equal(s.ready, 1);
    s.device.config.ready = NULL;
    s.served.ops->writable(s.served.context, 3);
    assert_int_equal(s.ready, 1);
}

static void a_place_is_used_again_from_the_beginning(void **state) {
    (void)state;
    assert_int_equal(connect_central(0), 0);
    assert_int_equal(connect_central(1), 1);
    exchange(0, "12 0900 0200", "13");
    assert_int_equal(tendon_gatt_indicate(&s.places[0].connection, RATE, (const uint8_t *)"\1", 1, 1), TENDON_OK);
    last_sent(0, "1d 0800 01");
    disconnect_central(0, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(s.confirmed, 1);
    assert_int_equal(s.confirmation, TENDON_RADIO_ERROR_PEER_CLOSED);
    disconnect_central(0, TENDON_RADIO_ERROR_PEER_CLOSED); /* known no more */
    assert_int_equal(s.confirmed, 1);
    assert_int_equal(tendon_gatt_centrals_index(s.places, PLACES, &s.places[0].connection), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_gatt_centrals_index(s.places, PLACES, &s.places[1].connection), 1);
    assert_int_equal(connect_central(2), 0);
    exchange(2, "0a 0900", "0b 0000");
    assert_int_equal(tendon_gatt_device_notify(&s.device, RATE, NULL, 0, NULL), 0);
}

/* Each place has two prepared writes of its own. */
static void long_writes_of_two_centrals_do_not_mix(void **state) {
    (void)state;
    assert_int_equal(connect_central(0), 0);
    assert_int_equal(connect_central(1), 1);
    exchange(0, "16 0b00 0000 4142", "17 0b00 0000 4142");
    exchange(1, "16 0b00 0000 5859", "17 0b00 0000 5859");
    exchange(0, "16 0b00 0200 43", "17 0b00 0200 43");
    exchange(0, "16 0b00 0300 44", "01 16 0b00 09"); /* Prepare Queue Full */
    exchange(1, "18 01", "19");
    assert_hex(s.written, s.written_length, "5859");
    exchange(0, "18 01", "19");
    assert_hex(s.written, s.written_length, "414243");
}

/* One is enough for a value of one part, none for none at all. */
static void a_place_may_have_one_prepared_write_or_none(void **state) {
    (void)state;
    s.device.config.centrals.prepared_capacity = 1;
    assert_int_equal(connect_central(0), 0);
    exchange(0, "16 0b00 0000 4142", "17 0b00 0000 4142");
    exchange(0, "16 0b00 0200 43", "01 16 0b00 09");
    exchange(0, "18 01", "19");
    assert_hex(s.written, s.written_length, "4142");
    s.device.config.centrals.prepared_capacity = 0;
    assert_int_equal(connect_central(1), 1);
    exchange(1, "16 0b00 0000 4142", "01 16 0b00 06"); /* Request Not Supported */
}

static void pairing_is_permitted_and_is_noted(void **state) {
    (void)state;
    assert_int_equal(connect_central(0), 0);
    assert_int_equal(s.served.ops->pairing(s.served.context), 0);
    s.device.config.pairable = true;
    assert_int_equal(s.served.ops->pairing(s.served.context), TENDON_PERIPHERAL_PAIRABLE);
    s.served.ops->paired(s.served.context, &s.centrals[1].bearer, 1); /* not connected */
    assert_false(s.places[0].connection.bonded);
    s.served.ops->paired(s.served.context, &s.centrals[0].bearer, 1);
    assert_true(s.places[0].connection.bonded);
    assert_int_equal(s.places[0].connection.security, TENDON_GATT_SECURITY_ENCRYPTED);
    s.places[0].connection.security = TENDON_GATT_SECURITY_AUTHENTICATED;
    s.served.ops->paired(s.served.context, &s.centrals[0].bearer, 1);
    assert_int_equal(s.places[0].connection.security, TENDON_GATT_SECURITY_AUTHENTICATED);
}

/* Core Spec Vol 3 Part C 12.1, 12.2. */
static void generic_access_has_name_and_appearance(void **state) {
    (void)state;
    static const uint8_t appearance[2] = {0x41, 0x03};
    char name[249] = {0};
    assert_int_equal(connect_central(0), 0);
    exchange(0, "10 0100 ffff 0028", "11 06 0100 0500 0018 0600 0b00 0d18 0c00 1100 0118");
    exchange(0, "0a 0300", "0b 4852");
    exchange(0, "0a 0500", "0b 4103");
    exchange(0, "08 0100 ffff 002a", "09 04 0300 4852");
    for (size_t capacity = 0; capacity < 5; capacity++) {
        tendon_gatt_server_init(&s.server, s.attributes, capacity, NULL);
        assert_int_equal(tendon_gatt_add_generic_access(&s.server, "HR", 2, appearance), TENDON_ERROR_TABLE_FULL);
    }
    tendon_gatt_server_init(&s.server, s.attributes, 5, NULL);
    assert_int_equal(tendon_gatt_add_generic_access(&s.server, name, 248, appearance), 1);
    tendon_gatt_server_init(&s.server, s.attributes, 5, NULL);
    assert_int_equal(tendon_gatt_add_generic_access(&s.server, name, 249, appearance), TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(it_advertises_what_it_was_given),         TEST(bad_advertising_data_change_nothing),
        TEST(what_cannot_be_served_is_refused),        TEST(each_central_has_its_own_subscriptions_and_mtu),
        TEST(a_full_link_is_named_and_is_ready_later), TEST(a_place_is_used_again_from_the_beginning),
        TEST(long_writes_of_two_centrals_do_not_mix),  TEST(a_place_may_have_one_prepared_write_or_none),
        TEST(pairing_is_permitted_and_is_noted),       TEST(generic_access_has_name_and_appearance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
