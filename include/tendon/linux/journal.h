/* SPDX-License-Identifier: MIT */
/*
 * Journal: one small record for each device, in a file that only its owner can read. It is what an operation needs to
 * continue after the end of its process, for example tendon_obvious_encode_record() of a firmware upgrade. A record is
 * on the disk when the call that stores it returns; if the process is killed at any moment, the file contains the
 * record before or the new one, as a whole.
 *
 * A change blocks the calling thread for two fsync() calls, and for at most 500 ms if another process holds the lock
 * of the directory; then it fails with TENDON_ERROR_BUSY. After an error nothing has changed.
 */
#ifndef TENDON_LINUX_JOURNAL_H
#define TENDON_LINUX_JOURNAL_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_JOURNAL_PATH_SIZE 256
/** Longest record in bytes. */
#define TENDON_JOURNAL_RECORD_MAX 4096
/** Longest name of a family in a file name. */
#define TENDON_JOURNAL_FAMILY_MAX 16

/** Caller's memory. */
typedef struct tendon_journal {
    char directory[TENDON_JOURNAL_PATH_SIZE];
} tendon_journal;

/**
 * Chooses the directory, which is created with the first record.
 * @param directory NULL: $XDG_STATE_HOME/tendon/journal, else $HOME/.local/state/tendon/journal, else
 *   /var/lib/tendon/journal.
 * @return TENDON_OK; TENDON_ERROR_OVERFLOW: the path is too long; TENDON_ERROR_INVALID_ARGUMENT: it is empty.
 */
tendon_status tendon_journal_open(tendon_journal *journal, const char *directory);

/**
 * Replaces the record of a device.
 * @param family lower-case letters and digits, at most TENDON_JOURNAL_FAMILY_MAX
 * @param device address and address type; an identity address is the same as the address without this property
 * @param bytes 1 to TENDON_JOURNAL_RECORD_MAX
 * @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT; TENDON_ERROR_BUSY; TENDON_ERROR_FILE_PERMISSION;
 *   TENDON_SYSTEM_ERROR(errno).
 */
tendon_status tendon_journal_store(const tendon_journal *journal, const char *family, const tendon_address *device,
                                   const uint8_t *bytes, size_t length);
/**
 * Reads the record of a device.
 * @return its length; TENDON_ERROR_NOT_FOUND: none; TENDON_ERROR_BUFFER_TOO_SMALL: longer than @p capacity;
 *   TENDON_ERROR_FILE_PERMISSION: the file belongs to another user, or others may access it: it is not used;
 *   TENDON_ERROR_INVALID_ARGUMENT; TENDON_SYSTEM_ERROR(errno).
 */
tendon_status tendon_journal_load(const tendon_journal *journal, const char *family, const tendon_address *device,
                                  uint8_t *out, size_t capacity);
/** Removes the record of a device. @return TENDON_OK, also if it has none, or an error as of tendon_journal_store(). */
tendon_status tendon_journal_remove(const tendon_journal *journal, const char *family, const tendon_address *device);
/**
 * Removes the records of all devices of a family. @return their number, or an error as of tendon_journal_store(); then
 * some can be removed.
 */
tendon_status tendon_journal_clear(const tendon_journal *journal, const char *family);

/**
 * Takes the record of a device for one user, who may load, store and remove it until tendon_journal_release(): an
 * operation that may run only once for a device, in all programs that use the directory. It ends with the process,
 * too. The functions above do not ask for it.
 * @return the claim, a descriptor; TENDON_ERROR_BUSY: taken, also by this process; or an error as of
 * tendon_journal_store().
 */
tendon_status tendon_journal_claim(const tendon_journal *journal, const char *family, const tendon_address *device);
/** Gives a claim back. close() does not while a forked process still has the descriptor. */
void tendon_journal_release(int claim);

#ifdef __cplusplus
}
#endif
#endif
