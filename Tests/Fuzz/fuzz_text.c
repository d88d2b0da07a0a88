/* SPDX-License-Identifier: MIT */
/* What people type: UUIDs, addresses, parameters of connections, scenario files, settings of devices. What parses
 * prints to what parses to the same. */
#include "fuzz.h"
#include "tendon/gateway/settings.h"
#include "tendon/simulate.h"

static void uuid(const char *text, size_t size) {
    tendon_uuid parsed, again;
    char printed[TENDON_UUID_STRING_SIZE];
    size_t offset = 0;
    if (tendon_uuid_parse(text, size, &parsed, &offset) != TENDON_OK) {
        FUZZ_CHECK(offset <= size);
        return;
    }
    (void)tendon_uuid_format(&parsed, printed);
    FUZZ_CHECK(tendon_uuid_parse(printed, TENDON_UUID_STRING_SIZE - 1, &again, NULL) == TENDON_OK);
    FUZZ_CHECK(tendon_uuid_equal(&parsed, &again));
}

static void address(const char *text, size_t size) {
    tendon_address parsed, again;
    char printed[TENDON_ADDRESS_STRING_SIZE];
    size_t offset = 0;
    if (tendon_address_parse(text, size, &parsed, &offset) != TENDON_OK) {
        FUZZ_CHECK(offset <= size);
        return;
    }
    (void)tendon_address_format(&parsed, printed);
    FUZZ_CHECK(tendon_address_parse(printed, TENDON_ADDRESS_STRING_SIZE - 1, &again, NULL) == TENDON_OK);
    FUZZ_CHECK(memcmp(parsed.bytes, again.bytes, sizeof(parsed.bytes)) == 0);
}

static void parameters(const char *text, size_t size) {
    tendon_connection_parameters parsed, untouched;
    memset(&parsed, 0xA5, sizeof(parsed));
    memset(&untouched, 0xA5, sizeof(untouched));
    size_t offset = 0;
    if (tendon_connection_parameters_parse(text, size, &parsed, &offset) != TENDON_OK) {
        FUZZ_CHECK(offset <= size);
        FUZZ_CHECK(memcmp(&parsed, &untouched, sizeof(parsed)) == 0);
        return;
    }
    FUZZ_CHECK(tendon_connection_parameters_valid(&parsed));
}

static void scenario(const char *text, size_t size) {
    static tendon_simulated_bose device;
    tendon_scenario_event events[8];
    tendon_scenario_error error;
    FUZZ_CHECK(tendon_simulated_bose_init(&device, NULL) >= 0);
    tendon_scenario_actor actor = tendon_simulated_bose_actor(&device);
    tendon_status count = tendon_scenario_parse(text, size, &actor, events, 8, &error);
    if (count < 0) {
        return;
    }
    tendon_scenario run;
    tendon_scenario_start(&run, events, (size_t)count, 1000);
    uint64_t now = 1000;
    for (int i = 0; i < 64 && now != UINT64_MAX; i++) {
        (void)tendon_scenario_next(&run, now);
        now = tendon_scenario_deadline(&run);
    }
}

/* As the value of each option: it is taken, or nothing changes. */
static void settings(const char *text, size_t size) {
    const tendon_settings_option *option;
    char *value = calloc(size + 1, 1);
    FUZZ_CHECK(value != NULL);
    memcpy(value, text, size);
    for (size_t i = 0; (option = tendon_settings_option_at(i)) != NULL; i++) {
        tendon_device_settings parsed, before;
        tendon_device_settings_init(&parsed);
        before = parsed;
        tendon_status status = tendon_device_settings_set(&parsed, option->name, value);
        FUZZ_CHECK(status == TENDON_OK || status == TENDON_ERROR_INVALID_ARGUMENT);
        FUZZ_CHECK(status == TENDON_OK || memcmp(&parsed, &before, sizeof(parsed)) == 0);
        FUZZ_CHECK(parsed.sensors.count <= TENDON_SETTINGS_LIST && parsed.gestures.count <= TENDON_SETTINGS_LIST);
        FUZZ_CHECK(parsed.feature_count <= TENDON_SETTINGS_FEATURES);
    }
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uuid((const char *)data, size);
    address((const char *)data, size);
    parameters((const char *)data, size);
    scenario((const char *)data, size);
    settings((const char *)data, size);
    return 0;
}
