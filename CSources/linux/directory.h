/* SPDX-License-Identifier: MIT */
/* Directory entries without heap memory (opendir() takes some). Internal to room linux. */
#ifndef TENDON_DIRECTORY_INTERNAL_H
#define TENDON_DIRECTORY_INTERNAL_H

#include "tendon/base.h"

/**
 * Calls @p visit for the entries of an open directory, from its start, until it returns false.
 * @param limit entries looked at, at most.
 */
void tendon_directory_each(int fd, size_t limit, bool (*visit)(void *context, const char *name), void *context);

#endif
