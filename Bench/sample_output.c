/* SPDX-License-Identifier: MIT */
/*
 * What one output of `tendon run` does for one wearable, in C over the library: each sample of the first Bose wearable
 * on the virtual radio, sent when it comes, with the same members or bytes. The limit of Bench/user_cost.py. Usage:
 * bench_sample_output json | mqtt PORT | osc PORT [lines] | record DIRECTORY | lsl LIBRARY osc lines: then a line with
 * its time of arrival as well, for Bench/osc_delay.py.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <tendon/tendon.h>
#include <time.h>
#include <unistd.h>

typedef struct output {
    const char *name;
    bool (*open)(const char *argument);
    void (*send)(const tendon_bose_event *event);
} output;

static tendon_gateway gateway;
static tendon_bose_session bose;
static const output *chosen;
static bool has_lines;
static char address[TENDON_ADDRESS_STRING_SIZE];

static void put(int descriptor, const char *text, size_t length) {
    if (write(descriptor, text, length) != (ssize_t)length) {
        tendon_loop_stop(&gateway.loop);
    }
}

/* ---- lines: on standard output, and published by libmosquitto ---- */

static struct mosquitto *broker;

static tendon_angles head_of(const tendon_bose_sample *sample) {
    const double degrees = 57.29577951308232;
    tendon_angles head = tendon_euler_head(sample->quaternion);
    head.pitch *= degrees;
    head.roll *= degrees;
    head.yaw *= degrees;
    return head;
}

static int compose(char *line, size_t size, const tendon_bose_sample *sample, uint64_t device_ms) {
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    tendon_angles head = head_of(sample);
    return snprintf(
        line, size,
        "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\",\"event\":\"sample\",\"family\":\"bose\","
        "\"address\":\"%s\",\"address_type\":\"random\",\"name\":\"%s\",\"sensor\":\"%s\",\"device_time_ms\":%llu,"
        "\"quaternion\":[%.17g,%.17g,%.17g,%.17g],\"pitch_deg\":%.17g,\"roll_deg\":%.17g,\"yaw_deg\":%.17g,"
        "\"accuracy_rad\":%.17g}\n",
        parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        now.tv_nsec / 1000, address, "LE-Bose Frames", tendon_bose_sensor_name(sample->sensor_id),
        (unsigned long long)device_ms, sample->quaternion.x, sample->quaternion.y, sample->quaternion.z,
        sample->quaternion.w, head.pitch, head.roll, head.yaw, sample->accuracy_rad);
}

static bool open_json(const char *argument) {
    (void)argument;
    return true;
}

static void send_json(const tendon_bose_event *event) {
    char line[512];
    int length = compose(line, sizeof line, event->sample, event->device_ms);
    put(STDOUT_FILENO, line, (size_t)length);
}

static bool open_mqtt(const char *port) {
    mosquitto_lib_init();
    broker = mosquitto_new(NULL, true, NULL);
    return broker != NULL && mosquitto_connect(broker, "127.0.0.1", atoi(port), 60) == MOSQ_ERR_SUCCESS &&
           mosquitto_loop_start(broker) == MOSQ_ERR_SUCCESS;
}

static void send_mqtt(const tendon_bose_event *event) {
    char line[512];
    int length = compose(line, sizeof line, event->sample, event->device_ms);
    mosquitto_publish(broker, NULL, "bench/stream/rotation", length - 1, line, 0, false);
}

/* ---- OSC ---- */

static tendon_osc_map map;
static int receiver;

static bool open_osc(const char *port) {
    receiver = tendon_datagram_connect("127.0.0.1", (uint16_t)atoi(port));
    return receiver >= 0 && tendon_osc_map_parse("scene:w,x,y,z", 13, &map, NULL) >= 0;
}

static void send_osc(const tendon_bose_event *event) {
    uint8_t packet[TENDON_OSC_ORIENTATION_MAX];
    tendon_status length =
        tendon_osc_orientation(TENDON_OSC_ORIENTATION, "/SceneRotator/quaternions", &map,
                               tendon_head_from_bose(event->sample->quaternion), packet, sizeof packet);
    if (length < 0 || tendon_datagram_send(receiver, packet, (size_t)length) < 0) {
        tendon_loop_stop(&gateway.loop);
    }
    if (has_lines) {
        char line[80];
        int size = snprintf(line, sizeof line, "{\"event\":\"sample\",\"received_at\":%.6f}\n",
                            (double)event->received_at / 1e9);
        put(STDOUT_FILENO, line, (size_t)size);
    }
}

/* ---- a recording: the wide and the long rows, written four times a second, on the disk a second later ---- */

enum { RECORDED_MAX = 1 << 16 };
static char wide_rows[RECORDED_MAX], long_rows[RECORDED_MAX];
static size_t wide_length, long_length;
static int wide_file, long_file;
static uint64_t write_at, synchronize_at;

static bool open_record(const char *directory) {
    char path[300];
    snprintf(path, sizeof path, "%s/bose.rotation.csv", directory);
    wide_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    snprintf(path, sizeof path, "%s/samples.csv", directory);
    long_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return wide_file >= 0 && long_file >= 0;
}

static void write_rows(void) {
    uint64_t now = tendon_monotonic_ms();
    if (write_at == 0) {
        write_at = now + 250;
    }
    if (now >= write_at) {
        put(wide_file, wide_rows, wide_length);
        put(long_file, long_rows, long_length);
        wide_length = long_length = 0;
        write_at = 0;
        synchronize_at = synchronize_at != 0 ? synchronize_at : now + 1000;
    }
    if (synchronize_at != 0 && now >= synchronize_at) {
        fdatasync(wide_file);
        fdatasync(long_file);
        synchronize_at = 0;
    }
}

static void send_record(const tendon_bose_event *event) {
    static const char *const channels[] = {"x", "y", "z", "w", "pitch", "roll", "yaw"};
    static const char *const units[] = {"", "", "", "", "deg", "deg", "deg"};
    tendon_angles head = head_of(event->sample);
    tendon_quaternion turn = event->sample->quaternion;
    const double values[] = {turn.x, turn.y, turn.z, turn.w, head.pitch, head.roll, head.yaw};
    char times[80], time[TENDON_LINE_TIME_SIZE];
    uint64_t age = (uint64_t)tendon_monotonic_ms() * 1000 - event->received_at / 1000;
    tendon_line_time(tendon_realtime_us() - age, time);
    snprintf(times, sizeof times, "%.6f,%.6f,%.1f", (double)event->received_at / 1e9, (double)event->sampled_at / 1e9,
             event->error_us / 1e3);
    wide_length += (size_t)snprintf(wide_rows + wide_length, RECORDED_MAX - wide_length, "%.*s,%s,%llu",
                                    (int)sizeof time, time, times, (unsigned long long)event->device_ms);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        wide_length += (size_t)snprintf(wide_rows + wide_length, RECORDED_MAX - wide_length, ",%.9f", values[i]);
        long_length +=
            (size_t)snprintf(long_rows + long_length, RECORDED_MAX - long_length, "%.*s,%s,rotation,%s,%s,%.9f,%s\n",
                             (int)sizeof time, time, address, channels[i], units[i], values[i], times);
    }
    wide_rows[wide_length++] = '\n';
    write_rows();
}

/* ---- the Lab Streaming Layer, by its C functions (lsl_c.h of liblsl 1.16) ---- */

static void *(*create_streaminfo)(const char *, const char *, int32_t, double, int, const char *);
static void *(*create_outlet)(void *, int32_t, int32_t);
static int32_t (*push_sample)(void *, const double *, double, int32_t);
static double (*local_clock)(void);
static void *outlet;

static bool open_lsl(const char *path) {
    enum { DOUBLE_64 = 2 };
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        return false;
    }
    *(void **)&create_streaminfo = dlsym(library, "lsl_create_streaminfo");
    *(void **)&create_outlet = dlsym(library, "lsl_create_outlet");
    *(void **)&push_sample = dlsym(library, "lsl_push_sample_dtp");
    *(void **)&local_clock = dlsym(library, "lsl_local_clock");
    if (create_streaminfo == NULL || create_outlet == NULL || push_sample == NULL || local_clock == NULL) {
        return false;
    }
    outlet =
        create_outlet(create_streaminfo("bench rotation", "Orientation", 7, 50, DOUBLE_64, "bench/rotation"), 0, 360);
    return outlet != NULL;
}

static void send_lsl(const tendon_bose_event *event) {
    tendon_angles head = head_of(event->sample);
    tendon_quaternion turn = event->sample->quaternion;
    const double values[] = {turn.x, turn.y, turn.z, turn.w, head.pitch, head.roll, head.yaw};
    double age = (double)tendon_monotonic_ms() / 1e3 - (double)event->received_at / 1e9;
    push_sample(outlet, values, local_clock() - age, 1);
}

/* ---- the program ---- */

static const output outputs[] = {{"json", open_json, send_json},
                                 {"mqtt", open_mqtt, send_mqtt},
                                 {"osc", open_osc, send_osc},
                                 {"record", open_record, send_record},
                                 {"lsl", open_lsl, send_lsl}};

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    if (event->kind == TENDON_BOSE_EVENT_OPENED) {
        tendon_bose_session_enable(context, TENDON_BOSE_ROTATION, 20, now);
    } else if (event->kind == TENDON_BOSE_EVENT_SAMPLE) {
        chosen->send(event);
    }
}

int main(int count, char **arguments) {
    for (size_t i = 0; count > 1 && i < sizeof outputs / sizeof outputs[0]; i++) {
        chosen = strcmp(arguments[1], outputs[i].name) == 0 ? &outputs[i] : chosen;
    }
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *argument = count > 2 ? arguments[2] : "";
    has_lines = count > 3;
    if (chosen == NULL || runtime == NULL || !chosen->open(argument)) {
        return 2;
    }
    char directory[256];
    snprintf(directory, sizeof directory, "%s/tendon", runtime);
    if (tendon_gateway_open(&gateway, directory) < 0) {
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
