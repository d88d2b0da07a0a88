/* SPDX-License-Identifier: MIT */
/* Head angles of the first Bose wearable in reach: ten samples, in degrees. Start `tendon simulate bose` for one. */
#include <stdio.h>
#include <tendon/tendon.h>

static tendon_gateway gateway;
static tendon_bose_session bose;

static void on_event(void *left, const tendon_bose_event *event, uint64_t now) {
    if (event->kind == TENDON_BOSE_EVENT_OPENED) {
        tendon_bose_sensor_configuration sensors = bose.sensor_configuration;
        tendon_bose_enable_sensor(&sensors, TENDON_BOSE_ROTATION, 20, &bose.sensors);
        tendon_bose_session_configure_sensors(&bose, &sensors, now);
    } else if (event->kind == TENDON_BOSE_EVENT_SAMPLE && *(int *)left > 0) {
        tendon_angles head = tendon_euler_head(event->sample->quaternion);
        printf("pitch %+6.1f  roll %+6.1f  yaw %+6.1f\n", head.pitch * 57.29578, head.roll * 57.29578,
               head.yaw * 57.29578);
        if (--*(int *)left == 0) {
            tendon_loop_stop(&gateway.loop);
        }
    }
}

int main(void) {
    int left = 10;
    if (tendon_gateway_open(&gateway, NULL) < 0 ||
        tendon_gateway_find(&gateway, tendon_family_named("bose")->recognizes, 10000) < 0) {
        return 4;
    }
    tendon_bose_session_init(&bose,
                             &(tendon_bose_session_config){.link = tendon_connection_session_link(&gateway.connection),
                                                           .context = &left,
                                                           .on_event = on_event});
    tendon_connection_attach(&gateway.connection, &tendon_bose_session_inputs, &bose);
    tendon_bose_session_open(&bose, tendon_now_ms());
    tendon_status status = tendon_gateway_run(&gateway, 30000);
    tendon_gateway_close(&gateway);
    return status < 0 ? 1 : 0;
}
