/* SPDX-License-Identifier: MIT */
#include "manager_parts.h"
#include "tendon/base/packed.h"

const char *tendon_fjorden_manager_state_name(tendon_fjorden_manager_state state) {
    static const char words[] = "uninitialized\0ready\0scanningForGrips\0scanningForBondedGrip\0connecting\0connected\0"
                                "unauthorized\0bluetoothUnavailable";
    unsigned index = (unsigned)state < TENDON_FJORDEN_STATE_COUNT ? state : 0;
    return tendon_packed_string(words, NULL, TENDON_FJORDEN_STATE_COUNT, index);
}

void tendon_fjorden_manager_init(tendon_fjorden_manager *manager, tendon_fjorden_manager_handler handler,
                                 void *context) {
    memset(manager, 0, sizeof *manager);
    manager->handler = handler;
    manager->context = context;
    manager->powered = true;
}

void tendon_fjorden_manager_set_table(tendon_fjorden_manager *manager, tendon_fjorden_grip *grips, size_t capacity) {
    manager->grips = grips;
    manager->grip_capacity = grips != NULL ? capacity : 0;
    manager->grip_count = 0;
}

uint64_t tendon_fjorden_manager_deadline(const tendon_fjorden_manager *manager) {
    return manager->has_deadline ? manager->deadline : UINT64_MAX;
}

void tendon_fjorden_manager_set_environment(tendon_fjorden_manager *manager, tendon_fjorden_authorization authorization,
                                            bool powered) {
    manager->authorization = authorization;
    manager->powered = powered;
}

void tendon_fjorden_manager_input(tendon_fjorden_manager *manager, uint64_t now, const tendon_fjorden_input *input) {
    /* One deadline at most is running, and expiring never sets one. */
    if (manager->has_deadline && now >= manager->deadline) {
        manager->now = manager->deadline; /* even if it is reported late */
        tendon_grip_expire(manager);
    }
    manager->now = now;
    if (input->kind <= TENDON_FJORDEN_CALL_FORGET) {
        tendon_grip_call(manager, input);
    } else {
        tendon_grip_event(manager, input);
    }
}
