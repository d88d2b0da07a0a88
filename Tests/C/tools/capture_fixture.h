/* SPDX-License-Identifier: MIT */
/* For the tests of captures: files of one small link, and the bytes that they hold. */
#ifndef CAPTURE_FIXTURE_H
#define CAPTURE_FIXTURE_H

#include "../linux/link_fixture.h"
#include "tendon/tools/capture.h"
#include "test_bytes.h"

#define HEADER_H4 "6274736e6f6f7000 00000001 000003ea"
/* 2000-01-01 00:00:00 UTC is 0x00E03AB44A676000 by the format's description */
#define TIME_2000 "00e03ab44a676000"
#define UNIX_2000_US 946684800000000u
/* LE Connection Complete, handle 0x0040, central, random address */
#define CONNECTED "3e 13 01 00 4000 00 01 6655443322c1 1800 0000 c800 00"
/* Handle Value Notification of handle 0x0023, 3 bytes, in L2CAP and ACL, incoming */
#define NOTIFICATION "40 20 0a00 0600 0400 1b 2300 010203"

extern const tendon_address capture_peer;

/* An empty file of its own; unlink() it. */
void make_path(char path[32]);
block read_file(const char *path);
/* A connection of handle 0x0040, a notification, a read and the end, all at the same time. */
void write_sample(const char *path, uint32_t datalink);

#endif
