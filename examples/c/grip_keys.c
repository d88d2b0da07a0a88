/* SPDX-License-Identifier: MIT */
/* Keys of the first Fjorden grip in range: five events. Pairs if necessary; the bond is stored
 * in the user's file of bonds. */
#include <stdio.h>
#include <tendon/tendon.h>

static tendon_gateway gateway;
static tendon_fjorden_profile profile;
static tendon_fjorden_session grip;
static int left = 5;

static void fail(const char *what, tendon_status status) {
    fprintf(stderr, "%s: %s\n", what, tendon_family_status_text(status));
    tendon_loop_stop(&gateway.loop);
}

/* The manager's outputs: the result of CONNECT is the only one that matters to a program with one grip. */
static void on_output(const tendon_fjorden_output *output) {
    if (output->kind == TENDON_FJORDEN_OUT_RESULT && output->status < 0) {
        fail("the grip is not connected", output->status);
    } else if (output->kind == TENDON_FJORDEN_OUT_STATE) {
        fprintf(stderr, "%s\n", tendon_fjorden_manager_state_name(output->state));
    }
}

static void on_event(void *context, const tendon_fjorden_session_event *event, uint64_t now) {
    (void)context;
    (void)now;
    switch (event->kind) {
    case TENDON_FJORDEN_SESSION_EVENT_OUTPUT:
        on_output(event->output);
        break;
    case TENDON_FJORDEN_SESSION_EVENT_EVENT:
        if (left > 0) {
            printf("%s, count %u, at %llu ms\n", tendon_fjorden_event_name(event->record->event), event->record->count,
                   (unsigned long long)event->record->time_ms);
            if (--left == 0) {
                tendon_loop_stop(&gateway.loop);
            }
        }
        break;
    default:
        break;
    }
}

/* What the radio knows beyond the session's own words: that a bond could not be stored, for example, and why. */
static void on_peer_failure(void *context, const tendon_address *peer, tendon_status reason, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    fprintf(stderr, "the radio: %s\n", tendon_status_text(reason));
}

/* One call of the manager's interface: configure, start, connect. */
static tendon_status call(tendon_fjorden_input_kind kind, const tendon_fjorden_configuration *configuration) {
    tendon_fjorden_input input = {
        .kind = kind, .ok = true, .configuration = configuration, .grip = {.name = "Fjorden Grip"}};
    tendon_fjorden_identifier(&gateway.connection.peer, input.grip.identifier);
    return tendon_fjorden_session_input(&grip, &input, tendon_monotonic_ms());
}

static tendon_status connect_grip(void) {
    tendon_fjorden_profile_init(&profile);
    tendon_fjorden_session_config config = {
        .link = tendon_connection_session_link(&gateway.connection), .profile = &profile, .on_event = on_event};
    tendon_status status = tendon_fjorden_session_init(&grip, &config);
    if (status < 0) {
        return status;
    }
    tendon_connection_attach(&gateway.connection, &tendon_fjorden_session_inputs, &grip);
    tendon_fjorden_configuration configuration;
    tendon_fjorden_configuration_init(&configuration);
    configuration.auto_reconnect = false;
    status = call(TENDON_FJORDEN_CALL_CONFIGURE, &configuration);
    tendon_fjorden_manager_set_environment(&grip.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
    if (status >= 0) {
        status = call(TENDON_FJORDEN_CALL_START, NULL);
    }
    return status < 0 ? status : call(TENDON_FJORDEN_CALL_CONNECT, NULL);
}

int main(void) {
    tendon_status status = tendon_gateway_open(&gateway, NULL);
    if (status < 0) {
        fprintf(stderr, "no radio (TENDON_RADIO, TENDON_ADAPTER, XDG_RUNTIME_DIR): %s\n", tendon_status_text(status));
        return 3;
    }
    if (gateway.waiting) {
        fprintf(stderr, "waiting for a Bluetooth adapter (%s); TENDON_RADIO=virtual uses simulated devices\n",
                tendon_status_text(gateway.adapter_failure));
    }
    if (gateway.bonds_failure < 0) {
        fprintf(stderr, "no file of bonds: %s\n", tendon_status_text(gateway.bonds_failure));
    }
    status = tendon_gateway_find(&gateway, tendon_fjorden_family.recognizes, 10000);
    if (status < 0) {
        fprintf(stderr, "no grip is found: %s\n", tendon_status_text(status));
        tendon_gateway_close(&gateway);
        return status == TENDON_ERROR_TIMEOUT ? 4 : 3;
    }
    gateway.radio->on_peer_failure = on_peer_failure;
    status = connect_grip();
    if (status >= 0 && tendon_gateway_run(&gateway, 30000) < 0) {
        fprintf(stderr, "no five events of the grip within 30 s\n");
    } else if (status < 0) {
        fail("the grip is not connected", status);
    }
    tendon_fjorden_session_disconnect(&grip, tendon_monotonic_ms());
    tendon_gateway_close(&gateway);
    return left == 0 ? 0 : 1;
}
