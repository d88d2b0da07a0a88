/* SPDX-License-Identifier: MIT */
/* Opening, links and listeners of the virtual radio; advertise.c has scanning and advertising. */
#include "radio.h"
#include "../pairing/pairing.h"
#include "../socket_listener.h"
#include "../store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Casts rely on it. */
_Static_assert(offsetof(tendon_virtual_radio, radio) == 0, "the radio is the first member");

/** How often a connect looks again for a device that is not there. */
#define RETRY_MS 20u
/** For a device that may be absent for hours. */
#define BACKGROUND_RETRY_MS 500u
/** Directory entries that a listener looks at for sockets of processes that were killed. */
#define STALE_LIMIT 1024

static tendon_status retry(tendon_link *link, uint64_t now);
static const tendon_socket_hooks hooks = {
    .header = 1, .retry = retry, .control = tendon_virtual_control, .opened = tendon_virtual_opened};

#define DEVICE_PREFIX "dev-"

static void device_name(const tendon_address *address, char out[TENDON_VIRTUAL_NAME_SIZE]) {
    const uint8_t *b = address->bytes;
    snprintf(out, TENDON_VIRTUAL_NAME_SIZE, DEVICE_PREFIX "%02X%02X%02X%02X%02X%02X-%02X.sock", b[0], b[1], b[2], b[3],
             b[4], b[5], address->type);
}

/* The name of a central's socket, in the abstract name space: the device gets the address of the central with the
 * connection, so it has nothing to wait for after accept(). */
#define CENTRAL_PREFIX "tendon-central-"
/* Connections of one process with one address, over all its radios. */
#define CENTRAL_NAMES_MAX 1024

static socklen_t central_name(const tendon_virtual_radio *radio, uint32_t number, struct sockaddr_un *out) {
    const tendon_address *address = &radio->radio.address;
    const uint8_t *b = address->bytes;
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    int length =
        snprintf(out->sun_path + 1, sizeof out->sun_path - 1, CENTRAL_PREFIX "%02X%02X%02X%02X%02X%02X-%02X-%ld-%u",
                 b[0], b[1], b[2], b[3], b[4], b[5], address->type, (long)getpid(), (unsigned)number);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_hex(const char *text, size_t bytes, uint8_t *out) {
    for (size_t i = 0; i < bytes; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool parse_central_name(const struct sockaddr_un *name, socklen_t length, tendon_address *out) {
    const size_t start = 1 + sizeof CENTRAL_PREFIX - 1;
    if (length < offsetof(struct sockaddr_un, sun_path) + start + 12 + 1 + 2 + 1 || name->sun_path[0] != '\0' ||
        memcmp(name->sun_path + 1, CENTRAL_PREFIX, sizeof CENTRAL_PREFIX - 1) != 0) {
        return false;
    }
    const char *text = name->sun_path + start;
    return parse_hex(text, 6, out->bytes) && text[12] == '-' && parse_hex(text + 13, 1, &out->type);
}

/** An errno about files: a permission that is missing is not a capability here. */
static tendon_status file_reason(int number) {
    return number == EACCES || number == EPERM ? TENDON_ERROR_FILE_PERMISSION : tendon_socket_link_reason(number);
}

static uint16_t new_handle(tendon_virtual_radio *radio) {
    radio->next_handle = radio->next_handle >= 0x0EFF ? 1 : (uint16_t)(radio->next_handle + 1);
    return radio->next_handle;
}

/** A socket with our name on it. */
static int central_socket(tendon_virtual_radio *radio) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    for (int attempt = 0; fd >= 0 && attempt < CENTRAL_NAMES_MAX; attempt++) {
        struct sockaddr_un name;
        socklen_t length = central_name(radio, radio->next_name++, &name);
        if (bind(fd, (struct sockaddr *)&name, length) == 0) {
            return fd;
        }
        if (errno != EADDRINUSE) {
            break;
        }
    }
    if (fd >= 0) {
        int error = errno;
        close(fd);
        errno = error;
    }
    return -1;
}

static tendon_status retry(tendon_link *link, uint64_t now) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)link->radio;
    int fd = central_socket(radio);
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    char name[TENDON_VIRTUAL_NAME_SIZE];
    struct sockaddr_un path;
    device_name(&link->peer, name);
    socklen_t length = tendon_virtual_path(radio, name, &path);
    if (connect(fd, (struct sockaddr *)&path, length) == 0) {
        return tendon_socket_link_adopt(link, fd);
    }
    int error = errno;
    close(fd);
    /* Absent, left behind by a process that died, or too many centrals at the same time: a real radio would wait for
     * its next advertisement. */
    if (error == ENOENT || error == ECONNREFUSED || error == EAGAIN || error == EINTR) {
        uint64_t next = now + (link->background ? BACKGROUND_RETRY_MS : RETRY_MS);
        link->source.deadline = next < link->deadline ? next : link->deadline;
        return TENDON_OK;
    }
    return file_reason(error);
}

static tendon_status virtual_connect(tendon_radio *base, tendon_link *link, const tendon_address *peer,
                                     uint64_t deadline) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    tendon_status status = tendon_socket_link_begin(link, base, &hooks, peer, false, deadline);
    if (status < 0) {
        return status;
    }
    link->handle = new_handle(radio);
    status = retry(link, tendon_monotonic_ms());
    if (status < 0) {
        tendon_socket_link_abandon(link);
    }
    return status;
}

/** The socket of a process that tests whether a device listens. */
#define PROBE_NAME "tendon-probe"

static bool is_probe(const struct sockaddr_un *name, socklen_t length) {
    const size_t start = offsetof(struct sockaddr_un, sun_path) + 1;
    return length > start + sizeof PROBE_NAME - 1 && name->sun_path[0] == '\0' &&
           memcmp(name->sun_path + 1, PROBE_NAME, sizeof PROBE_NAME - 1) == 0;
}

static bool identify(tendon_radio *radio, const struct sockaddr_storage *name, socklen_t length, tendon_address *peer) {
    const struct sockaddr_un *central = (const struct sockaddr_un *)name;
    if (!parse_central_name(central, length, peer)) {
        radio->malformed += is_probe(central, length) ? 0 : 1;
        return false;
    }
    return true;
}

static void accepted(tendon_radio *radio, tendon_link *link, int fd) {
    (void)fd;
    link->handle = new_handle((tendon_virtual_radio *)radio);
}

static const tendon_socket_acceptor acceptor = {.hooks = &hooks, .identify = identify, .accepted = accepted};

/** TENDON_OK: no process listens at @p path (it was left by an ended process); otherwise the reason why it cannot be
 * used. */
static tendon_status is_stale(const struct sockaddr_un *path, socklen_t length) {
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    int named = snprintf(own.sun_path + 1, sizeof own.sun_path - 1, PROBE_NAME "-%ld-%d", (long)getpid(), fd);
    (void)bind(fd, (struct sockaddr *)&own,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)named)); /* without it: malformed++ */
    int error = connect(fd, (const struct sockaddr *)path, length) == 0 ? 0 : errno;
    close(fd);
    /* ENOENT, ELOOP: a symbolic link that leads nowhere */
    return error == ECONNREFUSED || error == ENOENT || error == ELOOP ? TENDON_OK : TENDON_RADIO_ERROR_ADAPTER_BUSY;
}

static bool remove_stale(void *context, const char *name) {
    const tendon_virtual_radio *radio = context;
    struct sockaddr_un path;
    if (strncmp(name, DEVICE_PREFIX, sizeof DEVICE_PREFIX - 1) == 0 && strlen(name) < TENDON_VIRTUAL_NAME_SIZE) {
        socklen_t length = tendon_virtual_path(radio, name, &path);
        if (is_stale(&path, length) >= 0) {
            (void)unlinkat(radio->directory_fd, name, 0);
        }
    }
    return true;
}

/** Removes the radio's name from the directory, because it no longer listens. */
static void unbind_device(const tendon_virtual_radio *radio) {
    char name[TENDON_VIRTUAL_NAME_SIZE];
    device_name(&radio->radio.address, name);
    (void)unlinkat(radio->directory_fd, name, 0);
}

static tendon_status bind_device(tendon_virtual_radio *radio, int fd) {
    char name[TENDON_VIRTUAL_NAME_SIZE];
    struct sockaddr_un path;
    device_name(&radio->radio.address, name);
    socklen_t length = tendon_virtual_path(radio, name, &path);
    if (bind(fd, (struct sockaddr *)&path, length) == 0) {
        return TENDON_OK;
    }
    if (errno != EADDRINUSE) {
        return file_reason(errno);
    }
    tendon_status status = is_stale(&path, length);
    if (status < 0) {
        return status;
    }
    (void)unlinkat(radio->directory_fd, name, 0);
    return bind(fd, (struct sockaddr *)&path, length) == 0 ? TENDON_OK : file_reason(errno);
}

/** Takes the bound descriptor over, also when it fails; its name in the directory is removed then. */
static tendon_status open_listener(tendon_virtual_radio *radio, tendon_listener *listener, int fd) {
    tendon_status status = TENDON_OK;
    if (listen(fd, 64) != 0) {
        status = TENDON_SYSTEM_ERROR(errno);
        close(fd);
    } else {
        status = tendon_socket_listener_open(listener, &radio->radio, fd, &acceptor);
    }
    if (status < 0) {
        unbind_device(radio);
    }
    return status;
}

static tendon_status virtual_listen(tendon_radio *base, tendon_listener *listener) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    if (base->listener != NULL) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    /* The lock keeps two processes from both taking the same socket for a dead one's. Held for a few calls. */
    (void)tendon_directory_lock(radio->directory_fd);
    tendon_directory_each(radio->directory_fd, STALE_LIMIT, remove_stale, radio);
    tendon_status status = bind_device(radio, fd);
    if (status < 0) {
        close(fd);
    } else {
        status = open_listener(radio, listener, fd);
    }
    (void)flock(radio->directory_fd, LOCK_UN);
    return status;
}

static void virtual_unlisten(tendon_radio *base, tendon_listener *listener) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    if (base->listener != listener || listener == NULL) {
        return;
    }
    unbind_device(radio);
    tendon_socket_listener_close(listener, base);
}

static void virtual_close(tendon_radio *base) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    (void)tendon_virtual_scan_stop(base);
    base->scanning = false;
    tendon_pairing_close(base);
    (void)tendon_virtual_advertise_stop(base);
    virtual_unlisten(base, base->listener);
    if (radio->directory_fd >= 0) {
        close(radio->directory_fd);
        radio->directory_fd = -1;
    }
}

static const tendon_radio_ops operations = {
    .name = "virtual",
    .scan_start = tendon_virtual_scan_start,
    .scan_stop = tendon_virtual_scan_stop,
    .advertise_start = tendon_virtual_advertise_start,
    .advertise_stop = tendon_virtual_advertise_stop,
    .connect = virtual_connect,
    .listen = virtual_listen,
    .unlisten = virtual_unlisten,
    .link_close = tendon_socket_link_close,
    .close = virtual_close,
    .bond_radio = TENDON_BOND_VIRTUAL,
    .use_bonds = tendon_virtual_use_bonds,
    .set_pairable = tendon_virtual_set_pairable,
    .pair = tendon_virtual_pair,
    .answer = tendon_virtual_answer,
    .pair_cancel = tendon_virtual_pair_cancel,
    .unpair = tendon_virtual_unpair,
};

int tendon_virtual_directory(const char *directory, char out[TENDON_VIRTUAL_PATH_SIZE]) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (directory != NULL) {
        return snprintf(out, TENDON_VIRTUAL_PATH_SIZE, "%s", directory);
    }
    if (runtime != NULL && runtime[0] == '/') {
        return snprintf(out, TENDON_VIRTUAL_PATH_SIZE, "%s/tendon", runtime);
    }
    return snprintf(out, TENDON_VIRTUAL_PATH_SIZE, "/tmp/tendon-%lu", (unsigned long)geteuid());
}

/** Any user who can write here can act as a device, so only the owner may have access. */
static tendon_status open_directory(tendon_virtual_radio *radio) {
    struct stat state;
    if (mkdir(radio->directory, 0700) != 0 && errno != EEXIST) {
        return file_reason(errno);
    }
    radio->directory_fd = open(radio->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (radio->directory_fd < 0) {
        /* ELOOP, ENOTDIR: another user created a link or a file at the path of the directory */
        return errno == ELOOP || errno == ENOTDIR ? TENDON_ERROR_FILE_PERMISSION : file_reason(errno);
    }
    if (fstat(radio->directory_fd, &state) != 0 || state.st_uid != geteuid() || (state.st_mode & 0077) != 0) {
        close(radio->directory_fd);
        radio->directory_fd = -1;
        return TENDON_ERROR_FILE_PERMISSION;
    }
    return TENDON_OK;
}

tendon_status tendon_virtual_radio_open(tendon_virtual_radio *radio, tendon_loop *loop, const char *directory,
                                        const tendon_address *address) {
    memset(radio, 0, sizeof *radio);
    radio->directory_fd = radio->advertise_fd = -1;
    radio->radio.loop = loop;
    radio->radio.address = *address;
    tendon_source_init(&radio->scan_source, -1, radio, NULL, NULL);
    tendon_source_init(&radio->advertise_source, -1, radio, NULL, NULL);
    int length = tendon_virtual_directory(directory, radio->directory);
    bool fits = length > 0 && length < TENDON_VIRTUAL_PATH_SIZE;
    tendon_status status = fits ? open_directory(radio) : TENDON_ERROR_OVERFLOW;
    if (status >= 0) {
        radio->radio.ops = &operations;
    }
    return status;
}

tendon_address tendon_virtual_radio_default_address(void) {
    uint32_t pid = (uint32_t)getpid();
    tendon_address address = {.type = TENDON_ADDRESS_TYPE_RANDOM};
    const uint8_t bytes[6] = {0xC0,
                              0x7E,
                              (uint8_t)(pid >> 24),
                              (uint8_t)(pid >> 16 & 0xFF),
                              (uint8_t)(pid >> 8 & 0xFF),
                              (uint8_t)(pid & 0xFF)};
    memcpy(address.bytes, bytes, sizeof bytes);
    return address;
}
