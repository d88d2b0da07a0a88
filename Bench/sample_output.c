/* SPDX-License-Identifier: MIT */
/*
 * What `tendon run --json` does for one wearable, in C over the library: each sample of the first Bose wearable on the
 * virtual radio as a line with the same members, written when it comes. With a port: published to a broker on loopback
 * instead, by libmosquitto. The limit of Bench/user_cost.py. Usage: bench_sample_line [PORT]
 */
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <tendon/tendon.h>
#include <time.h>
#include <unistd.h>

static tendon_gateway gateway;
static tendon_bose_session bose;
static struct mosquitto *broker;
static char address[TENDON_ADDRESS_STRING_SIZE];

static int compose(char *line, size_t size, const tendon_bose_sample *sample, uint64_t device_ms) {
    const double degrees = 57.29577951308232;
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    tendon_angles head = tendon_euler_head(sample->quaternion);
    return snprintf(
        line, size,
        "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\",\"event\":\"sample\",\"family\":\"bose\","
        "\"address\":\"%s\",\"address_type\":\"random\",\"name\":\"%s\",\"sensor\":\"%s\",\"device_time_ms\":%llu,"
        "\"quaternion\":[%.17g,%.17g,%.17g,%.17g],\"pitch_deg\":%.17g,\"roll_deg\":%.17g,\"yaw_deg\":%.17g,"
        "\"accuracy_rad\":%.17g}\n",
        parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        now.tv_nsec / 1000, address, "LE-Bose Frames", tendon_bose_sensor_name(sample->sensor_id),
        (unsigned long long)device_ms, sample->quaternion.x, sample->quaternion.y, sample->quaternion.z,
        sample->quaternion.w, head.pitch * degrees, head.roll * degrees, head.yaw * degrees, sample->accuracy_rad);
}

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    char line[512];
    if (event->kind == TENDON_BOSE_EVENT_OPENED) {
        tendon_bose_session_enable(context, TENDON_BOSE_ROTATION, 20, now);
    } else if (event->kind == TENDON_BOSE_EVENT_SAMPLE) {
        int length = compose(line, sizeof line, event->sample, event->device_ms);
        if (broker != NULL) {
            mosquitto_publish(broker, NULL, "bench/stream/rotation", length - 1, line, 0, false);
        } else if (write(STDOUT_FILENO, line, (size_t)length) != length) {
            tendon_loop_stop(&gateway.loop);
        }
    }
}

int main(int count, char **arguments) {
    if (count > 1) {
        mosquitto_lib_init();
        broker = mosquitto_new(NULL, true, NULL);
        if (broker == NULL || mosquitto_connect(broker, "127.0.0.1", atoi(arguments[1]), 60) != MOSQ_ERR_SUCCESS ||
            mosquitto_loop_start(broker) != MOSQ_ERR_SUCCESS) {
            return 1;
        }
    }
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char directory[256];
    snprintf(directory, sizeof directory, "%s/tendon", runtime != NULL ? runtime : "");
    if (runtime == NULL || tendon_gateway_open(&gateway, directory) < 0) {
        return 3;
    }
    if (tendon_gateway_find(&gateway, tendon_bose_family.recognizes, 10000) < 0) {
        return 4;
    }
    tendon_address_format(&gateway.connection.peer, address);
    tendon_bose_session_config config = {
        .link = tendon_connection_session_link(&gateway.connection), .context = &bose, .on_event = on_event};
    tendon_bose_session_init(&bose, &config);
    tendon_connection_attach(&gateway.connection, &tendon_bose_session_inputs, &bose);
    tendon_bose_session_open(&bose, tendon_monotonic_ms());
    tendon_gateway_run(&gateway, 600000);
    tendon_gateway_close(&gateway);
    return 0;
}
