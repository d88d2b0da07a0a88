/* SPDX-License-Identifier: MIT */
/*
 * Tendon: linux component. The event loop, the radio seam, the virtual radio,
 * connections, and journals. With tools the only component that makes system calls.
 */
#ifndef TENDON_LINUX_H
#define TENDON_LINUX_H

#include "tendon/linux/bonds.h"
#include "tendon/linux/connection.h"
#include "tendon/linux/datagram.h"
#include "tendon/linux/ending.h"
#include "tendon/linux/gateway.h"
#include "tendon/linux/gatt_store.h"
#include "tendon/linux/gatt_table.h"
#include "tendon/linux/journal.h"
#include "tendon/linux/loop.h"
#include "tendon/linux/pairing_agent.h"
#include "tendon/linux/peripheral.h"
#include "tendon/linux/radio.h"
#include "tendon/linux/radio_group.h"
#include "tendon/linux/recognition.h"
#include "tendon/linux/subscriptions.h"
#include "tendon/linux/time.h"
#include "tendon/linux/virtual_radio.h"

#endif
