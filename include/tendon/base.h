/* SPDX-License-Identifier: MIT */
/*
 * Tendon: base component. Status codes, bounded reader and writer, UUID, address,
 * ring, CRC. Freestanding; depends on nothing else in Tendon.
 */
#ifndef TENDON_BASE_H
#define TENDON_BASE_H

#include "tendon/base/address.h"
#include "tendon/base/calendar.h"
#include "tendon/base/cmac.h"
#include "tendon/base/crc.h"
#include "tendon/base/packed.h"
#include "tendon/base/reader.h"
#include "tendon/base/status.h"
#include "tendon/base/uuid.h"
#include "tendon/base/writer.h"

#endif
