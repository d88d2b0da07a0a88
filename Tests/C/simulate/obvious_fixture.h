/* SPDX-License-Identifier: MIT */
/*
 * A simulated Obvious device and gateways that talk to it in simulated time. A gateway is a receiver, a sender and
 * frames that the test writes; no codec of payloads.
 */
#ifndef SIMULATE_OBVIOUS_FIXTURE_H
#define SIMULATE_OBVIOUS_FIXTURE_H

#include "../devices/obvious_signer.h"
#include "test_bytes.h"

#include "tendon/simulate.h"

#define OBVIOUS_PAGE 256
#define OBVIOUS_IMAGE_MAX 4096
#define OBVIOUS_FLASH TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(OBVIOUS_PAGE, OBVIOUS_IMAGE_MAX)
#define OBVIOUS_QUEUE 64

typedef struct gateway {
    tendon_att_bearer bearer;
    bool connected, deaf; /* deaf: what the device sends is lost */
    unsigned lost;        /* one in so many segments, in both directions; 0: none */
    uint16_t corr;
    tendon_obvious_receiver receiver;
    tendon_obvious_sender sender;
    uint8_t memory[TENDON_OBVIOUS_FRAME_MAX], out[TENDON_OBVIOUS_FRAME_MAX];
    bool sent; /* the sender's message was acknowledged, or failed */
    tendon_status outcome;
    uint8_t frame[TENDON_OBVIOUS_FRAME_MAX]; /* the last response */
    size_t length;                           /* 0: none */
    uint8_t event[TENDON_OBVIOUS_FRAME_MAX]; /* the last event */
    size_t event_length;
    unsigned events, responses, naks, battery;
    unsigned errors; /* of segments */
    uint32_t session;
    size_t count;
    struct {
        uint16_t length;
        uint8_t bytes[TENDON_ATT_MTU_MAX];
    } queue[OBVIOUS_QUEUE];
} gateway;

typedef struct obvious_fixture {
    tendon_simulated_obvious device;
    tendon_simulated_flash flash;
    tendon_peripheral_device seam;
    uint32_t wear[OBVIOUS_FLASH / OBVIOUS_PAGE];
    uint8_t memory[OBVIOUS_FLASH];
    gateway gateways[3];
    uint64_t now;
    dice dice;
} obvious_fixture;

extern obvious_fixture o;
extern tendon_obvious_key_ring obvious_ring;
extern unsigned obvious_verified;
/** Key 1 of the stand-in signer. */
extern tendon_obvious_key obvious_key;

/** A new device; @p options may be NULL. Flash memory, keys and three features are set: 16 on, 17 off, 20 without a
 * switch, disabled. */
void obvious_new(const tendon_simulated_obvious_options *options);
/** The same flash memory in a new process. */
void obvious_again(void);
/** Connects, with encryption and notifications. */
void obvious_connect(size_t which, uint16_t mtu);
void obvious_disconnect(size_t which);
/** Both sides work until nothing is due at or before @p until. */
void obvious_run(uint64_t until);
/** A frame of these bytes, as it is. */
void obvious_send_frame(size_t which, const uint8_t *frame, size_t length);
/** Completes a frame. */
size_t obvious_seal(uint8_t *out, uint8_t flags, uint16_t corr, uint8_t opcode, const uint8_t *payload, size_t length);
/** A request; @return its status, -1 if there is no response within 10 s. */
int obvious_ask(size_t which, uint8_t opcode, const void *payload, size_t length);
int obvious_ask_hex(size_t which, uint8_t opcode, const char *payload);
/** The payload of the last response. */
const uint8_t *obvious_payload(size_t which, size_t *length);
void obvious_expect(size_t which, const char *payload);
void obvious_expect_event(size_t which, uint8_t opcode, const char *payload);
/** HELLO with the device's limits. */
void obvious_hello(size_t which);

/** A package of the stand-in signer. @p entries: 8 bytes each. @return its length. */
size_t obvious_package(uint8_t *out, uint8_t kind, uint8_t flags, uint64_t counter, const uint8_t *entries,
                       size_t count);
void obvious_sign(uint8_t *object, size_t length, const char *domain);
/** A manifest for this image. */
void obvious_manifest(uint8_t out[136], uint32_t version, uint32_t epoch, const uint8_t *image, size_t length);
/** XFER_BEGIN; the session is kept. @return the status */
int obvious_begin(size_t which, uint8_t obj, uint8_t flags, const uint8_t *data, size_t length,
                  const uint8_t *manifest);
/** XFER_DATA. */
int obvious_data(size_t which, uint32_t offset, const uint8_t *data, size_t length);
int obvious_end(size_t which);
/** The whole transfer, in chunks; continues where the device says. @return the status of the first failure. */
int obvious_transfer(size_t which, uint8_t obj, const uint8_t *data, size_t length, size_t chunk,
                     const uint8_t *manifest);
uint32_t obvious_u32(const uint8_t *bytes);

#endif
