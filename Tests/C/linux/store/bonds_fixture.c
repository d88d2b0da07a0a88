/* SPDX-License-Identifier: MIT */
#include "bonds_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tendon_address bonds_own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x00}, TENDON_ADDRESS_TYPE_PUBLIC};

tendon_bond bonds_item(uint8_t number) {
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .type = 2,
                        .key_size = 16,
                        .own = bonds_own,
                        .peer = {{0xC0, 1, 2, 3, 4, number}, TENDON_ADDRESS_TYPE_RANDOM},
                        .diversifier = 0x1234};
    memset(bond.random, number, sizeof bond.random);
    memset(bond.key, 0xA0 + number, sizeof bond.key);
    return bond;
}

void bonds_path_in(const char *directory, char out[128]) {
    snprintf(out, 128, "%s/state/tendon/bonds", directory);
}

int bonds_setup(void **state) {
    char *directory = strdup("/tmp/tendon-bonds-XXXXXX");
    *state = directory;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

int bonds_teardown(void **state) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return system(command);
}
