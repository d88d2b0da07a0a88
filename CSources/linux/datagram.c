/* SPDX-License-Identifier: MIT */
#include "tendon/linux/datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} address;

/* The length of the address; 0: the text is none. */
static socklen_t parse(const char *text, uint16_t port, address *out) {
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
        out->four.sin_family = AF_INET;
        out->four.sin_port = htons(port);
        return sizeof out->four;
    }
    char bare[TENDON_DATAGRAM_ADDRESS_SIZE];
    const char *scope = strchr(text, '%');
    size_t length = scope != NULL ? (size_t)(scope - text) : strlen(text);
    if (length >= sizeof bare) {
        return 0;
    }
    memcpy(bare, text, length);
    bare[length] = 0;
    if (inet_pton(AF_INET6, bare, &out->six.sin6_addr) != 1) {
        return 0;
    }
    out->six.sin6_family = AF_INET6;
    out->six.sin6_port = htons(port);
    if (scope != NULL) {
        out->six.sin6_scope_id = if_nametoindex(scope + 1);
        if (out->six.sin6_scope_id == 0) {
            return 0;
        }
    }
    return sizeof out->six;
}

static tendon_status open_at(const char *text, uint16_t port,
                             int (*use)(int descriptor, const struct sockaddr *at, socklen_t size)) {
    address at;
    socklen_t size = parse(text, port, &at);
    if (size == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    int descriptor = socket(at.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    if (use(descriptor, &at.any, size) == 0) {
        return descriptor;
    }
    tendon_status status = TENDON_SYSTEM_ERROR(errno);
    close(descriptor);
    return status;
}

/* The kernel accepts a broadcast address only after this: several renderers of one network receive the same samples. */
static int connect_to(int descriptor, const struct sockaddr *at, socklen_t size) {
    int yes = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    return connect(descriptor, at, size);
}

tendon_status tendon_datagram_connect(const char *text, uint16_t port) {
    return open_at(text, port, connect_to);
}

tendon_status tendon_datagram_listen(const char *text, uint16_t port) {
    return open_at(text, port, bind);
}

tendon_status tendon_datagram_port(int descriptor) {
    address at;
    socklen_t size = sizeof at;
    if (getsockname(descriptor, &at.any, &size) != 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    return ntohs(at.any.sa_family == AF_INET6 ? at.six.sin6_port : at.four.sin_port);
}

tendon_status tendon_datagram_send(int descriptor, const uint8_t *bytes, size_t length) {
    bool is_refused = false;
    while (send(descriptor, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == ECONNREFUSED && !is_refused) {
            is_refused = true; /* it was about an earlier one, which the kernel reports once */
        } else if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
            return TENDON_ERROR_WOULD_BLOCK;
        } else if (errno != EINTR) {
            return TENDON_SYSTEM_ERROR(errno);
        }
    }
    return is_refused ? TENDON_SYSTEM_ERROR(ECONNREFUSED) : TENDON_OK;
}

static void write_sender(const address *from, char *out) {
    char host[INET6_ADDRSTRLEN] = "";
    if (from->any.sa_family == AF_INET) {
        (void)inet_ntop(AF_INET, &from->four.sin_addr, host, sizeof host);
        (void)snprintf(out, TENDON_DATAGRAM_ADDRESS_SIZE, "%s:%u", host, ntohs(from->four.sin_port));
    } else {
        (void)inet_ntop(AF_INET6, &from->six.sin6_addr, host, sizeof host);
        (void)snprintf(out, TENDON_DATAGRAM_ADDRESS_SIZE, "[%s]:%u", host, ntohs(from->six.sin6_port));
    }
}

tendon_status tendon_datagram_receive(int descriptor, uint8_t *out, size_t capacity, char *sender) {
    address from;
    memset(&from, 0, sizeof from);
    struct iovec vector = {.iov_base = out, .iov_len = capacity};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &vector, .msg_iovlen = 1};
    ssize_t length;
    do {
        length = recvmsg(descriptor, &message, MSG_DONTWAIT);
    } while (length < 0 && errno == EINTR);
    if (length < 0) {
        return errno == EAGAIN ? TENDON_ERROR_WOULD_BLOCK : TENDON_SYSTEM_ERROR(errno);
    }
    if (sender != NULL) {
        write_sender(&from, sender);
    }
    return (message.msg_flags & MSG_TRUNC) != 0 ? TENDON_ERROR_OVERFLOW : (tendon_status)length;
}

void tendon_datagram_close(int descriptor) {
    (void)close(descriptor);
}

const char *tendon_datagram_status_text(tendon_status status) {
    bool is_of_system = status < 0 && TENDON_STATUS_LAYER(status) == TENDON_LAYER_SYSTEM;
    return is_of_system ? strerror(TENDON_STATUS_CODE(status)) : tendon_status_text(status);
}
