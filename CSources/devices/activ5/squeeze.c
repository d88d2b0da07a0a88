/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/activ5_squeeze.h"

const char *tendon_activ5_press_name(tendon_activ5_press press) {
    unsigned number = (unsigned)press < TENDON_ACTIV5_PRESS_COUNT ? press : 0;
    return tendon_packed_string("initial\0firstPressed\0firstPressCompleted\0secondPressed", NULL,
                                TENDON_ACTIV5_PRESS_COUNT, number);
}

tendon_activ5_squeeze_config tendon_activ5_squeeze_defaults(void) {
    return (tendon_activ5_squeeze_config){.pressed = TENDON_ACTIV5_PRESSED_NEWTONS,
                                          .depressed = TENDON_ACTIV5_DEPRESSED_NEWTONS,
                                          .reset_ms = TENDON_ACTIV5_SQUEEZE_RESET_MS};
}

static unsigned pressed(tendon_activ5_squeeze *squeeze, uint64_t reset_ms, uint64_t now) {
    unsigned what = TENDON_ACTIV5_SQUEEZE_ABOVE;
    if (!squeeze->squeezed) {
        squeeze->squeezed = true;
        what |= TENDON_ACTIV5_SQUEEZE_SQUEEZED;
    }
    if (squeeze->press == TENDON_ACTIV5_PRESS_INITIAL) {
        squeeze->press = TENDON_ACTIV5_PRESS_FIRST_PRESSED;
    } else if (squeeze->press == TENDON_ACTIV5_PRESS_FIRST_COMPLETED) {
        squeeze->press = TENDON_ACTIV5_PRESS_SECOND_PRESSED;
    }
    squeeze->has_deadline = true;
    squeeze->deadline = reset_ms < UINT64_MAX - now ? now + reset_ms : UINT64_MAX;
    return what;
}

static unsigned released(tendon_activ5_squeeze *squeeze) {
    bool second = squeeze->press == TENDON_ACTIV5_PRESS_SECOND_PRESSED;
    if (!second && squeeze->press != TENDON_ACTIV5_PRESS_FIRST_PRESSED) {
        return 0;
    }
    unsigned what = TENDON_ACTIV5_SQUEEZE_BELOW;
    if (squeeze->squeezed) {
        squeeze->squeezed = false;
        what |= TENDON_ACTIV5_SQUEEZE_DEPRESSED;
    }
    squeeze->press = TENDON_ACTIV5_PRESS_FIRST_COMPLETED;
    if (second) {
        squeeze->press = TENDON_ACTIV5_PRESS_INITIAL;
        squeeze->has_deadline = false;
        what |= TENDON_ACTIV5_SQUEEZE_DOUBLE;
    }
    return what;
}

unsigned tendon_activ5_squeeze_sample(tendon_activ5_squeeze *squeeze, const tendon_activ5_squeeze_config *config,
                                      double newtons, uint64_t now) {
    unsigned what = tendon_activ5_squeeze_tick(squeeze, config, now);
    if (newtons > config->pressed) {
        what |= pressed(squeeze, config->reset_ms, now);
    } else if (newtons < config->depressed) {
        what |= released(squeeze);
    }
    return what;
}

/* The squeeze state outlives the reset (the vendor's detector does so): a release that comes later is not seen. */
unsigned tendon_activ5_squeeze_tick(tendon_activ5_squeeze *squeeze, const tendon_activ5_squeeze_config *config,
                                    uint64_t now) {
    if (!squeeze->has_deadline || now < squeeze->deadline) {
        return 0;
    }
    squeeze->press = TENDON_ACTIV5_PRESS_INITIAL;
    squeeze->has_deadline = false;
    if (!squeeze->squeezed || !config->release_on_reset) {
        return 0;
    }
    squeeze->squeezed = false;
    return TENDON_ACTIV5_SQUEEZE_RELEASED;
}

uint64_t tendon_activ5_squeeze_deadline(const tendon_activ5_squeeze *squeeze) {
    return squeeze->has_deadline ? squeeze->deadline : UINT64_MAX;
}
