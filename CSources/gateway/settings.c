/* SPDX-License-Identifier: MIT */
#include "tendon/gateway/settings.h"

#include <string.h>

#include "tendon/base/packed.h"

/* ---- words ---- */

/** The next word of a list separated by commas; false: there is none. Empty words are skipped. */
static bool next_word(const char **at, const char **word, size_t *length) {
    while (**at == ',' || **at == ' ') {
        ++*at;
    }
    *word = *at;
    while (**at != '\0' && **at != ',' && **at != ' ') {
        ++*at;
    }
    *length = (size_t)(*at - *word);
    return *length > 0;
}

static bool is_word(const char *word, size_t length, const char *name) {
    return length == tendon_string_length(name) && memcmp(word, name, length) == 0;
}

static bool is_text(const char *text, const char *name) {
    return is_word(text, tendon_string_length(text), name);
}

/** A decimal number within limits; -1: it is none. */
static int64_t number_of(const char *text, size_t length, int64_t low, int64_t high) {
    int64_t number = 0;
    if (length == 0 || length > 10) {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        number = number * 10 + (text[i] - '0');
    }
    return number >= low && number <= high ? number : -1;
}

static int64_t number_in(const char *text, int64_t low, int64_t high) {
    return number_of(text, tendon_string_length(text), low, high);
}

/* ---- lists of Bose wearables ---- */

static int sensor_named(const char *word, size_t length) {
    for (unsigned id = 0; id < TENDON_BOSE_SENSOR_COUNT; id++) {
        if (is_word(word, length, tendon_bose_sensor_name((uint8_t)id))) {
            return (int)id;
        }
    }
    return (int)number_of(word, length, 0, UINT8_MAX);
}

static int gesture_named(const char *word, size_t length) {
    for (unsigned id = 0; id <= UINT8_MAX; id++) {
        if (tendon_bose_gesture_known((uint8_t)id) && is_word(word, length, tendon_bose_gesture_name((uint8_t)id))) {
            return (int)id;
        }
    }
    return (int)number_of(word, length, 0, UINT8_MAX);
}

static bool set_list(tendon_settings_list *list, const char *value, int (*named)(const char *word, size_t length)) {
    tendon_settings_list made = {0};
    const char *word;
    size_t length;
    if (is_text(value, "all") || is_text(value, "none")) {
        *list = (tendon_settings_list){.all = value[0] == 'a'};
        return true;
    }
    while (next_word(&value, &word, &length)) {
        int id = named(word, length);
        if (id < 0 || made.count == TENDON_SETTINGS_LIST) {
            return false;
        }
        made.ids[made.count++] = (uint8_t)id;
    }
    *list = made;
    return made.count > 0;
}

/* ---- options ---- */

typedef bool (*setter)(tendon_device_settings *settings, const char *value);

static bool set_sensors(tendon_device_settings *settings, const char *value) {
    tendon_settings_list list;
    bool is_set = set_list(&list, value, sensor_named);
    settings->sensors = is_set ? list : settings->sensors;
    return is_set;
}

static bool set_gestures(tendon_device_settings *settings, const char *value) {
    tendon_settings_list list;
    bool is_set = set_list(&list, value, gesture_named);
    settings->gestures = is_set ? list : settings->gestures;
    return is_set;
}

/** Sample periods of the vendor: 5 ms, doubled six times. */
static bool set_period(tendon_device_settings *settings, const char *value) {
    int64_t number = number_in(value, 5, 320);
    for (int64_t period = 5; period <= 320; period *= 2) {
        if (number == period) {
            settings->period_ms = (uint16_t)number;
            return true;
        }
    }
    return false;
}

static bool set_measure(tendon_device_settings *settings, const char *value) {
    bool force = false;
    bool motion = false;
    const char *word;
    size_t length;
    bool is_none = is_text(value, "none");
    while (!is_none && next_word(&value, &word, &length)) {
        bool is_force = is_word(word, length, "force");
        if (!is_force && !is_word(word, length, "imu")) {
            return false;
        }
        force = force || is_force;
        motion = motion || !is_force;
    }
    if (!is_none && !force && !motion) {
        return false;
    }
    settings->force = force;
    settings->motion = motion;
    return true;
}

static bool set_rate(tendon_device_settings *settings, const char *value) {
    int64_t number = number_in(value, 1, INT16_MAX);
    settings->rate_hz = number > 0 ? (uint16_t)number : settings->rate_hz;
    return number > 0;
}

static bool set_evergreen(tendon_device_settings *settings, const char *value) {
    settings->evergreen = value == NULL || settings->evergreen;
    return value == NULL;
}

static bool set_orientation_period(tendon_device_settings *settings, const char *value) {
    int64_t number = number_in(value, 20, UINT16_MAX);
    settings->orientation_period_ms = number > 0 ? (uint16_t)number : settings->orientation_period_ms;
    return number > 0;
}

static bool set_default_intensity(tendon_device_settings *settings, const char *value) {
    int64_t number = number_in(value, 5, 100);
    settings->default_intensity = number > 0 ? (uint8_t)number : settings->default_intensity;
    return number > 0;
}

static bool set_product(tendon_device_settings *settings, const char *value) {
    int64_t number = number_in(value, 0, UINT32_MAX);
    settings->product = number >= 0 ? (uint32_t)number : settings->product;
    settings->has_product = number >= 0 || settings->has_product;
    return number >= 0;
}

static bool set_features(tendon_device_settings *settings, const char *value) {
    uint16_t features[TENDON_SETTINGS_FEATURES];
    uint8_t count = 0;
    const char *word;
    size_t length;
    while (next_word(&value, &word, &length)) {
        int64_t number = number_of(word, length, 1, TENDON_OBVIOUS_FEATURE_MAX);
        if (number < 0 || count == TENDON_SETTINGS_FEATURES) {
            return false;
        }
        features[count++] = (uint16_t)number;
    }
    if (count == 0) {
        return false;
    }
    memcpy(settings->features, features, count * sizeof features[0]);
    settings->feature_count = count;
    return true;
}

/* Families by their index in the table of families. */
enum { BOSE, FEELSPACE, ACTIV5, FJORDEN, OBVIOUS };

static const struct {
    tendon_settings_option option;
    setter set;
} options[] = {
    {{"sensors", "LIST",
      "with commas: accelerometer, gyroscope, rotation, game_rotation, orientation, magnetometer, "
      "uncalibrated_magnetometer; all; none; default: rotation",
      BOSE},
     set_sensors},
    {{"period", "MS", "time between two samples: 5, 10, 20, 40, 80, 160 or 320; default: 20", BOSE}, set_period},
    {{"gestures", "LIST",
      "with commas: single_tap, double_tap, head_nod, head_shake, touch_and_hold, input, affirmative, negative; all; "
      "none; default: all",
      BOSE},
     set_gestures},
    {{"measure", "LIST", "force, imu, both with commas, or none; default: force", ACTIV5}, set_measure},
    {{"rate", "HZ", "samples per second, 1 to 32767; default: the setting of the device", ACTIV5}, set_rate},
    {{"evergreen", NULL, "keep it from switching itself off after 7 minutes", ACTIV5}, set_evergreen},
    {{"orientation-period", "MS", "time between two headings, 20 to 65535; default: the belt's 500", FEELSPACE},
     set_orientation_period},
    {{"default-intensity", "PERCENT", "vibration intensity of signals that have none, 5 to 100; default: the belt's",
      FEELSPACE},
     set_default_intensity},
    {{"product", "ID", "product of the device, 0 to 4294967295", OBVIOUS}, set_product},
    {{"features", "LIST", "numbers of features whose states are read, 1 to 1024, with commas, 32 at most", OBVIOUS},
     set_features},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

void tendon_device_settings_init(tendon_device_settings *settings) {
    *settings = (tendon_device_settings){
        .sensors = {.count = 1, .ids = {TENDON_BOSE_ROTATION}},
        .gestures = {.all = true},
        .period_ms = 20,
        .force = true,
    };
    tendon_fjorden_profile_init(&settings->profile);
}

const tendon_settings_option *tendon_settings_option_at(size_t index) {
    return index < OPTIONS ? &options[index].option : NULL;
}

tendon_status tendon_device_settings_set(tendon_device_settings *settings, const char *name, const char *value) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (is_text(name, options[i].option.name)) {
            bool is_set = (value == NULL) == (options[i].option.value == NULL) && options[i].set(settings, value);
            return is_set ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    return TENDON_ERROR_NOT_FOUND;
}
