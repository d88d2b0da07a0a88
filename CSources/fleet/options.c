/* SPDX-License-Identifier: MIT */
#include "tendon/fleet/options.h"

#include "tendon/linux/gateway.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_FIVE = (1u << TENDON_SEARCH_DEFINED) - 1 };

/* ---- words ---- */

/** Calls @p take with each word of a list separated by commas. False: it rejected one, or there is none. */
static bool each_word(tendon_fleet_options *options, const char *list,
                      bool (*take)(tendon_fleet_options *options, const char *word, void *out), void *out) {
    bool any = false;
    while (*list != '\0') {
        char word[TENDON_FLEET_WORD_SIZE];
        size_t length = strcspn(list, ",");
        if (length > 0) {
            if (length >= sizeof word) {
                return false;
            }
            memcpy(word, list, length);
            word[length] = '\0';
            if (!take(options, word, out)) {
                return false;
            }
            any = true;
        }
        list += length + (list[length] == ',');
    }
    return any;
}

/** A positive decimal number; 0: it is none, or greater than the limit. */
static uint32_t number_of(const char *text, uint32_t limit) {
    uint64_t number = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] < '0' || text[i] > '9' || number > limit) {
            return 0;
        }
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return number <= limit ? (uint32_t)number : 0;
}

static bool take_family(tendon_fleet_options *options, const char *word, void *out) {
    uint32_t *families = out;
    const tendon_family *family = tendon_family_find(word);
    if (strcmp(word, "all") == 0) {
        *families = UINT32_MAX; /* and device files that are added later */
        return true;
    }
    for (unsigned i = 0; family != NULL && i < TENDON_SEARCH_DEFINED; i++) {
        if (tendon_family_at(i) == family) {
            *families |= 1u << i;
            return true;
        }
    }
    for (unsigned i = 0; i < options->definition_count; i++) {
        const tendon_definition *one = options->definitions[i];
        if (strcmp(word, tendon_definition_text(one, one->name)) == 0) {
            *families |= 1u << (TENDON_SEARCH_DEFINED + i);
            return true;
        }
    }
    return strcmp(word, "none") == 0;
}

/** An address without a type stands for the public one and the random one. */
static bool take_address(tendon_fleet_addresses *list, const char *value) {
    tendon_address address;
    bool has_type = strchr(value, '/') != NULL;
    size_t count = has_type ? 1 : 2;
    if (tendon_address_parse(value, strlen(value), &address, NULL) < 0 ||
        list->count + count > TENDON_FLEET_ADDRESSES) {
        return false;
    }
    list->addresses[list->count++] = address;
    if (!has_type) {
        address.type = TENDON_ADDRESS_TYPE_RANDOM;
        list->addresses[list->count++] = address;
    }
    return true;
}

/* ---- setters ---- */

static bool set_radio(tendon_fleet_options *options, const char *value) {
    options->names_radio = true;
    options->is_virtual = strcmp(value, "virtual") == 0;
    return options->is_virtual || strcmp(value, "bluez") == 0;
}

static bool take_adapter(tendon_fleet_options *options, const char *word, void *out) {
    (void)out;
    if (options->adapter_count == TENDON_FLEET_RADIOS) {
        return false;
    }
    strcpy(options->adapters[options->adapter_count++], word); /* each_word() has words of this size */
    return true;
}

/** Of an adapter's name and the environment, the name counts. */
static bool set_adapter(tendon_fleet_options *options, const char *value) {
    options->is_virtual = options->is_virtual && options->names_radio;
    return each_word(options, value, take_adapter, NULL);
}

static bool set_families(tendon_fleet_options *options, const char *value) {
    uint32_t families = 0;
    bool is_set = each_word(options, value, take_family, &families);
    options->families = is_set ? families : options->families;
    options->names_families = options->names_families || is_set;
    return is_set;
}

static bool set_ignore(tendon_fleet_options *options, const char *value) {
    uint32_t families = 0;
    bool is_set = each_word(options, value, take_family, &families);
    options->ignored |= is_set ? families : 0;
    return is_set;
}

static bool set_address(tendon_fleet_options *options, const char *value) {
    return take_address(&options->only, value);
}

static bool set_allow(tendon_fleet_options *options, const char *value) {
    return take_address(&options->allowed, value);
}

static bool set_pair(tendon_fleet_options *options, const char *value) {
    options->pair_s = value == NULL ? UINT32_MAX : number_of(value, 86400);
    return options->pair_s != 0;
}

static bool set_no_reconnect(tendon_fleet_options *options, const char *value) {
    (void)value;
    return options->no_reconnect = true;
}

static bool set_connection(tendon_fleet_options *options, const char *value) {
    return tendon_connection_parameters_parse(value, strlen(value), &options->connection, NULL) >= 0;
}

static bool set_coded(tendon_fleet_options *options, const char *value) {
    (void)value;
    return options->coded = true;
}

static bool set_no_cache(tendon_fleet_options *options, const char *value) {
    (void)value;
    return options->no_gatt_cache = true;
}

static bool set_exact(tendon_fleet_options *options, const char *value) {
    (void)value;
    return options->is_exact = true;
}

enum { NO_VALUE, NEEDS_VALUE, MAY_HAVE_VALUE };
#define FAMILIES "bose, feelspace, activ5, fjorden, obvious, names of device files, with commas; all; none"
#define AN_ADDRESS "AA:BB:CC:DD:EE:FF[/random]; can be repeated, 32 addresses at most"

static const struct {
    tendon_fleet_option option;
    int value;
    bool (*set)(tendon_fleet_options *options, const char *value);
} own_options[] = {
    {{"radio", "KIND", "bluez or virtual; default: $TENDON_RADIO, else bluez"}, NEEDS_VALUE, set_radio},
    {{"adapter", "NAME", "hciN, an address or a USB path; several with commas, 4 at most; default: the first adapter"},
     NEEDS_VALUE,
     set_adapter},
    {{"families", "LIST", "serve these: " FAMILIES "; default: all"}, NEEDS_VALUE, set_families},
    {{"ignore", "LIST", "leave these alone: " FAMILIES}, NEEDS_VALUE, set_ignore},
    {{"address", "ADDRESS", "serve only this device, " AN_ADDRESS}, NEEDS_VALUE, set_address},
    {{"pair", "SECONDS", "pair with new devices for this time, 1 to 86400; alone: as long as it runs; default: never"},
     MAY_HAVE_VALUE,
     set_pair},
    {{"allow", "ADDRESS", "pair with this device when it requires pairing, " AN_ADDRESS}, NEEDS_VALUE, set_allow},
    {{"no-reconnect", NULL, "connect to each device once"}, NO_VALUE, set_no_reconnect},
    {{"connection", "PARAMETERS", "fast, balanced, low-power, or MIN-MAX[,LATENCY[,TIMEOUT]] in ms"},
     NEEDS_VALUE,
     set_connection},
    {{"coded", NULL, "search on LE Coded too, for devices with long range"}, NO_VALUE, set_coded},
    {{"no-gatt-cache", NULL, "discover the attributes of a device with each connection"}, NO_VALUE, set_no_cache},
    {{"exact", NULL, "numbers read back as the value that was computed"}, NO_VALUE, set_exact},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof own_options[0] };

void tendon_fleet_options_init(tendon_fleet_options *options) {
    memset(options, 0, sizeof *options);
    options->families = ALL_FIVE;
    const char *radio = getenv(TENDON_GATEWAY_RADIO_VARIABLE);
    bool is_given = radio != NULL && radio[0] != '\0';
    options->is_virtual = is_given && strcmp(radio, "virtual") == 0;
    options->is_unknown_radio = is_given && !options->is_virtual && strcmp(radio, "bluez") != 0;
    tendon_device_settings_init(&options->settings);
}

bool tendon_fleet_option_at(size_t index, tendon_fleet_option *out) {
    if (index < OWN_OPTIONS) {
        *out = own_options[index].option;
        return true;
    }
    const tendon_settings_option *setting = tendon_settings_option_at(index - OWN_OPTIONS);
    if (setting != NULL) {
        *out = (tendon_fleet_option){.name = setting->name, .value = setting->value, .help = setting->help};
    }
    return setting != NULL;
}

tendon_status tendon_fleet_options_set(tendon_fleet_options *options, const char *name, const char *value) {
    for (size_t i = 0; i < OWN_OPTIONS; i++) {
        if (strcmp(own_options[i].option.name, name) == 0) {
            const tendon_fleet_options before = *options;
            bool fits = value != NULL ? own_options[i].value != NO_VALUE : own_options[i].value != NEEDS_VALUE;
            if (fits && own_options[i].set(options, value)) {
                return TENDON_OK;
            }
            *options = before;
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    return tendon_device_settings_set(&options->settings, name, value);
}

void tendon_fleet_option_mistake(const char *name, const char *value, char text[TENDON_FLEET_MISTAKE_SIZE]) {
    tendon_fleet_option option = {0};
    for (size_t i = 0; tendon_fleet_option_at(i, &option) && strcmp(option.name, name) != 0; i++) {
    }
    const char *help = option.help != NULL ? option.help : "";
    if (value == NULL) {
        snprintf(text, TENDON_FLEET_MISTAKE_SIZE, "needs a value: %s", help);
    } else if (option.value == NULL) {
        snprintf(text, TENDON_FLEET_MISTAKE_SIZE, "takes no value, so not '%.64s'", value);
    } else {
        snprintf(text, TENDON_FLEET_MISTAKE_SIZE, "'%.64s' is not possible: %s", value, help);
    }
}

bool tendon_fleet_options_serve(const tendon_fleet_options *options, uint8_t family) {
    return family < TENDON_SEARCH_DEFINED + TENDON_FLEET_DEFINITIONS &&
           ((options->families & ~options->ignored) >> family & 1u) != 0;
}

static bool is_nothing_served(const tendon_fleet_options *options) {
    const size_t count = TENDON_SEARCH_DEFINED + options->definition_count;
    size_t family = 0;
    while (family < count && !tendon_fleet_options_serve(options, (uint8_t)family)) {
        family++;
    }
    return family == count;
}

bool tendon_fleet_options_mistake(const tendon_fleet_options *options, char text[TENDON_FLEET_MISTAKE_SIZE]) {
    const char *radio = getenv(TENDON_GATEWAY_RADIO_VARIABLE);
    if (options->is_unknown_radio && !options->names_radio && !options->is_virtual && options->adapter_count == 0) {
        snprintf(text, TENDON_FLEET_MISTAKE_SIZE, TENDON_GATEWAY_RADIO_VARIABLE " is bluez or virtual, not '%.64s'",
                 radio != NULL ? radio : "");
        return true;
    }
    const char *mistake = options->is_virtual && options->adapter_count > 0 ? "--adapter is for --radio bluez"
                          : is_nothing_served(options) ? "no family is served: see --families and --ignore"
                                                       : NULL;
    snprintf(text, TENDON_FLEET_MISTAKE_SIZE, "%s", mistake != NULL ? mistake : "");
    return mistake != NULL;
}

tendon_status tendon_fleet_options_define(tendon_fleet_options *options, const tendon_definition *definition) {
    uint32_t same = 0;
    if (take_family(options, tendon_definition_text(definition, definition->name), &same)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (options->definition_count == TENDON_FLEET_DEFINITIONS) {
        return TENDON_ERROR_TABLE_FULL;
    }
    for (size_t i = 0; i < options->definition_count; i++) {
        if (tendon_definition_overlaps(options->definitions[i], definition)) {
            return TENDON_ERROR_MALFORMED;
        }
    }
    options->families |= options->names_families ? 0 : 1u << (TENDON_SEARCH_DEFINED + options->definition_count);
    options->definitions[options->definition_count++] = definition;
    return TENDON_OK;
}
