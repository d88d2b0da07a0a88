/* SPDX-License-Identifier: MIT */
/* Records of devices that are no more. Internal to linux. */
#ifndef TENDON_JOURNAL_INTERNAL_H
#define TENDON_JOURNAL_INTERNAL_H

#include "tendon/linux/journal.h"

/**
 * Removes the records of a family but those that @p keeps returns true for.
 * @return their number, or an error as of tendon_journal_clear().
 */
tendon_status tendon_journal_keep(const tendon_journal *journal, const char *family,
                                  bool (*keeps)(void *context, const tendon_address *device), void *context);

#endif
