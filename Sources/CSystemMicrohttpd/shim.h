/* SPDX-License-Identifier: MIT */
/*
 * libmicrohttpd for Swift: Swift does not import functions with variable arguments, nor macros with casts.
 */
#ifndef TENDON_CSYSTEMMICROHTTPD_H
#define TENDON_CSYSTEMMICROHTTPD_H

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const enum MHD_Result TENDON_HTTP_YES = MHD_YES;
static const enum MHD_Result TENDON_HTTP_NO = MHD_NO;
static const ssize_t TENDON_HTTP_END = MHD_CONTENT_READER_END_OF_STREAM;
static const uint64_t TENDON_HTTP_SIZE_UNKNOWN = MHD_SIZE_UNKNOWN;

static inline int tendon_http_is_start(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/** The value of a header; NULL: absent. */
static inline const char *tendon_http_header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/** A socket that listens at an address of IPv4 or IPv6; -1 with errno: not possible. */
static inline int tendon_http_listen(const char *address, uint16_t port) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
    int on = 1, off = 0;
    if (!is_six && inet_pton(AF_INET, address, &four.sin_addr) != 1) {
        return -1;
    }
    int descriptor = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return -1;
    }
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* Bytes in the kernel for a slow browser; connections inherit it, and it does not grow by itself. */
    int waiting = 16384;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &waiting, sizeof waiting);
    if (is_six) {
        (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    const struct sockaddr *name = is_six ? (const struct sockaddr *)&six : (const struct sockaddr *)&four;
    if (bind(descriptor, name, is_six ? sizeof six : sizeof four) != 0 || listen(descriptor, 32) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

/** Serves with a thread of its own. Takes the socket if it succeeds. */
static inline struct MHD_Daemon *tendon_http_start(int descriptor, unsigned connections, unsigned per_address,
                                                   unsigned idle_seconds, size_t memory,
                                                   MHD_AccessHandlerCallback handler,
                                                   MHD_RequestCompletedCallback completed,
                                                   MHD_NotifyConnectionCallback notify, void *context) {
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
                            MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT, connections,
                            MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address, MHD_OPTION_CONNECTION_TIMEOUT,
                            idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, notify,
                            context, MHD_OPTION_END);
}

/** The socket of a connection. */
static inline int tendon_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *information =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return information != NULL ? information->connect_fd : -1;
}

/** A response that copies its body. */
static inline struct MHD_Response *tendon_http_response(const void *body, size_t size) {
    return MHD_create_response_from_buffer(size, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
}

#endif
