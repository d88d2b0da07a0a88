/* SPDX-License-Identifier: MIT */
/* Headings of the first feelSpace belt in range: ten values; at the last one the belt vibrates toward north for a
 * second. */
#include <stdio.h>
#include <tendon/tendon.h>

static tendon_gateway gateway;
static tendon_feelspace_session belt;
static tendon_status reason = TENDON_OK; /* why the belt is not connected */
static int left = 10;

static void on_command(const tendon_feelspace_event *event) {
    if (event->status < 0) {
        fprintf(stderr, "the belt rejected a command: %s\n", tendon_family_status_text(event->status));
    }
    if (left == 0 && tendon_feelspace_session_idle(&belt)) {
        tendon_loop_stop(&gateway.loop);
    }
}

/* A notice of one second, in any mode of the belt. */
static void point_north(uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    tendon_status length = tendon_feelspace_encode_direction_notice(0, true, packet, sizeof packet);
    tendon_status status =
        tendon_feelspace_session_send(&belt, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, length, now);
    if (status < 0) {
        fprintf(stderr, "the belt does not vibrate: %s\n", tendon_family_status_text(status));
        tendon_loop_stop(&gateway.loop);
    }
}

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    (void)context;
    switch (event->kind) {
    case TENDON_FEELSPACE_EVENT_STATE:
        if (event->connection.state == TENDON_FEELSPACE_CONNECTED) {
            reason = tendon_feelspace_session_set_orientation_period(&belt, 100, now);
            reason = reason < 0 ? reason : tendon_feelspace_session_start_orientation(&belt, 0, 0, now);
        } else if (event->connection.state == TENDON_FEELSPACE_NOT_CONNECTED) {
            reason = event->status;
        }
        if (reason < 0) {
            tendon_loop_stop(&gateway.loop);
        }
        break;
    case TENDON_FEELSPACE_EVENT_ORIENTATION:
        if (left > 0) {
            printf("heading %3u degrees, %s\n", belt.orientation.heading_360,
                   belt.orientation.accurate ? "accurate" : "not accurate");
            if (--left == 0) {
                point_north(now);
            }
        }
        break;
    case TENDON_FEELSPACE_EVENT_COMMAND:
        on_command(event);
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
    reason = tendon_feelspace_session_connect(&belt, &gateway.connection.peer, NULL, tendon_monotonic_ms());
    if (reason >= 0 && tendon_gateway_run(&gateway, 30000) < 0) {
        fprintf(stderr, "the belt has not done all within 30 s\n");
    }
    if (reason < 0) {
        fprintf(stderr, "the belt is not connected: %s\n", tendon_family_status_text(reason));
    }
    tendon_feelspace_session_disconnect(&belt, tendon_monotonic_ms());
    tendon_gateway_close(&gateway);
    return left == 0 ? 0 : 1;
}
