/* SPDX-License-Identifier: MIT */
/* The same with the SSE2 form, which runs on x86: Tests/Proof/model has its operations. */
#include "bose_sensor_data.c"
