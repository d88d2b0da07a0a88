/* SPDX-License-Identifier: MIT */
/* What a program does with an Obvious session: open, ask a few times who the device is, close. */
#include "soak.h"

#include <string.h>

enum { PAGE = 256, IMAGE_MAX = 256 };

static struct {
    tendon_simulated_flash flash;
    uint8_t memory[TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(PAGE, IMAGE_MAX)];
    uint64_t seed;
} store;

/* ---- the device; no package is sent to it, so that nothing is verified ---- */

static bool verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length, const uint8_t *data,
                   size_t length, const uint8_t *signature) {
    (void)context, (void)key, (void)domain, (void)domain_length, (void)data, (void)length, (void)signature;
    fail();
    return false;
}

static void sha256(void *context, const uint8_t *data, size_t length, uint8_t *out) {
    (void)context, (void)data, (void)length;
    memset(out, 0, TENDON_OBVIOUS_SHA256_SIZE);
}

static tendon_peripheral_device make_device(soak *s) {
    static const tendon_obvious_key key = {.id = 1};
    static const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};
    static const tendon_simulated_obvious_feature features[] = {{16, 1, 1, 0}};
    assert_int_equal(tendon_simulated_flash_init(&store.flash, store.memory, sizeof store.memory, PAGE), TENDON_OK);
    tendon_simulated_flash_blank(&store.flash);
    const tendon_simulated_obvious_options options = {.flash = &store.flash,
                                                      .image_max = IMAGE_MAX,
                                                      .keys = &ring,
                                                      .features = features,
                                                      .feature_count = 1,
                                                      .seed = ++store.seed,
                                                      .boot_ms = 1};
    assert_int_equal(tendon_simulated_obvious_init(&s->device.obvious, &options), TENDON_OK);
    return tendon_simulated_obvious_device(&s->device.obvious);
}

static tendon_simulated_centrals *centrals(soak *s) {
    return &s->device.obvious.centrals;
}

/* ---- the session ---- */

static void on_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    soak *s = context;
    (void)now;
    s->ready = s->ready || event->kind == TENDON_OBVIOUS_SESSION_EVENT_OPENED;
}

static void make(soak *s) {
    const tendon_obvious_session_config config = {.link = soak_link(s),
                                                  .memory = s->session.obvious.memory,
                                                  .frame_max = sizeof s->session.obvious.memory / 2,
                                                  .window = 8,
                                                  .nonce = {1, 2, 3, 4, 5, 6, 7, 8},
                                                  .context = s,
                                                  .on_event = on_event};
    assert_int_equal(tendon_obvious_session_init(&s->session.obvious.session, &config), TENDON_OK);
    soak_attach(s, &s->session.obvious.session);
}

static tendon_status open(soak *s, uint64_t now) {
    return tendon_obvious_session_connect(&s->session.obvious.session, now);
}

static void on_response(void *context, const tendon_obvious_response *response, uint64_t now);

static tendon_status stream(soak *s, uint64_t now) {
    return tendon_obvious_session_request(&s->session.obvious.session, TENDON_OBVIOUS_GET_DEVICE_INFO, NULL,
                                          on_response, s, now);
}

static void on_response(void *context, const tendon_obvious_response *response, uint64_t now) {
    soak *s = context;
    if (response->status != TENDON_OK) {
        return; /* the connection is at its end */
    }
    assert_true(response->payload->device_info.serial == 0x1122334455667788u);
    s->values++;
    if (s->values < SOAK_VALUES) {
        assert_int_equal(stream(s, now), TENDON_OK);
    }
}

static void close_session(soak *s, uint64_t now) {
    tendon_obvious_session_disconnect(&s->session.obvious.session, now);
}

static bool is_closed(const soak *s) {
    return s->session.obvious.session.state == TENDON_OBVIOUS_SESSION_IDLE;
}

static bool accounts(const soak *s, uint64_t count) {
    return count == s->session.obvious.session.counters.segments;
}

const soak_family soak_obvious = {"obvious", &tendon_obvious_session_inputs,
                                  make,      make_device,
                                  centrals,  open,
                                  stream,    close_session,
                                  is_closed, NULL,
                                  accounts,  NULL};
