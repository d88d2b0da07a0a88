/* SPDX-License-Identifier: MIT */
/* Force on the first Activ5 trainer in range: twenty values in newtons, their maximum, and each squeeze. */
#include <stdio.h>
#include <tendon/tendon.h>

static tendon_gateway gateway;
static tendon_activ5_options options;
static tendon_activ5_device trainer;
static tendon_activ5_session session;
static double most;
static int left = 20;

static void on_force(double newtons) {
    if (left > 0) {
        printf("force %5.1f N\n", newtons);
        most = newtons > most ? newtons : most;
        if (--left == 0) {
            printf("maximum %.1f N\n", most);
            tendon_loop_stop(&gateway.loop);
        }
    }
}

static void fail(const char *what, tendon_status status) {
    fprintf(stderr, "%s: %s\n", what, tendon_family_status_text(status));
    tendon_loop_stop(&gateway.loop);
}

static void on_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    (void)context;
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_READY: {
        tendon_status status = event->status;
        if (status >= 0) {
            status = tendon_activ5_device_start_isometric_when_ready(&trainer, now);
        }
        if (status < 0) {
            fail("the trainer does not start", status);
        }
        break;
    }
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        on_force(event->message->newtons);
        break;
    case TENDON_ACTIV5_EVENT_SQUEEZE:
        printf("%s\n", event->on ? "squeezed" : "released");
        break;
    case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
    case TENDON_ACTIV5_EVENT_DISCONNECTED:
        if (left > 0) {
            fail("the trainer is not connected", event->status);
        }
        break;
    default:
        break;
    }
}

int main(void) {
    tendon_status status = tendon_gateway_open(&gateway, NULL);
    if (status < 0) {
        fprintf(stderr, "no radio (TENDON_RADIO, TENDON_ADAPTER, XDG_RUNTIME_DIR): %s\n", tendon_status_text(status));
        return 3;
    }
    if (gateway.waiting) {
        fprintf(stderr, "waiting for a Bluetooth adapter (%s); TENDON_RADIO=virtual uses simulated devices\n",
                tendon_status_text(gateway.adapter_failure));
    }
    status = tendon_gateway_find(&gateway, tendon_activ5_family.recognizes, 10000);
    if (status < 0) {
        fprintf(stderr, "no trainer is found: %s\n", tendon_status_text(status));
        tendon_gateway_close(&gateway);
        return status == TENDON_ERROR_TIMEOUT ? 4 : 3;
    }
    options = tendon_activ5_options_defaults();
    tendon_activ5_device_init(&trainer, &options, on_event, NULL, NULL, NULL);
    tendon_session_link link = tendon_connection_session_link(&gateway.connection);
    status = tendon_activ5_session_init(&session, &link, &trainer);
    if (status >= 0) {
        tendon_connection_attach(&gateway.connection, &tendon_activ5_session_inputs, &session);
        status = tendon_activ5_device_open(&trainer, tendon_monotonic_ms());
    }
    if (status >= 0 && tendon_gateway_run(&gateway, 30000) < 0) {
        fprintf(stderr, "no twenty values of force within 30 s\n");
    } else if (status < 0) {
        fail("the trainer is not connected", status);
    }
    tendon_gateway_close(&gateway);
    return left == 0 ? 0 : 1;
}
