/* SPDX-License-Identifier: MIT */
#include "tendon/linux/gateway.h"

#include <string.h>

_Static_assert(sizeof(tendon_virtual_radio) <= TENDON_GATEWAY_RADIO_SIZE, "the union must not grow with its members");
#if defined(TENDON_HAVE_BLUEZ)
_Static_assert(sizeof(tendon_bluez_radio) <= TENDON_GATEWAY_RADIO_SIZE, "the union must not grow with its members");
#endif

/** Opens the first adapter; a build without adapters reports that it has none. */
static tendon_status open_adapter(tendon_gateway *gateway) {
#if defined(TENDON_HAVE_BLUEZ)
    gateway->radio = &gateway->bluez_radio.radio;
    return tendon_bluez_open(&gateway->bluez_radio, &gateway->loop, NULL);
#else
    (void)gateway;
    return TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT;
#endif
}

static tendon_status open_virtual(tendon_gateway *gateway, const char *directory) {
    tendon_address address = tendon_virtual_radio_default_address();
    gateway->radio = &gateway->virtual_radio.radio;
    return tendon_virtual_radio_open(&gateway->virtual_radio, &gateway->loop, directory, &address);
}

tendon_status tendon_gateway_open(tendon_gateway *gateway, const char *directory) {
    memset(gateway, 0, sizeof *gateway);
    tendon_status status = tendon_loop_init(&gateway->loop);
    if (status < 0) {
        return status;
    }
    gateway->adapter_failure = directory == NULL ? open_adapter(gateway) : TENDON_OK;
    if (directory != NULL || gateway->adapter_failure < 0) {
        status = open_virtual(gateway, directory);
    }
    if (status < 0) {
        gateway->radio = NULL;
        tendon_loop_close(&gateway->loop);
        return status;
    }
    gateway->bonds_failure = tendon_bonds_open(&gateway->bonds, NULL);
    if (gateway->bonds_failure >= 0) {
        gateway->bonds_failure = tendon_radio_use_bonds(gateway->radio, &gateway->bonds);
    }
    return TENDON_OK;
}

typedef struct search {
    bool (*recognizes)(const uint8_t *data, size_t length);
    tendon_address *found;
    bool done;
    tendon_status failure;
    tendon_radio *radio;
    void (*owner_on_failure)(void *context, tendon_status status, uint64_t now);
    void *owner_context;
} search;

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    search *state = context;
    (void)now;
    if (!state->done && state->recognizes(report->data, report->length)) {
        *state->found = report->address;
        state->done = true;
    }
}

/** A failure that does not end the scan is the owner's, as always. */
static void on_failure(void *context, tendon_status status, uint64_t now) {
    search *state = context;
    if (!state->radio->scanning) {
        state->failure = status;
    } else if (state->owner_on_failure != NULL) {
        state->owner_on_failure(state->owner_context, status, now);
    }
}

tendon_status tendon_radio_find(tendon_radio *radio, bool (*recognizes)(const uint8_t *data, size_t length),
                                uint32_t timeout_ms, tendon_address *found) {
    search state = {.recognizes = recognizes,
                    .found = found,
                    .radio = radio,
                    .owner_on_failure = radio->on_failure,
                    .owner_context = radio->report_context};
    void (*owner_on_report)(void *context, const tendon_ad_report *report, uint64_t now) = radio->on_report;
    uint64_t until = tendon_monotonic_ms() + timeout_ms;
    if (radio->loop->stepping) {
        return TENDON_ERROR_WRONG_STATE;
    }
    radio->on_report = on_report;
    radio->on_failure = on_failure;
    radio->report_context = &state;
    tendon_status status = tendon_radio_scan_start(radio, &(tendon_scan_parameters){.active = true});
    if (status >= 0) {
        do {
            status = tendon_loop_step(radio->loop, until);
            status = status < 0 || state.done ? status : state.failure;
        } while (status >= 0 && !state.done && tendon_monotonic_ms() < until);
        tendon_status stopped = tendon_radio_scan_stop(radio);
        status = status < 0 ? status : !state.done ? TENDON_ERROR_TIMEOUT : stopped;
    }
    radio->on_report = owner_on_report;
    radio->on_failure = state.owner_on_failure;
    radio->report_context = state.owner_context;
    return status;
}

tendon_status tendon_gateway_find(tendon_gateway *gateway, bool (*recognizes)(const uint8_t *data, size_t length),
                                  uint32_t timeout_ms) {
    tendon_address found;
    if (gateway->connection.state != TENDON_CONNECTION_IDLE) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_status status = tendon_radio_find(gateway->radio, recognizes, timeout_ms, &found);
    if (status >= 0) {
        const tendon_pairing_service *pairing = tendon_radio_pairing(gateway->radio);
        tendon_loop_remove(&gateway->loop, &gateway->connection.timer); /* a session's deadline can outlast its link */
        tendon_connection_init(&gateway->connection, gateway->radio, &found, pairing, NULL);
    }
    return status;
}

tendon_status tendon_gateway_run(tendon_gateway *gateway, uint32_t timeout_ms) {
    uint64_t until = timeout_ms == 0 ? UINT64_MAX : tendon_monotonic_ms() + timeout_ms;
    tendon_status status = tendon_loop_run(&gateway->loop, until);
    return status >= 0 && tendon_monotonic_ms() >= until ? TENDON_ERROR_TIMEOUT : status;
}

tendon_status tendon_gateway_close(tendon_gateway *gateway) {
    if (gateway->radio == NULL) {
        return TENDON_OK;
    }
    if (gateway->loop.stepping) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_connection_close(&gateway->connection);
    for (int step = 0; step < 16 && gateway->connection.state != TENDON_CONNECTION_IDLE; step++) {
        (void)tendon_loop_step(&gateway->loop, 0);
    }
    tendon_radio_close(gateway->radio);
    tendon_loop_close(&gateway->loop);
    gateway->radio = NULL;
    return TENDON_OK;
}
