/* SPDX-License-Identifier: MIT */
/* A tree of files in a temporary directory, in the place of /sys or /proc. */
#ifndef FILE_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Size of the path of a tree: in $TMPDIR if that is short, else in /tmp. */
enum { FILE_TREE_SIZE = 48 };

static inline void tree_make(char root[FILE_TREE_SIZE]) {
    static const char name[] = "/tendon-tree-XXXXXX";
    const char *parent = getenv("TMPDIR");
    bool is_short = parent != NULL && parent[0] == '/' && strlen(parent) + sizeof name <= FILE_TREE_SIZE;
    snprintf(root, FILE_TREE_SIZE, "%s%s", is_short ? parent : "/tmp", name);
    assert_non_null(mkdtemp(root));
}

static inline int tree_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

/** Removes it with all that is in it. */
static inline void tree_remove(const char *root) {
    assert_true(nftw(root, tree_entry, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT);
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
