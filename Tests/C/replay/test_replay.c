/* SPDX-License-Identifier: MIT */
/* Values of captures as lines: what a session keeps for itself, state from value to value, numbers, counters. */
#include "definition/definition_fixture.h"

#include "tendon/replay.h"

#include <math.h>

static tendon_replay replay;
static tendon_replay_numbers numbers;
static tendon_bose_sample sample; /* of Bose, of the latest line that has numbers */
static size_t numbered;
static uint64_t now;
/* The lines of a value, without what all of them begin with: "sample","sensor":...} and a line feed behind each. */
static char told[8192];

static void on_line(void *context, const tendon_replay_line *one) {
    static const char beginning[] = "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"event\":";
    char text[TENDON_LINE_SIZE];
    assert_ptr_equal(context, &replay);
    for (int pass = 0; pass < 2; pass++) { /* as often as there are outputs */
        tendon_line line;
        tendon_line_init(&line, text, sizeof text, false);
        tendon_status length = tendon_replay_write(one, &line, NULL, 0);
        assert_in_range(length, sizeof beginning, sizeof text);
        assert_memory_equal(text, beginning, sizeof beginning - 1);
        assert_memory_equal(text + sizeof beginning, one->event, strlen(one->event));
        if (pass == 0) {
            strncat(told, text + sizeof beginning - 1, (size_t)length - (sizeof beginning - 1));
        }
    }
    numbered += tendon_replay_view(one, &numbers);
    sample = numbers.bose != NULL ? *numbers.bose : (tendon_bose_sample){0};
}

static const char *take_in(const tendon_uuid *service, tendon_uuid characteristic, const char *hex, bool is_written) {
    block bytes = block_hex(hex);
    const tendon_replay_value value = {.characteristic = &characteristic,
                                       .service = service,
                                       .bytes = bytes.data,
                                       .length = bytes.length,
                                       .is_written = is_written,
                                       .now = now};
    told[0] = '\0';
    tendon_replay_take(&replay, &value, on_line, &replay);
    free(bytes.data);
    return told;
}

static const char *take(tendon_uuid characteristic, const char *hex) {
    return take_in(NULL, characteristic, hex, false);
}

static const char *take_write(tendon_uuid characteristic, const char *hex) {
    return take_in(NULL, characteristic, hex, true);
}

static void begin(const char *family, const tendon_definition *definition) {
    tendon_replay_init(&replay, family, definition);
    numbered = 0;
    now = 0;
}

static void assert_counters(uint64_t notifications, uint64_t samples, uint64_t malformed, uint64_t skipped) {
    assert_int_equal(replay.notifications, notifications);
    assert_int_equal(replay.samples, samples);
    assert_int_equal(replay.malformed, malformed);
    assert_int_equal(replay.skipped, skipped);
}

#define TRUNCATED "\"error\":\"ERROR_TRUNCATED\",\"text\":\"the input ends in the middle of a field\""

static void bose_numbers_need_the_ranges(void **state) {
    (void)state;
    const tendon_uuid data = tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA);
    begin("bose", NULL);
    assert_string_equal(take(data, "0003e800000000f00003"),
                        "\"sample\",\"sensor\":\"accelerometer\",\"device_time_ms\":1000,\"acceleration_g\":[0,0,-1],"
                        "\"accuracy\":\"high\",\"profile\":\"fixed\"}\n");
    assert_int_equal(numbered, 1);
    assert_string_equal(numbers.view.sensor, "accelerometer");
    assert_true(numbers.view.values[2] == -1 && numbers.device_time_ms == 1000);
    assert_true(!sample.has_quaternion && sample.has_accuracy && sample.accuracy == 3);
    assert_string_equal(
        take(tendon_bose_uuid(TENDON_BOSE_SENSOR_INFORMATION), "00fff8000880017fff001f07"),
        "\"sensor_information\",\"sensors\":[{\"sensor\":\"accelerometer\",\"minimum\":-8,\"maximum\":8,"
        "\"periods_ms\":[320,160,80,40,20]}]}\n");
    /* the clock goes on */
    assert_string_equal(take(data, "0003ff00000000f00003"),
                        "\"sample\",\"sensor\":\"accelerometer\",\"device_time_ms\":1023,\"acceleration_g\":[0,0,-1],"
                        "\"accuracy\":\"high\"}\n");
    assert_string_equal(take(data, "0003e8"), "\"malformed\"," TRUNCATED ",\"error_offset\":0}\n");
    assert_counters(3, 2, 1, 0);
}

static void a_rotation_has_a_head(void **state) {
    (void)state;
    begin("bose", NULL);
    (void)take(tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA), "0203e84000000000000000"
                                                          "0000");
    assert_int_equal(numbered, 1);
    assert_true(sample.has_quaternion && sample.quaternion.x == 1);
    assert_true(numbers.view.count == 7 && numbers.view.values[0] == 1 && numbers.view.values[4] == 0);
}

static void bose_says_what_was_written_and_when_it_is_suspended(void **state) {
    (void)state;
    const tendon_uuid information = tendon_bose_uuid(TENDON_BOSE_DEVICE_INFORMATION);
    begin("bose", NULL);
    assert_string_equal(take_write(tendon_bose_uuid(TENDON_BOSE_SENSOR_CONFIGURATION), "000000010014"),
                        "\"configure_sensors\",\"enabled\":[\"gyroscope\"],\"period_ms\":20}\n");
    assert_string_equal(take(tendon_bose_uuid(TENDON_BOSE_SENSOR_CONFIGURATION), "000000010000"),
                        "\"sensor_configuration\",\"enabled\":[],\"period_ms\":null}\n");
    assert_string_equal(take_write(tendon_bose_uuid(TENDON_BOSE_GESTURE_CONFIGURATION), "8100c101"),
                        "\"configure_gestures\",\"enabled\":[\"affirmative\"]}\n");
    const char *text = take(information, "0400402c010000000f0007000e08002f040001");
    assert_non_null(strstr(text, "\"device_information\",\"product\":\"Bose Frames\",\"product_id\":16428,"));
    assert_non_null(
        strstr(text, "\"pairing_enabled\":true,\"pairing_required\":false,\"paired\":false,\"suspended\":false}\n"));
    assert_null(strstr(text, "resumed"));
    text = take(information, "0400402c010000000f0007000e08002f041008");
    assert_non_null(strstr(text, "\"suspended\":true}\n\"suspended\",\"reason\":\"voice_assistant\"}\n"));
    assert_null(strstr(take(information, "0400402c010000000f0007000e08002f041008"), "reason"));
    assert_non_null(
        strstr(take(information, "0400402c010000000f0007000e08002f040000"), "\"suspended\":false}\n\"resumed\"}\n"));
    assert_string_equal(take(tendon_bose_uuid(TENDON_BOSE_GESTURE_INFORMATION), "81 01 c1 01"),
                        "\"gesture_information\",\"gestures\":[\"double_tap\",\"affirmative\"]}\n");
    assert_string_equal(take(tendon_bose_uuid(TENDON_BOSE_GESTURE_DATA), "c12710"),
                        "\"gesture\",\"gesture\":\"affirmative\",\"gesture_id\":193,\"device_time_ms\":10000}\n");
}

static void a_trainer_is_squeezed(void **state) {
    (void)state;
    const tendon_uuid force = tendon_uuid_from_u16(tendon_activ5_uuid(TENDON_ACTIV5_FORCE));
    begin("activ5", NULL);
    const char *text = take(force, "ff7f");
    assert_non_null(strstr(text, "\"sample\",\"sensor\":\"force\",\"force_n\":"));
    assert_string_equal(strchr(text, '\n'), "\n\"squeeze\",\"state\":\"squeezed\"}\n"); /* and no more */
    assert_int_equal(numbered, 1);
    assert_true(isnan(numbers.device_time_ms));
    assert_string_equal(strchr(take(force, "0000"), '\n'), "\n\"squeeze\",\"state\":\"released\"}\n");
    assert_string_equal(strchr(take(force, "ff7f"), '\n'), "\n\"squeeze\",\"state\":\"squeezed\"}\n");
    assert_string_equal(strchr(take(force, "0000"), '\n'),
                        "\n\"squeeze\",\"state\":\"released\"}\n\"double_squeeze\"}\n");
    assert_string_equal(take(force, "00"), "\"malformed\",\"error\":\"SHORT\",\"text\":\"the value is too short\"}\n");
    assert_counters(4, 4, 1, 0);
    assert_string_equal(take(tendon_uuid_from_u16(0x2A19), "64"), "\"battery\",\"battery_percent\":100}\n");
    assert_int_equal(numbered, 4);
}

static void texts_of_a_trainer(void **state) {
    (void)state;
    begin("activ5", NULL);
    const tendon_uuid command = tendon_uuid_from_u16(tendon_activ5_uuid(TENDON_ACTIV5_TEXT_COMMAND));
    const tendon_uuid output = tendon_uuid_from_u16(tendon_activ5_uuid(TENDON_ACTIV5_TEXT_OUTPUT));
    assert_string_equal(take_write(command, "4154564754494d4513"), "\"command\",\"command\":\"TVGTIME\"}\n");
    assert_string_equal(take_write(command, "41410a13"), "\"command\",\"command\":\"A\\u000a\"}\n");
    assert_string_equal(take_write(command, "41"), "\"command\",\"command\":\"\"}\n");
    assert_string_equal(take_write(tendon_uuid_from_u16(tendon_activ5_uuid(TENDON_ACTIV5_SAMPLE_RATE)), "6400"),
                        "\"sample_rate\",\"rate_hz\":100}\n");
    /* in two notifications */
    assert_string_equal(take(output, "1254"), "");
    assert_string_equal(take(output, "43356b3b312e30303b30343b4241544f4b13"),
                        "\"message\",\"message\":\"initialMessage\",\"content\":\"TC5k;1.00;04;BATOK\"}\n");
}

static tendon_uuid belt(tendon_feelspace_characteristic which) {
    return tendon_uuid_from_u16((uint16_t)which);
}

static void a_belt(void **state) {
    (void)state;
    begin("feelspace", NULL);
    assert_string_equal(
        take(belt(TENDON_FEELSPACE_ORIENTATION_DATA), "02a6ffd3ff0200faff05000303030300"),
        "\"sample\",\"sensor\":\"orientation\",\"heading_deg\":-90,\"accurate\":true,\"accuracy_deg\":5}\n");
    assert_true(numbered == 1 && numbers.view.values[0] == -90 && numbers.view.values[2] == 5);
    assert_string_equal(take(belt(TENDON_FEELSPACE_ORIENTATION_DATA), "01a6ffd3ff0200faff05000303030300"), "");
    assert_counters(1, 1, 0, 1);
    assert_string_equal(
        take(belt(TENDON_FEELSPACE_BUTTON_PRESS), "0401000203"),
        "\"button\",\"button\":\"home\",\"press\":\"short\",\"previous_mode\":\"compass\",\"mode\":\"app\"}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_PARAMETER_NOTIFICATION), "010102"),
                        "\"mode\",\"mode\":\"compass\"}\n");
    /* a session says it once */
    assert_string_equal(take(belt(TENDON_FEELSPACE_PARAMETER_NOTIFICATION), "010102"),
                        "\"mode\",\"mode\":\"compass\"}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_PARAMETER_NOTIFICATION), "010232"),
                        "\"default_intensity\",\"intensity_percent\":50}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_PARAMETER_NOTIFICATION), "01036701"),
                        "\"heading_offset\",\"offset_deg\":359}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_PARAMETER_NOTIFICATION), "010441"),
                        "\"parameter\",\"parameter\":\"name\",\"bytes\":\"010441\"}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_FIRMWARE_INFO), "3400"), "\"firmware\",\"firmware\":\"52\"}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_FIRMWARE_INFO), "340007"),
                        "\"firmware\",\"firmware\":\"52\",\"variant\":7}\n");
    assert_string_equal(take(belt(TENDON_FEELSPACE_KEEP_ALIVE), "01"),
                        "\"malformed\"," TRUNCATED ",\"bytes\":\"01\"}\n");
    assert_string_equal(take_write(belt(TENDON_FEELSPACE_KEEP_ALIVE), "00"), "");
    assert_string_equal(take_write(belt(TENDON_FEELSPACE_VIBRATION_COMMAND), "30ff"),
                        "\"command\",\"characteristic\":\"fe03\",\"bytes\":\"30ff\"}\n");
}

static void a_grip(void **state) {
    (void)state;
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    begin("fjorden", NULL);
    assert_string_equal(
        take(profile.event, "0002010000"),
        "\"grip\",\"grip_event\":\"shutterButtonDown\",\"count\":1,\"device_time_ms\":1,\"sequence\":0}\n");
    assert_string_equal(take(profile.event, "0002010000"), "");
    assert_int_equal(numbered, 0);
    assert_string_equal(take(profile.state, "010200000100"),
                        "\"control_state\",\"shutter\":\"full\",\"dial_pressed\":false,\"fn_pressed\":false,"
                        "\"lever\":\"neutral\",\"dial_position\":1}\n");
    assert_string_equal(take_write(profile.control, "0201"), "\"command\",\"bytes\":\"0201\"}\n");
    assert_string_equal(take(profile.control, "820100"), "\"response\",\"bytes\":\"820100\"}\n");
    assert_string_equal(take(tendon_uuid_from_u16(0x2A19), "1d"),
                        "\"battery\",\"battery_percent\":29,\"battery_low\":true}\n");
    assert_string_equal(take(tendon_uuid_from_u16(0x2A19), "00"),
                        "\"battery\",\"battery_percent\":0,\"battery_low\":true}\n");
    assert_string_equal(take(profile.event, "00"),
                        "\"malformed\",\"error\":\"LENGTH\",\"text\":\"the value has a wrong length\"}\n");
    assert_counters(2, 1, 1, 1);
}

/* A whole message as one segment. */
static const char *segment(bool is_response, uint8_t sequence, const tendon_obvious_frame *frame,
                           const tendon_obvious_payload *payload) {
    uint8_t whole[64], out[80];
    char hex[2 * sizeof out + 1];
    tendon_status length = tendon_obvious_encode_frame(frame, payload, whole, sizeof whole);
    assert_true(length > 0);
    assert_true(tendon_obvious_encode_segment(whole, (size_t)length, sizeof out, sequence, 0, true, out) > 0);
    for (size_t i = 0; i < (size_t)length + 6; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", out[i]);
    }
    return take_in(NULL, tendon_obvious_gatt_ogp.data, hex, !is_response);
}

static void features_of_a_device(void **state) {
    (void)state;
    uint8_t request[2], response[8];
    tendon_obvious_payload payload;
    tendon_obvious_put_feature((tendon_obvious_feature){.id = 7}, 2, request);
    tendon_obvious_put_feature((tendon_obvious_feature){7, 1, 1}, 4, response);
    tendon_obvious_put_feature((tendon_obvious_feature){8, 0, 2}, 4, response + 4);
    begin("obvious", NULL);
    assert_string_equal(take(tendon_obvious_gatt_ogp.status, "00"),
                        "\"malformed\",\"error\":\"UNSUPPORTED_PROFILE\",\"text\":\"not an OGP/1 device\"}\n");
    assert_string_equal(take(tendon_obvious_gatt_ogp.status, "4f4750010300"),
                        "\"protocol\",\"protocol\":\"OGP/1\",\"flags\":3}\n");
    payload.features.items = request;
    payload.features.count = 1;
    payload.features.item_size = 2;
    tendon_obvious_frame frame = {.opcode = TENDON_OBVIOUS_FEATURE_STATUS, .corr = 3};
    assert_string_equal(segment(false, 1, &frame, &payload),
                        "\"ogp\",\"opcode\":\"FEATURE_STATUS\",\"kind\":\"request\",\"corr\":3,"
                        "\"features\":[{\"feature\":7}]}\n");
    payload.features.items = response;
    payload.features.count = 2;
    payload.features.item_size = 4;
    frame.flags = TENDON_OBVIOUS_RESPONSE;
    /* the message says what the device has sent, the feature what it means */
    static const char both[] =
        "\"ogp\",\"opcode\":\"FEATURE_STATUS\",\"kind\":\"response\",\"corr\":3,\"status\":\"OK\",\"features\":["
        "{\"feature\":7,\"state\":\"enabled\",\"toggle\":\"activated\"},"
        "{\"feature\":8,\"state\":\"disabled\",\"toggle\":\"deactivated\"}]}\n"
        "\"feature\",\"feature\":7,\"state\":\"enabled\",\"toggle\":\"activated\"}\n"
        "\"feature\",\"feature\":8,\"state\":\"disabled\",\"toggle\":\"unsupported\"}\n";
    assert_string_equal(segment(true, 1, &frame, &payload), both);
    assert_string_equal(segment(true, 1, &frame, &payload), "");
    assert_counters(3, 2, 1, 1);
    assert_string_equal(take(tendon_uuid_from_u16(0x2A19), "10"), "\"battery\",\"battery_percent\":16}\n");
    assert_string_equal(take(tendon_uuid_from_u16(0x2A19), ""), "");
    assert_string_equal(tendon_replay_opcode_name(0x83), "EVT_FW_TRIAL");
    assert_null(tendon_replay_opcode_name(0x84));
}

/* Bytes of firmware are counted, not shown. */
static void firmware_of_a_device(void **state) {
    (void)state;
    tendon_obvious_payload payload = {
        .data = {.session = 1, .offset = 512, .data = (const uint8_t *)"abc", .length = 3}};
    tendon_obvious_frame frame = {.opcode = TENDON_OBVIOUS_XFER_DATA, .corr = 4};
    begin("obvious", NULL);
    assert_string_equal(
        segment(false, 1, &frame, &payload),
        "\"ogp\",\"opcode\":\"XFER_DATA\",\"kind\":\"request\",\"corr\":4,\"offset\":512,\"length\":3}\n");
}

static const char *const file =
    "{'name':'toy','title':'Toy','find':{'services':['fff0']},'characteristics':["
    "{'name':'turns','service':'fff0','uuid':'fff1','notify':[{'name':'count','type':'u16'},{'name':'ticks','type':'"
    "u16'},"
    "{'name':'speed','rate':'count','per':'ticks'}],'write':[{'name':'on','type':'u8'}]},"
    "{'name':'other','service':'fff2','uuid':'fff1','notify':[{'name':'level','type':'u8'}]}],"
    "'events':[{'name':'turn','layout':'turns','sample':true},{'name':'height','layout':'other'}]}";

static void a_device_of_a_file(void **state) {
    (void)state;
    const tendon_definition *toy = parsed(file);
    const tendon_uuid uuid = tendon_uuid_from_u16(0xFFF1), other = tendon_uuid_from_u16(0xFFF2);
    begin("toy", toy);
    assert_string_equal(take(uuid, "01000100"), "\"sample\",\"sensor\":\"turn\",\"speed\":null}\n");
    assert_string_equal(take(uuid, "05000300"), "\"sample\",\"sensor\":\"turn\",\"speed\":2}\n");
    assert_true(numbered == 2 && numbers.view.count == 1 && numbers.view.values[0] == 2);
    assert_string_equal(take_in(&other, uuid, "07", false), "\"height\",\"level\":7}\n");
    assert_string_equal(take(uuid, "01"), "\"malformed\",\"characteristic\":\"turns\",\"error\":\"ERROR_TRUNCATED\","
                                          "\"error_offset\":0,\"text\":\"the input ends in the middle of a field\","
                                          "\"bytes\":\"01\"}\n");
    assert_string_equal(take_write(uuid, "01"), "\"command\",\"characteristic\":\"turns\",\"bytes\":\"01\"}\n");
    assert_string_equal(take(tendon_uuid_from_u16(0x2A19), "10"), "");
    assert_counters(4, 3, 1, 0);
    assert_int_equal(numbered, 3);
}

static void whose_a_characteristic_is(void **state) {
    (void)state;
    static const char *const families[] = {"activ5", "bose", "feelspace", "fjorden", "obvious"};
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    const tendon_uuid own[] = {tendon_uuid_from_u16(0x5A01), tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA),
                               belt(TENDON_FEELSPACE_KEEP_ALIVE), profile.event, tendon_obvious_gatt_ogp.status};
    const tendon_uuid level = tendon_uuid_from_u16(0x2A19), serial = tendon_uuid_from_u16(0x2A25);
    for (size_t family = 0; family < 5; family++) {
        for (size_t one = 0; one < 5; one++) {
            assert_int_equal(tendon_replay_recognizes(families[family], NULL, &own[one]), family == one);
        }
        assert_false(tendon_replay_recognizes(families[family], NULL, &level));
        assert_false(tendon_replay_recognizes(families[family], NULL, &serial));
    }
    const tendon_definition *toy = parsed(file);
    const tendon_uuid turns = tendon_uuid_from_u16(0xFFF1);
    assert_true(tendon_replay_recognizes("toy", toy, &turns));
    assert_false(tendon_replay_recognizes("toy", toy, &level));
    assert_false(tendon_replay_recognizes("nobody", NULL, &turns));
    begin("nobody", NULL);
    assert_string_equal(take(level, "10"), "");
}

static void where_a_name_is(void **state) {
    (void)state;
    const tendon_uuid request = belt(TENDON_FEELSPACE_PARAMETER_REQUEST), button = belt(TENDON_FEELSPACE_BUTTON_PRESS);
    const uint8_t name[] = {1, 0x84, 'A', 'n', 'n'}, mode[] = {1, 0x81, 2};
    assert_int_equal(tendon_replay_name("feelspace", &request, name, sizeof name), 2);
    assert_int_equal(tendon_replay_name("feelspace", &request, name, 1), 1);
    assert_int_equal(tendon_replay_name("feelspace", &request, mode, sizeof mode), sizeof mode);
    assert_int_equal(tendon_replay_name("feelspace", &button, name, sizeof name), sizeof name);
    assert_int_equal(tendon_replay_name("bose", &request, name, sizeof name), sizeof name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bose_numbers_need_the_ranges),
        cmocka_unit_test(a_rotation_has_a_head),
        cmocka_unit_test(bose_says_what_was_written_and_when_it_is_suspended),
        cmocka_unit_test(a_trainer_is_squeezed),
        cmocka_unit_test(texts_of_a_trainer),
        cmocka_unit_test(a_belt),
        cmocka_unit_test(a_grip),
        cmocka_unit_test(features_of_a_device),
        cmocka_unit_test(firmware_of_a_device),
        cmocka_unit_test(a_device_of_a_file),
        cmocka_unit_test(whose_a_characteristic_is),
        cmocka_unit_test(where_a_name_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
