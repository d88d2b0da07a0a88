/* SPDX-License-Identifier: MIT */
/* A fleet over the virtual radio with simulated devices, in one process and in simulated time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../../CSources/fleet/fleet_parts.h"
#include "../linux/fake_clock.h"
#include "definition/definition_fixture.h"
#include "tendon/tendon.h"

enum { DEVICES = 40, KINDS = 3 };

/* A device with a radio of its own. */
typedef struct thing {
    bool is_open;
    tendon_virtual_radio radio;
    tendon_peripheral peripheral;
    tendon_bonds bonds;
    union {
        tendon_simulated_bose bose;
        tendon_simulated_activ5 activ5;
        tendon_simulated_fjorden fjorden;
        tendon_simulated_obvious obvious;
        tendon_simulated_defined defined;
    } of;
} thing;

static struct {
    char directory[64];
    tendon_loop loop;
    tendon_fleet fleet;
    tendon_fleet_options options;
    thing things[DEVICES];
    bool drops; /* lines */
    const tendon_definition *simulated;
    unsigned views, ends;
    tendon_status status; /* of the latest line that is no sample */
    size_t length;
    char lines[1 << 20];
} w;

/* In the place of the C library's. */
static bool has_random_numbers = true;

ssize_t getrandom(void *out, size_t length, unsigned flags) {
    (void)flags;
    memset(out, 7, length);
    errno = EAGAIN;
    return has_random_numbers ? (ssize_t)length : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static int set_up(void **state) {
    (void)state;
    has_random_numbers = true;
    memset(&w, 0, sizeof w);
    strcpy(w.directory, "/tmp/tendon-test-XXXXXX");
    tendon_fleet_options_init(&w.options);
    w.options.is_virtual = true;
    w.options.directory = w.directory;
    w.options.pair_s = UINT32_MAX;
    return mkdtemp(w.directory) != NULL && setenv("XDG_STATE_HOME", w.directory, 1) == 0 &&
                   tendon_loop_init(&w.loop) >= 0
               ? 0
               : -1;
}

static int tear_down(void **state) {
    (void)state;
    tendon_fleet_close(&w.fleet);
    for (size_t i = 0; i < DEVICES; i++) {
        if (w.things[i].is_open) {
            tendon_peripheral_close(&w.things[i].peripheral);
            for (int step = 0; step < 4; step++) {
                (void)tendon_loop_step(&w.loop, 0);
            }
            tendon_radio_close(&w.things[i].radio.radio);
        }
    }
    tendon_loop_close(&w.loop);
    return nftw(w.directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- devices ---- */

/* Of an empty firmware; nothing is signed here. */
static void no_digest(void *context, const uint8_t *data, size_t length, uint8_t out[TENDON_OBVIOUS_SHA256_SIZE]) {
    (void)context, (void)data, (void)length;
    memset(out, 0, TENDON_OBVIOUS_SHA256_SIZE);
}

static tendon_peripheral_device make_obvious(thing *t) {
    enum { PAGE = 256, IMAGE = 4096, SIZE = TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(PAGE, IMAGE) };
    static uint8_t memory[SIZE];
    static uint32_t wear[SIZE / PAGE];
    static tendon_simulated_flash flash;
    static const tendon_obvious_key_ring keys = {.crypto = {.sha256 = no_digest}};
    static const tendon_simulated_obvious_feature features[] = {{16, 1, 1, 0}};
    assert_int_equal(tendon_simulated_flash_init(&flash, memory, sizeof memory, PAGE), TENDON_OK);
    flash.wear = wear;
    tendon_simulated_flash_blank(&flash);
    const tendon_simulated_obvious_options options = {
        .flash = &flash, .image_max = IMAGE, .keys = &keys, .features = features, .feature_count = 1};
    assert_int_equal(tendon_simulated_obvious_init(&t->of.obvious, &options), TENDON_OK);
    return tendon_simulated_obvious_device(&t->of.obvious);
}

static tendon_peripheral_device make(thing *t, const char *kind) {
    if (strcmp(kind, "obvious") == 0) {
        return make_obvious(t);
    }
    if (strcmp(kind, "bose") == 0) {
        assert_int_equal(tendon_simulated_bose_init(&t->of.bose, NULL), TENDON_OK);
        return tendon_simulated_bose_device(&t->of.bose);
    }
    if (strcmp(kind, "clock") == 0) {
        assert_int_equal(
            tendon_simulated_defined_init(&t->of.defined, w.simulated, &(tendon_simulated_defined_options){0}),
            TENDON_OK);
        return tendon_simulated_defined_device(&t->of.defined);
    }
    if (strcmp(kind, "fjorden") == 0 || strcmp(kind, "mute grip") == 0) {
        const tendon_simulated_fjorden_options options = {.open = true, .mute = kind[0] == 'm'};
        assert_int_equal(tendon_simulated_fjorden_init(&t->of.fjorden, &options), TENDON_OK);
        return tendon_simulated_fjorden_device(&t->of.fjorden);
    }
    assert_int_equal(tendon_simulated_activ5_init(&t->of.activ5, &(tendon_simulated_activ5_options){.no_script = true}),
                     TENDON_OK);
    return tendon_simulated_activ5_device(&t->of.activ5);
}

/* C0:00:00:00:00:NN */
static void add(uint8_t number, const char *kind) {
    thing *t = &w.things[number];
    const tendon_address address = {.bytes = {0xC0, 0, 0, 0, 0, number}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    const tendon_peripheral_device device = make(t, kind);
    assert_int_equal(tendon_virtual_radio_open(&t->radio, &w.loop, w.directory, &address), TENDON_OK);
    tendon_bonds_init(&t->bonds);
    assert_int_equal(tendon_radio_use_bonds(&t->radio.radio, &t->bonds), TENDON_OK);
    assert_int_equal(tendon_radio_set_pairable(&t->radio.radio, true), TENDON_OK);
    tendon_peripheral_init(&t->peripheral, &t->radio.radio, &device, NULL);
    /* Different ones: a scanner's socket holds ten advertisements that come in the same millisecond. */
    assert_int_equal(tendon_peripheral_open(&t->peripheral, (uint16_t)(100 + 7 * number)), TENDON_OK);
    t->is_open = true;
}

static void take_away(uint8_t number) {
    tendon_peripheral_close(&w.things[number].peripheral);
    for (int step = 0; step < 4; step++) {
        (void)tendon_loop_step(&w.loop, 0);
    }
    tendon_radio_close(&w.things[number].radio.radio);
    w.things[number].is_open = false;
}

/* ---- lines ---- */

/* The member of the line, a string that begins with this; NULL: it has none. */
static const char *line_has(const tendon_fleet_line *line, const char *key, const char *value, size_t length) {
    char start[128], text[TENDON_LINE_SIZE + 1];
    memcpy(text, line->text, line->length);
    text[line->length] = '\0';
    snprintf(start, sizeof start, "\"%s\":\"%.*s", key, (int)length, value);
    return strstr(text, start) != NULL ? line->text : NULL;
}

static bool on_line(void *context, const tendon_fleet_line *line) {
    assert_ptr_equal(context, &w);
    assert_int_equal(line->text[line->length - 1], '\n');
    assert_int_equal(strlen(line->text), line->length);
    w.views += line->view != NULL;
    assert_ptr_not_equal(line_has(line, "event", line->event, strlen(line->event)), NULL);
    assert_int_equal(line->family != NULL, line_has(line, "family", "", 0) != NULL);
    assert_int_equal(line->address != NULL, line_has(line, "address", "", 0) != NULL);
    assert_int_equal(line->name != NULL, line_has(line, "name", "", 0) != NULL);
    if (line->name != NULL) {
        assert_ptr_not_equal(line_has(line, "name", line->name, line->name_length), NULL);
        assert_ptr_not_equal(line_has(line, "family", line->family, strlen(line->family)), NULL);
    }
    char time[TENDON_LINE_TIME_SIZE];
    tendon_line_time(line->wall_us, time);
    assert_ptr_not_equal(line_has(line, "time", time, sizeof time), NULL);
    if (!line->is_sample) {
        w.status = line->status;
        assert_true(w.length + line->length < sizeof w.lines);
        memcpy(w.lines + w.length, line->text, line->length);
        w.length += line->length;
        w.lines[w.length] = 0;
    }
    return !w.drops;
}

/* Number of lines with both texts since the last call of forget(). */
static unsigned count(const char *event, const char *other) {
    char name[64];
    unsigned found = 0;
    snprintf(name, sizeof name, "\"event\":\"%s\"", event);
    for (char *at = w.lines, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = 0;
        found += strstr(at, name) != NULL && strstr(at, other) != NULL;
        *end = '\n';
    }
    return found;
}

static void forget(void) {
    w.length = 0;
    w.lines[0] = 0;
}

static void run(uint64_t milliseconds) {
    for (uint64_t until = fake_clock_ms + milliseconds; fake_clock_ms < until;) {
        assert_int_equal(tendon_loop_step(&w.loop, until), TENDON_OK);
    }
}

static size_t open_sessions(void) {
    size_t count = 0;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        const tendon_fleet_slot *slot = &w.fleet.slots[i];
        count += slot->state == TENDON_FLEET_SLOT_TURN && slot->body->device.state == TENDON_DEVICE_OPEN;
    }
    return count;
}

static void open_fleet(void) {
    assert_int_equal(tendon_fleet_open(&w.fleet, &w.loop, &w.options, on_line, &w), TENDON_OK);
}

static void end_fleet(void) {
    uint64_t begin = fake_clock_ms;
    tendon_fleet_end(&w.fleet);
    while (!tendon_fleet_has_ended(&w.fleet) && fake_clock_ms < begin + 10000) {
        assert_int_equal(tendon_loop_step(&w.loop, begin + 10000), TENDON_OK);
    }
    assert_true(tendon_fleet_has_ended(&w.fleet));
    assert_int_equal(w.fleet.turns.group.members[0].assigned, 0);
    assert_int_equal(w.fleet.turns.admission.served, 0);
    assert_int_equal(w.fleet.turns.admission.unproven, 0);
    assert_in_range(fake_clock_ms - begin, 0, TENDON_FLEET_END_MS + 1000);
}

/* ---- tests ---- */

static tendon_status act(uint8_t number, uint8_t type, const char *action) {
    const tendon_address address = {.bytes = {0xC0, 0, 0, 0, 0, number}, .type = type};
    return tendon_fleet_act(&w.fleet, &address, action, strlen(action));
}

static void devices_of_several_families(void **state) {
    (void)state;
    add(1, "bose");
    add(2, "activ5");
    add(3, "fjorden");
    open_fleet();
    run(5000);
    assert_int_equal(open_sessions(), 3);
    assert_int_equal(count("found", ""), 3);
    assert_int_equal(count("connected", ":01\""), 1);
    assert_int_equal(count("connected", "\"family\":\"activ5\""), 1);
    assert_int_equal(count("connected", "\"name\":\"LE-Bose Frames\""), 1);
    assert_true(w.fleet.counters.samples > 100 && w.views >= w.fleet.counters.samples);
    end_fleet();
    assert_int_equal(count("disconnected", "\"reason\":\"requested\""), 3);
    assert_int_equal(open_sessions(), 0);
    tendon_fleet_summarize(&w.fleet);
    assert_int_equal(count("summary", "\"devices\":3"), 1);
    assert_int_equal(count("summary", "\"dropped\":0"), 1);
    assert_int_equal(w.fleet.counters.delivered, w.fleet.counters.samples);
    forget();
    run(20000);
    assert_int_equal(w.length, 0); /* no turn begins after the end */
}

static unsigned sources(void) {
    unsigned number = 0;
    for (const tendon_source *source = w.loop.sources; source != NULL; source = source->next) {
        number++;
    }
    return number;
}

/* Closed without an end, at any time: no turn begins meanwhile, nothing is reported, nothing of it stays in the loop.
 */
static void closed_without_an_end(void **state) {
    (void)state;
    for (uint8_t i = 1; i <= 12; i++) {
        add(i, "activ5");
    }
    const unsigned before = sources();
    for (uint64_t time = 0; time < 400; time += 3) {
        open_fleet();
        run(time);
        forget();
        tendon_fleet_close(&w.fleet);
        assert_int_equal(w.length, 0);
        for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
            const tendon_fleet_slot *slot = &w.fleet.slots[i];
            assert_true(!slot->is_set_up || slot->body->connection.state == TENDON_CONNECTION_IDLE);
        }
        run(20);
        assert_int_equal(sources(), before);
    }
}

/* A device that goes away, and comes back. */
static void a_device_comes_back(void **state) {
    (void)state;
    add(1, "activ5");
    open_fleet();
    run(3000);
    for (unsigned time = 1; time <= 3; time++) {
        run(12000); /* a connection that was long enough */
        take_away(1);
        run(3000);
        assert_int_equal(count("disconnected", "\"reason\":\"device_disconnected\""), time);
        assert_int_equal(open_sessions(), 0);
        add(1, "activ5");
        run(5000);
        assert_int_equal(open_sessions(), 1);
        assert_int_equal(count("connected", ""), time + 1);
    }
    assert_int_equal(count("found", ""), 1);
    assert_int_equal(w.fleet.counters.devices, 1);
}

/* A device that requires pairing, where pairing with new devices is not enabled: attempts with longer pauses. */
static void pairing_is_not_enabled(void **state) {
    (void)state;
    add(3, "fjorden");
    w.options.pair_s = 0;
    open_fleet();
    run(60000);
    assert_int_equal(open_sessions(), 0);
    assert_in_range(count("connect_failed", "RADIO_ERROR_PAIRING_NOT_ALLOWED"), 4, 6);
    assert_int_equal(count("connect_failed", "\"retry_in_s\":null"), 0);
    static const char words[] = "\"text\":\"the device is not bonded, and pairing with new devices is not enabled "
                                "(RADIO_ERROR_PAIRING_NOT_ALLOWED)\"";
    assert_in_range(count("connect_failed", words), 4, 6);
    end_fleet();
}

/* A file of bonds that is none: the line has its name, then what is wrong with it. */
static void bonds_that_are_damaged(void **state) {
    (void)state;
    char path[128], words[256];
    snprintf(path, sizeof path, "%s/tendon", w.directory);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/bonds");
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(file, "no bonds", 8), 8);
    assert_int_equal(close(file), 0);
    add(1, "fjorden");
    open_fleet();
    run(1000);
    snprintf(words, sizeof words, "\"text\":\"the bonds in %s cannot be used: ", path);
    assert_int_equal(count("connect_failed", words), 1);
    assert_int_equal(count("connected", ""), 0);
}

#define CLOCK(characteristic)                                                                                          \
    "{'name': 'clock', 'title': 'Clock', 'find': {'name': 'Clock'}, 'characteristics': [{'name': 'time', 'service': "  \
    "'1805', 'uuid': '" characteristic                                                                                 \
    "', 'required': true, 'write': [{'name': 'n', 'type': 'u8'}, {'name': 'date', 'type': "                            \
    "'datetime'}, {'name': 'text', 'type': 'utf8'}]}], 'actions': [{'name': 'set', 'characteristic': 'time'}]}"

/* A device that lacks what its file demands: the session has the cause, the radio none. It is tried once. */
static void a_session_fails(void **state) {
    (void)state;
    static tendon_definition served, other;
    served = *parsed(CLOCK("2a2b"));
    other = *parsed(CLOCK("2a2c"));
    w.simulated = &other;
    assert_int_equal(tendon_fleet_options_define(&w.options, &served), TENDON_OK);
    add(1, "clock");
    w.options.no_reconnect = true;
    open_fleet();
    run(60000);
    assert_int_equal(count("connect_failed", "\"retry_in_s\":null"), 1);
    assert_int_equal(count("connect_failed", "ERROR_NOT_FOUND"), 1);
    assert_int_equal(count("refused", "\"request\":\"time\""), 1);
}

/* A device that was connected and does not respond is not one that is out of range. */
static void a_device_that_does_not_respond(void **state) {
    (void)state;
    static const char text[] = "\"text\":\"the connection was made, but the device did not respond in time: ";
    add(1, "bose");
    static tendon_fault faults[TENDON_PERIPHERAL_LINKS];
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        tendon_fault_init(&faults[i], &(tendon_fault_options){.rate_ppm[TENDON_FAULT_DROP] = 1000000});
        filters[i] = tendon_fault_filter(&faults[i]);
    }
    tendon_peripheral_set_filters(&w.things[1].peripheral, filters);
    w.options.no_reconnect = true;
    open_fleet();
    run(60000);
    assert_int_equal(count("connect_failed", text), 1);
}

/* What a connection has without an option, and with it has not. */
static void connections_have_a_cache(void **state) {
    (void)state;
    add(1, "activ5");
    for (unsigned without = 0; without < 2; without++) {
        w.options.no_gatt_cache = without;
        open_fleet();
        run(5000);
        assert_int_equal(open_sessions(), 1);
        assert_int_equal(w.fleet.slots[0].body->connection.cache == NULL, without);
        if (!without) { /* that of this device, in the fleet's store */
            const tendon_gatt_cache *cache = &w.fleet.slots[0].body->cache;
            assert_memory_equal(cache->record.device.bytes, w.fleet.slots[0].address.bytes, 6);
            assert_ptr_equal(cache->store.context, &w.fleet.store);
        }
        end_fleet();
        tendon_fleet_close(&w.fleet);
    }
}

static void parameters_of_a_connection(void **state) {
    (void)state;
    static const struct {
        tendon_connection_timing timing;
        const char *members;
    } rows[] = {
        {{.interval = 6, .latency = 2, .timeout = 42},
         "\"interval_ms\":7.5,\"latency\":2,\"supervision_timeout_ms\":420}"},
        {{.interval = 40, .timeout = 500, .tx_phy = 1, .rx_phy = 2, .tx_octets = 27, .rx_octets = 251},
         "\"interval_ms\":50,\"latency\":0,\"supervision_timeout_ms\":5000,\"tx_phy\":\"1m\",\"rx_phy\":\"2m\","
         "\"tx_packet_bytes\":27,\"rx_packet_bytes\":251}"},
        {{.interval = 6, .timeout = 10, .rx_phy = 3, .tx_octets = 69},
         "\"supervision_timeout_ms\":100,\"rx_phy\":\"coded\",\"tx_packet_bytes\":69}"},
    };
    add(1, "activ5");
    open_fleet();
    run(5000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        w.fleet.slots[0].timing = rows[i].timing;
        tendon_fleet_report_timing(&w.fleet.slots[0]);
        assert_int_equal(count("connection_parameters", rows[i].members), 1);
    }
    assert_int_equal(count("connection_parameters", "\"family\":\"activ5\",\"address\":\"C0:00:00:00:00:01\""), 3);
}

/* The word `now` is the time of this place, for a field with a zone and for one without. */
static void a_clock_is_set(void **state) {
    (void)state;
    static tendon_definition clock;
    w.simulated = &clock;
    clock = *parsed(CLOCK("2a2b"));
    assert_int_equal(tendon_fleet_options_define(&w.options, &clock), TENDON_OK);
    add(1, "clock");
    open_fleet();
    run(5000);
    assert_int_equal(count("connected", "\"family\":\"clock\""), 1);
    time_t before = time(NULL), after;
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "set 7 now \"now now\""), TENDON_OK);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "set now now x"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "set 7 now"), TENDON_ERROR_INVALID_ARGUMENT);
    run(1000);
    after = time(NULL);
    const tendon_simulated_defined *device = &w.things[1].of.defined;
    assert_int_equal(device->writes, 1);
    assert_int_equal(device->written.length, 1 + 7 + 7);
    const uint8_t *bytes = device->written.bytes;
    assert_int_equal(bytes[0], 7);
    assert_memory_equal(bytes + 8, "now now", 7);
    struct tm date = {.tm_year = (bytes[1] | bytes[2] << 8) - 1900,
                      .tm_mon = bytes[3] - 1,
                      .tm_mday = bytes[4],
                      .tm_hour = bytes[5],
                      .tm_min = bytes[6],
                      .tm_sec = bytes[7],
                      .tm_isdst = -1};
    assert_in_range(mktime(&date), before, after);
    /* The action is told as it was carried out: `now` alone would not say what the device was told. */
    assert_int_equal(count("action", "\"action\":\"set 7 20"), 1);
    assert_int_equal(count("action_failed", "\"action\":\"set 7 20"), 1);
    assert_int_equal(count("action_failed", "\"text\":\"n takes a whole number from 0 to 255, not 'now'\""), 1);
}

/* Another program removes the bond of a device: it is left alone until it is paired again. */
static void a_bond_is_removed(void **state) {
    (void)state;
    static tendon_bonds other;
    const tendon_address address = {.bytes = {0xC0, 0, 0, 0, 0, 3}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    add(3, "fjorden");
    open_fleet();
    run(5000);
    assert_int_equal(open_sessions(), 1);
    forget();
    assert_int_equal(tendon_bonds_open(&other, NULL), TENDON_OK);
    assert_int_equal(other.count, 1);
    assert_int_equal(tendon_bonds_remove(&other, TENDON_BOND_VIRTUAL, &other.items[0].own, &address), 1);
    take_away(3);
    run(2000);
    add(3, "fjorden");
    run(60000);
    assert_int_equal(count("connected", ""), 0);
    assert_int_equal(open_sessions(), 0);
    tendon_admission_recall(&w.fleet.turns.admission, NULL);
    run(5000);
    assert_int_equal(count("found", ""), 1); /* it is new */
}

static void what_is_served(void **state) {
    (void)state;
    add(1, "bose");
    add(2, "activ5");
    add(3, "activ5");
    assert_int_equal(tendon_fleet_options_set(&w.options, "ignore", "bose"), TENDON_OK);
    assert_int_equal(tendon_fleet_options_set(&w.options, "address", "C0:00:00:00:00:02"), TENDON_OK);
    open_fleet();
    run(30000);
    assert_int_equal(count("found", ""), 1);
    assert_int_equal(count("connected", ":02\""), 1);
    assert_int_equal(open_sessions(), 1);
}

/* A sensor and a gesture by numbers that have no name: the line says which. */
static void what_a_device_lacks(void **state) {
    (void)state;
    add(1, "bose");
    assert_int_equal(tendon_fleet_options_set(&w.options, "sensors", "magnetometer,200"), TENDON_OK);
    assert_int_equal(tendon_fleet_options_set(&w.options, "gestures", "single_tap,7"), TENDON_OK);
    open_fleet();
    run(5000);
    assert_int_equal(count("missing", "\"what\":[\"magnetometer at 20 ms\",\"sensor 200 at 20 ms\",\"single_tap\","
                                      "\"gesture 7\"]"),
                     1);
}

static void once(void **state) {
    (void)state;
    add(1, "activ5");
    w.options.no_reconnect = true;
    open_fleet();
    run(3000);
    take_away(1);
    run(1000);
    add(1, "activ5");
    run(60000);
    assert_int_equal(count("connected", ""), 1);
    assert_int_equal(count("disconnected", ""), 1);
    assert_int_equal(count("disconnected", "retry_in_s"), 0);
}

/* More than are served at the same time: 32 at most. */
static void forty_devices(void **state) {
    (void)state;
    for (uint8_t i = 0; i < DEVICES; i++) {
        add(i, "activ5");
    }
    open_fleet();
    run(60000);
    assert_int_equal(open_sessions(), TENDON_FLEET_DEVICES);
    assert_int_equal(count("found", ""), DEVICES);
    /* Some leave: others have their turns. */
    for (uint8_t i = 0; i < DEVICES; i += 2) {
        take_away(i);
    }
    run(60000);
    assert_int_equal(open_sessions(), DEVICES / 2);
    for (uint8_t i = 1; i < DEVICES; i += 2) {
        char address[32];
        snprintf(address, sizeof address, ":%02X\"", (unsigned)i);
        assert_true(count("connected", address) >= 1);
    }
    end_fleet();
}

static void actions(void **state) {
    (void)state;
    add(1, "fjorden");
    add(2, "activ5");
    open_fleet();
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "led on"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(count("action_failed", "not connected"), 1);
    assert_int_equal(w.status, TENDON_ERROR_NOT_FOUND);
    run(5000);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "led blinkFast 500"), TENDON_OK);
    assert_int_equal(act(1, (uint8_t)TENDON_ADDRESS_TYPE_ANONYMOUS, "led off"), TENDON_OK);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_PUBLIC, "led off"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(act(2, TENDON_ADDRESS_TYPE_RANDOM, "led off"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(act(2, TENDON_ADDRESS_TYPE_RANDOM, "tare"), TENDON_OK);
    assert_int_equal(act(3, TENDON_ADDRESS_TYPE_RANDOM, "tare"), TENDON_ERROR_NOT_FOUND);
    run(1000);
    assert_int_equal(count("action", "\"action\":\"led blinkFast 500\""), 1);
    assert_int_equal(count("action", "\"action\":\"led off\""), 1);
    assert_int_equal(count("action", "\"action\":\"tare\""), 1);
    assert_int_equal(count("action_failed", ""), 4);
    /* What the program carried out itself is a line of the same form. */
    const tendon_address own = {.bytes = {0xC0, 0, 0, 0, 0, 2}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    tendon_fleet_acted(&w.fleet, &own, "aim", 3, NULL);
    tendon_fleet_acted(&w.fleet, &own, "aim", 3, "there is no target");
    static const char label[] = "\"family\":\"activ5\",\"address\":\"C0:00:00:00:00:02\",\"address_type\":\"random\","
                                "\"name\":\"ACTIV5-AC-0001\","
                                "\"action\":\"aim\"";
    assert_int_equal(count("action", label), 1);
    assert_int_equal(count("action_failed", label), 1);
    assert_int_equal(count("action_failed", "\"text\":\"there is no target\""), 1);
    /* A request that names no device, and one of a device that is not connected, which a program finds by its address.
     */
    tendon_fleet_acted(&w.fleet, NULL, "", 0, "why not");
    assert_int_equal(count("action_failed", "\"event\":\"action_failed\",\"action\":\"\",\"text\":\"why not\""), 1);
    assert_int_equal(count("action_failed", "\"event\":\"action_failed\",\"address\":\"C0:00:00:00:00:03\","
                                            "\"address_type\":\"random\",\"action\":\"tare\""),
                     1);
    assert_int_equal(w.status, TENDON_ERROR_WRONG_STATE);
    /* Longer than a line. */
    static char longest[TENDON_FLEET_LINE_SIZE + 1];
    memset(longest, 'x', sizeof longest - 1);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, longest), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(count("action_failed", "\"action\":\"xxxx"), 1);
}

static void actions_that_are_taken_back(void **state) {
    (void)state;
    const tendon_address grip = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    add(1, "fjorden");
    open_fleet();
    assert_false(tendon_fleet_withdraw(&w.fleet, &grip, 0)); /* it is not connected */
    run(5000);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "led on"), TENDON_OK);
    assert_int_equal(act(1, TENDON_ADDRESS_TYPE_RANDOM, "led off"), TENDON_OK);
    assert_true(tendon_fleet_withdraw(&w.fleet, &grip, 1));
    assert_false(tendon_fleet_withdraw(&w.fleet, &grip, 1));
    run(1000);
    assert_int_equal(count("action", "led on"), 1);
    assert_int_equal(count("action", "led off") + count("action_failed", "led off"), 0);
}

static void on_ended(void *context) {
    assert_ptr_equal(context, &w);
    assert_true(tendon_fleet_has_ended(&w.fleet));
    w.ends++;
}

/* A program that shares its loop: it is called at the end, and the loop is not stepped on its behalf. */
static void the_end_is_reported(void **state) {
    (void)state;
    add(1, "activ5");
    for (unsigned connected = 0; connected < 2; connected++) {
        w.ends = 0;
        open_fleet();
        run(connected ? 5000 : 0);
        assert_int_equal(open_sessions(), connected);
        tendon_fleet_end_then(&w.fleet, on_ended);
        assert_int_equal(w.ends, 0); /* not from within the call */
        run(2000);
        assert_int_equal(w.ends, 1);
        run(20000);
        assert_int_equal(w.ends, 1);
        uint64_t before = w.loop.wakeups;
        tendon_fleet_close(&w.fleet);
        assert_int_equal(w.loop.wakeups, before);
    }
    /* Ended already. */
    w.ends = 0;
    open_fleet();
    end_fleet();
    tendon_fleet_end_then(&w.fleet, on_ended);
    run(100);
    assert_int_equal(w.ends, 1);
}

/* A reader that does not read: what is dropped is counted, and no device waits. */
static void dropped_lines(void **state) {
    (void)state;
    add(1, "bose");
    w.drops = true;
    open_fleet();
    run(5000);
    assert_int_equal(open_sessions(), 1);
    assert_int_equal(w.fleet.counters.delivered, 0);
    assert_true(w.fleet.counters.samples > 100);
    assert_int_equal(w.fleet.counters.dropped, w.fleet.counters.samples);
    assert_true(w.fleet.counters.dropped_lines >= 3);
}

/* Nothing in range: no wake-up in an hour. */
static void nothing_happens(void **state) {
    (void)state;
    open_fleet();
    run(1000);
    uint64_t before = w.loop.wakeups;
    run(3600000);
    assert_in_range(w.loop.wakeups - before, 0, 2);
    assert_int_equal(w.fleet.timer.deadline, UINT64_MAX);
}

/* The adapter is lost: its connections end with that reason, and the next one has them again. */
static void the_radio_fails(void **state) {
    (void)state;
    add(1, "activ5");
    add(2, "bose");
    open_fleet();
    run(5000);
    for (unsigned time = 1; time <= 2; time++) {
        tendon_radio *radio = w.fleet.radios[0].radio;
        forget();
        radio->on_failure(radio->report_context, TENDON_RADIO_ERROR_NO_ADAPTER, fake_clock_ms);
        run(4000);
        assert_int_equal(count("disconnected", ""), 2);
        assert_int_equal(count("radio_lost", "RADIO_ERROR_NO_ADAPTER"), 1);
        assert_int_equal(count("radio_waiting", ""), 0); /* the reason is the same */
        run(20000);
        assert_int_equal(count("radio_restored", "\"radio\":\"virtual\""), 1);
        assert_int_equal(count("connected", ""), 2);
        assert_int_equal(open_sessions(), 2);
    }
    end_fleet();
}

/* Closed without an end, with open connections; and opened again in the same memory. */
static void closed_and_opened_again(void **state) {
    (void)state;
    add(1, "activ5");
    for (unsigned time = 1; time <= 3; time++) {
        open_fleet();
        run(5000);
        assert_int_equal(count("connected", ""), time);
        tendon_fleet_close(&w.fleet);
        tendon_fleet_close(&w.fleet);
        run(1000);
    }
}

/* As on a machine that has just started. The others do not need any. */
static void without_random_numbers(void **state) {
    (void)state;
    has_random_numbers = false;
    add(1, "obvious");
    add(2, "bose");
    open_fleet();
    run(20000);
    assert_int_equal(count("connected", "\"family\":\"bose\""), 1);
    assert_int_equal(count("found", "\"family\":\"obvious\""), 1);
    assert_int_equal(count("connected", "\"family\":\"obvious\"") + count("connect_failed", "\"family\":\"obvious\""),
                     0);
    has_random_numbers = true;
    run(15000);
    assert_int_equal(count("connected", "\"family\":\"obvious\""), 1);
    end_fleet();
}

static void what_cannot_be_opened(void **state) {
    (void)state;
    w.options.families = 0;
    assert_int_equal(tendon_fleet_open(&w.fleet, &w.loop, &w.options, on_line, &w), TENDON_ERROR_INVALID_ARGUMENT);
    w.options.families = 1;
    w.options.directory = "/proc/nothing";
    assert_true(tendon_fleet_open(&w.fleet, &w.loop, &w.options, on_line, &w) < 0);
    assert_int_equal(tendon_fleet_size(), sizeof(tendon_fleet));
    assert_int_equal(tendon_fleet_options_size(), sizeof(tendon_fleet_options));
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_WORLD(devices_of_several_families),
        IN_WORLD(closed_without_an_end),
        IN_WORLD(a_device_comes_back),
        IN_WORLD(what_is_served),
        IN_WORLD(a_bond_is_removed),
        IN_WORLD(what_a_device_lacks),
        IN_WORLD(once),
        IN_WORLD(pairing_is_not_enabled),
        IN_WORLD(bonds_that_are_damaged),
        IN_WORLD(a_session_fails),
        IN_WORLD(a_device_that_does_not_respond),
        IN_WORLD(connections_have_a_cache),
        IN_WORLD(parameters_of_a_connection),
        IN_WORLD(a_clock_is_set),
        IN_WORLD(forty_devices),
        IN_WORLD(actions),
        IN_WORLD(actions_that_are_taken_back),
        IN_WORLD(the_end_is_reported),
        IN_WORLD(dropped_lines),
        IN_WORLD(nothing_happens),
        IN_WORLD(the_radio_fails),
        IN_WORLD(closed_and_opened_again),
        IN_WORLD(without_random_numbers),
        IN_WORLD(what_cannot_be_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
