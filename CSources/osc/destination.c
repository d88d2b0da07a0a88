/* SPDX-License-Identifier: MIT */
#include "tendon/osc/destination.h"

#include "text.h"

/** Where a character is the last time; length: nowhere. */
static size_t last_of(const char *text, size_t length, char c) {
    for (size_t i = length; i > 0; i--) {
        if (text[i - 1] == c) {
            return i - 1;
        }
    }
    return length;
}

/** Where a character is from @p start on; length: nowhere. */
static size_t first_of(const char *text, size_t start, size_t length, char c) {
    while (start < length && text[start] != c) {
        start++;
    }
    return start < length ? start : length;
}

/** 0: it is no port. */
static uint16_t port_of(const char *text, size_t length) {
    uint32_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > UINT16_MAX) {
            return 0;
        }
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    return number <= UINT16_MAX ? (uint16_t)number : 0;
}

tendon_status tendon_osc_endpoint_parse(const char *text, size_t length, tendon_osc_endpoint *out) {
    size_t colon = last_of(text, length, ':'), host = colon, start = 0;
    *out = (tendon_osc_endpoint){.port = colon < length ? port_of(text + colon + 1, length - colon - 1) : 0};
    if (out->port == 0) {
        return TENDON_ERROR_MALFORMED;
    }
    bool has_brackets = colon >= 2 && text[0] == '[' && text[colon - 1] == ']';
    if (has_brackets) {
        start = 1;
        host = colon - 2;
    }
    bool has_colon = last_of(text + start, host, ':') < host;
    if (has_colon != has_brackets || host == 0 || host > TENDON_OSC_HOST_MAX) {
        return TENDON_ERROR_MALFORMED;
    }
    for (size_t i = 0; i < host; i++) {
        char c = text[start + i];
        if (c <= ' ' || c > '~' || c == '/') {
            return TENDON_ERROR_MALFORMED;
        }
        out->host[i] = c;
    }
    return TENDON_OK;
}

const char *tendon_osc_endpoint_format(const tendon_osc_endpoint *endpoint, char out[TENDON_OSC_ENDPOINT_SIZE]) {
    size_t host = tendon_osc_length_of(endpoint->host), at = 0;
    bool has_brackets = last_of(endpoint->host, host, ':') < host;
    char digits[5];
    size_t count = 0;
    if (has_brackets) {
        out[at++] = '[';
    }
    memcpy(out + at, endpoint->host, host);
    at += host;
    if (has_brackets) {
        out[at++] = ']';
    }
    out[at++] = ':';
    for (uint32_t rest = endpoint->port; rest > 0 || count == 0; rest /= 10) {
        digits[count++] = (char)('0' + rest % 10);
    }
    while (count > 0) {
        out[at++] = digits[--count];
    }
    out[at] = 0;
    return out;
}

static tendon_status take_preset(const char *name, size_t length, tendon_osc_destination *out) {
    const tendon_osc_preset *preset = tendon_osc_preset_named(name, length);
    out->is_custom = length == sizeof TENDON_OSC_CUSTOM - 1 && memcmp(name, TENDON_OSC_CUSTOM, length) == 0;
    if (out->is_custom) {
        out->format = TENDON_OSC_ORIENTATION;
        return TENDON_OK;
    }
    if (preset == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    out->format = preset->format;
    out->address = preset->address;
    if (preset->map == NULL) {
        return TENDON_OK;
    }
    tendon_status terms = tendon_osc_map_parse(preset->map, tendon_osc_length_of(preset->map), &out->map, NULL);
    return terms < 0 ? terms : TENDON_OK;
}

/** A name without a terminator within. */
static tendon_status take_device(const char *name, size_t length, tendon_osc_destination *out) {
    if (length == 0 || length > TENDON_OSC_DEVICE_MAX || first_of(name, 0, length, 0) < length) {
        return TENDON_ERROR_MALFORMED;
    }
    memcpy(out->device, name, length);
    return TENDON_OK;
}

tendon_status tendon_osc_destination_parse(const char *text, size_t length, tendon_osc_destination *out) {
    size_t endpoint = first_of(text, 0, length, '/'), at = endpoint < length ? endpoint + 1 : length;
    size_t end = first_of(text, at, length, '/');
    *out = (tendon_osc_destination){.format = TENDON_OSC_RAW, .preset_at = at, .preset_length = end - at};
    bool is_missing = endpoint < length && end == at;
    if (is_missing || tendon_osc_endpoint_parse(text, endpoint, &out->endpoint) < 0 ||
        (end < length && take_device(text + end + 1, length - end - 1, out) < 0)) {
        return TENDON_ERROR_MALFORMED;
    }
    return endpoint == length ? TENDON_OK : take_preset(text + at, end - at, out);
}

bool tendon_osc_is_address(const char *address) {
    uint8_t packet[TENDON_OSC_ADDRESS_MAX + 16];
    return tendon_osc_sample(address, NULL, 0, packet, sizeof packet) > 0;
}

static char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* "AA:BB:CC:DD:EE:FF", also with "/random", of an address that is "AA:BB:CC:DD:EE:FF/random_identity". */
static bool is_same_address(const char *wanted, size_t length, const char *address) {
    for (size_t i = 0; i < length; i++) {
        if (upper(wanted[i]) != upper(address[i]) || address[i] == 0) {
            return false;
        }
    }
    return address[length] == 0 || address[length] == '/' || address[length] == '_';
}

bool tendon_osc_means(const char *wanted, size_t wanted_length, const char *name, size_t name_length,
                      const char *address) {
    char level[TENDON_OSC_ADDRESS_MAX + 1];
    if (name_length == wanted_length && name_length > 0 &&
        (memcmp(wanted, name, name_length) == 0 ||
         (tendon_osc_append_level(level, 0, sizeof level, name, name_length) > 0 &&
          memcmp(wanted, level + 1, name_length) == 0))) {
        return true;
    }
    return is_same_address(wanted, wanted_length, address);
}

void tendon_osc_sample_address(const char *name, size_t name_length, const char *address, const char *sensor,
                               size_t sensor_length, char out[TENDON_OSC_ADDRESS_MAX + 1]) {
    const size_t capacity = TENDON_OSC_ADDRESS_MAX + 1;
    const char *shown = name_length > 0 ? name : address;
    const struct {
        const char *text;
        size_t length;
    } levels[] = {
        {"tendon", 6}, {shown, name_length > 0 ? name_length : tendon_osc_length_of(address)}, {sensor, sensor_length}};
    size_t length = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        tendon_status longer = tendon_osc_append_level(out, length, capacity, levels[i].text, levels[i].length);
        length = longer > 0 ? (size_t)longer : length;
    }
}
