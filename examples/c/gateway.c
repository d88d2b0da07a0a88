/* SPDX-License-Identifier: MIT */
/*
 * A gateway in one small program: prints the force of the first Activ5 trainer as JSON lines, and warns the wearer of
 * the first feelSpace belt each time the trainer is squeezed. For a broker: gateway | mosquitto_pub -l -t trainer
 * Usage: gateway [SECONDS]. It waits for a Bluetooth adapter; with TENDON_RADIO=virtual it uses simulated devices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tendon/tendon.h>

static tendon_gateway gateway; /* loop, radio, and the connection of the trainer */
static tendon_activ5_options options;
static tendon_activ5_device trainer;
static tendon_activ5_session trainer_session;
static tendon_connection belt_connection;
static tendon_feelspace_session belt;
static unsigned forces, warnings;

/* The rule. */
static void warn(uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    tendon_status length = tendon_feelspace_encode_warning_notice(false, packet, sizeof packet);
    tendon_status status =
        tendon_feelspace_session_send(&belt, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, length, now);
    if (status < 0) {
        fprintf(stderr, "the belt does not warn: %s\n", tendon_status_text(status));
        return;
    }
    warnings++;
    printf("{\"event\":\"warning\"}\n");
}

static void on_trainer(void *context, const tendon_activ5_event *event, uint64_t now) {
    (void)context;
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_READY:
        if (event->status >= 0) {
            tendon_activ5_device_start_isometric_when_ready(&trainer, now);
        }
        break;
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        forces++;
        printf("{\"event\":\"force\",\"force_n\":%.1f}\n", event->message->newtons);
        break;
    case TENDON_ACTIV5_EVENT_SQUEEZE:
        if (event->on) {
            warn(now);
        }
        break;
    case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
    case TENDON_ACTIV5_EVENT_DISCONNECTED:
        fprintf(stderr, "trainer: %s\n", tendon_status_text(event->status));
        break;
    default:
        break;
    }
}

static void on_belt(void *context, const tendon_feelspace_event *event, uint64_t now) {
    (void)context;
    (void)now;
    if (event->kind == TENDON_FEELSPACE_EVENT_STATE && event->connection.state == TENDON_FEELSPACE_CONNECTED) {
        fprintf(stderr, "belt: connected\n");
    } else if (event->kind == TENDON_FEELSPACE_EVENT_STATE && event->status < 0) {
        fprintf(stderr, "belt: %s\n", tendon_status_text(event->status));
    }
}

static bool open_trainer(void) {
    tendon_status status = tendon_gateway_find(&gateway, tendon_activ5_family.recognizes, 10000);
    if (status < 0) {
        fprintf(stderr, "no trainer is found: %s\n", tendon_status_text(status));
        return false;
    }
    tendon_session_link link = tendon_connection_session_link(&gateway.connection);
    options = tendon_activ5_options_defaults();
    tendon_activ5_device_init(&trainer, &options, on_trainer, NULL, NULL, NULL);
    status = tendon_activ5_session_init(&trainer_session, &link, &trainer);
    if (status >= 0) {
        tendon_connection_attach(&gateway.connection, &tendon_activ5_session_inputs, &trainer_session);
        status = tendon_activ5_device_open(&trainer, tendon_monotonic_ms());
    }
    if (status < 0) {
        fprintf(stderr, "trainer: %s\n", tendon_status_text(status));
    }
    return status >= 0;
}

static bool open_belt(void) {
    tendon_address address;
    tendon_status status = tendon_radio_find(gateway.radio, tendon_feelspace_family.recognizes, 10000, &address);
    if (status < 0) {
        fprintf(stderr, "no belt is found: %s\n", tendon_status_text(status));
        return false;
    }
    tendon_connection_init(&belt_connection, gateway.radio, &address, tendon_radio_pairing(gateway.radio), NULL);
    tendon_feelspace_session_config config = {.link = tendon_connection_session_link(&belt_connection),
                                              .on_event = on_belt};
    status = tendon_feelspace_session_init(&belt, &config);
    if (status >= 0) {
        tendon_connection_attach(&belt_connection, &tendon_feelspace_session_inputs, &belt);
        status = tendon_feelspace_session_connect(&belt, &address, NULL, tendon_monotonic_ms());
    }
    if (status < 0) {
        fprintf(stderr, "belt: %s\n", tendon_status_text(status));
    }
    return status >= 0;
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "--help") == 0) {
        printf("tendon-gateway %s\nUsage: %s [SECONDS]\nPrints the force of an Activ5 trainer as JSON lines, and warns "
               "the "
               "wearer of a feelSpace belt when it is squeezed.\n",
               tendon_version(), words[0]);
        return 0;
    }
    unsigned long seconds = count > 1 ? strtoul(words[1], NULL, 10) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
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
    if (status < 0) {
        fprintf(stderr, "no adapter: %s\n", tendon_status_text(status));
        tendon_gateway_close(&gateway);
        return 3;
    }
    if (!open_belt() || !open_trainer()) {
        tendon_gateway_close(&gateway);
        return 4;
    }
    tendon_gateway_run(&gateway, (uint32_t)(seconds * 1000));
    tendon_feelspace_session_disconnect(&belt, tendon_monotonic_ms());
    tendon_connection_close(&belt_connection);
    tendon_gateway_close(&gateway);
    if (forces == 0 || warnings == 0) {
        fprintf(stderr, "%u values of force, %u warnings: a part of them is missing\n", forces, warnings);
        return 1;
    }
    return 0;
}
