/* SPDX-License-Identifier: MIT */
#include "fjorden_fixture.h"

static void on_event(void *context, const tendon_fjorden_session_event *notice, uint64_t now) {
    fjorden_fixture *f = context;
    const uint64_t of_the_air = now * UINT64_C(1000000); /* the other one: injected */
    assert_true(
        notice->received_at == ARRIVAL_OF(now) || notice->received_at == of_the_air ||
        (notice->received_at == 0 && (notice->kind != TENDON_FJORDEN_SESSION_EVENT_EVENT || notice->synthesized)));
    if (f->uncounted && f->count == FJORDEN_KEPT) {
        return;
    }
    assert_true(f->count < FJORDEN_KEPT);
    fjorden_seen *seen = &f->seen[f->count++];
    *seen = (fjorden_seen){.kind = notice->kind, .status = notice->status, .cause = notice->cause, .at = now};
    seen->synthesized = notice->synthesized;
    seen->level = notice->level;
    seen->characteristic = notice->characteristic;
    if (notice->output != NULL) {
        seen->output = *notice->output;
        if (notice->output->grip != NULL) {
            seen->grip = *notice->output->grip;
        }
    }
    if (notice->record != NULL) {
        seen->record = *notice->record;
    }
    if (notice->response != NULL) {
        seen->response = *notice->response;
        memcpy(seen->payload, notice->response->payload, notice->response->payload_length);
    }
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_TARGET) {
        for (size_t i = 0; i < FJORDEN_GRIPS; i++) {
            char identifier[TENDON_FJORDEN_IDENTIFIER_SIZE];
            tendon_fjorden_identifier(&f->devices[i].address, identifier);
            if (strcmp(identifier, notice->output->grip->identifier) == 0) {
                tendon_memory_radio_set_target(&f->air, &f->devices[i].address);
            }
        }
    }
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_OUTPUT) {
        if (notice->output->kind == TENDON_FJORDEN_OUT_SCAN_START) {
            tendon_memory_radio_scan(&f->air, true);
        } else if (notice->output->kind == TENDON_FJORDEN_OUT_SCAN_STOP) {
            tendon_memory_radio_scan(&f->air, false);
        }
    }
    if (f->hook != NULL) {
        f->hook(f, notice);
    }
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    fjorden_fixture *f = context;
    assert_int_equal(tendon_fjorden_session_on_advertisement(&f->session, report, now), TENDON_OK);
}

static void give(fjorden_fixture *f, const tendon_fjorden_input *input) {
    assert_int_equal(tendon_fjorden_session_input(&f->session, input, f->now), TENDON_OK);
}

static fjorden_fixture *make(const tendon_simulated_fjorden_options *options, bool bonded) {
    static const tendon_address addresses[FJORDEN_GRIPS] = {{{0xC1, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                                            {{0xC2, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM}};
    fjorden_fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->now = 100000;
    tendon_fjorden_profile_init(&f->profile);
    memset(&f->air, 0xA5, sizeof f->air); /* what the memory held before */
    tendon_memory_radio_init(&f->air, f->devices, FJORDEN_GRIPS);
    for (size_t i = 0; i < FJORDEN_GRIPS; i++) {
        assert_int_equal(tendon_simulated_fjorden_init(&f->grips[i], options), TENDON_OK);
        f->devices[i] = (tendon_memory_radio_device){.device = tendon_simulated_fjorden_device(&f->grips[i]),
                                                     .address = addresses[i],
                                                     .rssi = -50,
                                                     .present = i == 0};
    }
    const tendon_fjorden_session_config config = {.link = tendon_memory_radio_link(&f->air),
                                                  .profile = &f->profile,
                                                  .grips = f->list,
                                                  .grip_capacity = 4,
                                                  .context = f,
                                                  .on_event = on_event};
    memset(&f->session, 0xA5, sizeof f->session); /* what the memory held before */
    assert_int_equal(tendon_fjorden_session_init(&f->session, &config), TENDON_OK);
    tendon_memory_radio_attach(&f->air, &tendon_fjorden_session_inputs, &f->session);
    f->air.report_context = f;
    f->air.on_report = on_report;
    tendon_fjorden_manager_set_environment(&f->session.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
    tendon_fjorden_configuration_init(&f->configuration);
    if (bonded) {
        f->configuration.has_bond = true;
        tendon_fjorden_identifier(&addresses[0], f->configuration.bond.identifier);
        memcpy(f->configuration.bond.name, "Fjorden Grip", 13);
        f->devices[0].bonded = true;
        f->grips[0].bonded = true;
    }
    give(f, &(tendon_fjorden_input){.kind = TENDON_FJORDEN_CALL_CONFIGURE, .configuration = &f->configuration});
    fjorden_forget(f);
    return f;
}

fjorden_fixture *fjorden_new(const tendon_simulated_fjorden_options *options) {
    return make(options, false);
}

fjorden_fixture *fjorden_new_bonded(const tendon_simulated_fjorden_options *options) {
    return make(options, true);
}

tendon_status fjorden_call(fjorden_fixture *f, tendon_fjorden_input_kind kind) {
    return tendon_fjorden_session_input(&f->session, &(tendon_fjorden_input){.kind = kind, .ok = true}, f->now);
}

tendon_status fjorden_connect(fjorden_fixture *f, size_t grip) {
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_CALL_CONNECT};
    tendon_fjorden_identifier(&f->devices[grip].address, input.grip.identifier);
    memcpy(input.grip.name, "Fjorden Grip", 13);
    return tendon_fjorden_session_input(&f->session, &input, f->now);
}

void fjorden_run(fjorden_fixture *f, uint64_t ms) {
    uint64_t end = f->now + ms;
    for (int steps = 0; tendon_memory_radio_deadline(&f->air) <= end; steps++) {
        assert_true(steps < 100000);
        uint64_t due = tendon_memory_radio_deadline(&f->air);
        f->now = due > f->now ? due : f->now;
        tendon_memory_radio_tick(&f->air, f->now);
    }
    f->now = end;
}

void fjorden_reach_connected(fjorden_fixture *f) {
    assert_int_equal(fjorden_call(f, TENDON_FJORDEN_CALL_START), TENDON_OK);
    if (!f->session.manager.configuration.has_bond) {
        assert_int_equal(fjorden_connect(f, 0), TENDON_OK);
    }
    fjorden_run(f, 1000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    fjorden_forget(f);
}

void fjorden_forget(fjorden_fixture *f) {
    f->count = 0;
}

void fjorden_inject(fjorden_fixture *f, const char *hex) {
    block pdu = block_hex(hex);
    (void)tendon_att_bearer_receive_at(&f->air.ours, pdu.data, pdu.length, f->now, ARRIVAL_OF(f->now));
    free(pdu.data);
}

void fjorden_tell(fjorden_fixture *f, uint8_t opcode, uint16_t handle, const char *hex) {
    char text[600];
    snprintf(text, sizeof text, "%02x %02x %02x %s", opcode, (unsigned)handle & 0xFF, (unsigned)handle >> 8, hex);
    fjorden_inject(f, text);
}

size_t fjorden_told(const fjorden_fixture *f, tendon_fjorden_session_event_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++) {
        count += f->seen[i].kind == kind;
    }
    return count;
}

const fjorden_seen *fjorden_last(const fjorden_fixture *f, tendon_fjorden_session_event_kind kind) {
    for (size_t i = f->count; i > 0; i--) {
        if (f->seen[i - 1].kind == kind) {
            return &f->seen[i - 1];
        }
    }
    fail_msg("no notice of kind %d", (int)kind);
    return NULL;
}

void fjorden_assert_outputs(const fjorden_fixture *f, const char *words) {
    static const char *const names[] = {"state", "result",   "ask",        "scan_start", "scan_stop",
                                        "grips", "connect",  "disconnect", "services",   "characteristics",
                                        "pair",  "firmware", "notify",     "store",      "remove"};
    char text[4096] = "";
    for (size_t i = 0; i < f->count; i++) {
        const tendon_fjorden_output *output = &f->seen[i].output;
        if (f->seen[i].kind != TENDON_FJORDEN_SESSION_EVENT_OUTPUT) {
            continue;
        }
        size_t used = strlen(text);
        const char *blank = used > 0 ? " " : "";
        if (output->kind == TENDON_FJORDEN_OUT_STATE) {
            snprintf(text + used, sizeof text - used, "%s:%s", blank, tendon_fjorden_manager_state_name(output->state));
        } else if (output->kind == TENDON_FJORDEN_OUT_RESULT) {
            snprintf(text + used, sizeof text - used, "%s=%s", blank,
                     output->status < 0    ? tendon_fjorden_status_name(output->status)
                     : output->gives_state ? tendon_fjorden_manager_state_name(output->state)
                                           : "ok");
        } else {
            snprintf(text + used, sizeof text - used, "%s%s", blank, names[output->kind]);
        }
    }
    assert_string_equal(text, words);
}

void fjorden_assert_events(const fjorden_fixture *f, const char *codes) {
    char text[4096] = "";
    for (size_t i = 0; i < f->count; i++) {
        if (f->seen[i].kind == TENDON_FJORDEN_SESSION_EVENT_EVENT) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%02x%s", used > 0 ? " " : "", f->seen[i].record.event,
                     f->seen[i].synthesized ? "*" : "");
        }
    }
    assert_string_equal(text, codes);
}

void fjorden_assert_result(const fjorden_fixture *f, tendon_fjorden_input_kind call, tendon_status status) {
    for (size_t i = f->count; i > 0; i--) {
        const fjorden_seen *seen = &f->seen[i - 1];
        if (seen->kind == TENDON_FJORDEN_SESSION_EVENT_OUTPUT && seen->output.kind == TENDON_FJORDEN_OUT_RESULT &&
            seen->output.call == call) {
            assert_string_equal(tendon_fjorden_status_name(seen->output.status), tendon_fjorden_status_name(status));
            return;
        }
    }
    fail_msg("call %d has no result", (int)call);
}
