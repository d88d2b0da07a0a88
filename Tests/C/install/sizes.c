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

int main(void) {
    printf("memory_per_Bose_connection %zu %d\n", sizeof(struct bose_connection), 4096);
    return 0;
}
