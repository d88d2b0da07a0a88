/* SPDX-License-Identifier: MIT */
/*
 * Requests that the peer refuses because the connection is not secure enough (Core Spec Vol 3 Part C 10.3.2): the owner
 * of the connection raises its security, then the request is sent again, once.
 */
#include "gatt_client_parts.h"

/* A key that is too short (0x0C) stays too short. */
static bool is_insecure(uint8_t error) {
    return error == TENDON_ATT_INSUFFICIENT_AUTHENTICATION || error == TENDON_ATT_INSUFFICIENT_ENCRYPTION;
}

/*
 * The caller waits for this request. A device is not paired with for what the client does by itself. After Execute
 * Write the peer has dropped the prepared parts: a second one would write nothing and succeed.
 */
static bool may_be_repeated(const tendon_gatt_request *request) {
    bool own = tendon_gattc_is_own_write(request) ||
               (request->kind == GATTC_READ_BY_UUID && (request->flags & GATTC_HASH) != 0);
    return !own && (request->flags & (GATTC_ZOMBIE | GATTC_RESTART)) == 0 && request->step < GATTC_STEP_EXECUTE;
}

bool tendon_gattc_secures(tendon_gatt_client *client, tendon_gatt_request *request, const tendon_att_pdu *refusal,
                          uint64_t now) {
    const tendon_gatt_client_config *config = &client->config;
    if (config->on_insecure == NULL || !is_insecure(refusal->error) || client->insecure ||
        client->refused == request->id || !may_be_repeated(request)) {
        return false;
    }
    client->refused = request->id;
    client->refusal = refusal->error;
    client->refused_handle = refusal->handle;
    if (request->limited) {
        request->deadline = UINT64_MAX;
    }
    client->securing = config->on_insecure(config->context, refusal->error, now);
    return client->securing;
}

void tendon_gatt_client_secured(tendon_gatt_client *client, tendon_status status, uint64_t now) {
    if (!client->securing) {
        return;
    }
    tendon_gatt_request *request = tendon_gattc_find(client, client->refused);
    client->securing = false;
    client->now = now;
    if (status < 0) {
        client->insecure = true;
        if (request != NULL && (request->flags & GATTC_ZOMBIE) == 0) {
            const tendon_att_pdu refusal = {
                .opcode = TENDON_ATT_ERROR_RESPONSE, .error = client->refusal, .handle = client->refused_handle};
            (void)tendon_gattc_settle(client, request, TENDON_OK, &refusal);
        }
    }
    tendon_gattc_pump(client, now);
}
