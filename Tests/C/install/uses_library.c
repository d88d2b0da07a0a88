/* SPDX-License-Identifier: MIT */
/* A program as a user would write it against the installed library: version, status text, an open virtual radio. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tendon/tendon.h>

int main(void) {
    char directory[] = "/tmp/tendon-install-XXXXXX";
    static tendon_loop loop;
    static tendon_virtual_radio radio;
    tendon_address own = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM};

    if (strcmp(tendon_version(), TENDON_VERSION) != 0) {
        fprintf(stderr, "library %s, header %s\n", tendon_version(), TENDON_VERSION);
        return 1;
    }
    if (mkdtemp(directory) == NULL || tendon_loop_init(&loop) < 0) {
        return 1;
    }
    tendon_status status = tendon_virtual_radio_open(&radio, &loop, directory, &own);
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", tendon_status_name(status), tendon_status_text(status));
        return 1;
    }
    tendon_radio_close(&radio.radio);
    tendon_loop_close(&loop);
    return 0;
}
