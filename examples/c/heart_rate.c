/* SPDX-License-Identifier: MIT */
/* A heart rate sensor of our own: it advertises, and notifies every central that subscribes. It ends after ten values.
 */
#include <stdio.h>
#include <tendon/tendon.h>

enum { CENTRALS = TENDON_PERIPHERAL_LINKS, CCCDS = 2, PREPARED = 2, VALUES = 10, PERIOD_MS = 200 };

static tendon_gateway gateway;
static tendon_gatt_attribute attributes[24];
static tendon_gatt_server server;
static tendon_gatt_central places[CENTRALS];
static uint16_t cccds[CENTRALS * CCCDS];
static tendon_gatt_prepared prepared[CENTRALS * PREPARED];
static tendon_gatt_device device;
static tendon_peripheral peripheral;
static tendon_source timer;
static uint16_t measurement, control_point;
static uint8_t beats = 72, location = 1; /* chest */
static int notified;

static const tendon_address *address_of(const tendon_gatt_connection *connection) {
    return &tendon_peripheral_find(&peripheral, connection->bearer)->link.peer;
}

static void print(const char *what, const tendon_address *address) {
    char text[TENDON_ADDRESS_STRING_SIZE];
    tendon_address_format(address, text);
    printf("%s %s\n", text, what);
}

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    (void)context;
    (void)handle; /* the location is the only value that changes and is read */
    print("reads the location", address_of(connection));
    *value = &location;
    *length = 1;
    return TENDON_OK;
}

/* Heart Rate Service 1.0, 3.3: only 1, reset, is defined; 0x80 is its own error. */
static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    (void)context;
    (void)command;
    (void)now;
    if (handle != control_point || offset != 0 || length != 1 || value[0] != 1) {
        return TENDON_ATT_ERROR(0x80);
    }
    print("resets", address_of(connection));
    beats = 72;
    return TENDON_OK;
}

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                          uint64_t now) {
    (void)context;
    if (value_handle == measurement) {
        print(value != 0 ? "subscribes" : "unsubscribes", address_of(connection));
        timer.deadline = timer.deadline == UINT64_MAX ? now + PERIOD_MS : timer.deadline;
    }
}

static void on_connected(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)context;
    (void)now;
    print("is connected", &link->link.peer);
}

static void on_disconnected(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    print("is disconnected", &link->link.peer);
    printf("reason: %s\n", reason == TENDON_ERROR_CANCELLED ? "we have closed it" : tendon_status_text(reason));
}

/* Flags 0: the rate in one byte. A link that is full misses this value: the next one is newer. */
static void on_timer(void *context, uint64_t now) {
    const uint8_t value[2] = {0, beats};
    uint32_t full = 0;
    (void)context;
    if (notified == VALUES) { /* a period later: closing a connection discards what the controller has not sent */
        tendon_loop_stop(&gateway.loop);
        return;
    }
    tendon_status count = tendon_gatt_device_notify(&device, measurement, value, sizeof value, &full);
    if (count > 0) {
        printf("%u per minute to %d\n", beats, (int)count);
        beats++;
        notified++;
    }
    timer.deadline = count > 0 || full != 0 ? now + PERIOD_MS : UINT64_MAX; /* until a central subscribes */
}

static tendon_status build_services(void) {
    static const tendon_gatt_handlers handlers = {.read = on_read, .write = on_write, .subscribed = on_subscribed};
    static const uint8_t appearance[2] = {0x41, 0x03}; /* heart rate sensor, chest strap */
    const tendon_uuid service = tendon_uuid_from_u16(0x180D), rate = tendon_uuid_from_u16(0x2A37),
                      body = tendon_uuid_from_u16(0x2A38), control = tendon_uuid_from_u16(0x2A39);
    tendon_gatt_server_init(&server, attributes, 24, &handlers);
    tendon_gatt_add_generic_access(&server, "Tendon heart rate", 17, appearance);
    tendon_gatt_add_service(&server, &service, true);
    measurement = (uint16_t)tendon_gatt_add_characteristic(&server, &rate, TENDON_GATT_NOTIFY, 0);
    tendon_gatt_add_characteristic(&server, &body, TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    control_point =
        (uint16_t)tendon_gatt_add_characteristic(&server, &control, TENDON_GATT_WRITE, TENDON_GATT_PERMIT_WRITE);
    tendon_gatt_add_generic_attribute(&server);
    return server.status; /* the first error of all of them */
}

static tendon_status build_device(void) {
    static uint8_t data[TENDON_AD_LEGACY_MAX], response[TENDON_AD_LEGACY_MAX];
    const tendon_uuid service = tendon_uuid_from_u16(0x180D);
    tendon_writer advertisement = tendon_writer_make(data, sizeof data);
    tendon_ad_put_flags(&advertisement, TENDON_AD_FLAG_GENERAL | TENDON_AD_FLAG_NO_BREDR);
    tendon_ad_put_uuids(&advertisement, &service, 1, true);
    tendon_writer name = tendon_writer_make(response, sizeof response);
    tendon_ad_put_name(&name, "Tendon heart rate", 17);
    if (advertisement.status < 0) {
        fprintf(stderr, "at byte %u of the advertisement: ", (unsigned)advertisement.length);
        return advertisement.status;
    }
    const tendon_gatt_device_config config = {.advertisement = data,
                                              .advertisement_length = advertisement.length,
                                              .scan_response = response,
                                              .scan_response_length = name.length,
                                              .centrals = {.places = places,
                                                           .capacity = CENTRALS,
                                                           .cccds = cccds,
                                                           .cccd_capacity = CCCDS,
                                                           .prepared = prepared,
                                                           .prepared_capacity = PREPARED}};
    return tendon_gatt_device_init(&device, &server, &config);
}

int main(void) {
    static const tendon_peripheral_callbacks callbacks = {.connected = on_connected, .disconnected = on_disconnected};
    tendon_status status = tendon_gateway_open(&gateway, NULL);
    if (status < 0) {
        fprintf(stderr, "no radio (TENDON_RADIO, TENDON_ADAPTER, XDG_RUNTIME_DIR): %s\n", tendon_status_text(status));
        return 3;
    }
    if (gateway.waiting) {
        fprintf(stderr, "waiting for a Bluetooth adapter (%s); TENDON_RADIO=virtual uses simulated devices\n",
                tendon_status_text(gateway.adapter_failure));
    }
    status = tendon_gateway_await_adapter(&gateway, 0);
    status = status < 0 ? status : build_services();
    status = status < 0 ? status : build_device();
    if (status >= 0) {
        const tendon_peripheral_device served = tendon_gatt_device_peripheral(&device);
        tendon_peripheral_init(&peripheral, gateway.radio, &served, &callbacks);
        tendon_source_init(&timer, -1, NULL, NULL, on_timer);
        timer.deadline = UINT64_MAX;
        status = tendon_loop_add(&gateway.loop, &timer);
    }
    if (status >= 0 && (status = tendon_peripheral_open(&peripheral, 0)) >= 0) {
        print("advertises a heart rate sensor", &gateway.radio->address);
        fflush(stdout);
        tendon_gateway_run(&gateway, 60000);
        tendon_peripheral_close(&peripheral); /* the loop ends the connections */
        for (int step = 0; step < 100 && tendon_peripheral_count(&peripheral) > 0; step++) {
            (void)tendon_loop_step(&gateway.loop, tendon_monotonic_ms() + 10);
        }
    }
    if (status < 0) {
        fprintf(stderr, "the device is not served: %s\n", tendon_status_text(status));
    } else if (notified < VALUES) {
        fprintf(stderr, "no central has received %d values\n", VALUES);
    }
    tendon_loop_remove(&gateway.loop, &timer);
    tendon_gateway_close(&gateway);
    return notified == VALUES ? 0 : 1;
}
