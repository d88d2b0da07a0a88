/* SPDX-License-Identifier: MIT */
/* How long does a notification PDU take from the bearer to its handler? Limit: a call through a function pointer. */
#include "bench.h"

#include <stdlib.h>
#include <tendon/host.h>

static tendon_att_bearer bearer;
static tendon_gatt_client client;
static tendon_gatt_request requests[4];
static tendon_gatt_subscription subscriptions[8];
static uint64_t delivered;

static tendon_status discard(void *context, const uint8_t *pdu, size_t length) {
    (void)context, (void)pdu, (void)length;
    return TENDON_OK;
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context, (void)now;
    delivered += value->length;
}

static void on_done(void *context, const tendon_gatt_result *result) {
    (void)context, (void)result;
}

/* Handle 0x0010, 11 bytes of value. */
static const uint8_t notification[] = {0x1B, 0x10, 0x00, 0x03, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};

static void through_bearer(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        tendon_att_bearer_receive(&bearer, notification, sizeof notification, i);
    }
    bench_keep(&delivered);
}

static void pointer_call(void *context, size_t count) {
    (void)context;
    void (*volatile handler)(void *, const tendon_gatt_value *, uint64_t) = on_value;
    for (size_t i = 0; i < count; i++) {
        tendon_gatt_value value = {0x0010, notification + 3, sizeof notification - 3, false, 1, 0};
        handler(NULL, &value, i);
    }
    bench_keep(&delivered);
}

int main(int argc, char **argv) {
    static const uint8_t accepted[] = {0x13};
    tendon_bearer_io io = {NULL, discard};
    tendon_gatt_client_config config = {.bearer = &bearer,
                                        .requests = requests,
                                        .request_capacity = 4,
                                        .subscriptions = subscriptions,
                                        .subscription_capacity = 8};
    static const bench_body bodies[] = {
        {"pointer_call", pointer_call, NULL, sizeof notification, 0},
        {"tendon_att_bearer_receive", through_bearer, NULL, sizeof notification, 0},
    };

    tendon_att_bearer_init(&bearer, io, 247);
    if (tendon_gatt_client_init(&client, &config) < 0) {
        return 1;
    }
    for (uint16_t handle = 0x0010; handle < 0x0015; handle++) {
        if (tendon_gatt_subscribe(&client, handle, (uint16_t)(handle + 0x100), false, on_value, NULL, on_done, NULL,
                                  0) < 0) {
            return 1;
        }
        tendon_att_bearer_receive(&bearer, accepted, sizeof accepted, 0);
    }
    uint64_t before = delivered;
    tendon_att_bearer_receive(&bearer, notification, sizeof notification, 0);
    if (delivered != before + 11) {
        return 1;
    }
    return bench_main(argc, argv, "dispatch", bodies, 2, 0);
}
