/* SPDX-License-Identifier: MIT */
/* Inside the Fjorden family only. */
#ifndef FJORDEN_NAMES_H
#define FJORDEN_NAMES_H

#include "tendon/devices/fjorden_profile.h"

/** strlen(): the core has no libc. */
size_t tendon_grip_text_length(const char *text);

/** Index of the name among packed words (base/packed.h), or -1. */
int tendon_grip_word_index(const char *words, size_t count, const char *name, size_t length);

/** Sets what advertisements are recognised by, and nothing else. */
void tendon_grip_profile_identity(tendon_fjorden_profile *profile);

#endif
