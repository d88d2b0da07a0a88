/* SPDX-License-Identifier: MIT */
/* For SwiftPM alone: nothing imports this module, and CSources/linux/adapter includes the headers it needs. */
