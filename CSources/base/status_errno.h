/* SPDX-License-Identifier: MIT */
/*
 * X(name, text): errors of the system calls for sockets and files. The numbers differ between machines, so they come
 * from errno.h. The list is empty on freestanding targets, which have no errno.h.
 */
#ifndef TENDON_BASE_STATUS_ERRNO_H
#define TENDON_BASE_STATUS_ERRNO_H

#if defined(__has_include)
#if __has_include(<errno.h>)
#include <errno.h>
#endif
#endif

#if defined(EBADFD)
#if EDQUOT < 256
#define TENDON_ERRNO_QUOTA(X) X(EDQUOT, "the disk quota is exceeded")
#else
#define TENDON_ERRNO_QUOTA(X)
#endif
#define TENDON_ERRNO_LINUX_LIST(X)                                                                                     \
    TENDON_ERRNO_QUOTA(X)                                                                                              \
    X(EBADFD, "the socket is in a bad state")                                                                          \
    X(ERFKILL, "rfkill blocks the adapter")                                                                            \
    X(ESHUTDOWN, "the transport endpoint was shut down")                                                               \
    X(EHOSTDOWN, "the peer is down")
#else
#define TENDON_ERRNO_LINUX_LIST(X)
#endif

#if defined(EINPROGRESS) && defined(ENOBUFS)
#define TENDON_ERRNO_LIST(X)                                                                                           \
    X(EPERM, "the operation is not permitted; a capability is missing")                                                \
    X(ENOENT, "the file or directory does not exist")                                                                  \
    X(EINTR, "the call was interrupted by a signal")                                                                   \
    X(EIO, "an input or output error occurred")                                                                        \
    X(ENXIO, "the device or address does not exist")                                                                   \
    X(EBADF, "the file descriptor is not open")                                                                        \
    X(EAGAIN, "the resource is temporarily unavailable")                                                               \
    X(ENOMEM, "the system is out of memory")                                                                           \
    X(EACCES, "permission was denied")                                                                                 \
    X(EBUSY, "the device or resource is busy")                                                                         \
    X(EEXIST, "the file already exists")                                                                               \
    X(ENODEV, "the device does not exist")                                                                             \
    X(ENOTDIR, "a part of the path is not a directory")                                                                \
    X(EISDIR, "the path is a directory")                                                                               \
    X(EINVAL, "an argument is invalid")                                                                                \
    X(ENFILE, "the system has too many open files")                                                                    \
    X(EMFILE, "the process has too many open files")                                                                   \
    X(EFBIG, "the file is too large")                                                                                  \
    X(ENOSPC, "the disk has no space left")                                                                            \
    X(ESPIPE, "the file cannot be positioned")                                                                         \
    X(EROFS, "the file system is read-only")                                                                           \
    X(EPIPE, "the peer closed the connection")                                                                         \
    X(ENAMETOOLONG, "the name is too long")                                                                            \
    X(ELOOP, "the path is a symbolic link, or contains too many")                                                      \
    X(ENOSYS, "the kernel does not support the function")                                                              \
    X(ENOTSOCK, "the descriptor is not a socket")                                                                      \
    X(EMSGSIZE, "the message is too long")                                                                             \
    X(EPROTOTYPE, "the socket at this address is of another type")                                                     \
    X(EPROTONOSUPPORT, "the kernel does not support the protocol")                                                     \
    X(EOPNOTSUPP, "the operation is not supported")                                                                    \
    X(EAFNOSUPPORT, "the kernel does not support the address family")                                                  \
    X(EADDRINUSE, "the address is in use")                                                                             \
    X(ENETDOWN, "the network or adapter is down")                                                                      \
    X(ECONNABORTED, "the connection was aborted")                                                                      \
    X(ECONNRESET, "the peer reset the connection")                                                                     \
    X(ENOBUFS, "no buffer space is available")                                                                         \
    X(ENOTCONN, "the device is not connected")                                                                         \
    X(ETIMEDOUT, "the connection timed out")                                                                           \
    X(ECONNREFUSED, "the connection was refused")                                                                      \
    X(EHOSTUNREACH, "the peer cannot be reached")                                                                      \
    X(EALREADY, "the operation is already in progress")                                                                \
    X(ECANCELED, "the operation was cancelled")                                                                        \
    TENDON_ERRNO_LINUX_LIST(X)
#else
#define TENDON_ERRNO_LIST(X)
#endif

#endif
