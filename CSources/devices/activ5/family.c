/* SPDX-License-Identifier: MIT */
#include "tendon/devices/activ5.h"

const tendon_family tendon_activ5_family = {
    .name = "activ5",
    .alias = NULL,
    .title = "Activ5 trainer",
    .brand = "Activ5",
    .summary = "force and motion of Activ5 trainers",
    .recognizes = tendon_activ5_recognize,
    .layer = TENDON_LAYER_ACTIV5,
    .status_name = tendon_activ5_status_name,
    .status_text = tendon_activ5_status_text,
    .session_size = sizeof(tendon_activ5_session),
};
