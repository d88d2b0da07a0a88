/* SPDX-License-Identifier: MIT */
#include "tendon/linux/neighbours.h"
#include "proof.h"

/* One record after any others: the tables are as a run of records can leave them. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_neighbours neighbours;
    tendon_neighbours_init(&neighbours, (uint16_t)Frama_C_interval(0, 0xFFFF));
    neighbours.count = (size_t)Frama_C_interval(0, TENDON_NEIGHBOURS_MAX);
    neighbours.next_socket = (size_t)Frama_C_interval(0, 4 * TENDON_NEIGHBOURS_MAX - 1);
    for (size_t i = 0; i < 4 * TENDON_NEIGHBOURS_MAX; i++) {
        neighbours.sockets[i].cookie = (uint32_t)Frama_C_interval(0, 0x7FFFFFFF);
        neighbours.sockets[i].program = (uint8_t)Frama_C_interval(0, TENDON_NEIGHBOURS_MAX - 1);
        neighbours.sockets[i].open = Frama_C_interval(0, 1) != 0;
    }
    tendon_capture_record record = {.type = (uint8_t)Frama_C_interval(0, 5),
                                    .opcode = (uint16_t)Frama_C_interval(0, 20),
                                    .adapter = (uint16_t)Frama_C_interval(0, 0xFFFF),
                                    .data = input,
                                    .length = length};
    tendon_neighbours_feed(&neighbours, &record);
    return 0;
}
