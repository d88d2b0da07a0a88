/* SPDX-License-Identifier: MIT */
/* SQLite for Swift: a macro that Swift does not import is a function here. */
#ifndef TENDON_CSYSTEMSQLITE_H
#define TENDON_CSYSTEMSQLITE_H

#include <sqlite3.h>

/** As sqlite3_bind_blob(); SQLite copies the bytes. */
static inline int tendon_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(statement, index, length > 0 ? bytes : "", length, SQLITE_TRANSIENT);
}

/** As sqlite3_bind_text(); SQLite copies the text. */
static inline int tendon_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

#endif
