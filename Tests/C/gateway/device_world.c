/* SPDX-License-Identifier: MIT */
#include "device_world.h"

world w;

static union {
    tendon_simulated_bose bose;
    tendon_simulated_activ5 activ5;
    tendon_simulated_feelspace feelspace;
    tendon_simulated_fjorden fjorden;
    tendon_simulated_obvious obvious;
    tendon_simulated_defined defined;
} simulated;
static tendon_scenario_actor actor;
static world_choice chosen;
static tendon_definition definition, served;
static uint8_t flash_memory[TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(WORLD_OBVIOUS_IMAGE, WORLD_OBVIOUS_PAGE)];
static tendon_simulated_flash flash;

#define TOY(level)                                                                                                     \
    "{\"name\":\"toy\",\"title\":\"Toy\",\"find\":{\"services\":[\"fff0\"]},\"characteristics\":["                     \
    "{\"name\":\"level\",\"service\":\"fff0\",\"uuid\":\"" level "\",\"notify\":[{\"name\":\"x\",\"type\":\"u8\"}],"   \
    "\"required\":true,\"examples\":[\"01\",\"02\"],\"every_ms\":100},"                                                \
    "{\"name\":\"serial\",\"service\":\"fff0\",\"uuid\":\"fff2\",\"read\":[{\"name\":\"s\",\"type\":\"utf8\"}],"       \
    "\"examples\":[\"4142\"]},"                                                                                        \
    "{\"name\":\"control\",\"service\":\"fff0\",\"uuid\":\"fff3\",\"write\":[{\"name\":\"rate\",\"type\":\"u16\","     \
    "\"max\":500}]}"
static const char served_text[] = TOY("fff1") "]}", other_text[] = TOY("fff9") "]}";
static const char file_text[] = TOY(
    "fff1") ",{\"name\":\"more\",\"service\":\"fff5\",\"uuid\":\"fff6\",\"read\":[{\"name\":\"m\",\"type\":\"u8\"}]}],"
            "\"actions\":[{\"name\":\"set_rate\",\"characteristic\":\"control\"}]}";

static void parse_definition(tendon_definition *out, const char *text) {
    static tendon_definition_scratch scratch;
    tendon_definition_mistake mistake;
    if (tendon_definition_parse(text, strlen(text), out, &scratch, &mistake) < 0) {
        fail_msg("%u:%u: %s", (unsigned)mistake.line, (unsigned)mistake.column, mistake.text);
    }
}

/* ---- the simulated device ---- */

static bool verify(void *context, const uint8_t key[TENDON_OBVIOUS_KEY_SIZE], const uint8_t *domain,
                   size_t domain_length, const uint8_t *data, size_t length,
                   const uint8_t signature[TENDON_OBVIOUS_SIGNATURE_SIZE]) {
    (void)context, (void)key, (void)domain, (void)domain_length, (void)data, (void)length, (void)signature;
    return false;
}

static void sha256(void *context, const uint8_t *data, size_t length, uint8_t out[TENDON_OBVIOUS_SHA256_SIZE]) {
    (void)context, (void)data, (void)length;
    memset(out, 0, TENDON_OBVIOUS_SHA256_SIZE);
}

static tendon_peripheral_device start_obvious(void) {
    static tendon_obvious_key key = {.id = 1};
    static const tendon_obvious_key_ring ring = {.keys = &key, .count = 1, .crypto = {verify, sha256, NULL}};
    static const tendon_simulated_obvious_feature features[] = {{16, 1, 1, 0}, {17, 1, 2, 5}};
    assert_int_equal(tendon_simulated_flash_init(&flash, flash_memory, sizeof flash_memory, WORLD_OBVIOUS_PAGE),
                     TENDON_OK);
    tendon_simulated_flash_blank(&flash);
    chosen.obvious.flash = &flash;
    chosen.obvious.image_max = WORLD_OBVIOUS_IMAGE;
    chosen.obvious.keys = &ring;
    chosen.obvious.features = features;
    chosen.obvious.feature_count = 2;
    assert_int_equal(tendon_simulated_obvious_init(&simulated.obvious, &chosen.obvious), TENDON_OK);
    actor = tendon_simulated_obvious_actor(&simulated.obvious);
    return tendon_simulated_obvious_device(&simulated.obvious);
}

static tendon_peripheral_device start_simulated(tendon_device_family family) {
    switch (family) {
    case TENDON_DEVICE_BOSE:
        assert_int_equal(tendon_simulated_bose_init(&simulated.bose, &chosen.bose), TENDON_OK);
        actor = tendon_simulated_bose_actor(&simulated.bose);
        return tendon_simulated_bose_device(&simulated.bose);
    case TENDON_DEVICE_ACTIV5:
        assert_int_equal(tendon_simulated_activ5_init(&simulated.activ5, &chosen.activ5), TENDON_OK);
        actor = tendon_simulated_activ5_actor(&simulated.activ5);
        return tendon_simulated_activ5_device(&simulated.activ5);
    case TENDON_DEVICE_FEELSPACE:
        assert_int_equal(tendon_simulated_feelspace_init(&simulated.feelspace, &chosen.feelspace), TENDON_OK);
        actor = tendon_simulated_feelspace_actor(&simulated.feelspace);
        return tendon_simulated_feelspace_device(&simulated.feelspace);
    case TENDON_DEVICE_FJORDEN:
        assert_int_equal(tendon_simulated_fjorden_init(&simulated.fjorden, &chosen.fjorden), TENDON_OK);
        actor = tendon_simulated_fjorden_actor(&simulated.fjorden);
        return tendon_simulated_fjorden_device(&simulated.fjorden);
    case TENDON_DEVICE_OBVIOUS:
        return start_obvious();
    default:
        parse_definition(&served, chosen.is_other ? other_text : served_text);
        assert_int_equal(
            tendon_simulated_defined_init(&simulated.defined, &served, &(tendon_simulated_defined_options){0}),
            TENDON_OK);
        return tendon_simulated_defined_device(&simulated.defined);
    }
}

void world_command(const char *words) {
    tendon_scenario_event event;
    tendon_scenario_error error;
    char text[128];
    snprintf(text, sizeof text, "at 0ms %s\n", words);
    if (tendon_scenario_parse(text, strlen(text), &actor, &event, 1, &error) != 1) {
        fail_msg("no command: %s", words);
    }
    size_t wrong;
    assert_true(actor.perform(actor.context, &event, false, &wrong, w.now) >= 0);
}

/* ---- events ---- */

static void note(const char *text) {
    size_t length = strlen(text);
    assert_true(w.length + length + 2 < sizeof w.events);
    memcpy(w.events + w.length, text, length);
    w.length += length;
    w.events[w.length++] = ' ';
}

/** "connected", or "~" for samples, of which only the first is noted. */
static void note_line(const char *line, size_t length, bool is_sample) {
    char name[64];
    const char *event = strstr(line, "\"event\":\"");
    assert_non_null(event);
    assert_int_equal(line[length - 1], '\n');
    event += strlen("\"event\":\"");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(event, "\""), event);
    if (!is_sample) {
        note(name);
    } else if (w.length < 2 || w.events[w.length - 2] != '~') {
        note("~");
    }
}

/** Without memory the same event is asked for first: it says which line there is, and writes nothing. */
static void look_at_head(const tendon_device *device, const tendon_device_event *event, size_t index,
                         const tendon_line *line, tendon_status length) {
    tendon_line head;
    tendon_line_init(&head, NULL, 0, false);
    tendon_status status = tendon_device_line(device, event, index, &head, NULL, 5);
    assert_int_equal(status, length == 0 ? 0 : TENDON_ERROR_BUFFER_TOO_SMALL);
    if (length > 0) {
        assert_string_equal(head.event, line->event);
        assert_int_equal(head.is_sample, line->is_sample);
        assert_int_equal(head.wall_us, 5);
    }
}

static void on_event(void *context, tendon_device *device, const tendon_device_event *event, uint64_t now) {
    static char text[TENDON_LINE_SIZE + 1];
    static const tendon_address address = {.bytes = {1, 2, 3, 4, 5, 6}};
    const tendon_line_device label = {.family = tendon_device_family_name(device), .address = &address};
    tendon_line line;
    (void)context;
    assert_ptr_equal(device, &w.device);
    assert_int_equal(now, w.now);
    if (event->kind == TENDON_DEVICE_EVENT_SESSION && device->config.family == TENDON_DEVICE_DEFINED) {
        assert_true(event->of.defined->kind == TENDON_DEFINED_EVENT_VALUE ||
                    event->of.defined->kind == TENDON_DEFINED_EVENT_REFUSED);
    }
    if (event->kind == TENDON_DEVICE_EVENT_ENDED) {
        w.ended++;
        w.ending = *event;
        note(event->was_open ? "ended" : "failed");
        return;
    }
    if (event->kind == TENDON_DEVICE_EVENT_ACTED && w.opens_in_acted) {
        w.opened = tendon_device_open(device, now);
    }
    tendon_line_init(&line, text, TENDON_LINE_SIZE, false);
    for (size_t index = 0;; index++) {
        tendon_status length = tendon_device_line(device, event, index, &line, &label, 0);
        assert_true(length >= 0);
        look_at_head(device, event, index, &line, length);
        if (length == 0) {
            assert_true(index > 0 || event->kind == TENDON_DEVICE_EVENT_SESSION);
            return;
        }
        text[length] = 0;
        note_line(text, (size_t)length, line.is_sample);
    }
}

const char *world_look(void) {
    w.events[w.length > 0 ? w.length - 1 : 0] = 0;
    w.length = 0;
    return w.events;
}

/* ---- the connection ---- */

static tendon_status connect_it(void *context) {
    tendon_session_link link = tendon_memory_radio_link(context);
    return w.connect < 0 ? w.connect : link.connect(link.context);
}

world_choice world_defaults(void) {
    world_choice choice;
    memset(&choice, 0, sizeof choice);
    tendon_device_settings_init(&choice.settings);
    choice.fjorden.open = true;
    choice.obvious.open = true;
    return choice;
}

void world_start(tendon_device_family family, const world_choice *choice) {
    memset(&w, 0, sizeof w);
    chosen = *choice;
    w.now = 1000;
    w.seat = (tendon_memory_radio_device){
        .device = start_simulated(family), .address = {{1, 2, 3, 4, 5, 6}, 0}, .rssi = -50, .present = true};
    tendon_memory_radio_init(&w.radio, &w.seat, 1);
    tendon_memory_radio_set_target(&w.radio, &w.seat.address);
    tendon_device_config config = {.family = family,
                                   .settings = &chosen.settings,
                                   .address = w.seat.address,
                                   .link = tendon_memory_radio_link(&w.radio),
                                   .on_event = on_event};
    config.link.connect = connect_it;
    if (family == TENDON_DEVICE_DEFINED) {
        parse_definition(&definition, file_text);
        config.definition = &definition;
    }
    assert_int_equal(tendon_device_init(&w.device, &config), TENDON_OK);
    tendon_memory_radio_attach(&w.radio, tendon_device_inputs(&w.device), &w.device);
}

void world_run(uint64_t milliseconds) {
    for (uint64_t until = w.now + milliseconds;;) {
        uint64_t next = tendon_memory_radio_deadline(&w.radio);
        if (next > until) {
            w.now = until;
            return;
        }
        w.now = next > w.now ? next : w.now;
        tendon_memory_radio_tick(&w.radio, w.now);
    }
}

void world_open(void) {
    assert_int_equal(tendon_device_open(&w.device, w.now), TENDON_OK);
}
