/* SPDX-License-Identifier: MIT */
/*
 * X(name, text): system errors that sockets and files give. Numbers differ
 * between machines, so they come from errno.h; where there is none
 * (freestanding targets) the list is empty.
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
    X(ERFKILL, "switched off by rfkill")                                                                               \
    X(ESHUTDOWN, "the transport endpoint was shut down")                                                               \
    X(EHOSTDOWN, "the remote side is down")
#else
#define TENDON_ERRNO_LINUX_LIST(X)
#endif

#if defined(EINPROGRESS) && defined(ENOBUFS)
#define TENDON_ERRNO_LIST(X)                                                                                           \
    X(EPERM, "operation not permitted: a capability is missing")                                                       \
    X(ENOENT, "no such file or directory")                                                                             \
    X(EINTR, "the call was interrupted by a signal")                                                                   \
    X(EIO, "input or output error")                                                                                    \
    X(ENXIO, "no such device or address")                                                                              \
    X(EBADF, "bad file descriptor")                                                                                    \
    X(EAGAIN, "the resource is not available just now")                                                                \
    X(ENOMEM, "out of memory")                                                                                         \
    X(EACCES, "permission denied")                                                                                     \
    X(EBUSY, "device or resource busy")                                                                                \
    X(EEXIST, "it exists already")                                                                                     \
    X(ENODEV, "no such device")                                                                                        \
    X(ENOTDIR, "a part of the path is not a directory")                                                                \
    X(EISDIR, "it is a directory")                                                                                     \
    X(EINVAL, "invalid argument")                                                                                      \
    X(ENFILE, "too many open files in the system")                                                                     \
    X(EMFILE, "too many open files in this process")                                                                   \
    X(EFBIG, "the file is too large")                                                                                  \
    X(ENOSPC, "no space left on the device")                                                                           \
    X(ESPIPE, "the file cannot be positioned")                                                                         \
    X(EROFS, "read-only file system")                                                                                  \
    X(EPIPE, "the other end is closed")                                                                                \
    X(ENAMETOOLONG, "the name is too long")                                                                            \
    X(ELOOP, "the path is a symbolic link, or contains too many")                                                      \
    X(ENOSYS, "the kernel has no such function")                                                                       \
    X(ENOTSOCK, "it is not a socket")                                                                                  \
    X(EMSGSIZE, "the message is too long")                                                                             \
    X(EPROTOTYPE, "the socket at this address is of another type")                                                     \
    X(EPROTONOSUPPORT, "the kernel does not support the protocol")                                                     \
    X(EOPNOTSUPP, "operation not supported")                                                                           \
    X(EAFNOSUPPORT, "the kernel does not support the address family")                                                  \
    X(EADDRINUSE, "the address is in use")                                                                             \
    X(ENETDOWN, "the network or adapter is down")                                                                      \
    X(ECONNABORTED, "the connection was aborted")                                                                      \
    X(ECONNRESET, "the connection was reset by the other side")                                                        \
    X(ENOBUFS, "no buffer space available")                                                                            \
    X(ENOTCONN, "not connected")                                                                                       \
    X(ETIMEDOUT, "the connection timed out")                                                                           \
    X(ECONNREFUSED, "the connection was refused")                                                                      \
    X(EHOSTUNREACH, "the other side cannot be reached")                                                                \
    X(EALREADY, "the operation is under way already")                                                                  \
    X(ECANCELED, "the operation was cancelled")                                                                        \
    TENDON_ERRNO_LINUX_LIST(X)
#else
#define TENDON_ERRNO_LIST(X)
#endif

#endif
