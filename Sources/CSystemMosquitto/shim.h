/* SPDX-License-Identifier: MIT */
/* libmosquitto for Swift: constants that are macros with casts or enumerations with other names. */
#ifndef TENDON_CSYSTEMMOSQUITTO_H
#define TENDON_CSYSTEMMOSQUITTO_H

#include <mosquitto.h>
#include <mqtt_protocol.h>

#endif
