/* SPDX-License-Identifier: MIT */
/* Head angles of the first Bose wearable in range: ten samples, in degrees. Without a Bluetooth adapter: of one that
 * `tendon simulate bose` simulates. */
#include <stdio.h>
#include <tendon/tendon.h>

static tendon_gateway gateway;
static tendon_bose_session bose;
static const double degrees = 180 / 3.14159265358979; /* of a radian */
static int left = 10;

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    if (event->kind == TENDON_BOSE_EVENT_OPENED) {
        tendon_bose_session_enable(context, TENDON_BOSE_ROTATION, 20, now);
    } else if (event->kind == TENDON_BOSE_EVENT_SAMPLE && left > 0) {
        tendon_angles head = tendon_euler_head(event->sample->quaternion);
        printf("pitch %+.1f roll %+.1f yaw %+.1f\n", head.pitch * degrees, head.roll * degrees, head.yaw * degrees);
        if (--left == 0) {
            tendon_loop_stop(&gateway.loop);
        }
    } else if (event->status < 0) {
        fprintf(stderr, "the wearable: %s\n", tendon_family_status_text(event->status));
        tendon_loop_stop(&gateway.loop);
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
    status = tendon_gateway_find(&gateway, tendon_bose_family.recognizes, 10000);
    if (status < 0) {
        fprintf(stderr, "no Bose wearable is found: %s\n", tendon_status_text(status));
        tendon_gateway_close(&gateway);
        return status == TENDON_ERROR_TIMEOUT ? 4 : 3;
    }
    tendon_bose_session_config config = {
        .link = tendon_connection_session_link(&gateway.connection), .context = &bose, .on_event = on_event};
    tendon_bose_session_init(&bose, &config);
    tendon_connection_attach(&gateway.connection, &tendon_bose_session_inputs, &bose);
    tendon_bose_session_open(&bose, tendon_monotonic_ms());
    if (tendon_gateway_run(&gateway, 30000) < 0) {
        fprintf(stderr, "%d samples are missing after 30 s\n", left);
    }
    tendon_gateway_close(&gateway);
    return left == 0 ? 0 : 1;
}
