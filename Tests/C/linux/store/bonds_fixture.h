/* SPDX-License-Identifier: MIT */
/* Bonds by number, and a folder of its own for each test. */
#ifndef BONDS_FIXTURE_H
#define BONDS_FIXTURE_H

#include "tendon/linux.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

extern const tendon_address bonds_own;

/** A bond with the key, random number and peer of @p number. */
tendon_bond bonds_item(uint8_t number);
/** The file in @p directory. */
void bonds_path_in(const char *directory, char out[128]);

/** The state is the path of a new folder; teardown removes it with its files. */
int bonds_setup(void **state);
int bonds_teardown(void **state);

#endif
