/* SPDX-License-Identifier: MIT */
/*
 * What `tendon run --osc 127.0.0.1:PORT/iem` does for one wearable, in C over the library: each orientation of the
 * first Bose wearable on the virtual radio as a datagram, sent when it comes. With "lines", then a line with its time
 * of arrival, as the command has it. The limit of Bench/osc_delay.py. Usage: bench_osc_sample PORT [lines]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tendon/tendon.h>
#include <unistd.h>

static tendon_gateway gateway;
static tendon_bose_session bose;
static tendon_osc_map map;
static int receiver;
static bool has_lines;

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    static const char address[] = "/SceneRotator/quaternions";
    uint8_t packet[TENDON_OSC_ORIENTATION_MAX];
    if (event->kind == TENDON_BOSE_EVENT_OPENED) {
        tendon_bose_session_enable(context, TENDON_BOSE_ROTATION, 20, now);
    } else if (event->kind == TENDON_BOSE_EVENT_SAMPLE) {
        tendon_status length =
            tendon_osc_orientation(TENDON_OSC_ORIENTATION, address, &map,
                                   tendon_head_from_bose(event->sample->quaternion), packet, sizeof packet);
        if (length < 0 || tendon_datagram_send(receiver, packet, (size_t)length) < 0) {
            tendon_loop_stop(&gateway.loop);
        }
        if (has_lines) {
            char line[80];
            int size = snprintf(line, sizeof line, "{\"event\":\"sample\",\"received_at\":%.6f}\n",
                                (double)event->received_at / 1e9);
            if (write(STDOUT_FILENO, line, (size_t)size) != size) {
                tendon_loop_stop(&gateway.loop);
            }
        }
    }
}

int main(int count, char **arguments) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char directory[256];
    if (count < 2 || runtime == NULL || tendon_osc_map_parse("scene:w,x,y,z", 13, &map, NULL) < 0) {
        return 2;
    }
    has_lines = count > 2;
    receiver = tendon_datagram_connect("127.0.0.1", (uint16_t)atoi(arguments[1]));
    snprintf(directory, sizeof directory, "%s/tendon", runtime);
    if (receiver < 0 || tendon_gateway_open(&gateway, directory) < 0) {
        return 3;
    }
    if (tendon_gateway_find(&gateway, tendon_bose_family.recognizes, 10000) < 0) {
        return 4;
    }
    tendon_bose_session_config config = {
        .link = tendon_connection_session_link(&gateway.connection), .context = &bose, .on_event = on_event};
    tendon_bose_session_init(&bose, &config);
    tendon_connection_attach(&gateway.connection, &tendon_bose_session_inputs, &bose);
    tendon_bose_session_open(&bose, tendon_monotonic_ms());
    tendon_gateway_run(&gateway, 600000);
    tendon_gateway_close(&gateway);
    tendon_datagram_close(receiver);
    return 0;
}
