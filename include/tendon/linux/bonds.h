/* SPDX-License-Identifier: MIT */
/*
 * Bonds: the keys of pairings, in a file that only its owner can read. Every change is written before the call
 * returns: after a process is killed the file is as it was before the change or after it. Several processes may use
 * one file: each sees the changes of the others at its next look-up (tendon_bonds_refresh()).
 *
 * A change blocks the calling thread for two fsync() calls, and for at most 500 ms if another process holds the lock of
 * the file; then it fails with TENDON_ERROR_BUSY. Look-ups do not write and take no lock.
 */
#ifndef TENDON_LINUX_BONDS_H
#define TENDON_LINUX_BONDS_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of keys. A pairing gives one, or two if the peer is older than Bluetooth 4.2. */
#define TENDON_BONDS_MAX 24
#define TENDON_BONDS_PATH_SIZE 256
/** Bytes of a file of bonds before its keys, and the most that a key takes. */
#define TENDON_BONDS_HEADER_SIZE 16u
#define TENDON_BOND_RECORD_MAX 62u

/** Radio that created a key. A key cannot be used on the other radio. */
typedef enum tendon_bond_radio { TENDON_BOND_KERNEL = 0, TENDON_BOND_VIRTUAL = 1 } tendon_bond_radio;

/** One long term key, as the management interface of the kernel describes it. */
typedef struct tendon_bond {
    uint8_t radio;  /**< tendon_bond_radio */
    bool initiator; /**< key for connections that this side started; Secure Connections keys are for both directions */
    uint8_t type;   /**< 0 unauthenticated, 1 authenticated, 2 and 3 the same of Secure Connections, 4 debug key */
    uint8_t key_size;   /**< 7 to 16 */
    tendon_address own; /**< of the local adapter; all zero for virtual centrals, whose addresses change */
    tendon_address peer;
    uint16_t diversifier;
    uint8_t random[8];
    uint8_t key[16];
    bool has_identity_key;
    uint8_t identity_key[16]; /**< Identity Resolving Key: resolves the private addresses of the peer */
} tendon_bond;

/**
 * Returns true if a passkey was entered or compared: no device between the two can have
 * paired with both (Core Specification, Vol 3 Part H 2.3.5.1). False for keys of an unknown type.
 */
bool tendon_bond_is_authenticated(const tendon_bond *bond);
/**
 * Returns true if the key was made with LE Secure Connections: a listener to the pairing cannot compute it. False for a
 * debug key, whose private half is published (2.3.5.6.1), and for keys of an unknown type.
 */
bool tendon_bond_is_secure(const tendon_bond *bond);

/**
 * Returns true if the identity key of the bond resolves this address: a resolvable private address whose hash was made
 * with the key (Core Specification, Vol 6 Part B 1.3.2.3). False for other addresses, and for a bond without such a
 * key.
 */
bool tendon_bond_resolves(const tendon_bond *bond, const tendon_address *address);

/** The identity of a peer, as a pairing with it reveals it. */
typedef struct tendon_bond_identity {
    bool stored;                    /**< the kernel requests to store the key */
    tendon_address private_address; /**< in use now; all zero if the peer uses its identity address */
    tendon_address address;         /**< identity address */
    uint8_t key[16];
} tendon_bond_identity;

/** The file as it was read last. Opaque. */
typedef struct tendon_bonds_version {
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds; /**< of the last modification */
} tendon_bonds_version;

/** The caller's memory. */
typedef struct tendon_bonds {
    char path[TENDON_BONDS_PATH_SIZE]; /**< empty: only in memory */
    /**
     * Status of the file. If it is negative, every change is rejected with it, so that no key is lost. It is the result
     * of the latest reading: a file that was repaired is used again. An error of the system (no descriptor, no memory)
     * is returned by the call in which it occurred and changes neither this member nor the keys.
     */
    tendon_status status;
    tendon_bond items[TENDON_BONDS_MAX];
    size_t count;
    tendon_bonds_version version; /**< all 0: there was no file */
    uint32_t changes;             /**< increases when the items may have changed */
} tendon_bonds;

/** Prepares a store that keeps bonds only in memory. */
void tendon_bonds_init(tendon_bonds *bonds);
/**
 * Reads a file if it exists; it is created with the first bond.
 * @param path NULL: $XDG_STATE_HOME/tendon/bonds, else $HOME/.local/state/tendon/bonds, else /var/lib/tendon/bonds.
 * @return TENDON_OK, or (kept in bonds->status, the store is empty then) TENDON_ERROR_MALFORMED, _TRUNCATED,
 * _TABLE_FULL or _UNSUPPORTED: not a file of this version; TENDON_ERROR_FILE_PERMISSION: it belongs to another user, or
 * other users may access it; TENDON_ERROR_OVERFLOW: path too long; TENDON_SYSTEM_ERROR(errno).
 */
tendon_status tendon_bonds_open(tendon_bonds *bonds, const char *path);
/**
 * Reads the file again if it was changed since it was read (one stat() if it was not). The radio calls this before
 * each look-up.
 * @return TENDON_OK, or an error as of tendon_bonds_open(); the keys that were read before stay then.
 */
tendon_status tendon_bonds_refresh(tendon_bonds *bonds);

/**
 * Keeps a key; one with the same radio, addresses and role is replaced. A key of LE Secure Connections is for both
 * roles: it replaces all keys of LE Legacy Pairing with the same radio and addresses.
 * If no entry is free, it replaces the oldest key of a device on the virtual radio.
 * @return TENDON_OK; TENDON_RADIO_ERROR_BONDS_FULL: there is none; TENDON_ERROR_BUSY: another process holds the
 * lock; bonds->status if the file is not valid; another error of the file. After an error nothing is changed.
 */
tendon_status tendon_bonds_store(tendon_bonds *bonds, const tendon_bond *bond);
/** Whether the key of a further peer can be kept. */
bool tendon_bonds_have_room(const tendon_bonds *bonds);
/**
 * Returns TENDON_OK if the file can be changed, as far as this can be known before: with its folder, its lock, its
 * content and the space on its disk; else the error that tendon_bonds_store() would return. For the space it writes a
 * file of the largest size next to this one, synchronizes it to the disk, and removes it: once before each pairing.
 */
tendon_status tendon_bonds_may_change(tendon_bonds *bonds);
/**
 * The same; if no entry is free, it replaces the oldest key of the same radio, own address and role for which
 * @p in_use returns false, else as above.
 */
tendon_status tendon_bonds_store_replacing(tendon_bonds *bonds, const tendon_bond *bond,
                                           bool (*in_use)(void *context, const tendon_bond *bond), void *context);
/**
 * Removes the keys of a peer; of all peers if it is NULL.
 * @return the number of removed keys; an error as of tendon_bonds_store(), after which nothing is changed.
 */
tendon_status tendon_bonds_remove(tendon_bonds *bonds, tendon_bond_radio radio, const tendon_address *own,
                                  const tendon_address *peer);
/** Returns the newest key of this peer (address and address type) as it was last read; NULL if the store has none. */
const tendon_bond *tendon_bonds_find(const tendon_bonds *bonds, tendon_bond_radio radio, const tendon_address *own,
                                     const tendon_address *peer);

/* Codec of the file and of the kernel's key lists. */

/**
 * Encodes the whole file of @p count keys: 16 + 46 * count bytes (version 1), or 16 + 62 * count bytes if one of them
 * has an identity key (version 2).
 * @return the length; TENDON_ERROR_INVALID_ARGUMENT (a key size outside 7 to 16), _BUFFER_TOO_SMALL, _OVERFLOW.
 */
tendon_status tendon_bonds_encode(const tendon_bond *items, size_t count, uint8_t *out, size_t capacity);
/**
 * Decodes a whole file of version 1 or 2.
 * @return the number of keys; TENDON_ERROR_TRUNCATED, _MALFORMED (also a key size outside 7 to 16), _TABLE_FULL,
 * _UNSUPPORTED (version): then @p items is unchanged, and *offset (unless @p offset is NULL) is where the fault is.
 */
tendon_status tendon_bonds_decode(const uint8_t *bytes, size_t length, tendon_bond *items, size_t capacity,
                                  size_t *offset);
/** Decodes the parameters of the management event New Long Term Key. @param stored true if the kernel requests to store
 * the key. */
tendon_status tendon_bond_decode_key(const uint8_t *parameters, size_t length, tendon_bond *out, bool *stored);
/** Decodes the parameters of the management event New Identity Resolving Key. */
tendon_status tendon_bond_decode_identity(const uint8_t *parameters, size_t length, tendon_bond_identity *out);
/**
 * Encodes the parameters of the management command Load Identity Resolving Keys: one for each of the kernel's peers of
 * @p own that has an identity key; 2 + 23 * TENDON_BONDS_MAX bytes at most.
 */
tendon_status tendon_bonds_encode_identities(const tendon_bonds *bonds, const tendon_address *own, uint8_t *out,
                                             size_t capacity);
/** Encodes the parameters of the management command Load Long Term Keys: the kernel's keys of @p own. */
tendon_status tendon_bonds_encode_keys(const tendon_bonds *bonds, const tendon_address *own, uint8_t *out,
                                       size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
