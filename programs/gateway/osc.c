/* SPDX-License-Identifier: MIT */
#include "osc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tendon/linux/datagram.h"
#include "tendon/linux/loop.h"

static char message[TENDON_OSC_SENTENCE_SIZE];

__attribute__((format(printf, 1, 2))) static const char *say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return message;
}

/* ---- options ---- */

static const tendon_fleet_option options[] = {
    {"osc", "HOST:PORT/PRESET", "send samples there by UDP, HOST is an address; can be repeated; presets: see below"},
    {"osc-address", "ADDRESS", "the address of the preset custom, such as /head/ypr"},
    {"osc-map", "MAP", "its numbers: w x y z yaw pitch roll 0 with commas, each with - before it; scene: before all"},
    {"osc-rate", "N", "most orientations per second of a device; default: all of them"},
    {"osc-smoothing", "MS", "time constant of a low pass for orientations; default: none"},
    {"osc-recenter", "full|yaw", "what recentering changes: all three angles, or the yaw alone; default: full"},
};

bool osc_option_at(size_t index, tendon_fleet_option *out) {
    bool is_one = index < sizeof options / sizeof options[0];
    if (is_one) {
        *out = options[index];
    }
    return is_one;
}

/** A number from 0 to @p most; -1: it is none. */
static long number_of(const char *text, size_t length, long most) {
    long number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > most) {
            return -1;
        }
        number = number * 10 + (text[i] - '0');
    }
    return length > 0 && number <= most ? number : -1;
}

/** An address of IPv4 or IPv6; the interface behind '%' need not exist yet. */
static bool is_address(const char *host) {
    char bare[TENDON_DATAGRAM_ADDRESS_SIZE];
    uint8_t bytes[16];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(host, "%"), host);
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, bare, bytes) == 1;
}

/** HOST:PORT, HOST:PORT/PRESET, HOST:PORT/PRESET/DEVICE. */
static bool add_destination(osc *sound, const char *text, const char **mistake) {
    osc_destination *one = &sound->destinations[sound->destination_count];
    if (sound->destination_count == OSC_DESTINATIONS) {
        *mistake = "there are more than 8 destinations";
        return false;
    }
    *one = (osc_destination){.descriptor = -1};
    tendon_status status = tendon_osc_destination_parse(text, strlen(text), &one->to);
    size_t length = one->to.preset_length < 64 ? one->to.preset_length : 64;
    if (status == TENDON_ERROR_MALFORMED) {
        *mistake = say("'%.64s' is not HOST:PORT/PRESET, such as 127.0.0.1:7000/iem or [::1]:9000", text);
    } else if (!is_address(one->to.endpoint.host)) {
        *mistake = say("'%.64s' is no address: names are not resolved here", one->to.endpoint.host);
    } else if (status < 0) {
        *mistake = say("unknown preset '%.*s'; try: tendon-gateway --help", (int)length, text + one->to.preset_at);
    } else {
        sound->destination_count++;
        return true;
    }
    return false;
}

static bool set_address(osc *sound, const char *text, const char **mistake) {
    if (strlen(text) >= OSC_TEXT_SIZE || !tendon_osc_is_address(text)) {
        *mistake = say(
            "'%.64s' is no address of OSC: it begins with /, and has no blanks, # and commas; at most 95 bytes", text);
        return false;
    }
    strcpy(sound->custom_address, text);
    return true;
}

static bool set_map(osc *sound, const char *text, const char **mistake) {
    tendon_osc_map map;
    size_t offset = 0;
    tendon_status status = tendon_osc_map_parse(text, strlen(text), &map, &offset);
    if (status < 0 || strlen(text) >= OSC_TEXT_SIZE) {
        *mistake = say("'%.64s' is no map (column %zu): it lists w, x, y, z, yaw, pitch, roll or 0 with commas between "
                       "them, 8 at most, each with - before it if its sign changes",
                       text, offset + 1);
        return false;
    }
    strcpy(sound->custom_map, text);
    return true;
}

static bool set_setting(osc *sound, const char *name, const char *value, const char **mistake) {
    bool is_rate = strcmp(name, "osc-rate") == 0;
    long most = is_rate ? 1000 : 10000, number = number_of(value, strlen(value), most);
    sound->has_settings = true;
    if (strcmp(name, "osc-recenter") == 0) {
        sound->settings.yaw_only = strcmp(value, "yaw") == 0;
        *mistake = say("--osc-recenter takes full or yaw, not '%.64s'", value);
        return sound->settings.yaw_only || strcmp(value, "full") == 0;
    }
    if (number < 0) {
        *mistake = say("--%s takes a whole number from 0 to %ld, not '%.64s'", name, most, value);
        return false;
    }
    *(is_rate ? &sound->settings.rate : &sound->settings.smoothing_ms) = (uint32_t)number;
    return true;
}

tendon_status osc_set(osc *sound, const char *name, const char *value, const char **mistake) {
    bool is_right = false;
    if (strncmp(name, "osc", 3) != 0) {
        return TENDON_ERROR_NOT_FOUND;
    }
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(options[i].name, name) != 0) {
            continue;
        }
        if (value == NULL) {
            *mistake = say("--%s needs a value: %s", name, options[i].value);
        } else if (strcmp(name, "osc") == 0) {
            is_right = add_destination(sound, value, mistake);
        } else if (strcmp(name, "osc-address") == 0) {
            is_right = set_address(sound, value, mistake);
        } else if (strcmp(name, "osc-map") == 0) {
            is_right = set_map(sound, value, mistake);
        } else {
            is_right = set_setting(sound, name, value, mistake);
        }
        return is_right ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT;
    }
    return TENDON_ERROR_NOT_FOUND;
}

/* ---- sockets ---- */

static void report_notice(osc *sound, const osc_destination *one, tendon_osc_notice notice, tendon_status status) {
    char endpoint[TENDON_OSC_ENDPOINT_SIZE], text[TENDON_OSC_SENTENCE_SIZE];
    if (notice != TENDON_OSC_NOTICE_NONE) {
        tendon_osc_endpoint_format(&one->to.endpoint, endpoint);
        sound->report(
            say("osc: %s", tendon_osc_notice_format(notice, endpoint, tendon_datagram_status_text(status), text)));
    }
}

static void connect_to(osc *sound, osc_destination *one, uint64_t now) {
    tendon_status status = tendon_datagram_connect(one->to.endpoint.host, one->to.endpoint.port);
    one->descriptor = status >= 0 ? status : -1;
    report_notice(sound, one, tendon_osc_delivery_opened(&one->delivery, status >= 0, now), status);
}

static tendon_osc_outcome outcome_of(tendon_status status) {
    if (status == TENDON_SYSTEM_ERROR(ECONNREFUSED)) {
        return TENDON_OSC_REFUSED;
    }
    return status == TENDON_OK                  ? TENDON_OSC_SENT
           : status == TENDON_ERROR_WOULD_BLOCK ? TENDON_OSC_DROPPED
                                                : TENDON_OSC_FAILED;
}

/** Sends one datagram, or drops it. */
static void send_to(osc *sound, osc_destination *one, const uint8_t *bytes, tendon_status length) {
    uint64_t now = tendon_monotonic_ms();
    if (length <= 0) {
        return;
    }
    if (tendon_osc_delivery_wants_socket(&one->delivery, now)) {
        connect_to(sound, one, now);
    }
    tendon_status status =
        one->descriptor < 0 ? TENDON_ERROR_WOULD_BLOCK : tendon_datagram_send(one->descriptor, bytes, (size_t)length);
    tendon_osc_outcome outcome = outcome_of(status);
    if (outcome == TENDON_OSC_FAILED) {
        tendon_datagram_close(one->descriptor);
        one->descriptor = -1;
    }
    report_notice(sound, one, tendon_osc_delivery_took(&one->delivery, outcome, now), status);
}

bool osc_sends_orientations(const osc *sound) {
    for (size_t i = 0; i < sound->destination_count; i++) {
        if (sound->destinations[i].to.format != TENDON_OSC_RAW) {
            return true;
        }
    }
    return false;
}

/** A device that is served may send its orientation. */
static bool has_orientations(const tendon_fleet_options *from) {
    const tendon_settings_list *sensors = &from->settings.sensors;
    bool is_sent = sensors->all;
    for (size_t i = 0; i < sensors->count; i++) {
        is_sent = is_sent || sensors->ids[i] == TENDON_BOSE_ROTATION || sensors->ids[i] == TENDON_BOSE_GAME_ROTATION;
    }
    return is_sent && tendon_fleet_options_serve(from, TENDON_DEVICE_BOSE);
}

static void report_unused(osc *sound) {
    for (size_t i = 0; i < sound->destination_count; i++) {
        if (sound->destinations[i].to.format != TENDON_OSC_RAW) {
            report_notice(sound, &sound->destinations[i], TENDON_OSC_NOTICE_UNUSED, TENDON_OK);
        }
    }
}

const char *osc_open(osc *sound, const tendon_fleet_options *from, void (*report)(const char *text)) {
    bool has_address = sound->custom_address[0] != '\0', has_map = sound->custom_map[0] != '\0', is_used = false;
    sound->report = report;
    if (sound->destination_count == 0 && (has_address || has_map || sound->has_settings)) {
        return "an option of --osc needs --osc, such as --osc 127.0.0.1:7000/iem";
    }
    if (has_address != has_map) {
        return "--osc-address and --osc-map are given together";
    }
    for (size_t i = 0; i < sound->destination_count; i++) {
        tendon_osc_destination *to = &sound->destinations[i].to;
        if (to->is_custom && !has_map) {
            return "the preset custom needs --osc-address and --osc-map";
        }
        if (to->is_custom) {
            is_used = true;
            to->address = sound->custom_address;
            (void)tendon_osc_map_parse(sound->custom_map, strlen(sound->custom_map), &to->map, NULL);
        }
    }
    if (has_map && !is_used) {
        return "--osc-address is of the preset custom, and no --osc names it";
    }
    if (!has_orientations(from)) {
        report_unused(sound);
    }
    for (size_t i = 0; i < sound->destination_count; i++) {
        connect_to(sound, &sound->destinations[i], tendon_monotonic_ms());
    }
    return NULL;
}

void osc_close(osc *sound) {
    for (size_t i = 0; i < sound->destination_count; i++) {
        osc_destination *one = &sound->destinations[i];
        const tendon_osc_delivery *delivery = &one->delivery;
        char text[TENDON_OSC_ENDPOINT_SIZE];
        if (one->descriptor >= 0) {
            tendon_datagram_close(one->descriptor);
            one->descriptor = -1;
        }
        if (delivery->refused + delivery->dropped > 0) {
            sound->report(say("osc: %s: %" PRIu64 " datagrams were sent, %" PRIu64 " refused, %" PRIu64 " dropped",
                              tendon_osc_endpoint_format(&one->to.endpoint, text), delivery->sent + delivery->refused,
                              delivery->refused, delivery->dropped));
        }
    }
}

/* ---- samples ---- */

/** NULL: it has sent no orientation. */
static osc_head *known_head(osc *sound, const tendon_address *address) {
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        osc_head *one = &sound->heads[i];
        if (one->is_used && tendon_address_equal(&one->address, address)) {
            return one;
        }
    }
    return NULL;
}

static osc_head *head_of(osc *sound, const tendon_address *address) {
    osc_head *head = known_head(sound, address);
    if (head == NULL) {
        head = &sound->heads[sound->next_head++ % TENDON_FLEET_DEVICES];
        *head = (osc_head){.is_used = true, .address = *address};
        tendon_osc_head_init(&head->head, sound->settings);
    }
    return head;
}

static bool takes(const osc_destination *one, const tendon_fleet_line *line) {
    char address[TENDON_ADDRESS_STRING_SIZE];
    size_t length = strlen(one->to.device);
    return length == 0 || tendon_osc_means(one->to.device, length, line->name, line->name_length,
                                           say("%s/%s", tendon_address_format(line->address, address),
                                               tendon_line_address_type(line->address->type)));
}

static void send_raw(osc *sound, const tendon_fleet_line *line) {
    char path[TENDON_OSC_ADDRESS_MAX + 1], address[TENDON_ADDRESS_STRING_SIZE];
    uint8_t packet[TENDON_OSC_ADDRESS_MAX + 16 + 8 * TENDON_VIEW_CHANNELS];
    tendon_osc_sample_address(line->name, line->name_length, tendon_address_format(line->address, address),
                              line->view->sensor, strlen(line->view->sensor), path);
    tendon_status length = tendon_osc_sample(path, line->view->values, line->view->count, packet, sizeof packet);
    for (size_t i = 0; i < sound->destination_count; i++) {
        if (sound->destinations[i].to.format == TENDON_OSC_RAW && takes(&sound->destinations[i], line)) {
            send_to(sound, &sound->destinations[i], packet, length);
        }
    }
}

/** A quaternion of a Bose wearable, x y z w in front of its angles. */
static bool is_head(const tendon_fleet_line *line) {
    return strcmp(line->family, "bose") == 0 && line->view->count > 3 && strcmp(line->view->channels[3].name, "w") == 0;
}

static void send_head(osc *sound, const tendon_fleet_line *line) {
    const tendon_view *view = line->view;
    osc_head *head = head_of(sound, line->address);
    uint64_t time = view->received_at != 0 ? view->received_at : tendon_monotonic_ms() * 1000000;
    tendon_quaternion shown, raw = {view->values[0], view->values[1], view->values[2], view->values[3]};
    if (!tendon_osc_head_take(&head->head, strcmp(view->sensor, "rotation") == 0, tendon_head_from_bose(raw), time,
                              &shown)) {
        return;
    }
    for (size_t i = 0; i < sound->destination_count; i++) {
        const tendon_osc_destination *to = &sound->destinations[i].to;
        uint8_t packet[TENDON_OSC_ORIENTATION_MAX];
        if (to->format != TENDON_OSC_RAW && takes(&sound->destinations[i], line)) {
            send_to(sound, &sound->destinations[i], packet,
                    tendon_osc_orientation(to->format, to->address, &to->map, shown, packet, sizeof packet));
        }
    }
}

void osc_take(osc *sound, const tendon_fleet_line *line) {
    if (sound->destination_count == 0 || line->address == NULL) {
        return;
    }
    if (line->view == NULL) {
        if (strcmp(line->event, "disconnected") == 0) {
            osc_head *head = known_head(sound, line->address);
            if (head != NULL) {
                tendon_orientation_pause(&head->head.orientation);
            }
        }
        return;
    }
    if (is_head(line)) {
        send_head(sound, line);
    }
    if (line->view->count > 0) {
        send_raw(sound, line);
    }
}

bool osc_recenter(osc *sound, const tendon_address *address) {
    bool is_found = false;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        osc_head *head = &sound->heads[i];
        bool is_meant = head->is_used && memcmp(head->address.bytes, address->bytes, sizeof address->bytes) == 0 &&
                        (address->type == TENDON_ADDRESS_TYPE_ANONYMOUS || address->type == head->address.type);
        if (is_meant && tendon_orientation_recenter(&head->head.orientation) == TENDON_OK) {
            is_found = true;
        }
    }
    return is_found;
}
