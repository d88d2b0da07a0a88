/* SPDX-License-Identifier: MIT */
#include <jansson.h>
