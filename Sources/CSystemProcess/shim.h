/* SPDX-License-Identifier: MIT
   prctl(2) has a variable number of arguments, which Swift does not call. */
#include <sys/prctl.h>

/** Programs that this thread executes get none of its capabilities. Returns 0, or -1 with errno. */
static inline int tendon_clear_ambient_capabilities(void) {
#ifdef PR_CAP_AMBIENT
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
#else
    return 0;
#endif
}
