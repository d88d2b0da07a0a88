/* SPDX-License-Identifier: MIT */
#include "activ5_fixture.h"

const tendon_activ5_characteristic activ5_all[10] = {
    TENDON_ACTIV5_TEXT_OUTPUT, TENDON_ACTIV5_TEXT_COMMAND, TENDON_ACTIV5_FORCE, TENDON_ACTIV5_TIMESTAMP,
    TENDON_ACTIV5_IMU,         TENDON_ACTIV5_UUID1,        TENDON_ACTIV5_UUID2, TENDON_ACTIV5_SAMPLE_RATE,
    TENDON_ACTIV5_BATTERY,     TENDON_ACTIV5_SERIAL_NUMBER};

static const char *const event_names[TENDON_ACTIV5_EVENT_COUNT] = {"searchCompleted",
                                                                   "deviceFound",
                                                                   "didChangeBluetoothState",
                                                                   "bluetoothIsSwitchedOff",
                                                                   "deviceConnected",
                                                                   "didFailToConnect",
                                                                   "deviceDisconnected",
                                                                   "deviceInitialized",
                                                                   "didReceiveMessage",
                                                                   "didReceiveIsometric",
                                                                   "didReceiveIMUData",
                                                                   "didReceiveSerialNumber",
                                                                   "didReceiveBattery",
                                                                   "squeezeStateChanged",
                                                                   "didDetectDoubleSqueeze",
                                                                   "error",
                                                                   "done",
                                                                   "ready"};
static const char *const request_names[] = {"scan_start", "scan_stop",   "connect", "disconnect", "discover",
                                            "subscribe",  "unsubscribe", "read",    "write"};

static void note(activ5_fixture *f, const char *word, uint64_t now) {
    size_t at = strlen(f->words);
    if (at + strlen(word) + 24 >= sizeof f->words) {
        return; /* no test expects that many */
    }
    sprintf(f->words + at, "%s%s", at > 0 ? " " : "", word);
    if (f->timed) {
        sprintf(f->words + strlen(f->words), "@%u", (unsigned)now);
    }
}

static void on_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    activ5_fixture *f = context;
    char word[256];
    const char *name = event_names[event->kind];
    assert_true((event->device == NULL) == (event->kind == TENDON_ACTIV5_EVENT_SEARCH_COMPLETED ||
                                            event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_STATE ||
                                            event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_OFF));
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_DEVICE_FOUND:
        snprintf(word, sizeof word, event->on ? "%s" : "again", name);
        break;
    case TENDON_ACTIV5_EVENT_MESSAGE:
        snprintf(word, sizeof word, "%s:%s", name, tendon_activ5_message_type_name(event->message->type));
        break;
    case TENDON_ACTIV5_EVENT_ISOMETRIC:
        snprintf(word, sizeof word, "%s:%.3f", name, event->message->newtons);
        break;
    case TENDON_ACTIV5_EVENT_SERIAL_NUMBER:
        snprintf(word, sizeof word, "%s:%.*s", name, (int)event->message->text_length,
                 (const char *)event->message->text);
        break;
    case TENDON_ACTIV5_EVENT_BATTERY:
        snprintf(word, sizeof word, "%s:%u", name, event->message->percent);
        break;
    case TENDON_ACTIV5_EVENT_SQUEEZE:
        snprintf(word, sizeof word, "%s", event->on ? "squeezed" : "depressed");
        break;
    case TENDON_ACTIV5_EVENT_BLUETOOTH_STATE:
        snprintf(word, sizeof word, "%s:%s", name, event->on ? "on" : "off");
        break;
    case TENDON_ACTIV5_EVENT_READY:
        snprintf(word, sizeof word, "%s:%s", name, tendon_activ5_status_name(event->status));
        break;
    case TENDON_ACTIV5_EVENT_ERROR:
        snprintf(word, sizeof word, "%s:%s", name, tendon_activ5_status_name(event->status));
        break;
    case TENDON_ACTIV5_EVENT_DONE:
        snprintf(word, sizeof word, "%s:%s:%04X:%s", name, request_names[event->request->kind],
                 tendon_activ5_uuid(event->characteristic), tendon_activ5_status_name(event->status));
        break;
    default:
        snprintf(word, sizeof word, "%s", name);
        break;
    }
    note(f, word, now);
    if (f->hook != NULL) {
        f->hook(f, event, now);
    }
}

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    activ5_fixture *f = context;
    char word[128];
    int length = snprintf(word, sizeof word, "%s", request_names[request->kind]);
    if (request->characteristic != TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN) {
        length +=
            snprintf(word + length, sizeof word - (size_t)length, ":%04X", tendon_activ5_uuid(request->characteristic));
    }
    if (request->kind == TENDON_ACTIV5_REQUEST_WRITE && request->characteristic == TENDON_ACTIV5_TEXT_COMMAND) {
        assert_true(request->length >= 2 && request->value[0] == 'A');
        assert_int_equal(request->value[request->length - 1], f->options.terminator);
        snprintf(word, sizeof word, "write:%.*s", (int)request->length - 2, (const char *)request->value + 1);
    } else if (request->kind == TENDON_ACTIV5_REQUEST_WRITE) {
        assert_int_equal(request->length, 2);
        snprintf(word + length, sizeof word - (size_t)length, ":%02X%02X", request->value[0], request->value[1]);
    }
    note(f, word, now);
    return f->refuse;
}

activ5_fixture *activ5_new(void) {
    activ5_fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->options = tendon_activ5_options_defaults();
    memset(&f->device, 0xA5, sizeof f->device); /* what the memory held before */
    tendon_activ5_device_init(&f->device, &f->options, on_event, f, on_request, f);
    memset(&f->manager, 0xA5, sizeof f->manager); /* what the memory held before */
    tendon_activ5_manager_init(&f->manager, f->devices, ACTIV5_DEVICES, on_event, on_request, f);
    return f;
}

void activ5_expect(activ5_fixture *f, const char *words) {
    if (strcmp(f->words, words) != 0) {
        fail_msg("got      '%s'\nexpected '%s'", f->words, words);
    }
    f->words[0] = 0;
}

void activ5_forget(activ5_fixture *f) {
    f->words[0] = 0;
}

void activ5_reach(activ5_fixture *f, tendon_activ5_device *device, size_t characteristics, uint64_t now) {
    assert_int_equal(tendon_activ5_device_connect(device, now), TENDON_OK);
    tendon_activ5_device_link_up(device, now);
    tendon_activ5_device_discovered(device, characteristics > ACTIV5_LEGACY, activ5_all, characteristics, now);
    assert_int_equal(device->state, TENDON_ACTIV5_STATE_CONNECTED);
    activ5_forget(f);
}

void activ5_value(tendon_activ5_device *device, tendon_activ5_characteristic which, const char *hex, uint64_t now) {
    block b = block_hex(hex);
    tendon_activ5_device_value(device, which, b.data, b.length, now);
    free(b.data);
}

void activ5_say(tendon_activ5_device *device, const char *content, uint64_t now) {
    char framed[160];
    int length = snprintf(framed, sizeof framed, "\x12%s\x13", content);
    block b = block_copy(framed, (size_t)length);
    tendon_activ5_device_value(device, TENDON_ACTIV5_TEXT_OUTPUT, b.data, b.length, now);
    free(b.data);
}

tendon_activ5_device *activ5_found(activ5_fixture *f, const char *name, uint64_t now) {
    block b = block_copy(name, strlen(name));
    tendon_activ5_device *device =
        tendon_activ5_manager_advertised(&f->manager, (const char *)b.data, b.length, NULL, -60, now);
    free(b.data);
    return device;
}
