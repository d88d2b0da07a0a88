/* SPDX-License-Identifier: MIT */
#include "tendon/linux/gateway.h"

#include "adapter_wait.h"
#include "tendon/linux/recognition.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(tendon_virtual_radio) <= TENDON_GATEWAY_RADIO_SIZE, "the union must not grow with its members");
#if defined(TENDON_HAVE_BLUEZ)
_Static_assert(sizeof(tendon_bluez_radio) <= TENDON_GATEWAY_RADIO_SIZE, "the union must not grow with its members");
#endif

static tendon_status open_virtual(tendon_gateway *gateway, const char *directory) {
    tendon_address address = tendon_virtual_radio_default_address();
    gateway->radio = &gateway->virtual_radio.radio;
    return tendon_virtual_radio_open(&gateway->virtual_radio, &gateway->loop, directory, &address);
}

static void stop_waiting(tendon_gateway *gateway) {
    gateway->waiting = false;
    tendon_adapter_wait_end(&gateway->wait);
    tendon_loop_remove(&gateway->loop, &gateway->retry);
}

#if defined(TENDON_HAVE_BLUEZ)

/** NULL: any. */
static const char *adapter_name(void) {
    const char *name = getenv(TENDON_GATEWAY_ADAPTER_VARIABLE);
    return name != NULL && name[0] != '\0' ? name : NULL;
}

static void adapter_reported(void *context) {
    tendon_gateway *gateway = context;
    gateway->retry.deadline = gateway->wait.retry_at;
}

static void wait_for_adapter(tendon_gateway *gateway, uint64_t now) {
    gateway->waiting = true;
    tendon_adapter_wait_begin(&gateway->wait, &gateway->loop, adapter_name(), gateway->adapter_failure, now);
    gateway->retry.deadline = gateway->wait.retry_at;
}

static void open_adapter(tendon_gateway *gateway) {
    gateway->adapter_failure = tendon_bluez_open(&gateway->bluez_radio, &gateway->loop, adapter_name());
    gateway->radio = gateway->adapter_failure < 0 ? NULL : &gateway->bluez_radio.radio;
}

static void try_again(void *context, uint64_t now) {
    tendon_gateway *gateway = context;
    if (gateway->radio != NULL) { /* another one, of the caller */
        stop_waiting(gateway);
        return;
    }
    open_adapter(gateway);
    if (gateway->radio == NULL) {
        wait_for_adapter(gateway, now);
        return;
    }
    stop_waiting(gateway);
    gateway->bonds_failure = tendon_radio_open_bonds(gateway->radio, &gateway->bonds, NULL);
    if (gateway->on_adapter != NULL) {
        gateway->on_adapter(gateway->adapter_context, now);
    }
}

/** Opens the first adapter, or waits for it. */
static tendon_status open_kernels(tendon_gateway *gateway) {
    tendon_source_init(&gateway->retry, -1, gateway, NULL, try_again);
    tendon_adapter_wait_init(&gateway->wait, gateway, adapter_reported);
    open_adapter(gateway);
    if (gateway->radio != NULL || tendon_adapter_absence_of(gateway->adapter_failure) == TENDON_ADAPTER_UNUSABLE) {
        return gateway->adapter_failure;
    }
    wait_for_adapter(gateway, tendon_monotonic_ms());
    return tendon_loop_add(&gateway->loop, &gateway->retry);
}

#else

static tendon_status open_kernels(tendon_gateway *gateway) {
    return gateway->adapter_failure = TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT;
}

#endif

static tendon_status open_named(tendon_gateway *gateway) {
    const char *name = getenv(TENDON_GATEWAY_RADIO_VARIABLE);
    if (name == NULL || name[0] == '\0' || strcmp(name, "bluez") == 0) {
        return open_kernels(gateway);
    }
    return strcmp(name, "virtual") == 0 ? open_virtual(gateway, NULL) : TENDON_RADIO_ERROR_UNKNOWN_RADIO;
}

tendon_status tendon_gateway_open(tendon_gateway *gateway, const char *directory) {
    memset(gateway, 0, sizeof *gateway);
    tendon_status status = tendon_loop_init(&gateway->loop);
    if (status < 0) {
        return status;
    }
    status = directory != NULL ? open_virtual(gateway, directory) : open_named(gateway);
    if (status < 0) {
        gateway->radio = NULL;
        tendon_loop_close(&gateway->loop);
        return status;
    }
    if (gateway->radio != NULL) {
        gateway->bonds_failure = tendon_radio_open_bonds(gateway->radio, &gateway->bonds, NULL);
    }
    return TENDON_OK;
}

static tendon_status await_adapter(tendon_gateway *gateway, uint64_t until) {
    if (gateway->loop.stepping) {
        return TENDON_ERROR_WRONG_STATE;
    }
    while (gateway->radio == NULL && !gateway->loop.stopping) {
        tendon_status status = tendon_loop_step(&gateway->loop, until);
        if (status < 0) {
            return status;
        }
        if (gateway->radio == NULL && tendon_monotonic_ms() >= until) {
            return gateway->adapter_failure;
        }
    }
    if (gateway->radio == NULL) {
        gateway->loop.stopping = false;
        return TENDON_ERROR_CANCELLED;
    }
    return TENDON_OK;
}

tendon_status tendon_gateway_await_adapter(tendon_gateway *gateway, uint32_t timeout_ms) {
    return await_adapter(gateway, timeout_ms == 0 ? UINT64_MAX : tendon_monotonic_ms() + timeout_ms);
}

typedef struct search {
    tendon_recognition recognition;
    tendon_address *found;
    bool done;
    tendon_status failure;
    tendon_radio *radio;
    void (*owner_on_report)(void *context, const tendon_ad_report *report, uint64_t now);
    void (*owner_on_failure)(void *context, tendon_status status, uint64_t now);
    void *owner_context;
} search;

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    search *state = context;
    (void)now;
    if (!state->done && tendon_recognition_take(&state->recognition, report)) {
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

/** What a scan reports goes to the search; the owner's callbacks come back with end_search(). */
static void begin_search(search *state, tendon_radio *radio) {
    state->radio = radio;
    state->owner_on_report = radio->on_report;
    state->owner_on_failure = radio->on_failure;
    state->owner_context = radio->report_context;
    radio->on_report = on_report;
    radio->on_failure = on_failure;
    radio->report_context = state;
}

static void end_search(search *state) {
    state->radio->on_report = state->owner_on_report;
    state->radio->on_failure = state->owner_on_failure;
    state->radio->report_context = state->owner_context;
}

tendon_status tendon_radio_find(tendon_radio *radio, bool (*recognizes)(const uint8_t *data, size_t length),
                                uint32_t timeout_ms, tendon_address *found) {
    search state = {.recognition = {.recognizes = recognizes}, .found = found};
    uint64_t until = tendon_monotonic_ms() + timeout_ms;
    if (radio == NULL || recognizes == NULL || found == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (radio->loop->stepping) {
        return TENDON_ERROR_WRONG_STATE;
    }
    begin_search(&state, radio);
    tendon_status status = tendon_radio_scan_start(radio, &(tendon_scan_parameters){.active = true});
    if (status >= 0) {
        do {
            status = tendon_loop_step(radio->loop, until);
            status = status < 0 || state.done ? status : state.failure;
            if (status >= 0 && !state.done && (!radio->scanning || radio->loop->stopping)) {
                status = TENDON_ERROR_CANCELLED; /* the radio was closed, or the loop is to stop */
                radio->loop->stopping = false;
            }
        } while (status >= 0 && !state.done && tendon_monotonic_ms() < until);
        tendon_status stopped = tendon_radio_scan_stop(radio);
        status = status < 0 ? status : !state.done ? TENDON_ERROR_TIMEOUT : stopped;
    }
    end_search(&state);
    return status;
}

tendon_status tendon_gateway_find(tendon_gateway *gateway, bool (*recognizes)(const uint8_t *data, size_t length),
                                  uint32_t timeout_ms) {
    tendon_address found;
    if (recognizes == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (gateway->connection.state != TENDON_CONNECTION_IDLE) {
        return TENDON_ERROR_WRONG_STATE;
    }
    uint64_t until = tendon_monotonic_ms() + timeout_ms;
    tendon_status status = await_adapter(gateway, until);
    if (status >= 0) {
        uint64_t now = tendon_monotonic_ms();
        status = tendon_radio_find(gateway->radio, recognizes, now < until ? (uint32_t)(until - now) : 0, &found);
    }
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

/** Its owner may connect again in closed(), until it is not asked any more. */
static void end_connection(tendon_gateway *gateway) {
    tendon_connection *connection = &gateway->connection;
    for (int step = 0; step < 16 && connection->state != TENDON_CONNECTION_IDLE; step++) {
        if (step == 8) {
            connection->callbacks = (tendon_connection_callbacks){0};
            tendon_connection_attach(connection, NULL, NULL);
        }
        tendon_connection_close(connection);
        (void)tendon_loop_step(&gateway->loop, 0);
    }
}

tendon_status tendon_gateway_close(tendon_gateway *gateway) {
    if (gateway->radio == NULL && !gateway->waiting) {
        return TENDON_OK;
    }
    if (gateway->loop.stepping) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (gateway->waiting) {
        stop_waiting(gateway);
    }
    if (gateway->radio != NULL) {
        end_connection(gateway);
        tendon_radio_close(gateway->radio);
    }
    tendon_loop_close(&gateway->loop);
    gateway->radio = NULL;
    return TENDON_OK;
}
