/* SPDX-License-Identifier: MIT */
/*
 * Activ5: squeezes and double squeezes from force samples. The only inputs are samples and time; the state table is in
 * docs/protocols/activ5.md.
 */
#ifndef TENDON_DEVICES_ACTIV5_SQUEEZE_H
#define TENDON_DEVICES_ACTIV5_SQUEEZE_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_ACTIV5_PRESSED_NEWTONS 20.0
#define TENDON_ACTIV5_DEPRESSED_NEWTONS 5.0
#define TENDON_ACTIV5_SQUEEZE_RESET_MS 5000u

/** Progress of a double squeeze. */
typedef enum tendon_activ5_press {
    TENDON_ACTIV5_PRESS_INITIAL = 0,
    TENDON_ACTIV5_PRESS_FIRST_PRESSED,
    TENDON_ACTIV5_PRESS_FIRST_COMPLETED,
    TENDON_ACTIV5_PRESS_SECOND_PRESSED,
    TENDON_ACTIV5_PRESS_COUNT
} tendon_activ5_press;

/** "initial", "firstPressed", "firstPressCompleted", "secondPressed". Never NULL. */
const char *tendon_activ5_press_name(tendon_activ5_press press);

/** Effects of a sample or a tick, as bits; they occur in this order. */
enum {
    TENDON_ACTIV5_SQUEEZE_RELEASED = 0x01,  /**< by the reset (release_on_reset): depressed */
    TENDON_ACTIV5_SQUEEZE_SQUEEZED = 0x02,  /**< the squeeze state became squeezed */
    TENDON_ACTIV5_SQUEEZE_DEPRESSED = 0x04, /**< the squeeze state became depressed */
    TENDON_ACTIV5_SQUEEZE_DOUBLE = 0x08,    /**< a double squeeze */
    TENDON_ACTIV5_SQUEEZE_ABOVE = 0x10,     /**< no change: the sample is above the pressed limit */
    TENDON_ACTIV5_SQUEEZE_BELOW = 0x20      /**< no change: the sample ended the first or the second press */
};

/** The limits are exclusive: exactly 20 N is not a press, exactly 5 N is not a release. */
typedef struct tendon_activ5_squeeze_config {
    double pressed, depressed; /**< newtons */
    uint64_t reset_ms;         /**< after the last sample above the pressed limit */
    bool release_on_reset;     /**< addition of Tendon: the reset also ends a squeeze whose release was not received */
} tendon_activ5_squeeze_config;

/** Returns the defaults: 20 N, 5 N, 5000 ms, no release by reset. */
tendon_activ5_squeeze_config tendon_activ5_squeeze_defaults(void);

/** Caller's memory, initialized with zeros. The application may read it. */
typedef struct tendon_activ5_squeeze {
    tendon_activ5_press press;
    bool squeezed;
    bool has_deadline;
    uint64_t deadline; /**< of the reset */
} tendon_activ5_squeeze;

/** Processes a sample; an expired reset first. NaN is ignored. @return TENDON_ACTIV5_SQUEEZE_ bits. */
unsigned tendon_activ5_squeeze_sample(tendon_activ5_squeeze *squeeze, const tendon_activ5_squeeze_config *config,
                                      double newtons, uint64_t now);
/** Processes an expired reset. @return 0 or TENDON_ACTIV5_SQUEEZE_RELEASED. */
unsigned tendon_activ5_squeeze_tick(tendon_activ5_squeeze *squeeze, const tendon_activ5_squeeze_config *config,
                                    uint64_t now);
/** Returns the time of the reset; UINT64_MAX: never. */
uint64_t tendon_activ5_squeeze_deadline(const tendon_activ5_squeeze *squeeze);

#ifdef __cplusplus
}
#endif
#endif
