/* SPDX-License-Identifier: MIT */
/*
 * Tendon: host component. Advertising data, HCI packets, ATT PDUs, GATT client and server, and the interface between a
 * device session and its connection. Does no I/O; freestanding; depends on base only.
 */
#ifndef TENDON_HOST_H
#define TENDON_HOST_H

#include "tendon/host/advertisement.h"
#include "tendon/host/att.h"
#include "tendon/host/bearer.h"
#include "tendon/host/connection_parameters.h"
#include "tendon/host/gatt_cache.h"
#include "tendon/host/gatt_client.h"
#include "tendon/host/gatt_device.h"
#include "tendon/host/gatt_server.h"
#include "tendon/host/hci.h"
#include "tendon/host/management.h"
#include "tendon/host/peripheral.h"
#include "tendon/host/session.h"

#endif
