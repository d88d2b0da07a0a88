/* SPDX-License-Identifier: MIT */
#include "tendon/tools/neighbors.h"
#include "proof.h"

/* One record after any others: the tables are as a run of records can leave them. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_neighbors neighbors;
    tendon_neighbors_init(&neighbors, (uint16_t)Frama_C_interval(0, 0xFFFF));
    neighbors.count = (size_t)Frama_C_interval(0, TENDON_NEIGHBORS_MAX);
    neighbors.next_socket = (size_t)Frama_C_interval(0, 4 * TENDON_NEIGHBORS_MAX - 1);
    for (size_t i = 0; i < 4 * TENDON_NEIGHBORS_MAX; i++) {
        neighbors.sockets[i].cookie = (uint32_t)Frama_C_interval(0, 0x7FFFFFFF);
        neighbors.sockets[i].program = (uint8_t)Frama_C_interval(0, TENDON_NEIGHBORS_MAX - 1);
        neighbors.sockets[i].open = Frama_C_interval(0, 1) != 0;
    }
    tendon_capture_record record = {.type = (uint8_t)Frama_C_interval(0, 5),
                                    .opcode = (uint16_t)Frama_C_interval(0, 20),
                                    .adapter = (uint16_t)Frama_C_interval(0, 0xFFFF),
                                    .data = input,
                                    .length = length};
    tendon_neighbors_feed(&neighbors, &record);
    return 0;
}
