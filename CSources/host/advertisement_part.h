/* SPDX-License-Identifier: MIT */
/*
 * Look-ups that stay in the whole advertising data: what tendon_ad_next_part()
 * lends instead of a structure's own pointer and length.
 */
#ifndef TENDON_HOST_ADVERTISEMENT_PART_H
#define TENDON_HOST_ADVERTISEMENT_PART_H

#include "tendon/host/advertisement.h"

/** As tendon_ad_find(). */
bool tendon_ad_find_part(const uint8_t *data, size_t length, uint8_t type, tendon_reader *value);

/** As tendon_ad_find_name(). @return the type, or 0. */
uint8_t tendon_ad_find_name_part(const uint8_t *data, size_t length, tendon_reader *value);

#endif
