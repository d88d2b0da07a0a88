/* SPDX-License-Identifier: MIT */
#include "osc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tendon/linux/datagram.h"
#include "tendon/linux/loop.h"

/** ms between two attempts to open a socket; ns without a `rotation` after which another sensor gives the
 * orientation. As `tendon run` has them. */
#define PAUSE_MS UINT64_C(10000)
#define PATIENCE_NS UINT64_C(1000000000)

static char message[320];

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

/** "127.0.0.1:9000", "[::1]:9000". Sets the mistake. */
static bool read_endpoint(osc_destination *to, const char *text, size_t length, const char **mistake) {
    const char *colon = memrchr(text, ':', length);
    size_t host = colon != NULL ? (size_t)(colon - text) : 0;
    long port = colon != NULL ? number_of(colon + 1, length - host - 1, UINT16_MAX) : 0;
    bool has_brackets = host > 2 && text[0] == '[' && text[host - 1] == ']';
    size_t skipped = has_brackets ? 1 : 0;
    if (port <= 0 || host == 0 || host - 2 * skipped >= sizeof to->host ||
        (memchr(text, ':', host) != NULL) != has_brackets) {
        *mistake = say("'%.64s' is not HOST:PORT/PRESET, such as 127.0.0.1:7000/iem or [::1]:9000", text);
        return false;
    }
    memcpy(to->host, text + skipped, host - 2 * skipped);
    to->host[host - 2 * skipped] = '\0';
    to->port = (uint16_t)port;
    snprintf(to->text, sizeof to->text, "%.*s", (int)length, text);
    if (!is_address(to->host)) {
        *mistake = say("'%.64s' is no address: names are not resolved here", to->host);
        return false;
    }
    return true;
}

static bool read_preset(osc_destination *to, const char *name, size_t length, const char **mistake) {
    const tendon_osc_preset *preset = tendon_osc_preset_named(name, length);
    to->is_custom = length == strlen("custom") && memcmp(name, "custom", length) == 0;
    if (to->is_custom) {
        to->format = TENDON_OSC_ORIENTATION; /* osc_open() sets address and map, which can follow */
        return true;
    }
    if (preset == NULL) {
        *mistake = say("unknown preset '%.*s'; try: tendon-gateway --help", length < 64 ? (int)length : 64, name);
        return false;
    }
    to->format = preset->format;
    to->address = preset->address;
    return preset->map == NULL || tendon_osc_map_parse(preset->map, strlen(preset->map), &to->map, NULL) > 0;
}

/** HOST:PORT, HOST:PORT/PRESET, HOST:PORT/PRESET/DEVICE. */
static bool add_destination(osc *sound, const char *text, const char **mistake) {
    osc_destination *to = &sound->destinations[sound->destination_count];
    size_t endpoint = strcspn(text, "/");
    const char *preset = text[endpoint] == '/' ? text + endpoint + 1 : "raw";
    size_t length = strcspn(preset, "/");
    const char *device = preset[length] == '/' ? preset + length + 1 : NULL;
    if (sound->destination_count == OSC_DESTINATIONS) {
        *mistake = "there are more than 8 destinations";
        return false;
    }
    *to = (osc_destination){.descriptor = -1};
    if (length == 0 || (device != NULL && (device[0] == '\0' || strlen(device) >= sizeof to->device))) {
        *mistake = say("'%.64s' is not HOST:PORT/PRESET, such as 127.0.0.1:7000/iem or [::1]:9000", text);
        return false;
    }
    strcpy(to->device, device != NULL ? device : "");
    bool is_right = read_endpoint(to, text, endpoint, mistake) && read_preset(to, preset, length, mistake);
    sound->destination_count += is_right ? 1 : 0;
    return is_right;
}

static bool set_address(osc *sound, const char *text, const char **mistake) {
    uint8_t packet[OSC_TEXT_SIZE + 16];
    if (strlen(text) >= OSC_TEXT_SIZE || tendon_osc_sample(text, NULL, 0, packet, sizeof packet) < 0) {
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

static void connect_to(osc *sound, osc_destination *to, uint64_t now) {
    tendon_status status = tendon_datagram_connect(to->host, to->port);
    to->retry_at = now + PAUSE_MS;
    to->descriptor = status >= 0 ? status : -1;
    if (status < 0 && !to->is_reported) {
        sound->report(say("osc: %s: %s; it is tried again", to->text, tendon_status_text(status)));
    }
    to->is_reported = status < 0;
}

/** Sends one datagram, or drops it. */
static void send_to(osc *sound, osc_destination *to, const uint8_t *bytes, tendon_status length) {
    if (length <= 0) {
        return;
    }
    if (to->descriptor < 0 && tendon_monotonic_ms() >= to->retry_at) {
        connect_to(sound, to, tendon_monotonic_ms());
    }
    tendon_status status =
        to->descriptor < 0 ? TENDON_ERROR_WOULD_BLOCK : tendon_datagram_send(to->descriptor, bytes, (size_t)length);
    if (status == TENDON_OK) {
        to->sent++;
    } else if (status == TENDON_SYSTEM_ERROR(ECONNREFUSED)) {
        to->refused++;
        if (!to->is_reported) {
            sound->report(say("osc: no program listens at %s; it is sent there all the same", to->text));
            to->is_reported = true;
        }
    } else {
        to->dropped++;
        if (status !=
            TENDON_ERROR_WOULD_BLOCK) { /* the network has changed: a new socket takes its present addresses */
            tendon_datagram_close(to->descriptor);
            to->descriptor = -1;
            to->retry_at = 0;
        }
    }
}

bool osc_sends_orientations(const osc *sound) {
    for (size_t i = 0; i < sound->destination_count; i++) {
        if (sound->destinations[i].format != TENDON_OSC_RAW) {
            return true;
        }
    }
    return false;
}

const char *osc_open(osc *sound, void (*report)(const char *text)) {
    bool has_address = sound->custom_address[0] != '\0', has_map = sound->custom_map[0] != '\0', is_used = false;
    sound->report = report;
    if (sound->destination_count == 0 && (has_address || has_map || sound->has_settings)) {
        return "an option of --osc needs --osc, such as --osc 127.0.0.1:7000/iem";
    }
    if (has_address != has_map) {
        return "--osc-address and --osc-map are given together";
    }
    for (size_t i = 0; i < sound->destination_count; i++) {
        osc_destination *to = &sound->destinations[i];
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
    for (size_t i = 0; i < sound->destination_count; i++) {
        connect_to(sound, &sound->destinations[i], tendon_monotonic_ms());
    }
    return NULL;
}

void osc_close(osc *sound) {
    for (size_t i = 0; i < sound->destination_count; i++) {
        osc_destination *to = &sound->destinations[i];
        if (to->descriptor >= 0) {
            tendon_datagram_close(to->descriptor);
            to->descriptor = -1;
        }
        if (to->refused + to->dropped > 0) {
            sound->report(say("osc: %s: %" PRIu64 " datagrams were sent, %" PRIu64 " refused, %" PRIu64 " dropped",
                              to->text, to->sent + to->refused, to->refused, to->dropped));
        }
    }
}

/* ---- samples ---- */

static osc_head *head_of(osc *sound, const tendon_address *address) {
    osc_head *head = NULL;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        osc_head *one = &sound->heads[i];
        if (one->is_used && tendon_address_equal(&one->address, address)) {
            return one;
        }
        head = !one->is_used && head == NULL ? one : head;
    }
    head = head != NULL ? head : &sound->heads[sound->next_head++ % TENDON_FLEET_DEVICES];
    *head = (osc_head){.is_used = true, .address = *address};
    tendon_orientation_init(&head->orientation, sound->settings);
    return head;
}

/** A level of an address, without its "/". */
static const char *level(const char *text, size_t length, char out[TENDON_OSC_ADDRESS_MAX + 1]) {
    return tendon_osc_append_level(out, 0, TENDON_OSC_ADDRESS_MAX + 1, text, length) > 0 ? out + 1 : "";
}

/** By its name, as it is or as addresses have it, or by its address. */
static bool takes(const osc_destination *to, const tendon_fleet_line *line) {
    char text[TENDON_OSC_ADDRESS_MAX + 1], address[TENDON_ADDRESS_STRING_SIZE];
    size_t length = strlen(to->device);
    return length == 0 || strcasecmp(to->device, tendon_address_format(line->address, address)) == 0 ||
           (length == line->name_length && memcmp(to->device, line->name, length) == 0) ||
           (line->name_length > 0 && strcmp(to->device, level(line->name, line->name_length, text)) == 0);
}

static void send_raw(osc *sound, const tendon_fleet_line *line) {
    char path[TENDON_OSC_ADDRESS_MAX + 1], address[TENDON_ADDRESS_STRING_SIZE];
    uint8_t packet[TENDON_OSC_ADDRESS_MAX + 16 + 8 * TENDON_VIEW_CHANNELS];
    bool has_name = line->name_length > 0;
    const char *name = has_name ? line->name : tendon_address_format(line->address, address);
    tendon_status length = tendon_osc_append_level(path, 0, sizeof path, "tendon", strlen("tendon"));
    length =
        tendon_osc_append_level(path, (size_t)length, sizeof path, name, has_name ? line->name_length : strlen(name));
    if (length < 0 || tendon_osc_append_level(path, (size_t)length, sizeof path, line->view->sensor,
                                              strlen(line->view->sensor)) < 0) {
        return; /* no name is that long */
    }
    length = tendon_osc_sample(path, line->view->values, line->view->count, packet, sizeof packet);
    for (size_t i = 0; i < sound->destination_count; i++) {
        if (sound->destinations[i].format == TENDON_OSC_RAW && takes(&sound->destinations[i], line)) {
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
    if (strcmp(view->sensor, "rotation") == 0) {
        head->rotation_at = time;
    } else if (head->rotation_at != 0 && time < head->rotation_at + PATIENCE_NS) {
        return;
    }
    if (!tendon_orientation_take(&head->orientation, tendon_head_from_bose(raw), time, &shown)) {
        return;
    }
    for (size_t i = 0; i < sound->destination_count; i++) {
        osc_destination *to = &sound->destinations[i];
        uint8_t packet[TENDON_OSC_ORIENTATION_MAX];
        if (to->format != TENDON_OSC_RAW && takes(to, line)) {
            send_to(sound, to, packet,
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
            tendon_orientation_pause(&head_of(sound, line->address)->orientation);
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

const tendon_address *osc_recenter(osc *sound, const tendon_address *address) {
    const tendon_address *found = NULL;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        osc_head *head = &sound->heads[i];
        bool is_meant = head->is_used && memcmp(head->address.bytes, address->bytes, sizeof address->bytes) == 0 &&
                        (address->type == TENDON_ADDRESS_TYPE_ANONYMOUS || address->type == head->address.type);
        if (is_meant && tendon_orientation_recenter(&head->orientation) == TENDON_OK) {
            found = &head->address;
        }
    }
    return found;
}
