/* SPDX-License-Identifier: MIT */
#include "tendon/devices/toy.h"

const tendon_family tendon_toy_family = {
    .name = "toy",
    .alias = "plaything",
    .title = "Toy",
    .brand = "Toy",
    .summary = "the level of toys",
    .recognizes = tendon_toy_recognize,
    .layer = TENDON_LAYER_TOY,
    .status_name = tendon_toy_status_name,
    .status_text = tendon_toy_status_text,
    .session_size = sizeof(tendon_toy_session),
};
