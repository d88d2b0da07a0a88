/* SPDX-License-Identifier: MIT */
/*
 * The simulated Obvious device, for which a phone, a gateway or an attacker is the peer: PDUs, segments, frames and
 * transfers as the input says, objects with a valid signature among them; connections that are lost, power that is cut,
 * and flash memory that has changed at the next start.
 */
#include "fuzz.h"

#include "../C/simulate/obvious_fixture.h"

enum { INPUTS_MAX = 120 };

/* What fails in the fixture is a crash, not the end of a test. */
__attribute__((constructor)) static void failed_checks_abort(void) {
    (void)setenv("CMOCKA_TEST_ABORT", "1", 1);
}

static const uint8_t *bytes_of(fuzz_block taken) {
    static const uint8_t none[1];
    return taken.data != NULL ? taken.data : none;
}

static void connect_again(size_t which, uint8_t choice) {
    static const uint16_t mtus[] = {23, 64, 247, 517};
    obvious_disconnect(which);
    obvious_run(o.now + 2000);
    if (o.device.running) {
        obvious_connect(which, mtus[choice & 3]);
    }
}

/** A PDU as it is, or a segment in a write. */
static void write_to(gateway *g, fuzz_block taken, bool segment) {
    uint8_t pdu[TENDON_ATT_MTU_MAX] = {0x52, (uint8_t)o.device.data_handle, (uint8_t)(o.device.data_handle >> 8)};
    size_t head = segment ? 3 : 0, length = taken.length < sizeof pdu - head ? taken.length : sizeof pdu - head;
    memcpy(pdu + head, bytes_of(taken), length);
    uint8_t *exact = malloc(head + length);
    FUZZ_CHECK(exact != NULL || head + length == 0);
    memcpy(exact, pdu, head + length);
    tendon_att_bearer_receive(&g->bearer, exact, head + length, o.now);
    free(exact);
}

static void send_frame(size_t which, fuzz_input *input, fuzz_block taken) {
    uint8_t frame[TENDON_OBVIOUS_FRAME_MAX];
    size_t length = taken.length < 600 ? taken.length : 600;
    uint8_t flags = fuzz_u8(input), opcode = fuzz_u8(input);
    length = obvious_seal(frame, flags % 4 == 3 ? flags : 0, ++o.gateways[which].corr, opcode, bytes_of(taken), length);
    obvious_send_frame(which, frame, length);
    obvious_run(o.now + 500);
}

/** An object whose signature is valid. */
static void transfer(size_t which, uint8_t choice, fuzz_block taken) {
    uint8_t object[124 + 8 * 16], manifest[136], image[300] = {0};
    size_t count = taken.length / 8 < 16 ? taken.length / 8 : 16;
    memcpy(image, bytes_of(taken), taken.length < sizeof image ? taken.length : sizeof image);
    switch (choice >> 3 & 3) {
    case 0:
        (void)obvious_transfer(which, 1, object,
                               obvious_package(object, choice & 1, choice & 2, 42, bytes_of(taken), count), 100, NULL);
        break;
    case 1:
        obvious_manifest(manifest, 1004000, choice & 1, image, sizeof image);
        (void)obvious_transfer(which, 2, image, sizeof image, 100, manifest);
        break;
    case 2:
        (void)obvious_begin(which, choice & 3, choice >> 5, bytes_of(taken), taken.length, NULL);
        (void)obvious_data(which, choice & 4 ? 0 : choice, bytes_of(taken), taken.length < 1000 ? taken.length : 1000);
        break;
    default:
        (void)obvious_end(which);
        break;
    }
}

/** The end of a connection, of the power, of the process; what the flash memory has then is not what was written. */
static void ends(size_t which, uint8_t choice, fuzz_input *input) {
    switch (choice >> 3 & 3) {
    case 0:
        connect_again(which, choice);
        break;
    case 1:
        tendon_simulated_obvious_power_cut(&o.device, o.now);
        connect_again(which, choice);
        break;
    case 2:
        tendon_simulated_obvious_reboot(&o.device, choice & 1, o.now);
        connect_again(which, choice);
        break;
    default:
        for (size_t i = 0; i < 3; i++) {
            obvious_disconnect(i);
        }
        for (int changes = choice & 7; changes > 0; changes--) {
            o.memory[fuzz_u16(input) % sizeof o.memory] ^= fuzz_u8(input);
        }
        obvious_again();
        connect_again(which, choice);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    obvious_new(NULL);
    obvious_run(o.now + 2000);
    obvious_connect(0, 247);
    obvious_hello(0);
    for (int i = 0; i < INPUTS_MAX && input.left > 0; i++) {
        uint8_t what = fuzz_u8(&input), choice = fuzz_u8(&input);
        size_t which = choice >> 6 & 1;
        if (what % 6u == 5) {
            ends(which, choice, &input);
            continue;
        }
        fuzz_block taken = fuzz_block_of(&input);
        gateway *g = &o.gateways[which];
        if (g->connected && !g->bearer.closed) {
            switch (what % 6u) {
            case 0:
            case 1:
                write_to(g, taken, what % 6u == 1);
                break;
            case 2:
                send_frame(which, &input, taken);
                break;
            case 3:
                transfer(which, choice, taken);
                break;
            default:
                obvious_run(o.now + 50u * choice);
                break;
            }
        }
        free(taken.data);
    }
    obvious_run(o.now + 60000);
    return 0;
}
