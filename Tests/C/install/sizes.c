/* SPDX-License-Identifier: MIT */
/* Prints the memory that one connection takes, beside its budget: name, bytes, budget. */
#include <stdio.h>
#include <tendon/devices.h>
#include <tendon/linux.h>

/* What a gateway keeps for one device at MTU 247, with a table of 64 characteristics. */
struct bose_connection {
    tendon_connection connection;
    tendon_bose_session session;
};

struct obvious_small {
    tendon_connection connection;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(512)];
};
struct obvious_large {
    tendon_connection connection;
    tendon_obvious_session session;
    tendon_obvious_manager manager;
    uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(TENDON_OBVIOUS_FRAME_MAX)];
};

int main(void) {
    printf("memory_per_Bose_connection %zu %d\n", sizeof(struct bose_connection), 4096);
    printf("memory_of_an_Obvious_connection_at_frame_max_512 %zu %d\n", sizeof(struct obvious_small), 5120);
    printf("memory_of_an_Obvious_connection_at_frame_max_4096 %zu %d\n", sizeof(struct obvious_large), 12288);
    return 0;
}
