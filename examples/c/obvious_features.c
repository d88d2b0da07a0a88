/* SPDX-License-Identifier: MIT */
/* The first Obvious device in range: its versions, and the states of two features, in two requests. Pairs if necessary.
 * Usage: obvious_features [FEATURE FEATURE] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <tendon/tendon.h>

#define FRAME_MAX 1024
#define FEATURES 2
#define ITEM_SIZE 2 /* of a FEATURE_STATUS request: the number of the feature */

static tendon_gateway gateway;
static tendon_obvious_session session;
static uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(FRAME_MAX)];
static uint16_t features[FEATURES] = {16, 17};
static bool done;

static void fail(const char *what, tendon_status status) {
    fprintf(stderr, "%s: %s\n", what, tendon_family_status_text(status));
    tendon_loop_stop(&gateway.loop);
}

static void on_features(void *context, const tendon_obvious_response *response, uint64_t now) {
    (void)context;
    (void)now;
    if (response->status < 0) {
        fail("no states", response->status);
        return;
    }
    for (size_t i = 0; i < response->payload->features.count; i++) {
        tendon_obvious_feature feature = tendon_obvious_feature_at(response->payload, i);
        printf("feature %u: enabled %u, switch %u\n", feature.id, feature.enable, feature.toggle);
    }
    done = true;
    tendon_loop_stop(&gateway.loop);
}

static void on_information(void *context, const tendon_obvious_response *response, uint64_t now) {
    uint8_t items[FEATURES * ITEM_SIZE];
    (void)context;
    if (response->status < 0) {
        fail("no information", response->status);
        return;
    }
    printf("serial %016" PRIX64 ", product %" PRIu32 ", battery %u%%\n", response->payload->device_info.serial,
           response->payload->device_info.product, response->payload->device_info.battery);
    for (size_t i = 0; i < FEATURES; i++) {
        tendon_obvious_put_feature((tendon_obvious_feature){.id = features[i]}, ITEM_SIZE, items + i * ITEM_SIZE);
    }
    tendon_obvious_payload payload = {.features = {.items = items, .count = FEATURES, .item_size = ITEM_SIZE}};
    tendon_status status =
        tendon_obvious_session_request(&session, TENDON_OBVIOUS_FEATURE_STATUS, &payload, on_features, NULL, now);
    if (status < 0) {
        fail("no states", status);
    }
}

static void on_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    const tendon_obvious_payload none = {.session = {0}};
    (void)context;
    if (event->kind == TENDON_OBVIOUS_SESSION_EVENT_OPENED) {
        tendon_status status =
            tendon_obvious_session_request(&session, TENDON_OBVIOUS_GET_DEVICE_INFO, &none, on_information, NULL, now);
        if (status < 0) {
            fail("no information", status);
        }
    } else if (event->kind != TENDON_OBVIOUS_SESSION_EVENT_DEVICE && !done) {
        fail("the device cannot be used", event->status);
    }
}

int main(int count, char **words) {
    for (int i = 0; i < FEATURES && count > FEATURES; i++) {
        features[i] = (uint16_t)strtoul(words[1 + i], NULL, 10);
    }
    tendon_status status = tendon_gateway_open(&gateway, NULL);
    if (status < 0) {
        fprintf(stderr, "no radio (TENDON_RADIO, TENDON_ADAPTER, XDG_RUNTIME_DIR): %s\n", tendon_status_text(status));
        return 3;
    }
    if (gateway.waiting) {
        fprintf(stderr, "waiting for a Bluetooth adapter (%s); TENDON_RADIO=virtual uses simulated devices\n",
                tendon_status_text(gateway.adapter_failure));
    }
    status = tendon_gateway_find(&gateway, tendon_obvious_family.recognizes, 10000);
    if (status < 0) {
        fprintf(stderr, "no Obvious device is found: %s\n", tendon_status_text(status));
        tendon_gateway_close(&gateway);
        return status == TENDON_ERROR_TIMEOUT ? 4 : 3;
    }
    tendon_obvious_session_config config = {.link = tendon_connection_session_link(&gateway.connection),
                                            .memory = memory,
                                            .frame_max = FRAME_MAX,
                                            .window = 8,
                                            .on_event = on_event};
    if (getrandom(config.nonce, sizeof config.nonce, 0) != sizeof config.nonce) {
        perror("getrandom");
        tendon_gateway_close(&gateway);
        return 1;
    }
    status = tendon_obvious_session_init(&session, &config);
    if (status >= 0) {
        tendon_connection_attach(&gateway.connection, &tendon_obvious_session_inputs, &session);
        status = tendon_obvious_session_connect(&session, tendon_monotonic_ms());
    }
    if (status >= 0 && tendon_gateway_run(&gateway, 30000) < 0) {
        fprintf(stderr, "no states of the features within 30 s\n");
    } else if (status < 0) {
        fail("the device cannot be used", status);
    }
    tendon_gateway_close(&gateway);
    return done ? 0 : 1;
}
