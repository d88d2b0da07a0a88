/* SPDX-License-Identifier: MIT */
/* A disk where any one call fails: these functions are in the place of the C library's. */
#ifndef FAILING_DISK_H
#define FAILING_DISK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct refused {
    int number, after; /* errno, and so many calls that succeed before */
} refused;

struct disk {
    refused open, fchmod, write, fsync, fstat, read, close, rename, flock, unlink;
    size_t piece;       /* bytes of one write; 0: all */
    int synced;         /* fsync() calls on a directory */
    unsigned killed_at; /* in the place of this call, counted over all, the process dies by SIGKILL; 0: never */
    unsigned calls;
    bool unsynced; /* fsync() takes no time: what a killed process wrote is there all the same */
    char directory[256];
};
extern struct disk disk;

/* The directory of a file. */
void folder_of(const char *path, char out[128]);

/* Runs @p body in a process of its own, which dies in the place of call @p killed_at. @return false: it was killed. */
bool live_until(bool (*body)(const void *context), const void *context, unsigned killed_at);

#endif
