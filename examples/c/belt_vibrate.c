/* SPDX-License-Identifier: MIT */
/* The first feelSpace belt in range vibrates for a second, at the right of its wearer. */
#include <stdio.h>
#include <tendon/tendon.h>

static tendon_gateway gateway;
static tendon_feelspace_session belt;
static bool vibrates, ended;

static void end(void) {
    ended = true;
    tendon_loop_stop(&gateway.loop);
}

static void check(tendon_status status) {
    if (status != TENDON_OK && !ended) { /* a warning is above 0: the belt ignores the command */
        fprintf(stderr, "the belt does not vibrate: %s\n",
                status < 0 ? tendon_family_status_text(status) : "not in this mode");
        end();
    }
}

static void vibrate(uint64_t now) {
    const tendon_feelspace_vibration right = {
        .signal = TENDON_FEELSPACE_SIGNAL_DIRECTION_NOTIFICATION, .direction = 90, .intensity = -1, .channel = 1};
    check(tendon_feelspace_session_vibrate(&belt, &right, now));
}

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    (void)context;
    if (event->kind == TENDON_FEELSPACE_EVENT_STATE && event->connection.state == TENDON_FEELSPACE_CONNECTED) {
        check(tendon_feelspace_session_set_mode(&belt, TENDON_FEELSPACE_MODE_APP, now));
    } else if (event->kind == TENDON_FEELSPACE_EVENT_MODE && belt.mode == TENDON_FEELSPACE_MODE_APP) {
        vibrate(now);
    } else if (event->kind == TENDON_FEELSPACE_EVENT_COMMAND &&
               event->command.characteristic == TENDON_FEELSPACE_VIBRATION_COMMAND && event->status >= 0) {
        printf("the belt vibrates\n");
        vibrates = true;
        end();
    } else {
        check(event->status);
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
    status = tendon_gateway_find(&gateway, tendon_feelspace_family.recognizes, 10000);
    if (status < 0) {
        fprintf(stderr, "no belt is found: %s\n", tendon_status_text(status));
        tendon_gateway_close(&gateway);
        return status == TENDON_ERROR_TIMEOUT ? 4 : 3;
    }
    tendon_feelspace_session_config config = {.link = tendon_connection_session_link(&gateway.connection),
                                              .on_event = on_event};
    tendon_feelspace_session_init(&belt, &config);
    tendon_connection_attach(&gateway.connection, &tendon_feelspace_session_inputs, &belt);
    status = tendon_feelspace_session_connect(&belt, &gateway.connection.peer, NULL, tendon_monotonic_ms());
    check(status);
    if (status >= 0 && tendon_gateway_run(&gateway, 30000) == TENDON_ERROR_TIMEOUT) {
        fprintf(stderr, "the belt does not vibrate within 30 s\n");
    }
    if (vibrates) {
        tendon_gateway_run(&gateway, 1000); /* a belt that loses its connection stops */
    }
    tendon_feelspace_session_disconnect(&belt, tendon_monotonic_ms());
    tendon_gateway_close(&gateway);
    return vibrates ? 0 : 1;
}
