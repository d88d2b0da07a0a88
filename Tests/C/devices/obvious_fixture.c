/* SPDX-License-Identifier: MIT */
#include "obvious_fixture.h"

#include "tendon/base/crc.h"

static const tendon_address address = {{0xC1, 9, 8, 7, 6, 5}, TENDON_ADDRESS_TYPE_RANDOM};

static obvious_fixture *fixture_of(fixture_device *device) {
    return (obvious_fixture *)(void *)((char *)device - offsetof(obvious_fixture, device));
}

static bool happens(fixture_device *device, unsigned percent) {
    return percent > 0 && (unsigned)(roll(&device->random) >> 20) % 100 < percent;
}

enum { OUT = 0, IN };

static tendon_status pass(fixture_device *device, int way, const uint8_t *segment, size_t length);

static tendon_status release(fixture_device *device, int way) {
    size_t length = device->held_length[way];
    device->held_length[way] = 0;
    return length > 0 ? pass(device, way, device->held[way], length) : TENDON_OK;
}

/* The radio: what is lost, comes twice, or comes after the segment that follows it. */
static tendon_status transmit(fixture_device *device, int way, const uint8_t *segment, size_t length) {
    if (happens(device, device->loss)) {
        return TENDON_OK;
    }
    if (device->held_length[way] == 0 && happens(device, device->reordering)) {
        memcpy(device->held[way], segment, length);
        device->held_length[way] = length;
        device->held_until = device->now + 20;
        return TENDON_OK;
    }
    tendon_status status = pass(device, way, segment, length);
    if (status == TENDON_OK && happens(device, device->duplication)) {
        (void)pass(device, way, segment, length);
    }
    if (status == TENDON_OK) {
        (void)release(device, way);
    }
    return status;
}

/* ---- frames out ---- */

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    fixture_device *device = context;
    return device->bearer == NULL ? TENDON_ERROR_DISCONNECTED : transmit(device, OUT, segment, length);
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)write_segment(context, control, TENDON_OBVIOUS_CONTROL_SIZE);
}

static void send_next(fixture_device *device) {
    if (device->queued > 0 && !device->sender.active) {
        (void)tendon_obvious_sender_start(&device->sender, device->queue[0], device->lengths[0], device->bearer->mtu,
                                          device->now);
    }
}

static void on_sent(void *context, tendon_status status, uint64_t now) {
    fixture_device *device = context;
    (void)status, (void)now;
    device->queued--;
    memmove(device->queue[0], device->queue[1], sizeof device->queue[0] * (FIXTURE_QUEUE - 1));
    memmove(&device->lengths[0], &device->lengths[1], sizeof device->lengths[0] * (FIXTURE_QUEUE - 1));
}

static void put_frame(fixture_device *device, const uint8_t *frame, size_t length) {
    if (device->queued == FIXTURE_QUEUE) { /* a bad radio: the response is lost, the request will be repeated */
        assert_true(device->loss > 0 || fixture_of(device)->devices[0].silent);
        return;
    }
    memcpy(device->queue[device->queued], frame, length);
    device->lengths[device->queued++] = length;
}

static size_t seal(uint8_t *out, uint8_t flags, uint8_t opcode, uint16_t corr, uint8_t status, size_t length) {
    const tendon_obvious_frame frame = {.flags = flags, .opcode = opcode, .corr = corr, .status = status};
    tendon_status sealed = tendon_obvious_seal_frame(&frame, length, out, TENDON_OBVIOUS_FRAME_MAX);
    assert_true(sealed > 0);
    return (size_t)sealed;
}

/* ---- what it answers: payloads written byte by byte ---- */

size_t put_number(uint8_t *out, size_t at, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) {
        out[at + i] = (uint8_t)(value >> 8 * i & 0xFFu);
    }
    return at + width;
}

static uint32_t get(const uint8_t *from, size_t width) {
    uint32_t value = 0;
    for (size_t i = width; i > 0; i--) {
        value = value << 8 | from[i - 1];
    }
    return value;
}

static size_t answer_features(fixture_device *device, const uint8_t *request, size_t item, uint8_t *out) {
    size_t at = put_number(out, 0, request[0], 1);
    for (size_t i = 0; i < request[0]; i++) {
        uint16_t id = (uint16_t)get(request + 1 + i * item, 2);
        tendon_obvious_feature found = {.id = id};
        for (size_t k = 0; k < device->feature_count; k++) {
            if (device->features[k].id == id) {
                device->features[k].toggle = item == 3 ? request[1 + i * item + 2] : device->features[k].toggle;
                found = device->features[k];
            }
        }
        at = put_number(out, at, found.id, 2);
        at = put_number(out, at, found.enable, 1);
        at = put_number(out, at, found.toggle, 1);
    }
    return at;
}

static size_t answer_begin(fixture_device *device, const uint8_t *request, size_t length, uint8_t *out) {
    bool same = device->begin_length == length && memcmp(device->begin + 4, request + 4, 40) == 0 && request[1] == 1;
    memcpy(device->begin, request, length);
    device->begin_length = length;
    device->obj = request[0];
    device->size = get(request + 4, 4);
    device->offset = same ? device->offset : 0;
    device->xfer_state = 1;
    if (!same) {
        device->session += 0x101;
    }
    size_t at = put_number(out, 0, device->session, 4);
    at = put_number(out, at, device->offset, 4);
    at = put_number(out, at, device->chunk_max, 2);
    return put_number(out, at, tendon_crc32(0, device->object, device->offset), 4);
}

/* Length of the payload, or the status in the second place. */
static size_t answer_data(fixture_device *device, const uint8_t *request, size_t length, uint8_t *status,
                          uint8_t *out) {
    if (get(request, 4) != device->session || device->xfer_state == 0) {
        *status = 20;
        return 0;
    }
    if (get(request + 4, 4) != device->offset || device->loops) {
        *status = 16;
        return put_number(out, 0, device->bad_offset != 0 ? device->bad_offset : device->offset, 4);
    }
    assert_true(length - 8 <= device->chunk_max && device->offset + length - 8 <= device->size);
    memcpy(device->object + device->offset, request + 8, length - 8);
    device->offset += (uint32_t)(length - 8);
    return put_number(out, 0, device->offset, 4);
}

static size_t answer_end(fixture_device *device, uint8_t *status, uint8_t *out) {
    if (device->offset != device->size || tendon_crc32(0, device->object, device->size) != get(device->begin + 8, 4)) {
        *status = 18;
        return 0;
    }
    device->xfer_state = 3;
    if (device->obj == TENDON_OBVIOUS_OBJECT_PROVISION) {
        device->flags |= 1;
    } else if (device->obj == TENDON_OBVIOUS_OBJECT_FIRMWARE) {
        device->staged = get(device->begin + 46 + 12, 4);
        device->staged_state = 2;
    }
    if (device->obj != TENDON_OBVIOUS_OBJECT_FIRMWARE) {
        device->counter = get(device->object + 20, 4);
    }
    size_t at = put_number(out, 0, device->obj == TENDON_OBVIOUS_OBJECT_FIRMWARE ? 2 : device->end_result, 1);
    at = put_number(out, at, device->end_flags, 1);
    return put_number(out, at, 0, 2);
}

static size_t answer_info(const fixture_device *device, uint8_t *out) {
    size_t at = put_number(out, 0, device->product, 4);
    at = put_number(out, at, device->serial, 8);
    at = put_number(out, at, device->fw, 4);
    at = put_number(out, at, 1000002, 4);
    at = put_number(out, at, 6001001, 4);
    at = put_number(out, at, 1010000, 4);
    at = put_number(out, at, device->counter, 8);
    at = put_number(out, at, device->flags, 1);
    at = put_number(out, at, device->battery, 1);
    at = put_number(out, at, 2, 1);
    return put_number(out, at, 1, 1);
}

static size_t answer_firmware(const fixture_device *device, uint8_t *out) {
    size_t at = put_number(out, 0, device->active, 4);
    at = put_number(out, at, device->active_state, 1);
    at = put_number(out, at, device->staged, 4);
    at = put_number(out, at, device->staged_state, 1);
    at = put_number(out, at, device->rollback, 4);
    at = put_number(out, at, device->epoch, 4);
    return put_number(out, at, device->active_state == 2 ? 300 : 0, 2);
}

static void reset_later(fixture_device *device) {
    if (device->reboots) {
        device->reset_at = device->now + 100;
    }
}

static size_t answer(fixture_device *device, uint8_t opcode, const uint8_t *request, size_t length, uint8_t *status,
                     uint8_t *out) {
    size_t at;
    switch (opcode) {
    case TENDON_OBVIOUS_HELLO:
        at = put_number(out, 0, device->proto, 1);
        at = put_number(out, at, device->max_frame, 2);
        at = put_number(out, at, device->window, 1);
        at = put_number(out, at, device->caps, 4);
        return put_number(out, at, device->boot_id, 4);
    case TENDON_OBVIOUS_GET_DEVICE_INFO:
        return answer_info(device, out);
    case TENDON_OBVIOUS_PING:
        memcpy(out, request, length);
        return length;
    case TENDON_OBVIOUS_GET_NONCE:
        memset(out, 0xA5, 16);
        return 16;
    case TENDON_OBVIOUS_FEATURE_STATUS:
        return answer_features(device, request, 2, out);
    case TENDON_OBVIOUS_FEATURE_TOGGLE:
        return answer_features(device, request, 3, out);
    case TENDON_OBVIOUS_FEATURE_COUNTER:
        at = put_number(out, 0, device->counter, 8);
        return put_number(out, at, 0, 8);
    case TENDON_OBVIOUS_XFER_BEGIN:
        return answer_begin(device, request, length, out);
    case TENDON_OBVIOUS_XFER_DATA:
        return answer_data(device, request, length, status, out);
    case TENDON_OBVIOUS_XFER_STATUS:
        at = put_number(out, 0, device->obj, 1);
        at = put_number(out, at, device->xfer_state, 1);
        at = put_number(out, at, device->session, 4);
        at = put_number(out, at, device->offset, 4);
        at = put_number(out, at, device->size, 4);
        at = put_number(out, at, 0, 4);
        memcpy(out + at, device->begin + 12, 32);
        return at + 32;
    case TENDON_OBVIOUS_XFER_END:
        return answer_end(device, status, out);
    case TENDON_OBVIOUS_FW_STATE:
        return answer_firmware(device, out);
    case TENDON_OBVIOUS_XFER_ABORT:
        device->xfer_state = 0;
        device->begin_length = 0;
        return 0;
    case TENDON_OBVIOUS_FW_CONFIRM:
        device->active_state = 1;
        return 0;
    case TENDON_OBVIOUS_FW_ACTIVATE:
    case TENDON_OBVIOUS_REBOOT:
        reset_later(device);
        return 0;
    default:
        return 0;
    }
}

static void respond(fixture_device *device, const tendon_obvious_frame *request) {
    uint8_t *out = device->answered, status = device->error[request->opcode];
    size_t length = 0;
    if (status == 0 && device->payload[request->opcode] != NULL) {
        length = device->payload_length[request->opcode];
        memcpy(out + 10, device->payload[request->opcode], length);
    } else if (status == 0) {
        length = answer(device, request->opcode, request->payload, request->payload_length, &status, out + 10);
    }
    if (request->opcode == TENDON_OBVIOUS_XFER_END && device->swallows_end) {
        device->answered_length = 0;
        device->swallowed = request->corr;
        return;
    }
    device->answered_length = seal(out, status != 0 ? 5 : 1, request->opcode, request->corr, status, length);
    device->answered_corr = request->corr;
    put_frame(device, out, device->answered_length);
}

/* ---- frames in ---- */

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    fixture_device *device = context;
    tendon_obvious_frame request;
    tendon_obvious_payload payload;
    (void)now;
    assert_int_equal(tendon_obvious_decode_frame(frame, length, 4096, &request), TENDON_OK);
    assert_int_equal(tendon_obvious_decode_payload(&request, &payload), TENDON_OK);
    if (device->swallowed != 0 && request.corr == device->swallowed) {
        return true;
    }
    if (device->answered_length > 0 && request.corr == device->answered_corr) { /* a repeat is not executed again */
        put_frame(device, device->answered, device->answered_length);
        return true;
    }
    memcpy(device->last, frame, length);
    device->last_length = length;
    if (device->sent_count < FIXTURE_SENT_MAX) {
        device->sent[device->sent_count++] = request.opcode;
    }
    device->times[request.opcode]++;
    if (!device->mute[request.opcode]) {
        respond(device, &request);
    }
    return true;
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    assert_true(status == TENDON_OBVIOUS_ERROR_SEG_DUP || status == TENDON_OBVIOUS_ERROR_SEG_STALE ||
                status == TENDON_OBVIOUS_ERROR_SEG_SUPERSEDED || status == TENDON_OBVIOUS_ERROR_SEG_TIMEOUT);
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    fixture_device *device = context;
    tendon_obvious_sender_control(&device->sender, control, now);
}

static const tendon_obvious_receiver_handler receiver_handler = {on_message, on_error, on_control, send_control};
static const tendon_obvious_sender_handler sender_handler = {write_segment, on_sent};

static tendon_status pass(fixture_device *device, int way, const uint8_t *segment, size_t length) {
    if (way == IN) {
        tendon_obvious_receiver_set_mtu(&device->receiver, device->bearer->mtu);
        tendon_obvious_receiver_segment(&device->receiver, segment, length, device->now);
        return TENDON_OK;
    }
    if ((device->data_properties & TENDON_GATT_NOTIFY) != 0) {
        return tendon_gatt_notify(&device->connection, device->data, segment, length);
    }
    tendon_status status = tendon_gatt_indicate(&device->connection, device->data, segment, length, device->now);
    return status == TENDON_ERROR_BUSY ? TENDON_ERROR_WOULD_BLOCK : status;
}

/* ---- its GATT server ---- */

static tendon_status on_read(void *context, tendon_gatt_connection *connection, uint16_t handle, const uint8_t **value,
                             size_t *length) {
    fixture_device *device = context;
    (void)connection, (void)handle;
    fixture_of(device)->devices[0].silent = device->status_unanswered;
    *value = device->status_value;
    *length = device->status_length;
    return TENDON_OK;
}

static tendon_status on_write(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                              const uint8_t *value, size_t length, bool command, uint64_t now) {
    fixture_device *device = context;
    (void)connection, (void)handle, (void)offset;
    device->now = now;
    *(command ? &device->commands : &device->writes) += 1;
    (void)transmit(device, IN, value, length);
    send_next(device);
    return TENDON_OK;
}

static void on_confirmed(void *context, tendon_gatt_connection *connection, uint16_t handle, tendon_status status,
                         uint64_t now) {
    fixture_device *device = context;
    (void)connection, (void)handle, (void)status;
    tendon_obvious_sender_writable(&device->sender, now);
}

static tendon_status advertisement(const void *context, uint8_t *out, size_t capacity) {
    (void)context, (void)out, (void)capacity;
    return 0;
}

/* Answers the next Write Requests, those to the CCCD, with Write Not Permitted. */
static tendon_status send(void *context, const uint8_t *pdu, size_t length) {
    static const uint8_t error[] = {0x01, 0x12, 0, 0, 0x03};
    fixture_device *device = context;
    bool refuse = pdu[0] == 0x13 && device->refuse_writes > 0;
    device->refuse_writes -= refuse ? 1 : 0;
    return refuse ? device->io.send(device->io.context, error, sizeof error)
                  : device->io.send(device->io.context, pdu, length);
}

static tendon_status connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    fixture_device *device = context;
    const tendon_obvious_gatt gatt = tendon_obvious_gatt_defaults();
    const tendon_gatt_handlers handlers = {device, on_read, on_write, NULL, on_confirmed};
    uint8_t read = TENDON_GATT_PERMIT_READ, write = TENDON_GATT_PERMIT_WRITE;
    read |= device->encrypted && !device->status_open ? TENDON_GATT_READ_ENCRYPTED : 0;
    write |= device->encrypted ? TENDON_GATT_WRITE_ENCRYPTED | TENDON_GATT_READ_ENCRYPTED : 0; /* the CCCD as well */
    device->now = now;
    tendon_gatt_server_init(&device->server, device->attributes, 12, &handlers);
    if (!device->without_service) {
        (void)tendon_gatt_add_service(&device->server, &gatt.service, true);
        device->data =
            (uint16_t)tendon_gatt_add_characteristic(&device->server, &gatt.data, device->data_properties, write);
        if (!device->without_status) {
            device->status =
                (uint16_t)tendon_gatt_add_characteristic(&device->server, &gatt.status, TENDON_GATT_READ, read);
        }
    }
    assert_true(device->server.status >= 0);
    const tendon_gatt_connection_config config = {.bearer = bearer, .cccds = device->cccds, .cccd_capacity = 4};
    assert_int_equal(tendon_gatt_connection_init(&device->connection, &device->server, &config), TENDON_OK);
    device->bearer = bearer;
    device->io = bearer->io;
    bearer->io = (tendon_bearer_io){.context = device, .send = send};
    device->queued = 0;
    device->held_length[IN] = device->held_length[OUT] = 0;
    device->answered_length = 0;
    device->swallowed = 0;
    tendon_obvious_receiver_init(&device->receiver, device->memory, sizeof device->memory, &receiver_handler, device);
    tendon_obvious_sender_init(&device->sender, &sender_handler, device);
    return TENDON_OK;
}

static void disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    fixture_device *device = context;
    (void)bearer;
    tendon_gatt_connection_closed(&device->connection, reason, now);
    device->bearer = NULL;
}

static void paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    fixture_device *device = context;
    (void)bearer, (void)now;
    device->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
}

static void writable(void *context, uint64_t now) {
    fixture_device *device = context;
    tendon_obvious_sender_writable(&device->sender, now);
}

static void tick(void *context, uint64_t now) {
    fixture_device *device = context;
    device->now = now;
    if (device->bearer == NULL) {
        return;
    }
    if (now >= device->reset_at) {
        device->reset_at = UINT64_MAX;
        device->boot_id++;
        if (device->on_reset != NULL) {
            device->on_reset(fixture_of(device));
        }
        tendon_att_bearer_close(device->bearer);
        return;
    }
    if (now >= device->held_until) {
        (void)release(device, IN);
        (void)release(device, OUT);
    }
    tendon_obvious_receiver_tick(&device->receiver, now);
    tendon_obvious_sender_tick(&device->sender, now);
    send_next(device);
}

static uint64_t deadline(const void *context) {
    const fixture_device *device = context;
    if (device->bearer == NULL) {
        return UINT64_MAX;
    }
    uint64_t times[] = {tendon_obvious_receiver_deadline(&device->receiver),
                        tendon_obvious_sender_deadline(&device->sender), device->reset_at};
    uint64_t due = device->queued > 0 && !device->sender.active ? device->now : UINT64_MAX;
    bool held = device->held_length[IN] + device->held_length[OUT] > 0;
    due = held && device->held_until < due ? device->held_until : due;
    for (size_t i = 0; i < 3; i++) {
        due = times[i] < due ? times[i] : due;
    }
    return due;
}

static const tendon_peripheral_ops ops = {.name = "obvious",
                                          .advertisement = advertisement,
                                          .scan_response = advertisement,
                                          .connected = connected,
                                          .disconnected = disconnected,
                                          .paired = paired,
                                          .writable = writable,
                                          .tick = tick,
                                          .deadline = deadline};

/* ---- the session ---- */

static void on_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    static const char *const names[] = {"opened", "unusable", "closed", "device"};
    static const char *const events[] = {"EVT_FEATURE_CHANGED", "EVT_REBOOTING", "EVT_XFER_PROGRESS", "EVT_FW_TRIAL"};
    obvious_fixture *f = context;
    assert_true(event->received_at ==
                (event->kind == TENDON_OBVIOUS_SESSION_EVENT_DEVICE ? now * UINT64_C(1000000) : 0));
    f->last_status = event->status;
    f->last_cause = event->cause;
    f->opened += event->kind == TENDON_OBVIOUS_SESSION_EVENT_OPENED;
    f->unusable += event->kind == TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE;
    f->closed += event->kind == TENDON_OBVIOUS_SESSION_EVENT_CLOSED;
    if (!f->quiet) {
        note("%s:%s ", names[event->kind],
             event->kind == TENDON_OBVIOUS_SESSION_EVENT_DEVICE
                 ? events[event->opcode - TENDON_OBVIOUS_EVT_FEATURE_CHANGED]
                 : tendon_obvious_status_name(event->status));
    }
    if (f->on_session_event != NULL) {
        f->on_session_event(f, event);
    }
}

obvious_fixture *fixture_new_with(uint16_t frame_max, uint8_t window) {
    obvious_fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    trace[0] = '\0';
    f->now = 100000;
    fixture_device *device = &f->device;
    device->data_properties = TENDON_GATT_WRITE_WITHOUT_RESPONSE | TENDON_GATT_NOTIFY;
    memcpy(device->status_value, "OGP\1\0\0", 6);
    device->status_length = 6;
    device->encrypted = true;
    device->proto = 1;
    device->window = 8;
    device->max_frame = 4096;
    device->caps = 0xFF;
    device->boot_id = 0xA1B2C3D4;
    device->product = 1234;
    device->serial = 0x1122334455667788;
    device->fw = device->active = 1003000;
    device->counter = 41;
    device->flags = 1;
    device->battery = 87;
    device->active_state = 1;
    device->staged = device->rollback = 0xFFFFFFFF;
    device->epoch = 3;
    device->session = 0x01020304;
    device->chunk_max = 1024;
    device->reset_at = UINT64_MAX;
    device->random.state = 0x9E3779B97F4A7C15u;
    tendon_memory_radio_init(&f->air, f->devices, 1);
    f->devices[0] = (tendon_memory_radio_device){
        .device = {&ops, device}, .address = address, .rssi = -50, .present = true, .bonded = true};
    f->memory = calloc(1, TENDON_OBVIOUS_SESSION_MEMORY((size_t)frame_max));
    assert_non_null(f->memory);
    const tendon_obvious_session_config config = {.link = tendon_memory_radio_link(&f->air),
                                                  .memory = f->memory,
                                                  .frame_max = frame_max,
                                                  .window = window,
                                                  .nonce = {1, 2, 3, 4, 5, 6, 7, 8},
                                                  .context = f,
                                                  .on_event = on_event};
    assert_int_equal(tendon_obvious_session_init(&f->session, &config), TENDON_OK);
    tendon_memory_radio_attach(&f->air, &tendon_obvious_session_inputs, &f->session);
    tendon_memory_radio_set_target(&f->air, &address);
    return f;
}

obvious_fixture *fixture_new(void) {
    return fixture_new_with(4096, 8);
}

void fixture_free(obvious_fixture *f) {
    free(f->memory);
    free(f);
}

void fixture_run(obvious_fixture *f, uint64_t ms) {
    uint64_t end = f->now + ms;
    for (unsigned steps = 0; tendon_memory_radio_deadline(&f->air) <= end; steps++) {
        assert_true(steps < 1000000);
        uint64_t due = tendon_memory_radio_deadline(&f->air);
        f->now = due > f->now ? due : f->now;
        tendon_memory_radio_tick(&f->air, f->now);
    }
    f->now = end;
}

void fixture_open(obvious_fixture *f) {
    assert_int_equal(tendon_obvious_session_connect(&f->session, f->now), TENDON_OK);
    fixture_run(f, 1000);
    assert_int_equal(f->session.state, TENDON_OBVIOUS_SESSION_OPEN);
    trace[0] = '\0';
}

void fixture_event(obvious_fixture *f, uint8_t opcode, const uint8_t *payload, size_t length) {
    uint8_t out[TENDON_OBVIOUS_FRAME_MAX];
    if (length > 0) {
        memcpy(out + 10, payload, length);
    }
    put_frame(&f->device, out, seal(out, 2, opcode, 0, 0, length));
    f->device.now = f->now;
    fixture_run(f, 5);
}

void fixture_segment(obvious_fixture *f, const uint8_t *segment, size_t length) {
    assert_int_equal(tendon_gatt_notify(&f->device.connection, f->device.data, segment, length), TENDON_OK);
    fixture_run(f, 0);
}

unsigned fixture_times(const obvious_fixture *f, uint8_t opcode) {
    return f->device.times[opcode];
}

void fixture_drop(obvious_fixture *f) {
    tendon_att_bearer_close(f->device.bearer);
    fixture_run(f, 0);
}
