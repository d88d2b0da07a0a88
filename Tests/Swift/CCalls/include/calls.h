/* SPDX-License-Identifier: MIT
   Calls of the C library and of other libraries that a test makes fail, or counts. The test program defines these
   functions itself, in front of the libraries' own. A plan is for the thread that made it, so that
   tests that run at the same time on other threads are not affected. */
#ifndef TENDON_TEST_CALLS_H
#define TENDON_TEST_CALLS_H

#include <stdbool.h>

/** Plans calls of a function on this thread; replaces the plan of the same function. Call number `first`, counted from
   0, fails with `error`: it sets errno, or returns the error if the function returns one, and the library's own
   function is not called. With `all`, the calls after it fail, too; with `once`, the plan ends with it. `error` 0: the
   calls are only counted. Returns false if calls.c does not have the function, or if 4
   are planned. */
bool tendon_calls_plan(const char *name, int first, bool all, bool once, int error);

/** Ends the plan of a function. Returns how many calls there were. */
int tendon_calls_end(const char *name);

/** The machine was suspended for so long, as this thread sees it: the time of the day has passed, CLOCK_MONOTONIC
   stands still. It is not undone: time goes back for nobody. */
void tendon_calls_suspend(unsigned seconds);

#endif
