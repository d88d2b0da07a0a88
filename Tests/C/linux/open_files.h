/* SPDX-License-Identifier: MIT */
/* Counts of files: what a directory holds, and what this process has open. */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>

static inline int directory_entries(const char *directory) {
    DIR *d = opendir(directory);
    int count = 0;
    assert_non_null(d);
    while (readdir(d) != NULL) {
        count++;
    }
    closedir(d);
    return count;
}

static inline int open_descriptors(void) {
    return directory_entries("/proc/self/fd");
}

#endif
