/* SPDX-License-Identifier: MIT */
/* The table of subscriptions, by the requests that installed them. */
#include "gatt_client_parts.h"

void tendon_gattc_remove_subscription(tendon_gatt_client *client, tendon_gatt_subscription *subscription) {
    *subscription = (tendon_gatt_subscription){0};
    while (client->subscription_end > 0 &&
           client->config.subscriptions[client->subscription_end - 1].value_handle == 0) {
        client->subscription_end--;
    }
}

static tendon_gatt_subscription *installed_by(tendon_gatt_client *client, uint32_t request) {
    for (size_t i = 0; i < client->subscription_end; i++) {
        tendon_gatt_subscription *subscription = &client->config.subscriptions[i];
        if (subscription->value_handle != 0 && subscription->request == request) {
            return subscription;
        }
    }
    return NULL;
}

void tendon_gattc_drop_subscription(tendon_gatt_client *client, uint32_t request) {
    tendon_gatt_subscription *subscription = installed_by(client, request);
    if (subscription != NULL) {
        tendon_gattc_remove_subscription(client, subscription);
    }
}

void tendon_gattc_note_cccd(tendon_gatt_client *client, const tendon_gatt_request *request) {
    tendon_gatt_subscription *subscription = installed_by(client, request->id);
    if (subscription != NULL) {
        subscription->cccd_handle = request->handle;
    }
}
