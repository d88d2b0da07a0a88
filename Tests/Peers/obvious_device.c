/* SPDX-License-Identifier: MIT */
/*
 * The simulated Obvious device as a filter, for clients in other languages: ATT values behind lines of text. Time is an
 * argument. Each command is answered with lines of output and one last line, ". DEADLINE" (in milliseconds, "-" for
 * none).
 *
 *   C TIME MTU     a central connects, encrypted, notifications enabled   w HEX   a notification of OGP_DATA
 *   S TIME HEX     it writes OGP_DATA                                     s HEX   the value of OGP_STATUS
 *   R TIME         it reads OGP_STATUS                                    x       the device has no connection any more
 *   D TIME         the connection is lost                                 q ...   the state, see print_state()
 *   P TIME         power cut
 *   Q TIME         asks for the state
 *   T TIME         nothing but time
 *
 * Arguments: the public key of key 1 in hex, and "unprovisioned" for a new device.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "tendon/simulate.h"

#define PAGE 256
#define IMAGE_MAX 65536
#define FLASH TENDON_SIMULATED_OBVIOUS_FLASH_SIZE(PAGE, IMAGE_MAX)

static tendon_simulated_obvious device;
static tendon_simulated_flash flash;
static uint8_t memory[FLASH];
static tendon_peripheral_device seam;
static tendon_att_bearer bearer;
static bool connected;
static uint64_t now;

static void print_hex(const char *what, const uint8_t *bytes, size_t length) {
    printf("%s ", what);
    for (size_t i = 0; i < length; i++) {
        printf("%02x", bytes[i]);
    }
    putchar('\n');
}

static size_t read_hex(const char *text, uint8_t *out, size_t capacity) {
    size_t length = 0;
    unsigned byte;
    while (length < capacity && sscanf(text + 2 * length, "%2x", &byte) == 1) {
        out[length++] = (uint8_t)byte;
    }
    return length;
}

/* ---- signatures ---- */

static bool verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length, const uint8_t *data,
                   size_t length, const uint8_t *signature) {
    (void)context;
    static uint8_t message[64 + TENDON_OBVIOUS_PACKAGE_MAX];
    if (domain_length + length > sizeof message) {
        return false;
    }
    memcpy(message, domain, domain_length);
    memcpy(message + domain_length, data, length);
    return crypto_sign_ed25519_verify_detached(signature, message, domain_length + length, key) == 0;
}

static void sha256(void *context, const uint8_t *data, size_t length, uint8_t *out) {
    (void)context;
    crypto_hash_sha256(out, data, length);
}

static tendon_obvious_key key = {.id = 1};
static const tendon_obvious_key_ring ring = {&key, 1, {verify, sha256, NULL}};

/* ---- the connection ---- */

static void disconnect(void) {
    if (connected) {
        connected = false;
        seam.ops->disconnected(seam.context, &bearer, TENDON_RADIO_ERROR_PEER_CLOSED, now);
    }
}

/* What the device sends: notifications of OGP_DATA and responses to reads are printed, other PDUs are not. */
static tendon_status take(void *context, const uint8_t *pdu, size_t length) {
    (void)context;
    if (length >= 3 && pdu[0] == 0x1B && (pdu[1] | pdu[2] << 8) == device.data_handle) {
        print_hex("w", pdu + 3, length - 3);
    } else if (length >= 1 && pdu[0] == 0x0B) {
        print_hex("s", pdu + 1, length - 1);
    }
    return TENDON_OK;
}

static void receive(uint8_t opcode, uint16_t handle, const uint8_t *value, size_t length) {
    uint8_t pdu[TENDON_ATT_MTU_MAX] = {opcode, (uint8_t)(handle & 0xFF), (uint8_t)(handle >> 8)};
    if (connected && length <= sizeof pdu - 3) {
        memcpy(pdu + 3, value, length);
        (void)tendon_att_bearer_receive(&bearer, pdu, length + 3, now);
    }
}

static void connect_central(uint16_t mtu) {
    disconnect();
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){NULL, take}, 517);
    if (seam.ops->connected(seam.context, &bearer, now) < 0) {
        puts("x"); /* it starts, and is not connectable */
        return;
    }
    connected = true;
    seam.ops->paired(seam.context, &bearer, now);
    const uint8_t exchange[3] = {0x02, (uint8_t)(mtu & 0xFF), (uint8_t)(mtu >> 8)};
    (void)tendon_att_bearer_receive(&bearer, exchange, sizeof exchange, now);
    const uint8_t notify[2] = {1, 0};
    receive(0x12, (uint16_t)(device.data_handle + 1), notify, sizeof notify);
}

/* ---- commands ---- */

/* q FIRMWARE CONFIRMED PROVISIONED COUNTER POWER_CUTS ID:ENABLE:TOGGLE... */
static void print_state(void) {
    const tendon_simulated_obvious_slot *slot = &device.boot.slots[device.slot];
    printf("q %" PRIu32 " %d %d %" PRIu64 " %" PRIu64, slot->version, slot->state == 2, device.provisioned,
           device.counter, device.counters.power_cuts);
    for (uint16_t id = 1; id <= 1024; id++) {
        tendon_simulated_obvious_feature feature;
        if (tendon_simulated_obvious_get(&device, id, &feature)) {
            printf(" %d:%d:%d", id, feature.enable, feature.toggle);
        }
    }
    putchar('\n');
}

static bool execute(char command, const char *rest) {
    uint8_t bytes[TENDON_ATT_MTU_MAX] = {0};
    switch (command) {
    case 'C':
        connect_central((uint16_t)strtoul(rest, NULL, 10));
        break;
    case 'S':
        receive(0x52, device.data_handle, bytes, read_hex(rest, bytes, sizeof bytes - 3));
        break;
    case 'R':
        receive(0x0A, device.status_handle, bytes, 0);
        break;
    case 'D':
        disconnect();
        break;
    case 'P':
        tendon_simulated_obvious_power_cut(&device, now);
        break;
    case 'Q':
        print_state();
        break;
    case 'T':
        break;
    default:
        return false;
    }
    return true;
}

static void settle(void) {
    while (seam.ops->deadline(seam.context) <= now) {
        seam.ops->tick(seam.context, now);
    }
    if (connected && bearer.closed) {
        disconnect();
        puts("x");
    }
}

static bool start(int argc, char **argv) {
    static const tendon_simulated_obvious_feature features[] = {{16, 0, 0, 0}, {17, 0, 0, 0}, {20, 0, 0, 0}};
    if (argc < 2 || sodium_init() < 0 || read_hex(argv[1], key.bytes, sizeof key.bytes) != sizeof key.bytes) {
        return false;
    }
    const tendon_simulated_obvious_options options = {
        .flash = &flash,
        .image_max = IMAGE_MAX,
        .keys = &ring,
        .features = features,
        .feature_count = 3,
        .counter = 41,
        .unprovisioned = argc > 2 && strcmp(argv[2], "unprovisioned") == 0,
    };
    if (tendon_simulated_flash_init(&flash, memory, sizeof memory, PAGE) < 0) {
        return false;
    }
    tendon_simulated_flash_blank(&flash);
    if (tendon_simulated_obvious_init(&device, &options) < 0) {
        return false;
    }
    seam = tendon_simulated_obvious_device(&device);
    return true;
}

int main(int argc, char **argv) {
    static char line[4096];
    if (!start(argc, argv)) {
        return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = NULL;
        line[strcspn(line, "\n")] = 0;
        now = strtoull(line + 1, &rest, 10);
        if (!execute(line[0], rest + (*rest == ' '))) {
            return 2;
        }
        settle();
        uint64_t due = seam.ops->deadline(seam.context);
        if (due == UINT64_MAX) {
            puts(". -");
        } else {
            printf(". %" PRIu64 "\n", due);
        }
        fflush(stdout);
    }
    return 0;
}
