/* SPDX-License-Identifier: MIT
   prctl(2) and syscall(2) have a variable number of arguments, which Swift does not call; O_TMPFILE it does not see. */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/** Programs that this thread executes get none of its capabilities. Returns 0, or -1 with errno. */
static inline int tendon_clear_ambient_capabilities(void) {
#ifdef PR_CAP_AMBIENT
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
#else
    return 0;
#endif
}

/** A descriptor of a process, readable once the process has ended; exec closes it. -1 with errno: the kernel is older
   than Linux 5.3, or there is no descriptor left. */
static inline int tendon_process_descriptor(pid_t process) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, process, 0);
#else
    (void)process;
    return -1;
#endif
}

/** From now on, exec closes all descriptors from this one on, also those that libraries have opened to be inherited.
   Linux 5.11; an older kernel changes nothing. */
static inline void tendon_close_on_exec_from(unsigned first) {
#ifdef SYS_close_range
    (void)syscall(SYS_close_range, first, ~0U, 4U); /* CLOSE_RANGE_CLOEXEC, which old headers do not have */
#else
    (void)first;
#endif
}

/** A file without a name in a folder, for its owner: nothing of it is left when the process ends, however it ends. exec
   closes it. -1 with errno: the folder cannot be written, EOPNOTSUPP or EISDIR: the file system or the kernel has no
   such files. */
static inline int tendon_unnamed_file(const char *folder) {
#ifdef __O_TMPFILE /* of glibc, which has O_TMPFILE only with _GNU_SOURCE: Swift imports headers without it */
    return open(folder, __O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
#else
    return open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
#endif
}
