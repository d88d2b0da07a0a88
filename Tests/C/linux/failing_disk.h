/* SPDX-License-Identifier: MIT */
/* A disk where any one call fails: these functions are in the place of the C library's. */
#ifndef FAILING_DISK_H
#define FAILING_DISK_H

#include <stddef.h>

typedef struct refused {
    int number, after; /* errno, and so many calls that succeed before */
} refused;

struct disk {
    refused open, fchmod, write, fsync, fstat, read, close, rename, flock, unlink;
    size_t piece; /* bytes of one write; 0: all */
    int synced;   /* fsync() calls on a directory */
    char directory[256];
};
extern struct disk disk;

/* The directory of a file. */
void folder_of(const char *path, char out[128]);

#endif
