/* SPDX-License-Identifier: MIT */
/* The C example against a simulated device in another process; peripherals on the virtual radio. */
#include "link_fixture.h"

#include <tendon/tendon.h>

static uint32_t find_ms = 10000; /* of the example */
int stream_bose_main(void);
#define main stream_bose_main
#define tendon_gateway_find(gateway, recognizes, timeout) tendon_gateway_find(gateway, recognizes, find_ms)
#include "../../../examples/c/stream_bose.c"
#undef tendon_gateway_find
#undef main

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const tendon_address device_address = {{0xC1, 2, 3, 4, 5, 0xD0}, TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address central_address = {{0xC1, 2, 3, 4, 5, 0xCE}, TENDON_ADDRESS_TYPE_RANDOM};

static char runtime[64];
static tendon_simulated_bose simulated;

/* In the place of the C library: whatever this machine has, the programs here find no adapter. */
int socket(int domain, int type, int protocol) {
    if (domain == 31) { /* AF_BLUETOOTH */
        errno = EAFNOSUPPORT;
        return -1;
    }
    return (int)syscall(SYS_socket, domain, type, protocol);
}

static int runtime_setup(void **state) {
    (void)state;
    strcpy(runtime, "/tmp/tendon-test-XXXXXX");
    return mkdtemp(runtime) != NULL && setenv("XDG_RUNTIME_DIR", runtime, 1) == 0 &&
                   setenv("XDG_STATE_HOME", runtime, 1) == 0 && setenv("TENDON_RADIO", "virtual", 1) == 0
               ? 0
               : -1;
}

static int runtime_teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", runtime);
    return system(command);
}

static volatile sig_atomic_t stopped;
static void on_term(int number) {
    (void)number;
    stopped = 1;
}

/* The child: a simulated device until it receives the command to end. */
static void child(void) {
    static tendon_virtual_radio radio;
    static tendon_peripheral peripheral;
    tendon_loop loop;
    struct sigaction action = {.sa_handler = on_term};
    alarm(30);
    sigaction(SIGTERM, &action, NULL);
    if (tendon_loop_init(&loop) < 0 || tendon_virtual_radio_open(&radio, &loop, NULL, &device_address) < 0 ||
        tendon_simulated_bose_init(&simulated, NULL) < 0) {
        _exit(2);
    }
    tendon_peripheral_device device = tendon_simulated_bose_device(&simulated);
    tendon_peripheral_init(&peripheral, &radio.radio, &device, NULL);
    if (tendon_peripheral_open(&peripheral, 20) < 0) {
        _exit(3);
    }
    while (stopped == 0) {
        (void)tendon_loop_step(&loop, UINT64_MAX);
    }
    _exit(peripheral.accepted == 1 ? 0 : 4);
}

static bool is_of_the_script(double pitch, double roll, double yaw) {
    for (uint64_t ms = 0; ms < 20000; ms++) {
        tendon_pose pose = tendon_simulated_bose_pose(ms);
        if (fabs(pose.pitch * 57.29578 - pitch) < 0.2 && fabs(pose.roll * 57.29578 - roll) < 0.2 &&
            fabs(pose.yaw * 57.29578 - yaw) < 0.2) {
            return true;
        }
    }
    return false;
}

static void example_prints_the_angles_of_the_script(void **state) {
    (void)state;
    char path[96], line[128];
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        child();
    }
    snprintf(path, sizeof path, "%s/output", runtime);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    assert_non_null(freopen(path, "w", stdout));
    int result = stream_bose_main();
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    kill(pid, SIGTERM);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(result, 0);
    assert_ptr_equal(gateway.connection.pairing, &gateway.virtual_radio.radio.pairing);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    FILE *output = fopen(path, "r");
    assert_non_null(output);
    int lines = 0;
    while (fgets(line, sizeof line, output) != NULL) {
        double pitch = 0, roll = 0, yaw = 0;
        assert_int_equal(sscanf(line, "pitch %lf roll %lf yaw %lf", &pitch, &roll, &yaw), 3);
        assert_true(is_of_the_script(pitch, roll, yaw));
        lines++;
    }
    fclose(output);
    assert_int_equal(lines, 10);
}

/* As the command: 3 without a radio, 4 without a device. */
static void the_example_has_a_status_for_each_lack(void **state) {
    (void)state;
    static const struct {
        const char *radio;
        int status;
    } rows[] = {{"virtual", 4}, {"bluez", 3}, {"wifi", 3}};
    find_ms = 20;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(setenv("TENDON_RADIO", rows[i].radio, 1), 0);
        assert_int_equal(stream_bose_main(), rows[i].status);
    }
    assert_int_equal(setenv("TENDON_RADIO", "virtual", 1), 0);
}

static bool nothing(const uint8_t *data, size_t length) {
    (void)data;
    (void)length;
    return false;
}

/* A belt has its service in the advertisement and its name in the scan response; one of its neighbors has the name, and
 * the other one the service. */
static void both_packets_of_a_device_are_recognized_together(void **state) {
    (void)state;
    static const uint8_t service[] = {3, 3, 0x51, 0xFE}, name[] = "\x0C\x09naviGuertel", other[] = "\x06\x09other";
    static const struct {
        const uint8_t *data, *response;
        size_t length, response_length;
    } devices[] = {{name, other, sizeof name - 1, sizeof other - 1},
                   {service, other, sizeof service, sizeof other - 1},
                   {service, name, sizeof service, sizeof name - 1}};
    static tendon_virtual_radio radios[3];
    static tendon_gateway g;
    tendon_address found;
    assert_int_equal(tendon_gateway_open(&g, NULL), TENDON_OK);
    for (uint8_t i = 0; i < 3; i++) {
        const tendon_address address = {{0xC1, 2, 3, 4, 6, i}, TENDON_ADDRESS_TYPE_RANDOM};
        assert_int_equal(tendon_virtual_radio_open(&radios[i], &g.loop, NULL, &address), TENDON_OK);
        if (i == 2) {
            assert_int_equal(tendon_radio_find(g.radio, tendon_feelspace_family.recognizes, 200, &found),
                             TENDON_ERROR_TIMEOUT);
        }
        const tendon_advertise_parameters parameters = {.data = devices[i].data,
                                                        .length = devices[i].length,
                                                        .scan_response = devices[i].response,
                                                        .scan_response_length = devices[i].response_length,
                                                        .interval_ms = 20};
        assert_int_equal(tendon_radio_advertise_start(&radios[i].radio, &parameters), TENDON_OK);
    }
    assert_int_equal(tendon_radio_find(g.radio, tendon_feelspace_family.recognizes, 5000, &found), TENDON_OK);
    assert_true(tendon_address_equal(&found, &radios[2].radio.address));
    for (size_t i = 0; i < 3; i++) {
        tendon_radio_close(&radios[i].radio);
    }
    tendon_gateway_close(&g);
}

static void unheard(void *context, const tendon_bose_event *event, uint64_t now) {
    (void)context, (void)event, (void)now;
    fail();
}

static void find_gives_up_in_time(void **state) {
    (void)state;
    static tendon_gateway g;
    assert_int_equal(tendon_gateway_open(&g, NULL), TENDON_OK);
    assert_int_equal(g.adapter_failure, TENDON_OK);
    assert_false(g.waiting);
    assert_int_equal(g.bonds_failure, TENDON_OK);
    g.radio->report_context = &g;         /* what was there before is there afterwards */
    static tendon_virtual_radio stranger; /* in range, and not what is looked for */
    const tendon_address address = {{0xC1, 2, 3, 4, 5, 0xDD}, TENDON_ADDRESS_TYPE_RANDOM};
    static const uint8_t flags[] = {2, 1, 6};
    assert_int_equal(tendon_virtual_radio_open(&stranger, &g.loop, NULL, &address), TENDON_OK);
    assert_int_equal(
        tendon_radio_advertise_start(&stranger.radio,
                                     &(tendon_advertise_parameters){.data = flags, .length = 3, .interval_ms = 20}),
        TENDON_OK);
    assert_int_equal(tendon_gateway_find(&g, nothing, 60), TENDON_ERROR_TIMEOUT);
    /* A program that does not look at the result gets an error and no crash. */
    static tendon_bose_session session;
    const tendon_bose_session_config config = {.link = tendon_connection_session_link(&g.connection),
                                               .on_event = unheard};
    assert_int_equal(tendon_bose_session_init(&session, &config), TENDON_OK);
    tendon_connection_attach(&g.connection, &tendon_bose_session_inputs, &session);
    assert_int_equal(tendon_bose_session_open(&session, tendon_monotonic_ms()), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_connection_connect(&g.connection), TENDON_ERROR_WRONG_STATE);
    tendon_radio_close(&stranger.radio);
    assert_int_equal(tendon_gateway_find(&g, nothing, 10), TENDON_ERROR_TIMEOUT);
    assert_ptr_equal(g.radio->report_context, &g);
    assert_null(g.radio->on_report);
    assert_false(g.radio->scanning);
    assert_int_equal(tendon_gateway_run(&g, 5), TENDON_ERROR_TIMEOUT);
    tendon_gateway_close(&g);
    tendon_gateway_close(&g);
    char missing[96];
    snprintf(missing, sizeof missing, "%s/absent/deeper", runtime);
    assert_int_equal(tendon_gateway_open(&g, missing), TENDON_SYSTEM_ERROR(2));
    assert_null(g.radio);
    /* Unless it is asked for, the virtual radio is not used; a build with adapters waits for one. */
    assert_int_equal(unsetenv("TENDON_RADIO"), 0);
    tendon_status status = tendon_gateway_open(&g, NULL);
    assert_true(status == TENDON_OK ? g.waiting : status == TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
    assert_int_equal(g.adapter_failure, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
    assert_null(g.radio);
    assert_int_equal(tendon_gateway_close(&g), TENDON_OK);
}

static void stop_loop(void *context, uint64_t now) {
    tendon_loop_stop(context);
    (void)now;
}

/* 0 is no time, and not no limit, with an adapter and without: a search looks once at what is there. */
static void find_without_time_does_not_wait(void **state) {
    (void)state;
    static tendon_gateway g;
    static tendon_source stop;
    for (int virtual = 0; virtual < 2; virtual ++) {
        assert_int_equal(virtual ? setenv("TENDON_RADIO", "virtual", 1) : unsetenv("TENDON_RADIO"), 0);
        if (tendon_gateway_open(&g, NULL) < 0) {
            continue; /* a build without adapters */
        }
        assert_int_equal(g.waiting, !virtual);
        tendon_source_init(&stop, -1, &g.loop, NULL, stop_loop);
        stop.deadline = tendon_monotonic_ms() + 5000;
        assert_int_equal(tendon_loop_add(&g.loop, &stop), TENDON_OK);
        assert_int_equal(tendon_gateway_find(&g, nothing, 0),
                         virtual ? TENDON_ERROR_TIMEOUT : TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
        assert_int_equal(g.waiting, !virtual);
        tendon_loop_remove(&g.loop, &stop);
        assert_int_equal(tendon_gateway_close(&g), TENDON_OK);
    }
}

static tendon_gateway gateway_failing;
static int failing_looks;

/** The radio's scan fails in the call in which an advertisement is looked at. */
static void scan_fails(void) {
    tendon_radio *radio = gateway_failing.radio;
    radio->scanning = false;
    radio->on_failure(radio->report_context, TENDON_RADIO_ERROR_ADAPTER_DOWN, tendon_monotonic_ms());
    radio->scanning = true;
}

static bool fails_and_is_not_it(const uint8_t *data, size_t length) {
    (void)data;
    (void)length;
    failing_looks++;
    scan_fails();
    return false;
}

static bool fails_and_is_it(const uint8_t *data, size_t length) {
    return !fails_and_is_not_it(data, length);
}

/* A scan that fails ends the search with its reason, unless the device was found. */
static void a_failure_ends_a_search(void **state) {
    (void)state;
    tendon_gateway *g = &gateway_failing;
    static tendon_virtual_radio advertiser;
    static const uint8_t flags[] = {2, 1, 6};
    assert_int_equal(tendon_gateway_open(g, NULL), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&advertiser, &g->loop, NULL, &device_address), TENDON_OK);
    assert_int_equal(
        tendon_radio_advertise_start(&advertiser.radio,
                                     &(tendon_advertise_parameters){.data = flags, .length = 3, .interval_ms = 20}),
        TENDON_OK);
    failing_looks = 0;
    assert_int_equal(tendon_gateway_find(g, fails_and_is_not_it, 5000), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    assert_true(failing_looks > 0);
    assert_false(g->radio->scanning);
    failing_looks = 0;
    assert_int_equal(tendon_gateway_find(g, fails_and_is_it, 5000), TENDON_OK);
    assert_int_equal(failing_looks, 1); /* what is found is not looked for any more */
    assert_true(tendon_address_equal(&g->connection.peer, &device_address));
    tendon_radio_close(&advertiser.radio);
    assert_int_equal(tendon_gateway_close(g), TENDON_OK);
}

/* A connection that does not end in time keeps nobody waiting: the radio closes it. */
static void close_does_not_wait_forever(void **state) {
    (void)state;
    tendon_gateway *g = &gateway_failing;
    assert_int_equal(tendon_gateway_open(g, NULL), TENDON_OK);
    tendon_connection_init(&g->connection, g->radio, &device_address, NULL, NULL);
    g->connection.state = TENDON_CONNECTION_UP; /* without a link: no callback follows */
    assert_int_equal(tendon_gateway_close(g), TENDON_OK);
    assert_null(g->radio);
}

/* "Any device" is a function that returns true: NULL is refused before the scan, and so is the radio that a gateway
 * does not have while it waits. */
static void nothing_to_recognize_is_refused(void **state) {
    (void)state;
    static tendon_gateway g;
    tendon_address found;
    assert_int_equal(tendon_gateway_open(&g, NULL), TENDON_OK);
    assert_int_equal(tendon_gateway_find(&g, NULL, 1000), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_radio_find(g.radio, NULL, 1000, &found), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_radio_find(g.radio, nothing, 1000, NULL), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_radio_find(NULL, nothing, 1000, &found), TENDON_ERROR_INVALID_ARGUMENT);
    assert_false(g.radio->scanning);
    assert_null(g.radio->on_report);
    tendon_gateway_close(&g);
}

static tendon_gateway gateway_inside;
static tendon_status found_inside, closed_inside;

static void close_inside(void *context, uint64_t now) {
    (void)context;
    (void)now;
    found_inside = tendon_gateway_find(&gateway_inside, nothing, 10);
    closed_inside = tendon_gateway_close(&gateway_inside);
    tendon_loop_stop(&gateway_inside.loop);
}

/* Both run the loop: inside a callback they do nothing and return why. */
static void not_from_within_a_callback(void **state) {
    (void)state;
    tendon_gateway *g = &gateway_inside;
    tendon_source source;
    assert_int_equal(tendon_gateway_open(g, NULL), TENDON_OK);
    tendon_source_init(&source, -1, NULL, NULL, close_inside);
    source.deadline = 0;
    assert_int_equal(tendon_loop_add(&g->loop, &source), TENDON_OK);
    assert_int_equal(tendon_gateway_run(g, 2000), TENDON_OK);
    assert_int_equal(found_inside, TENDON_ERROR_WRONG_STATE);
    assert_int_equal(closed_inside, TENDON_ERROR_WRONG_STATE);
    assert_false(g->radio->scanning);
    assert_null(g->radio->on_report);
    tendon_loop_remove(&g->loop, &source);
    assert_int_equal(tendon_gateway_close(g), TENDON_OK);
    assert_int_equal(tendon_gateway_close(g), TENDON_OK);
    assert_null(g->radio);
}

/* ---- peripherals ---- */

typedef struct world {
    tendon_loop loop;
    tendon_virtual_radio device, central;
    tendon_peripheral peripheral;
    tendon_simulated_bose bose;
    tendon_connection connections[TENDON_PERIPHERAL_LINKS + 1];
    int connected, disconnected, idle;
    tendon_status reason;
    int values;
} world;

static void peripheral_connected(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)now;
    assert_true(tendon_address_equal(&link->link.peer, &central_address));
    ((world *)context)->connected++;
}

static void peripheral_idle(void *context, uint64_t now) {
    world *w = context;
    (void)now;
    assert_int_equal(tendon_peripheral_count(&w->peripheral), 0);
    w->idle++;
}

static void peripheral_disconnected(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    world *w = context;
    (void)link;
    (void)now;
    w->disconnected++;
    w->reason = reason;
}

static int world_setup(void **state) {
    world *w = calloc(1, sizeof *w);
    *state = w;
    if (runtime_setup(state) < 0 || tendon_loop_init(&w->loop) < 0 ||
        tendon_virtual_radio_open(&w->device, &w->loop, NULL, &device_address) < 0 ||
        tendon_virtual_radio_open(&w->central, &w->loop, NULL, &central_address) < 0 ||
        tendon_simulated_bose_init(&w->bose, NULL) < 0) {
        return -1;
    }
    tendon_peripheral_device device = tendon_simulated_bose_device(&w->bose);
    tendon_peripheral_init(&w->peripheral, &w->device.radio, &device,
                           &(tendon_peripheral_callbacks){.context = w,
                                                          .connected = peripheral_connected,
                                                          .disconnected = peripheral_disconnected,
                                                          .idle = peripheral_idle});
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS + 1; i++) {
        tendon_connection_init(&w->connections[i], &w->central.radio, &device_address, NULL, NULL);
    }
    return 0;
}

static int world_teardown(void **state) {
    world *w = *state;
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS + 1; i++) {
        tendon_connection_close(&w->connections[i]);
    }
    tendon_peripheral_close(&w->peripheral);
    for (int i = 0; i < 8; i++) {
        (void)tendon_loop_step(&w->loop, 0);
    }
    bool clean =
        tendon_peripheral_count(&w->peripheral) == 0 && w->loop.sources == &w->loop.wake && w->loop.wake.next == NULL;
    tendon_radio_close(&w->device.radio);
    tendon_radio_close(&w->central.radio);
    tendon_loop_close(&w->loop);
    free(w);
    return clean ? runtime_teardown(state) : -1;
}

static void on_name(void *context, const tendon_gatt_result *result) {
    world *w = context;
    assert_int_equal(result->status, TENDON_OK);
    assert_true(result->length > 0);
    w->values++;
}

static void centrals_come_and_go(void **state) {
    world *w = *state;
    const tendon_uuid name = tendon_uuid_from_u16(0x2A00);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 0), TENDON_OK);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 0), TENDON_RADIO_ERROR_ALREADY_STARTED);
    for (int i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        assert_int_equal(tendon_connection_connect(&w->connections[i]), TENDON_OK);
        STEP_UNTIL(&w->loop, w->connections[i].state == TENDON_CONNECTION_UP && w->connected == i + 1);
        assert_true(tendon_gatt_read_by_uuid(&w->connections[i].client, 1, 0xFFFF, &name, on_name, w,
                                             tendon_monotonic_ms()) > 0);
    }
    STEP_UNTIL(&w->loop, w->values == TENDON_PERIPHERAL_LINKS);
    assert_int_equal(tendon_peripheral_count(&w->peripheral), TENDON_PERIPHERAL_LINKS);

    /* one too many: it is refused, and the others do not notice */
    tendon_connection *late = &w->connections[TENDON_PERIPHERAL_LINKS];
    late->connect_attempts = 1;
    assert_int_equal(tendon_connection_connect(late), TENDON_OK);
    STEP_UNTIL(&w->loop, w->peripheral.refused == 1 && late->state == TENDON_CONNECTION_IDLE);
    assert_int_equal(w->connected, TENDON_PERIPHERAL_LINKS);

    tendon_connection_close(&w->connections[1]);
    STEP_UNTIL(&w->loop, w->disconnected == 1);
    assert_int_equal(w->reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(tendon_connection_connect(late), TENDON_OK);
    STEP_UNTIL(&w->loop, w->connected == TENDON_PERIPHERAL_LINKS + 1);
    assert_int_equal(w->peripheral.accepted, TENDON_PERIPHERAL_LINKS + 1);

    tendon_peripheral_close(&w->peripheral);
    STEP_UNTIL(&w->loop, tendon_peripheral_count(&w->peripheral) == 0);
    assert_int_equal(w->disconnected, TENDON_PERIPHERAL_LINKS + 1);
    assert_int_equal(w->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(w->idle, 1);
    assert_int_equal(tendon_peripheral_readvertise(&w->peripheral), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 0), TENDON_OK);
    assert_int_equal(tendon_peripheral_readvertise(&w->peripheral), TENDON_OK);

    /* closed over a link that was not served yet */
    assert_int_equal(tendon_connection_connect(&w->connections[0]), TENDON_OK);
    while (tendon_peripheral_count(&w->peripheral) == 0) {
        assert_int_equal(tendon_loop_step(&w->loop, tendon_monotonic_ms() + 100), TENDON_OK);
    }
    tendon_peripheral_close(&w->peripheral);
    STEP_UNTIL(&w->loop, w->idle == 2);
}

/* A fault that ends the link at the first PDU, through the filter's seam. */
static void filter_can_end_a_link(void **state) {
    world *w = *state;
    static tendon_fault faults[TENDON_PERIPHERAL_LINKS];
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    tendon_fault_options options = {0};
    const tendon_uuid name = tendon_uuid_from_u16(0x2A00);
    options.rate_ppm[TENDON_FAULT_DISCONNECT] = 1000000;
    for (int i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        tendon_fault_init(&faults[i], &options);
        filters[i] = tendon_fault_filter(&faults[i]);
    }
    tendon_peripheral_set_filters(&w->peripheral, filters);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 0), TENDON_OK);
    assert_int_equal(tendon_connection_connect(&w->connections[0]), TENDON_OK);
    STEP_UNTIL(&w->loop, w->connections[0].state == TENDON_CONNECTION_UP);
    assert_true(
        tendon_gatt_read_by_uuid(&w->connections[0].client, 1, 0xFFFF, &name, NULL, NULL, tendon_monotonic_ms()) != 0);
    STEP_UNTIL(&w->loop, w->disconnected == 1 && w->connections[0].state == TENDON_CONNECTION_IDLE);
    assert_int_equal(w->reason, TENDON_ERROR_CANCELLED);
}

static void filter_can_delay(void **state) {
    world *w = *state;
    static tendon_fault faults[TENDON_PERIPHERAL_LINKS];
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    tendon_fault_options options = {.delay_ms = 20};
    const tendon_uuid name = tendon_uuid_from_u16(0x2A00);
    options.rate_ppm[TENDON_FAULT_DELAY] = 1000000;
    for (int i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        tendon_fault_init(&faults[i], &options);
        filters[i] = tendon_fault_filter(&faults[i]);
    }
    tendon_peripheral_set_filters(&w->peripheral, filters);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 10240), TENDON_OK);
    assert_int_equal(tendon_connection_connect(&w->connections[0]), TENDON_OK);
    STEP_UNTIL(&w->loop, w->connections[0].state == TENDON_CONNECTION_UP);
    uint64_t start = tendon_monotonic_ms();
    assert_true(tendon_gatt_read_by_uuid(&w->connections[0].client, 1, 0xFFFF, &name, on_name, w, start) > 0);
    STEP_UNTIL(&w->loop, w->values == 1);
    assert_true(tendon_monotonic_ms() >= start + 20);
    assert_int_equal(w->disconnected, 0);
}

/** A filter that passes everything on, and counts what it is asked. */
typedef struct noted_filter {
    int wraps, asked;
} noted_filter;

static tendon_bearer_io noted_wrap(void *context, tendon_bearer_io link) {
    ((noted_filter *)context)->wraps++;
    return link;
}

static void noted_time(void *context, uint64_t now) {
    (void)now;
    ((noted_filter *)context)->asked++;
}

static uint64_t noted_deadline(const void *context) {
    (void)context;
    return UINT64_MAX;
}

static bool noted_take(void *context) {
    ((noted_filter *)context)->asked++;
    return false;
}

/* The filter of a connection that does not exist is not called. */
static void filters_without_a_connection_rest(void **state) {
    world *w = *state;
    noted_filter noted[TENDON_PERIPHERAL_LINKS] = {{0}};
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    const tendon_uuid name = tendon_uuid_from_u16(0x2A00);
    for (int i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        filters[i] = (tendon_bearer_filter){.context = &noted[i],
                                            .wrap = noted_wrap,
                                            .writable = noted_time,
                                            .tick = noted_time,
                                            .deadline = noted_deadline,
                                            .take_writable = noted_take,
                                            .take_disconnect = noted_take};
    }
    tendon_peripheral_set_filters(&w->peripheral, filters);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 0), TENDON_OK);
    assert_int_equal(tendon_connection_connect(&w->connections[0]), TENDON_OK);
    STEP_UNTIL(&w->loop, w->connections[0].state == TENDON_CONNECTION_UP);
    assert_true(
        tendon_gatt_read_by_uuid(&w->connections[0].client, 1, 0xFFFF, &name, on_name, w, tendon_monotonic_ms()) > 0);
    STEP_UNTIL(&w->loop, w->values == 1);
    w->peripheral.timer.expired(w->peripheral.timer.context, tendon_monotonic_ms());
    for (int i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        assert_int_equal(noted[i].wraps, i == 0);
        assert_int_equal(noted[i].asked > 0, i == 0);
    }
    tendon_connection_close(&w->connections[0]);
    STEP_UNTIL(&w->loop, w->disconnected == 1);
}

static void refused_opening_leaves_nothing_running(void **state) {
    world *w = *state;
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 5), TENDON_ERROR_INVALID_ARGUMENT); /* interval */
    assert_null(w->device.radio.listener);
    assert_false(w->peripheral.timer.added);
    assert_int_equal(tendon_peripheral_open(&w->peripheral, 20), TENDON_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(example_prints_the_angles_of_the_script, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(the_example_has_a_status_for_each_lack, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(both_packets_of_a_device_are_recognized_together, runtime_setup,
                                        runtime_teardown),
        cmocka_unit_test_setup_teardown(find_gives_up_in_time, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(find_without_time_does_not_wait, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(nothing_to_recognize_is_refused, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(a_failure_ends_a_search, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(close_does_not_wait_forever, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(not_from_within_a_callback, runtime_setup, runtime_teardown),
        cmocka_unit_test_setup_teardown(centrals_come_and_go, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(filter_can_end_a_link, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(filter_can_delay, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(filters_without_a_connection_rest, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(refused_opening_leaves_nothing_running, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
