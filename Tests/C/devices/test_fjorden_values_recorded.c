/* SPDX-License-Identifier: MIT */
/* Fjorden: recorded runs of all values near those that grips send, of commands, and of version texts. */
#include "test_recording.h"

#include "tendon/devices/fjorden_firmware.h"
#include "tendon/devices/fjorden_stream.h"
#include "tendon/simulate/fjorden_services.h"

enum { RUNS = 12, VALUES = 2500 };

static void note_state(recording *r, const tendon_fjorden_control_state *s) {
    note(r, "shutter %d dial %d %d fn %d lever %d custom %x", s->shutter, s->dial_pressed, s->dial_position,
         s->fn_pressed, s->lever, s->custom_mask);
}

static void note_config(recording *r, const tendon_fjorden_config *c) {
    note(r, "long %d hold %d divider %d", c->long_press_ms, c->lever_hold_ms, c->dial_divider);
}

static void control_state(recording *r) {
    static const char *const values[] = {"01 0205 01 2000", "01 0100 80 ffff", "01 0000 00 0000", "01 0009 0f 0080"};
    tendon_fjorden_control_state s;
    memset(&s, 0, sizeof s);
    block b = changed_value(r, values, 4);
    note(r, "state %d", tendon_fjorden_decode_control_state(b.data, b.length, &s));
    note_state(r, &s);
    free(b.data);
}

static void response(recording *r) {
    static const char *const values[] = {
        "81 01 00 aabb", "82 02 00", "83 03 00 f401 9001 02", "85 04 00 01 0205 01 2000", "84 05 03 01", "86 06 05"};
    tendon_fjorden_response v;
    memset(&v, 0, sizeof v);
    block b = changed_value(r, values, 6);
    tendon_status status = tendon_fjorden_decode_response(b.data, b.length, &v);
    const char *name = tendon_fjorden_response_status_name(v.status);
    note(r, "response %d: %d %d %d %s", status, v.opcode, v.request_id, v.status, name != NULL ? name : "-");
    note_bytes(r, "payload", v.payload, v.payload_length);
    note_config(r, &v.config);
    note_state(r, &v.state);
    free(b.data);
}

static void command(recording *r) {
    static const uint8_t payload[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    tendon_fjorden_command c = {.opcode = (tendon_fjorden_opcode)choose(r, 9), .payload = payload};
    c.request_id = (uint8_t)choose(r, 256);
    c.payload_length = choose(r, 20);
    c.led_mode = (uint8_t)choose(r, 6);
    c.led_duration_ms = (uint16_t)choose(r, 65536);
    c.config.long_press_ms = (uint16_t)(choose(r, 2) == 0 ? 199 + choose(r, 3) : 1999 + choose(r, 3));
    c.config.lever_hold_ms = (uint16_t)(choose(r, 2) == 0 ? 149 + choose(r, 3) : 1999 + choose(r, 3));
    c.config.dial_divider = (uint8_t)choose(r, 10);
    uint8_t out[TENDON_FJORDEN_COMMAND_MAX] = {0};
    const char *fault = tendon_fjorden_command_fault(&c);
    size_t capacity = choose(r, 4) == 0 ? choose(r, sizeof out) : sizeof out;
    note(r, "command %d, %s", tendon_fjorden_encode_command(&c, out, capacity), fault != NULL ? fault : "-");
    note_bytes(r, "bytes", out, sizeof out);
}

static void single_values(recording *r) {
    static const char *const batteries[] = {"00", "1e", "64", "65"};
    static const char *const reports[] = {"e900", "0000", "ff03", "0100"};
    static const char *const frames[] = {"01000002000000 05 bf00", "03000001000005 00 a0",
                                         "02 00 0003 0001 07 00 bf61ff", "00 00 0000 0000 ff 05"};
    tendon_fjorden_smp smp;
    memset(&smp, 0, sizeof smp);
    block b = changed_value(r, batteries, 4);
    note(r, "battery %d", tendon_fjorden_decode_battery(b.data, b.length));
    free(b.data);
    b = changed_value(r, reports, 4);
    note(r, "usage %d", tendon_fjorden_decode_hid_report(b.data, b.length));
    free(b.data);
    b = changed_value(r, frames, 4);
    tendon_status status = tendon_fjorden_decode_smp(b.data, b.length, &smp);
    note(r, "smp %d: %d %d %d %d %d %d %d", status, smp.operation, smp.version, smp.flags, smp.length, smp.group,
         smp.sequence, smp.command);
    note_bytes(r, "cbor", smp.payload, status == TENDON_OK ? smp.length : 0);
    free(b.data);
    uint8_t out[64] = {0};
    unsigned kind = choose(r, 4), sequence = choose(r, 256), length = choose(r, 30);
    size_t capacity = choose(r, 4) == 0 ? choose(r, 40) : sizeof out;
    note(r, "encoded %d",
         tendon_fjorden_encode_smp((tendon_fjorden_smp_request)kind, (uint8_t)sequence,
                                   "what an echo has to contain, of any length", length, out, capacity));
    note_bytes(r, "smp", out, sizeof out);
}

static void stream(recording *r, tendon_fjorden_stream *s, const tendon_fjorden_profile *profile) {
    static const char *const values[] = {"01 0100 01 00", "02 0200 11 03", "03 ffff 31 ff 04 0100 35 00",
                                         "07 0002 02 00", "08 0003 42 00", "fe 8000 03 00"};
    block b = changed_value(r, values, 6);
    if (b.length > 0 && choose(r, 3) != 0) {
        b.data[0] = (uint8_t)(s->last + choose(r, 4));
    }
    tendon_fjorden_records records;
    memset(&records, 0, sizeof records);
    tendon_status status = tendon_fjorden_stream_begin(s, &records, profile, b.data, b.length);
    note(r, "stream %d", status);
    tendon_fjorden_record e;
    memset(&e, 0, sizeof e);
    while (status == TENDON_OK && tendon_fjorden_stream_next(s, &records, &e)) {
        note(r, "record %d %d %x %x %d %d, %d lost, at %u: %d", e.has_sequence, e.sequence, e.code, e.event, e.value,
             e.count, e.lost_before, (unsigned)e.time_ms, e.status);
    }
    free(b.data);
    if (choose(r, 6) == 0) {
        tendon_fjorden_control_state state = {.shutter = (uint8_t)choose(r, 3)};
        uint8_t events[2] = {0, 0};
        state.lever = (int8_t)((int)choose(r, 3) - 1);
        note(r, "resync %u", (unsigned)tendon_fjorden_stream_resync(s, &state, events));
        note_bytes(r, "events", events, sizeof events);
    }
    note(r, "%d %d %d %d %d at %llu; %u %u %u, %u %u", s->started, s->needs_resync, s->last, s->last_shutter,
         s->last_lever, (unsigned long long)s->time_ms, (unsigned)s->lost, (unsigned)s->duplicates,
         (unsigned)s->out_of_order, (unsigned)s->bad_values, (unsigned)s->bad_notifications);
}

/* ---- versions ---- */

/* Of what a version consists of, and of what it does not. The text is followed by other characters. */
static size_t version_text(recording *r, char *text, size_t capacity) {
    static const char *const parts[] = {"1",  "0",  "10",    "65535", "65536", "00012",  "100000", "4096", ".",
                                        ".",  ".",  ".",     "-rc.1", "-rc.9", "-rc.10", "-rc",    "+7",   "+b-2",
                                        "-1", "-2", "-1a.0", "v",     " ",     "_",      "-01",    "-001"};
    static const char *const whole[] = {"1.2.3", "10.20.30", "2.0.65535-alpha", "1.2.3-rc.1+7", "1.2"};
    size_t length = 0;
    memset(text, '9', capacity);
    for (unsigned blanks = choose(r, 4) == 0 ? choose(r, 3) : 0; blanks > 0; blanks--) {
        text[length++] = " \t\r"[choose(r, 3)];
    }
    bool is_whole = choose(r, 2) == 0;
    unsigned count = is_whole ? choose(r, 3) / 2 : choose(r, 8);
    if (is_whole) {
        const char *begin = whole[choose(r, 5)];
        memcpy(text + length, begin, strlen(begin));
        length += strlen(begin);
    }
    for (unsigned i = 0; i < count; i++) {
        const char *part = parts[choose(r, sizeof parts / sizeof parts[0])];
        memcpy(text + length, part, strlen(part));
        length += strlen(part);
    }
    for (unsigned blanks = choose(r, 4) == 0 ? choose(r, 3) : 0; blanks > 0; blanks--) {
        text[length++] = " \n\0"[choose(r, 3)];
    }
    return length;
}

static bool version(recording *r, const char *text, size_t length, tendon_fjorden_version *out) {
    memset(out, 0, sizeof *out);
    bool known = tendon_fjorden_version_parse(text, length, out);
    note(r, "version %d: %d.%d.%d", known, out->major, out->minor, out->patch);
    note_bytes(r, "text", (const uint8_t *)text, length);
    note_bytes(r, "prerelease", (const uint8_t *)out->prerelease, out->prerelease_length);
    note_bytes(r, "build", (const uint8_t *)out->build, out->build_length);
    if (known) {
        char line[64] = "";
        size_t capacity = choose(r, 4) == 0 ? choose(r, 16) : sizeof line;
        note(r, "format %d", tendon_fjorden_version_format(out, line, capacity));
        note(r, "%s", line);
    }
    return known;
}

static void two_versions(recording *r) {
    char first[96], second[96];
    tendon_fjorden_version a, b;
    size_t first_length = version_text(r, first, sizeof first), second_length = version_text(r, second, sizeof second);
    bool known = version(r, first, first_length, &a);
    known = version(r, second, second_length, &b) && known;
    if (known) {
        bool connected = choose(r, 4) != 0;
        note(r, "order %d %d, check %d", tendon_fjorden_version_compare(&a, &b), tendon_fjorden_version_compare(&b, &a),
             tendon_fjorden_firmware_check(connected, &a, &b));
    }
}

static void play(recording *r, unsigned number) {
    tendon_fjorden_profile profile;
    tendon_fjorden_stream s = {0};
    tendon_fjorden_profile_init(&profile);
    note(r, "values %u", number);
    for (int i = 0; i < VALUES; i++) {
        if (i % 250 == 0) {
            s = (tendon_fjorden_stream){0};
        }
        control_state(r);
        response(r);
        command(r);
        single_values(r);
        stream(r, &s, &profile);
        two_versions(r);
    }
}

static void values_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xEA57CD40, 0x438D5942, 0x14BFC113, 0x30BFE322, 0x38E3713C, 0x642B12B1,
        0x71499F2F, 0x0EE204D6, 0x6B185A75, 0x1E4AD09E, 0xEC83838F, 0x931E4FC5,
    };
    compare_recordings(known, RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
