/* SPDX-License-Identifier: MIT */
/* For SwiftPM alone: nothing imports this module, and CSources/linux/bluez includes the headers it needs. */
