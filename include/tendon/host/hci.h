/* SPDX-License-Identifier: MIT */
/*
 * HCI packets (Core Spec Vol 4 Part E): the events and commands that a central
 * and an advertiser need, and ACL data for captures.
 */
#ifndef TENDON_HOST_HCI_H
#define TENDON_HOST_HCI_H

#include "tendon/host/advertisement.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Designed by the owner of the host room. */

#ifdef __cplusplus
}
#endif
#endif
