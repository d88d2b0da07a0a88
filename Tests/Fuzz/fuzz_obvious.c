/* SPDX-License-Identifier: MIT */
/*
 * Obvious. The first byte selects: frames and payloads, which are encoded again; control segments; texts; signed
 * packages and manifests; a receiver and a sender that get any segments at any time, with memory of exactly its size; a
 * manager whose device and cloud answer anything.
 */
#include "fuzz.h"
#include "tendon/devices/obvious.h"
#include "tendon/host.h"

static struct {
    uint64_t now;
    unsigned depth;
    bool accept;
    tendon_obvious_sender sender;
    tendon_obvious_receiver receiver;
    uint8_t message[600];
} world;

/* ---- decoders ---- */

static void frame(fuzz_block block) {
    tendon_obvious_frame decoded;
    tendon_obvious_payload payload;
    if (tendon_obvious_decode_frame(block.data, block.length, TENDON_OBVIOUS_FRAME_MAX, &decoded) != TENDON_OK) {
        return;
    }
    (void)fuzz_touch(decoded.payload, decoded.payload_length);
    if (tendon_obvious_decode_payload(&decoded, &payload) != TENDON_OK) {
        return;
    }
    uint8_t *again = malloc(block.length);
    FUZZ_CHECK(again != NULL);
    FUZZ_CHECK(tendon_obvious_encode_frame(&decoded, &payload, again, block.length) == (tendon_status)block.length);
    FUZZ_CHECK(memcmp(again, block.data, block.length) == 0);
    free(again);
}

/* A payload without its frame: the CRC would keep most inputs out. */
static void bare_payload(fuzz_input *input) {
    tendon_obvious_frame decoded = {.flags = fuzz_u8(input), .opcode = fuzz_u8(input), .status = fuzz_u8(input)};
    fuzz_block block = fuzz_take(input, input->left);
    tendon_obvious_payload payload;
    decoded.payload = block.data;
    decoded.payload_length = block.length;
    memset(&payload, 0, sizeof payload);
    if (tendon_obvious_decode_payload(&decoded, &payload) == TENDON_OK && decoded.status == 0) {
        uint8_t *again = malloc(block.length + TENDON_OBVIOUS_FRAME_OVERHEAD);
        FUZZ_CHECK(again != NULL);
        tendon_status status =
            tendon_obvious_encode_frame(&decoded, &payload, again, block.length + TENDON_OBVIOUS_FRAME_OVERHEAD);
        FUZZ_CHECK(block.length + TENDON_OBVIOUS_FRAME_OVERHEAD > TENDON_OBVIOUS_FRAME_MAX ||
                   (status == (tendon_status)(block.length + TENDON_OBVIOUS_FRAME_OVERHEAD) &&
                    (block.length == 0 || memcmp(again + TENDON_OBVIOUS_FRAME_HEADER, block.data, block.length) == 0)));
        free(again);
    }
    free(block.data);
}

static void texts(fuzz_block block) {
    tendon_uuid uuid;
    uint32_t code = 0, again = 1;
    uint16_t flags;
    char text[TENDON_OBVIOUS_VERSION_SIZE];
    const char *from = (const char *)block.data;
    (void)tendon_obvious_parse_uuid(from, block.length, &uuid);
    (void)tendon_obvious_decode_profile(block.data, block.length, &flags);
    if (tendon_obvious_parse_version(from, block.length, &code) == TENDON_OK) {
        tendon_status length = tendon_obvious_format_version(code, text);
        FUZZ_CHECK(length >= 5 && tendon_obvious_parse_version(text, (size_t)length, &again) == TENDON_OK);
        FUZZ_CHECK(code == again);
    }
}

static void control(fuzz_block block) {
    tendon_obvious_control decoded;
    uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE];
    if (tendon_obvious_decode_control(block.data, block.length, &decoded) == TENDON_OK) {
        FUZZ_CHECK(decoded.credit <= TENDON_OBVIOUS_CREDIT_MAX && decoded.reason <= TENDON_OBVIOUS_REASON_VERSION);
        tendon_obvious_encode_control(&decoded, out);
        FUZZ_CHECK(memcmp(out, block.data, 3) == 0);
    }
}

/* Half of all signatures are valid. */
static bool verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length, const uint8_t *data,
                   size_t length, const uint8_t *signature) {
    (void)context;
    (void)fuzz_touch(key, TENDON_OBVIOUS_KEY_SIZE);
    (void)fuzz_touch(domain, domain_length);
    (void)fuzz_touch(data, length);
    return fuzz_touch(signature, TENDON_OBVIOUS_SIGNATURE_SIZE) % 2 == 0;
}

static void sha256(void *context, const uint8_t *data, size_t length, uint8_t *out) {
    (void)context;
    memset(out, (int)(fuzz_touch(data, length) & 0xFFu), TENDON_OBVIOUS_SHA256_SIZE);
}

static void signed_object(fuzz_block block) {
    static const tendon_obvious_key key = {.id = 1};
    static const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};
    const tendon_obvious_package_state device = {.product = 1234, .fw = 1003000, .serial = 0x1122334455667788};
    const tendon_obvious_manifest_state running = {.product = 1234, .current = 1003000};
    tendon_obvious_package package;
    tendon_obvious_manifest manifest;
    if (tendon_obvious_verify_package(block.data, block.length, &ring, &device, &package) == TENDON_OK) {
        uint16_t before = 0;
        for (size_t i = 0; i < package.count; i++) {
            tendon_obvious_entry entry = tendon_obvious_package_entry(&package, i);
            FUZZ_CHECK(entry.id > before && entry.id <= TENDON_OBVIOUS_FEATURE_MAX);
            before = entry.id;
        }
    }
    if (tendon_obvious_verify_manifest(block.data, block.length, &ring, &running, &manifest) == TENDON_OK) {
        FUZZ_CHECK(manifest.size >= 1 && manifest.size <= TENDON_OBVIOUS_OBJECT_MAX);
    }
}

/* ---- both directions ---- */

static bool on_message(void *context, const uint8_t *message, size_t length, uint64_t now) {
    (void)context, (void)now;
    FUZZ_CHECK(length >= TENDON_OBVIOUS_FRAME_OVERHEAD && length <= world.receiver.frame_max);
    (void)fuzz_touch(message, length);
    return world.accept;
}

static void on_error(void *context, tendon_status status) {
    (void)context;
    FUZZ_CHECK(status < 0);
}

static void on_control(void *context, const tendon_obvious_control *decoded, uint64_t now) {
    (void)context;
    tendon_obvious_sender_control(&world.sender, decoded, now);
}

static void send_control(void *context, const uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE]) {
    tendon_obvious_control decoded;
    (void)context;
    FUZZ_CHECK(tendon_obvious_decode_control(out, TENDON_OBVIOUS_CONTROL_SIZE, &decoded) == TENDON_OK);
}

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    (void)context;
    FUZZ_CHECK(length >= 4 && length <= TENDON_OBVIOUS_SEGMENT_MAX);
    unsigned sum = fuzz_touch(segment, length);
    return sum % 16 == 0 ? TENDON_ERROR_WOULD_BLOCK : sum % 16 == 1 ? TENDON_ERROR_DISCONNECTED : TENDON_OK;
}

static void on_done(void *context, tendon_status status, uint64_t now) {
    (void)context, (void)now;
    FUZZ_CHECK(status == TENDON_OK || status == TENDON_OBVIOUS_ERROR_LINK_ERROR);
}

static void link_of(fuzz_input *input) {
    static const tendon_obvious_receiver_handler receiver_handler = {on_message, on_error, on_control, send_control};
    static const tendon_obvious_sender_handler sender_handler = {write_segment, on_done};
    size_t capacity = 256 + fuzz_u16(input) % 3841, mtu = 23 + fuzz_u16(input) % 500, window = 1 + fuzz_u8(input) % 32;
    uint8_t *memory = malloc(capacity);
    FUZZ_CHECK(memory != NULL);
    memset(memory, 0, capacity);
    tendon_obvious_receiver_init(&world.receiver, memory, capacity, &receiver_handler, NULL);
    tendon_obvious_receiver_set_mtu(&world.receiver, mtu);
    tendon_obvious_receiver_set_limits(&world.receiver, window, TENDON_OBVIOUS_FRAME_MAX);
    tendon_obvious_sender_init(&world.sender, &sender_handler, NULL);
    tendon_obvious_sender_set_window(&world.sender, window);
    while (input->left > 0) {
        uint8_t choice = fuzz_u8(input);
        world.now += (choice & 7u) == 7 ? 1000u * (choice >> 3) : 1;
        world.accept = (choice & 8u) == 0;
        if ((choice & 7u) == 6) {
            (void)tendon_obvious_sender_start(&world.sender, world.message, 14 + (choice >> 3) * 18u, mtu, world.now);
        } else if ((choice & 7u) == 5) {
            tendon_obvious_sender_writable(&world.sender, world.now);
            tendon_obvious_receiver_set_mtu(&world.receiver, mtu + 16);
        } else if ((choice & 7u) != 7) {
            fuzz_block block = fuzz_block_of(input);
            tendon_obvious_receiver_segment(&world.receiver, block.data, block.length, world.now);
            free(block.data);
        }
        tendon_obvious_control ack;
        if (tendon_obvious_receiver_pending_ack(&world.receiver, &ack)) {
            FUZZ_CHECK(tendon_obvious_receiver_deadline(&world.receiver) != UINT64_MAX);
        }
        tendon_obvious_receiver_tick(&world.receiver, world.now);
        tendon_obvious_sender_tick(&world.sender, world.now);
        FUZZ_CHECK(tendon_obvious_sender_deadline(&world.sender) > world.now);
    }
    free(memory);
}

/* ---- operations ---- */

static struct {
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[2];
    tendon_gatt_subscription subscriptions[2];
    tendon_obvious_feature features[70];
    uint8_t package[600];
    bool connecting, disconnecting;
    unsigned started, done;
} operated;

static tendon_status send_pdu(void *context, const uint8_t *pdu, size_t length) {
    (void)context;
    (void)fuzz_touch(pdu, length);
    return TENDON_OK;
}

static tendon_status link_connect(void *context) {
    (void)context;
    operated.connecting = true;
    return TENDON_OK;
}

static void link_disconnect(void *context) {
    (void)context;
    operated.disconnecting = true;
}

static void on_session_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    (void)context, (void)event, (void)now;
}

static void on_operation(void *context, const tendon_obvious_event *event, uint64_t now) {
    (void)context, (void)now;
    operated.done += event->kind == TENDON_OBVIOUS_EVENT_DONE;
    FUZZ_CHECK(operated.done <= operated.started);
}

static tendon_status read_image(void *context, uint32_t offset, uint8_t *buffer, size_t length) {
    (void)context;
    memset(buffer, (int)(offset & 0xFFu), length);
    return TENDON_OK;
}

/* Connected and open, without the steps before. */
static void link_up(void) {
    const tendon_gatt_client_config config = {.bearer = &operated.bearer,
                                              .requests = operated.requests,
                                              .request_capacity = 2,
                                              .subscriptions = operated.subscriptions,
                                              .subscription_capacity = 2};
    operated.connecting = false;
    tendon_att_bearer_init(&operated.bearer, (tendon_bearer_io){NULL, send_pdu}, 247);
    FUZZ_CHECK(tendon_gatt_client_init(&operated.client, &config) == TENDON_OK);
    tendon_obvious_manager_inputs.connected(&operated.manager, &operated.client, world.now);
    tendon_obvious_session *session = &operated.session;
    tendon_operation_reset(&session->op);
    session->work.step = 0;
    session->state = TENDON_OBVIOUS_SESSION_OPEN;
    session->caps = 0xFF;
    session->found[0] = (tendon_profile_found){.value = 3, .cccd = 4, .properties = TENDON_GATT_WRITE_WITHOUT_RESPONSE};
    const tendon_obvious_session_event opened = {.kind = TENDON_OBVIOUS_SESSION_EVENT_OPENED};
    session->config.on_event(session->config.context, &opened, world.now);
}

static void link_down(void) {
    operated.disconnecting = operated.connecting = false;
    tendon_gatt_client_disconnected(&operated.client, TENDON_ERROR_DISCONNECTED, world.now);
    tendon_obvious_manager_inputs.disconnected(&operated.manager, TENDON_ERROR_DISCONNECTED, world.now);
}

static void settle(void) {
    tendon_obvious_manager_inputs.tick(&operated.manager, world.now);
    if (operated.disconnecting) {
        link_down();
    } else if (operated.connecting) {
        link_up();
    }
}

/* A response to the outstanding request, or an event, with any payload. */
static void respond(fuzz_input *input, uint8_t choice) {
    uint8_t out[256];
    tendon_obvious_requests *requests = &operated.session.requests;
    fuzz_block payload = fuzz_block_of(input);
    bool event = requests->first == NULL;
    uint8_t status = (choice & 0x80) != 0 ? choice & 0x1F : 0;
    tendon_obvious_frame header = {.flags = status != 0 ? 5 : 1, .corr = requests->corr, .status = status};
    header.opcode = event ? (uint8_t)(0x80 + (choice & 3u)) : requests->first->opcode;
    if (event) {
        header.flags = TENDON_OBVIOUS_EVENT;
        header.corr = 0;
        header.status = 0;
    }
    if (payload.length <= 242) {
        memcpy(out + 10, payload.data, payload.length);
        tendon_status length = tendon_obvious_seal_frame(&header, payload.length, out, sizeof out);
        FUZZ_CHECK(length > 0);
        (void)tendon_obvious_requests_message(requests, out, (size_t)length, 256, world.now);
    }
    free(payload.data);
}

static void start_operation(uint8_t choice) {
    unsigned which = (choice >> 3) % 7;
    bool list = which >= 1 && which <= 3;
    for (unsigned i = 0; i < 70; i++) {
        operated.features[i] = (tendon_obvious_feature){(uint16_t)(i + 1), 0, 1};
    }
    operated.started += tendon_obvious_manager_start(&operated.manager, (tendon_obvious_operation)(1u << which),
                                                     list ? operated.features : NULL, list ? (which == 2 ? 1 : 70) : 0,
                                                     world.now) == TENDON_OK;
}

static void operations(fuzz_input *input) {
    static const tendon_obvious_key key = {.id = 1};
    static const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};
    uint8_t *memory = malloc(TENDON_OBVIOUS_SESSION_MEMORY(256));
    FUZZ_CHECK(memory != NULL);
    memset(&operated, 0, sizeof operated);
    const tendon_obvious_session_config config = {.link = {.connect = link_connect, .disconnect = link_disconnect},
                                                  .memory = memory,
                                                  .frame_max = 256,
                                                  .window = 8,
                                                  .on_event = on_session_event};
    FUZZ_CHECK(tendon_obvious_session_init(&operated.session, &config) == TENDON_OK);
    const tendon_obvious_manager_config managed = {.session = &operated.session,
                                                   .ring = &ring,
                                                   .product = 1234,
                                                   .chunk_max = 4000,
                                                   .on_event = on_operation,
                                                   .read = read_image};
    FUZZ_CHECK(tendon_obvious_manager_init(&operated.manager, &managed) == TENDON_OK);
    FUZZ_CHECK(tendon_obvious_session_connect(&operated.session, world.now) == TENDON_OK);
    link_up();
    while (input->left > 0) {
        uint8_t choice = fuzz_u8(input);
        world.now += (choice & 7u) == 7 ? 500u * (choice >> 3) : 1;
        bool open = operated.session.state == TENDON_OBVIOUS_SESSION_OPEN;
        if ((choice & 7u) <= 3 && open) {
            respond(input, choice);
        } else if ((choice & 7u) == 4 && open) {
            fuzz_block block = fuzz_block_of(input);
            tendon_obvious_receiver_segment(&operated.session.receiver, block.data, block.length, world.now);
            free(block.data);
        } else if ((choice & 7u) == 5) {
            start_operation(choice);
        } else if ((choice & 7u) == 6) {
            fuzz_block block = fuzz_block_of(input);
            size_t length = block.length < sizeof operated.package ? block.length : sizeof operated.package;
            tendon_obvious_answer answer = {
                .kind = (tendon_obvious_answer_kind)((choice >> 3) % 5), .data = operated.package, .length = length};
            if (operated.manager.obj == 0 && length > 0) {
                memcpy(operated.package, block.data, length);
            }
            if (length >= 64) { /* an image that is the one of the manifest */
                answer.image_sha256 = operated.package + 32;
                memcpy(&answer.image_crc32, operated.package + 28, 4);
                answer.image_length = operated.package[24] | (unsigned)operated.package[25] << 8;
            }
            (void)tendon_obvious_manager_give(&operated.manager, &answer, world.now);
            free(block.data);
        } else if (choice == 0x0F && operated.session.op.client != NULL) {
            link_down();
        }
        settle();
    }
    tendon_obvious_manager_cancel(&operated.manager, world.now);
    for (int i = 0; i < 400 && operated.done < operated.started; i++) {
        world.now += 20000;
        settle();
    }
    FUZZ_CHECK(operated.done == operated.started);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    uint8_t kind = fuzz_u8(&input);
    memset(&world, 0, sizeof world);
    if (kind % 7 == 0) {
        link_of(&input);
        return 0;
    }
    if (kind % 7 == 1) {
        bare_payload(&input);
        return 0;
    }
    if (kind % 7 == 6) {
        operations(&input);
        return 0;
    }
    fuzz_block block = fuzz_take(&input, input.left);
    if (kind % 7 == 2) {
        frame(block);
    } else if (kind % 7 == 3) {
        control(block);
    } else if (kind % 7 == 5) {
        signed_object(block);
    } else {
        texts(block);
    }
    free(block.data);
    return 0;
}
