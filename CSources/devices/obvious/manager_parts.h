/* SPDX-License-Identifier: MIT */
/* Inside the Obvious manager. Each file calls those above it in this header; above all of them is manager.c: the table
 * of states, and what moves it. */
#ifndef TENDON_DEVICES_OBVIOUS_MANAGER_PARTS_H
#define TENDON_DEVICES_OBVIOUS_MANAGER_PARTS_H

#include "session_parts.h"
#include "tendon/devices/obvious_manager.h"

/* States. Those up to REJECT send a request when they are entered; BEGIN to RECONNECT are those of a transfer. */
enum {
    S_IDLE = 0,
    S_HELLO,
    S_INFO,
    S_FW_STATE,
    S_NONCE,
    S_STATUS,
    S_TOGGLE,
    S_COUNTER,
    S_REBOOT,
    S_ACTIVATE,
    S_SELF_TEST,
    S_CONFIRM,
    S_REJECT,
    S_ABORT,
    S_BEGIN,
    S_DATA,
    S_END,
    S_GREET,   /* HELLO after a lost answer to XFER_END */
    S_QUERY,   /* XFER_STATUS */
    S_RESTART, /* XFER_ABORT, then from the beginning */
    S_PREFIX,  /* sums what the device has */
    S_BACKOFF,
    S_RECONNECT,
    S_START,
    S_CONNECT,
    S_FETCH,
    S_PROVISION,
    S_OFFER,
    S_DOWNLOAD,
    S_RESETTING, /* waits for the device to disconnect */
    S_DOWN,
    S_DROP,   /* disconnects */
    S_REJOIN, /* a pause before the next attempt */
    S_JOINING,
    S_COUNT
};

/* Inputs. I_ALT to I_THIRD: other good results of a state. */
enum {
    I_OK = 0,
    I_ALT,
    I_SECOND,
    I_THIRD,
    I_FAIL,
    I_TIMEOUT, /* no response to a request */
    I_OPEN,    /* the session is open */
    I_UNUSABLE,
    I_CLOSED,
    I_TIMER,
    I_LIMIT,
    I_CANCEL,
    I_ANSWER, /* of the cloud: the answer kinds follow each other */
    I_COUNT = I_ANSWER + TENDON_OBVIOUS_ANSWER_COUNT,
    I_NONE = 0xFF
};

/* manager_report.c */
/* Notes the first cause of a failure. @return I_FAIL. */
uint8_t tendon_obvious_manager_fail(tendon_obvious_manager *manager, tendon_status status);
/* The same with a code of this family. */
uint8_t tendon_obvious_manager_reject(tendon_obvious_manager *manager, unsigned code);
void tendon_obvious_manager_tell(tendon_obvious_manager *manager, tendon_obvious_event_kind kind, int code);
void tendon_obvious_manager_progress(tendon_obvious_manager *manager, int8_t percent);
tendon_status tendon_obvious_manager_store(tendon_obvious_manager *manager, uint8_t state);
/* Reads the object that is transferred. */
tendon_status tendon_obvious_manager_read(tendon_obvious_manager *manager, uint32_t offset, uint8_t *out,
                                          size_t length);

/* manager_judge.c: evaluates what arrived in the present state, and returns the input for the table. */
uint8_t tendon_obvious_manager_judge(tendon_obvious_manager *manager, const tendon_obvious_payload *payload);
uint8_t tendon_obvious_manager_judge_error(tendon_obvious_manager *manager, const tendon_obvious_response *response);
uint8_t tendon_obvious_manager_judge_prefix(tendon_obvious_manager *manager);
uint8_t tendon_obvious_manager_judge_open(tendon_obvious_manager *manager);
uint8_t tendon_obvious_manager_judge_answer(tendon_obvious_manager *manager);

/* manager_steps.c */
/* The work of a state that was entered. Returns an input that it causes, or I_NONE. */
uint8_t tendon_obvious_manager_enter(tendon_obvious_manager *manager);

#endif
