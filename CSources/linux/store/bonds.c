/* SPDX-License-Identifier: MIT */
/*
 * The file of bonds. A change locks the file, reads its current content, and writes a new file that is renamed over the
 * old one after it was synchronized to the disk.
 */
#include "tendon/linux/bonds.h"
#include "directory.h"
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = TENDON_BONDS_HEADER_SIZE + TENDON_BOND_RECORD_MAX * TENDON_BONDS_MAX };
/** Types of keys, as in tendon_bond: odd ones are authenticated, those from 2 are of Secure Connections. */
enum { TYPE_AUTHENTICATED = 1, TYPE_SECURE = 2, TYPE_DEBUG = 4 };

bool tendon_bond_is_authenticated(const tendon_bond *bond) {
    return bond->type < TYPE_DEBUG && (bond->type & TYPE_AUTHENTICATED) != 0;
}

bool tendon_bond_is_secure(const tendon_bond *bond) {
    return bond->type >= TYPE_SECURE && bond->type < TYPE_DEBUG;
}

void tendon_bonds_init(tendon_bonds *bonds) {
    memset(bonds, 0, sizeof *bonds);
}

static tendon_bonds_version version_of(const struct stat *state) {
    return (tendon_bonds_version){.device = (uint64_t)state->st_dev,
                                  .inode = (uint64_t)state->st_ino,
                                  .size = (uint64_t)state->st_size,
                                  .seconds = (int64_t)state->st_mtim.tv_sec,
                                  .nanoseconds = (int64_t)state->st_mtim.tv_nsec};
}

static bool same_version(const tendon_bonds_version *a, const tendon_bonds_version *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

/** Updates from the file. After an error nothing changes, except the status if the file is not a valid bond file. */
static tendon_status load(tendon_bonds *bonds) {
    tendon_bond items[TENDON_BONDS_MAX];
    uint8_t bytes[FILE_MAX + 1];
    struct stat state;
    tendon_bonds_version version = {.device = 0};
    tendon_status count = tendon_file_read(bonds->path, bytes, sizeof bytes, &state);
    if (count >= 0) {
        version = version_of(&state);
        count = tendon_bonds_decode(bytes, (size_t)count, items, TENDON_BONDS_MAX, NULL);
    } else if (count == TENDON_ERROR_NOT_FOUND) {
        count = 0;
    }
    if (count < 0) {
        bool transient = TENDON_STATUS_LAYER(count) == TENDON_LAYER_SYSTEM;
        bonds->status = transient ? bonds->status : count;
        return count;
    }
    if (count > 0) {
        memcpy(bonds->items, items, (size_t)count * sizeof items[0]);
    }
    bonds->count = (size_t)count;
    bonds->version = version;
    bonds->changes++;
    bonds->status = TENDON_OK;
    return TENDON_OK;
}

tendon_status tendon_bonds_open(tendon_bonds *bonds, const char *path) {
    tendon_bonds_init(bonds);
    if (path == NULL) {
        bonds->status = tendon_directory_state_path("bonds", bonds->path, sizeof bonds->path);
    } else if (path[0] == '\0' || strlen(path) >= sizeof bonds->path) {
        bonds->status = TENDON_ERROR_OVERFLOW;
    } else {
        memcpy(bonds->path, path, strlen(path) + 1);
    }
    if (bonds->status >= 0) {
        bonds->status = load(bonds);
    } else {
        bonds->path[0] = '\0';
    }
    return bonds->status;
}

tendon_status tendon_bonds_refresh(tendon_bonds *bonds) {
    struct stat state;
    tendon_bonds_version version = {.device = 0};
    if (bonds->path[0] == '\0') {
        return bonds->status;
    }
    if (lstat(bonds->path, &state) == 0) {
        version = version_of(&state);
    } else if (errno != ENOENT) {
        return tendon_file_status(errno);
    }
    bool permitted = version.inode == 0 || (state.st_uid == geteuid() && (state.st_mode & 0077) == 0);
    return permitted && bonds->status >= 0 && same_version(&version, &bonds->version) ? TENDON_OK : load(bonds);
}

static tendon_status save(tendon_bonds *bonds) {
    uint8_t bytes[FILE_MAX];
    struct stat state;
    tendon_status status = tendon_bonds_encode(bonds->items, bonds->count, bytes, sizeof bytes);
    if (status >= 0) {
        status = tendon_file_replace(bonds->path, bytes, (size_t)status, &state);
    }
    if (status >= 0) {
        bonds->version = version_of(&state);
    }
    return status;
}

static bool same_peer(const tendon_bond *bond, uint8_t radio, const tendon_address *own, const tendon_address *peer) {
    return bond->radio == radio && tendon_address_equal(&bond->own, own) &&
           (peer == NULL || tendon_address_equal(&bond->peer, peer));
}

static void take_out(tendon_bonds *bonds, size_t index) {
    bonds->count--;
    memmove(&bonds->items[index], &bonds->items[index + 1], (bonds->count - index) * sizeof bonds->items[0]);
}

/** Who may be replaced when no entry is free. */
typedef struct replacement {
    bool (*in_use)(void *context, const tendon_bond *bond); /**< NULL: none */
    void *context;
} replacement;

/** The oldest entry that @p bond may replace; bonds->count: none. */
static size_t oldest_unused(const tendon_bonds *bonds, const tendon_bond *bond, const replacement *how) {
    size_t i = 0;
    while (i < bonds->count && (bonds->items[i].initiator != bond->initiator ||
                                !same_peer(&bonds->items[i], bond->radio, &bond->own, NULL) ||
                                how->in_use(how->context, &bonds->items[i]))) {
        i++;
    }
    return i;
}

/** The oldest key of a simulated device, which is worth less than any other; bonds->count: none. */
static size_t oldest_simulated(const tendon_bonds *bonds) {
    size_t i = 0;
    while (i < bonds->count && bonds->items[i].radio != TENDON_BOND_VIRTUAL) {
        i++;
    }
    return i;
}

bool tendon_bonds_have_room(const tendon_bonds *bonds) {
    return bonds->count < TENDON_BONDS_MAX || oldest_simulated(bonds) < bonds->count;
}

/**
 * Whether a new key replaces one of before: that of its role. One of Secure Connections is for both roles, and a legacy
 * key of this peer is from an earlier pairing then.
 */
static bool is_superseded(const tendon_bond *before, const tendon_bond *bond) {
    bool for_both_roles = bond->type >= TYPE_SECURE && bond->type <= TYPE_DEBUG && before->type < TYPE_SECURE;
    return same_peer(before, bond->radio, &bond->own, &bond->peer) &&
           (before->initiator == bond->initiator || for_both_roles);
}

static tendon_status put(tendon_bonds *bonds, const tendon_bond *bond, const replacement *how) {
    for (size_t i = bonds->count; i > 0; i--) {
        if (is_superseded(&bonds->items[i - 1], bond)) {
            take_out(bonds, i - 1);
        }
    }
    if (bonds->count == TENDON_BONDS_MAX) {
        size_t oldest = how->in_use != NULL ? oldest_unused(bonds, bond, how) : TENDON_BONDS_MAX;
        oldest = oldest < TENDON_BONDS_MAX ? oldest : oldest_simulated(bonds);
        if (oldest == TENDON_BONDS_MAX) {
            return TENDON_RADIO_ERROR_BONDS_FULL; /* nothing was taken out so far */
        }
        take_out(bonds, oldest);
    }
    bonds->items[bonds->count] = *bond;
    bonds->count++;
    bonds->changes++;
    return TENDON_OK;
}

static tendon_status drop(tendon_bonds *bonds, uint8_t radio, const tendon_address *own, const tendon_address *peer) {
    size_t before = bonds->count;
    bonds->changes++;
    for (size_t i = bonds->count; i > 0; i--) {
        if (same_peer(&bonds->items[i - 1], radio, own, peer)) {
            take_out(bonds, i - 1);
        }
    }
    return (tendon_status)(before - bonds->count);
}

/** Locks and reads the file. @return a descriptor to be closed, or an error. */
static tendon_status begin_change(tendon_bonds *bonds) {
    char name[TENDON_BONDS_PATH_SIZE + 8];
    snprintf(name, sizeof name, "%s.lock", bonds->path);
    tendon_status lock = tendon_file_lock(name);
    tendon_status status = lock < 0 ? lock : load(bonds);
    if (lock >= 0 && status < 0) {
        close(lock);
    }
    return status < 0 ? status : lock;
}

/** Writes @p changed to the file; on success copies it to @p bonds. */
static tendon_status commit(tendon_bonds *bonds, tendon_bonds *changed) {
    tendon_status status = save(changed);
    if (status >= 0) {
        *bonds = *changed;
    }
    return status;
}

static tendon_status keep(tendon_bonds *bonds, const tendon_bond *bond, const replacement *how) {
    if (bonds->path[0] == '\0') {
        return bonds->status < 0 ? bonds->status : put(bonds, bond, how);
    }
    tendon_status lock = begin_change(bonds);
    if (lock < 0) {
        return lock;
    }
    tendon_bonds changed = *bonds;
    tendon_status status = put(&changed, bond, how);
    if (status >= 0) {
        status = commit(bonds, &changed);
    }
    close(lock);
    return status;
}

tendon_status tendon_bonds_store(tendon_bonds *bonds, const tendon_bond *bond) {
    return keep(bonds, bond, &(replacement){.in_use = NULL});
}

tendon_status tendon_bonds_store_replacing(tendon_bonds *bonds, const tendon_bond *bond,
                                           bool (*in_use)(void *context, const tendon_bond *bond), void *context) {
    return keep(bonds, bond, &(replacement){.in_use = in_use, .context = context});
}

/** Whether the disk has space for the largest file: each of several pairings at a time adds a bond. */
static tendon_status try_largest(const tendon_bonds *bonds) {
    uint8_t bytes[FILE_MAX];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 0x9E3779B1u >> 24); /* no key, and nothing that a file system compresses */
    }
    return tendon_file_try(bonds->path, bytes, sizeof bytes);
}

tendon_status tendon_bonds_may_change(tendon_bonds *bonds) {
    if (bonds->path[0] == '\0') {
        return bonds->status;
    }
    tendon_status lock = begin_change(bonds);
    if (lock < 0) {
        return lock == TENDON_ERROR_BUSY ? TENDON_OK : lock; /* it is busy now, not when the key is there */
    }
    tendon_status status = try_largest(bonds);
    close(lock);
    return status;
}

tendon_status tendon_bonds_remove(tendon_bonds *bonds, tendon_bond_radio radio, const tendon_address *own,
                                  const tendon_address *peer) {
    if (bonds->path[0] == '\0') {
        return bonds->status < 0 ? bonds->status : drop(bonds, (uint8_t)radio, own, peer);
    }
    tendon_status lock = begin_change(bonds);
    if (lock < 0) {
        return lock;
    }
    tendon_bonds changed = *bonds;
    tendon_status removed = drop(&changed, (uint8_t)radio, own, peer);
    tendon_status status = removed > 0 ? commit(bonds, &changed) : TENDON_OK;
    close(lock);
    return status < 0 ? status : removed;
}

const tendon_bond *tendon_bonds_find(const tendon_bonds *bonds, tendon_bond_radio radio, const tendon_address *own,
                                     const tendon_address *peer) {
    for (size_t i = bonds->count; i > 0; i--) { /* the last key is the newest */
        if (same_peer(&bonds->items[i - 1], (uint8_t)radio, own, peer)) {
            return &bonds->items[i - 1];
        }
    }
    return NULL;
}
