/* SPDX-License-Identifier: MIT */
/* Directories: entries without heap memory (opendir() takes some), and where state is kept. Internal to linux. */
#ifndef TENDON_DIRECTORY_INTERNAL_H
#define TENDON_DIRECTORY_INTERNAL_H

#include "tendon/base.h"

/**
 * Calls @p visit for the entries of an open directory, from its start, until it returns false.
 * @param limit entries looked at, at most.
 */
void tendon_directory_each(int fd, size_t limit, bool (*visit)(void *context, const char *name), void *context);

/** Reads a small file below the directory @p fd, or AT_FDCWD. @return its length without the last newline, or -1. */
int tendon_directory_read(int fd, const char *path, char *out, size_t capacity);

/** The path of the file @p name in the directory for the state of this user, or of the system. */
tendon_status tendon_directory_state_path(const char *name, char *out, size_t capacity);
/** Creates the directories of the file @p path, each accessible only by its owner. @return 0 or an errno. */
int tendon_directory_make_parents(const char *path);

/**
 * Takes the lock of an open file, for this process alone: waits at most 500 ms, because the loop stands still
 * meanwhile.
 * @return 0, EWOULDBLOCK if another process did not release it in this time, or another errno.
 */
int tendon_directory_lock(int fd);

#endif
