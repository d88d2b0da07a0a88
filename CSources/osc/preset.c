/* SPDX-License-Identifier: MIT */
#include "tendon/osc/preset.h"

#include "text.h"

/* The reasons for the signs: docs/osc.md. */
static const tendon_osc_preset presets[] = {
    {"raw", "every sample of every sensor, /tendon/NAME/SENSOR", NULL, NULL, TENDON_OSC_RAW},
    {"iem", "IEM SceneRotator, quaternion", "/SceneRotator/quaternions", "scene:w,x,y,z", TENDON_OSC_ORIENTATION},
    {"iem-ypr", "IEM SceneRotator, angles", "/SceneRotator/ypr", "scene:-yaw,-pitch,-roll", TENDON_OSC_ORIENTATION},
    {"sparta", "SPARTA AmbiBIN", "/ypr", "-yaw,-pitch,-roll", TENDON_OSC_ORIENTATION},
    {"adm", "ADM-OSC listener", "/adm/lis/ypr", "-yaw,pitch,-roll", TENDON_OSC_ORIENTATION},
    {"virtuoso", "APL Virtuoso", "/Virtuoso/quat", "w,x,y,z", TENDON_OSC_ORIENTATION},
    {"opentrack", "opentrack, UDP over network", NULL, "yaw,pitch,roll", TENDON_OSC_OPENTRACK},
};

const tendon_osc_preset *tendon_osc_preset_at(size_t index) {
    return index < sizeof presets / sizeof presets[0] ? &presets[index] : NULL;
}

const tendon_osc_preset *tendon_osc_preset_named(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (tendon_osc_length_of(presets[i].name) == length && memcmp(presets[i].name, name, length) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}
