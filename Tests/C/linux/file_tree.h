/* SPDX-License-Identifier: MIT */
/* A tree of files in a temporary directory, in the place of /sys or /proc. */
#ifndef FILE_TREE_H
#define FILE_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_TREE "/tmp/tendon-tree-XXXXXX"

/** Removes it with all that is in it. */
static inline void tree_remove(const char *root) {
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/** @p root + @p path, whose directories exist then. */
static inline void tree_path(const char *root, const char *path, char full[256]) {
    snprintf(full, 256, "%s%s", root, path);
    for (char *c = full + strlen(root) + 1; *c != '\0'; c++) {
        if (*c == '/') {
            *c = '\0';
            (void)mkdir(full, 0700);
            *c = '/';
        }
    }
}

static inline void tree_put(const char *root, const char *path, const char *text) {
    char full[256];
    tree_path(root, path, full);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#endif
