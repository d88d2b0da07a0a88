/* SPDX-License-Identifier: MIT */
/*
 * The file of bonds. A change locks the file, reads its current content, and writes a new file that is renamed over the
 * old one after it was synchronized to the disk.
 */
#include "tendon/linux/bonds.h"
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 16 + 46 * TENDON_BONDS_MAX };

void tendon_bonds_init(tendon_bonds *bonds) {
    memset(bonds, 0, sizeof *bonds);
}

static tendon_status system_status(int number) {
    return number == EACCES || number == EPERM ? TENDON_ERROR_FILE_PERMISSION : TENDON_SYSTEM_ERROR(number);
}

/** Writes @p path with a suffix. */
static void beside(const char *path, const char *suffix, char out[TENDON_BONDS_PATH_SIZE + 24]) {
    snprintf(out, TENDON_BONDS_PATH_SIZE + 24, "%s%s", path, suffix);
}

static tendon_status read_all(int fd, uint8_t *out, size_t capacity) {
    size_t length = 0;
    while (length < capacity) {
        ssize_t got = read(fd, out + length, capacity - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return system_status(errno);
        }
        if (got == 0) {
            break;
        }
        length += (size_t)got;
    }
    return (tendon_status)length;
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

/** Reads the file. @return the number of keys; after an error @p items is undefined. */
static tendon_status read_file(int fd, tendon_bond items[TENDON_BONDS_MAX], tendon_bonds_version *version) {
    uint8_t bytes[FILE_MAX + 1];
    struct stat state;
    if (fstat(fd, &state) != 0) {
        return system_status(errno);
    }
    *version = version_of(&state);
    if (state.st_uid != geteuid() || (state.st_mode & 0077) != 0) {
        return TENDON_ERROR_FILE_PERMISSION; /* keys that other users can read, or have written, are not secret */
    }
    tendon_status length = read_all(fd, bytes, sizeof bytes);
    return length < 0 ? length : tendon_bonds_decode(bytes, (size_t)length, items, TENDON_BONDS_MAX, NULL);
}

/** Updates from the file. After an error nothing changes, except the status if the file is not a valid bond file. */
static tendon_status load(tendon_bonds *bonds) {
    tendon_bond items[TENDON_BONDS_MAX];
    tendon_bonds_version version = {.device = 0};
    tendon_status count = 0;
    int fd = open(bonds->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        count = read_file(fd, items, &version);
        close(fd);
    } else if (errno != ENOENT) {
        count = system_status(errno);
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
        return system_status(errno);
    }
    bool permitted = version.inode == 0 || (state.st_uid == geteuid() && (state.st_mode & 0077) == 0);
    return permitted && bonds->status >= 0 && same_version(&version, &bonds->version) ? TENDON_OK : load(bonds);
}

static tendon_status write_all(int fd, const uint8_t *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t sent = write(fd, bytes + done, length - done);
        if (sent < 0 && errno != EINTR) {
            return system_status(errno);
        }
        done += sent > 0 ? (size_t)sent : 0;
    }
    return fsync(fd) == 0 ? TENDON_OK : system_status(errno);
}

/** The new name is on the disk too when this returns. */
static void sync_directory(const char *path) {
    char directory[TENDON_BONDS_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(directory, slash == NULL ? "." : path, length);
    directory[length] = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

static tendon_status save(tendon_bonds *bonds) {
    uint8_t bytes[FILE_MAX];
    char name[TENDON_BONDS_PATH_SIZE + 24];
    tendon_status length = tendon_bonds_encode(bonds->items, bonds->count, bytes, sizeof bytes);
    if (length < 0) {
        return length;
    }
    beside(bonds->path, ".new", name);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return system_status(errno);
    }
    struct stat state;
    tendon_status status = fchmod(fd, 0600) == 0 ? write_all(fd, bytes, (size_t)length) : system_status(errno);
    if (status >= 0 && fstat(fd, &state) != 0) {
        status = system_status(errno);
    } else if (status >= 0) {
        bonds->version = version_of(&state);
    }
    if (close(fd) != 0 && status >= 0) {
        status = system_status(errno);
    }
    if (status >= 0 && rename(name, bonds->path) != 0) {
        status = system_status(errno);
    }
    if (status < 0) {
        (void)unlink(name);
        return status;
    }
    sync_directory(bonds->path);
    return TENDON_OK;
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

static tendon_status put(tendon_bonds *bonds, const tendon_bond *bond, const replacement *how) {
    size_t index = 0;
    while (index < bonds->count && (!same_peer(&bonds->items[index], bond->radio, &bond->own, &bond->peer) ||
                                    bonds->items[index].initiator != bond->initiator)) {
        index++;
    }
    if (index == TENDON_BONDS_MAX && how->in_use != NULL) {
        index = oldest_unused(bonds, bond, how);
    }
    if (index == TENDON_BONDS_MAX) {
        return TENDON_RADIO_ERROR_BONDS_FULL;
    }
    if (index < bonds->count) {
        take_out(bonds, index);
    }
    bonds->items[bonds->count] = *bond;
    bonds->count++;
    return TENDON_OK;
}

static tendon_status drop(tendon_bonds *bonds, uint8_t radio, const tendon_address *own, const tendon_address *peer) {
    size_t before = bonds->count;
    for (size_t i = bonds->count; i > 0; i--) {
        if (same_peer(&bonds->items[i - 1], radio, own, peer)) {
            take_out(bonds, i - 1);
        }
    }
    return (tendon_status)(before - bonds->count);
}

/** Locks and reads the file. @return a descriptor to be closed, or an error. */
static tendon_status begin_change(tendon_bonds *bonds) {
    char name[TENDON_BONDS_PATH_SIZE + 24];
    int error = tendon_directory_make_parents(bonds->path);
    if (error != 0) {
        return system_status(error);
    }
    beside(bonds->path, ".lock", name);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return system_status(errno);
    }
    error = tendon_directory_lock(fd);
    tendon_status status = error == EWOULDBLOCK ? TENDON_ERROR_BUSY : error != 0 ? system_status(error) : load(bonds);
    if (status < 0) {
        close(fd);
        return status;
    }
    return fd;
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
    for (size_t i = 0; i < bonds->count; i++) {
        if (same_peer(&bonds->items[i], (uint8_t)radio, own, peer)) {
            return &bonds->items[i];
        }
    }
    return NULL;
}
