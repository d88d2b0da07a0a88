/* SPDX-License-Identifier: MIT */
/*
 * Version of the library. Semantic versioning; before 1.0 a minor version may break.
 */
#ifndef TENDON_VERSION_H
#define TENDON_VERSION_H

#define TENDON_VERSION_MAJOR 0
#define TENDON_VERSION_MINOR 3
#define TENDON_VERSION_PATCH 0
#define TENDON_VERSION "0.3.0"

#ifdef __cplusplus
extern "C" {
#endif
/** The library's own TENDON_VERSION, to compare with the header's. */
const char *tendon_version(void);
#ifdef __cplusplus
}
#endif
#endif
