/* SPDX-License-Identifier: MIT */
/*
 * An attribute table that changes while a central is connected, between the central and any simulated device: all
 * handles of the device move up, its Database Hash changes, and the client is change-unaware until it has noticed
 * (Core Spec Vol 3 Part G 2.5.2.1). The device itself keeps its handles. One request may be outstanding.
 */
#ifndef MOVED_TABLE_H
#define MOVED_TABLE_H

#include "tendon/host.h"

typedef struct moved_table {
    uint16_t by;  /**< handles below this and 1 belong to no attribute; 0: only the hash changes */
    bool changed; /**< the hash is another one */
    bool unaware;
    bool noticing;  /**< Database Out Of Sync or the new hash was sent: the next request makes the client aware */
    uint8_t opcode; /**< of the outstanding request */
    uint16_t type;  /**< of a Read By Type Request; 0: 128 bits */
    uint16_t refused_handle;
    unsigned refused, discarded, withheld; /**< requests, commands, and values of a client that was unaware */
} moved_table;

/** The table changes now. */
void moved_table_change(moved_table *table, uint16_t by);

/**
 * A PDU of the central.
 * @param answer five bytes, for the Error Response that the server sends instead.
 * @return 1: the device receives the PDU; 0: nobody does; 5: the length of the answer.
 */
size_t moved_table_receive(moved_table *table, uint8_t *pdu, size_t length, uint8_t *answer);
/** A PDU of the device. @return false if it is not sent. */
bool moved_table_send(moved_table *table, uint8_t *pdu, size_t length);

#endif
