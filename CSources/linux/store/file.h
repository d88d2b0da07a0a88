/* SPDX-License-Identifier: MIT */
/* Small files that only their owner can read, replaced as a whole. Internal to linux. */
#ifndef TENDON_FILE_INTERNAL_H
#define TENDON_FILE_INTERNAL_H

#include "tendon/base.h"

#include <sys/stat.h>

/** Longest path of such a file, with its terminator. */
#define TENDON_FILE_PATH_SIZE 384

/** The status of an errno. */
tendon_status tendon_file_status(int number);
/**
 * Reads at most @p capacity bytes. A file that belongs to another user, or that others may access, is not read.
 * @param version set if the file exists
 * @return the number of bytes, TENDON_ERROR_NOT_FOUND, TENDON_ERROR_FILE_PERMISSION or TENDON_SYSTEM_ERROR(errno).
 */
tendon_status tendon_file_read(const char *path, uint8_t *out, size_t capacity, struct stat *version);
/** Locks the file @p path, whose directories and which it creates. @return a descriptor to be closed, or an error. */
tendon_status tendon_file_lock(const char *path);
/**
 * Writes "@p path.new", synchronizes it to the disk and renames it. After an error, or if the process is killed, the
 * file is as it was; for one writer at a time. @param version of the new file; NULL: not required.
 */
tendon_status tendon_file_replace(const char *path, const uint8_t *bytes, size_t length, struct stat *version);
/**
 * Whether tendon_file_replace() has space for these bytes: does what it does up to the renaming, then removes
 * "@p path.new". The file itself is not touched. @return TENDON_OK, or the error.
 */
tendon_status tendon_file_try(const char *path, const uint8_t *bytes, size_t length);
/** Synchronizes the directory of a file to the disk: a new name, or one that was removed. */
void tendon_file_sync_directory(const char *path);

#endif
