/* SPDX-License-Identifier: MIT */
/*
 * Inside of the feelSpace session. One operation is outstanding at a time: keep-alive responses first, then the steps
 * of an opening or the commands. Each file calls those above it in this header; above all of them are
 * session_commands.c (what the program requests) and session.c (inputs and states).
 */
#ifndef TENDON_DEVICES_FEELSPACE_SESSION_PARTS_H
#define TENDON_DEVICES_FEELSPACE_SESSION_PARTS_H

#include "codec_parts.h"
#include "tendon/devices/feelspace_session.h"

/* Index of a characteristic, by service. */
enum {
    FS_FIRMWARE,
    FS_KEEP_ALIVE,
    FS_VIBRATION,
    FS_BUTTON,
    FS_REQUEST,
    FS_PARAMETER,
    FS_BUZZER,
    FS_BATTERY,
    FS_ORIENTATION, /* sensor service */
    FS_DEBUG_INPUT, /* debug service */
    FS_DEBUG_OUTPUT
};

/* The outstanding operation. */
enum {
    FS_IDLE = 0,
    FS_OPENING = 1 | TENDON_OPERATION_UNLIMITED, /* pairing may be in progress, which has its own timeout */
    FS_ANSWERING = 2,
    FS_PATCHING,
    FS_COMMANDING
};

/* Steps of an opening, in order. FS_STEP_WAIT: for an old link to go down. */
enum { FS_STEP_WAIT, FS_STEP_LINK, FS_STEP_PROFILE, FS_STEP_PAIR, FS_STEP_ENABLE };

/* Kinds of slots: the operation that they start, or the one that enables notifications. */
enum {
    FS_WRITE = TENDON_OPERATION_WRITE,
    FS_READ = TENDON_OPERATION_READ,
    FS_DISABLE = TENDON_OPERATION_UNSUBSCRIBE,
    FS_ENABLE = 0xFF
};

/* Flags of slots. */
enum {
    FS_OURS = 0x01,     /* of the session itself: no event */
    FS_REQUIRED = 0x02, /* its failure ends the handshake */
    FS_WAITING = 0x04,  /* written, waiting for the response */
    FS_ANSWERED = 0x08, /* while still outstanding */
    FS_PERIOD = 0x10    /* a new orientation period, between notifications off and on again */
};

/* The check of the patch, before all commands: work.patching. */
enum { FS_PATCH_DONE, FS_PATCH_ASK, FS_PATCH_WAIT, FS_PATCH_WRITE };

/* @p span after @p now; UINT64_MAX (never) if that is beyond the end of time. */
static inline uint64_t feelspace_after(uint64_t now, uint64_t span) {
    return span < UINT64_MAX - now ? now + span : UINT64_MAX;
}

/* session_state.c */
tendon_feelspace_characteristic tendon_feelspace_uuid(unsigned which);
/* Whether a belt without this characteristic cannot be used. */
bool tendon_feelspace_is_required(unsigned which);
/* An event without members: all of them are 0, so that nothing of the stack leaves in one. */
void tendon_feelspace_event_init(tendon_feelspace_event *event, tendon_feelspace_event_kind kind, tendon_status status);
void tendon_feelspace_emit(tendon_feelspace_session *session, tendon_feelspace_event *event);
void tendon_feelspace_emit_kind(tendon_feelspace_session *session, tendon_feelspace_event_kind kind,
                                tendon_status status);
/* Enters @p state and reports it. */
void tendon_feelspace_go(tendon_feelspace_session *session, tendon_feelspace_state state,
                         tendon_feelspace_connection_event event);
void tendon_feelspace_tell(tendon_feelspace_session *session, tendon_feelspace_state previous,
                           tendon_feelspace_connection_event event, tendon_feelspace_connection_error error,
                           tendon_status status);
void tendon_feelspace_log_end(tendon_feelspace_session *session, tendon_status status);
/* Both start an operation. @p bytes stay until its end. */
void tendon_feelspace_write(tendon_feelspace_session *session, uint8_t operation, unsigned which, const uint8_t *bytes,
                            size_t length);
void tendon_feelspace_subscribe(tendon_feelspace_session *session, uint8_t operation, unsigned which);
tendon_feelspace_connection_error tendon_feelspace_adapter_error(tendon_feelspace_adapter adapter);
tendon_feelspace_connection_error tendon_feelspace_radio_error(tendon_status status);
tendon_feelspace_connection_error tendon_feelspace_why_down(const tendon_feelspace_session *session,
                                                            tendon_status reason);
/* Returns true for ATT errors that do not occur with a bonded device. */
bool tendon_feelspace_is_permission(tendon_status status);

/* session_scan.c */
void tendon_feelspace_scan_end(tendon_feelspace_session *session, tendon_feelspace_scan_cause cause,
                               tendon_feelspace_connection_event event, tendon_feelspace_connection_error error);
/* The adapter has changed during a scan. */
void tendon_feelspace_scan_adapter(tendon_feelspace_session *session, tendon_feelspace_adapter adapter);

/* session_slots.c */
/* NULL: all are in use. */
tendon_feelspace_slot *tendon_feelspace_slot_free(tendon_feelspace_session *session);
/* A command that waits for its turn; NULL: no slot is free. */
tendon_feelspace_slot *tendon_feelspace_slot_fill(tendon_feelspace_session *session, uint8_t kind, uint8_t which,
                                                  uint8_t flags, const uint8_t *bytes, size_t length);
/* The slot that was queued first among those whose @p mask of flags is @p flags, and whose response begins with @p
 * answer, which may be NULL. */
tendon_feelspace_slot *tendon_feelspace_slot_oldest(tendon_feelspace_session *session, unsigned mask, unsigned flags,
                                                    const uint8_t *answer);
void tendon_feelspace_slot_finish(tendon_feelspace_session *session, tendon_feelspace_slot *slot, tendon_status status);
/* The belt sent a response with these first bytes: completes the oldest command that waits for it. */
void tendon_feelspace_slots_answered(tendon_feelspace_session *session, const uint8_t *packet);
/* The front range came while the check of the patch waits for it. */
void tendon_feelspace_patch_answered(tendon_feelspace_session *session, const tendon_feelspace_parameter *parameter);
/* Ends commands that timed out, including the check of the patch. */
void tendon_feelspace_slots_tick(tendon_feelspace_session *session);
uint64_t tendon_feelspace_slots_deadline(const tendon_feelspace_session *session);
void tendon_feelspace_slots_clear(tendon_feelspace_session *session);

/* session_end.c */
void tendon_feelspace_forget_values(tendon_feelspace_session *session);
/* What the end of the current state is called. */
tendon_feelspace_connection_event tendon_feelspace_failure_of(const tendon_feelspace_session *session);
/* Ends the connection or the attempt. @p down: the link is down already. */
void tendon_feelspace_end(tendon_feelspace_session *session, tendon_feelspace_connection_event event,
                          tendon_feelspace_connection_error error, tendon_status status, bool down);
/* Ends the connection with the error of the current state. */
void tendon_feelspace_fail(tendon_feelspace_session *session, tendon_feelspace_connection_error error,
                           tendon_status status);

/* session_open.c */
void tendon_feelspace_opening_begin(tendon_feelspace_session *session);
void tendon_feelspace_discovered(tendon_feelspace_session *session, tendon_status status);
void tendon_feelspace_paired(tendon_feelspace_session *session, tendon_status status);
/* The next notification to enable, then the handshake. */
void tendon_feelspace_opening_pump(tendon_feelspace_session *session);
void tendon_feelspace_enabled(tendon_feelspace_session *session, const tendon_gatt_result *result);
/* HANDSHAKE becomes CONNECTED as soon as mode and intensity are known. */
void tendon_feelspace_handshake_check(tendon_feelspace_session *session);

/* session_notifications.c */
/* @return the status of the decoder. */
tendon_status tendon_feelspace_take(tendon_feelspace_session *session, unsigned which, const uint8_t *data,
                                    size_t length);

/* session_queue.c */
void tendon_feelspace_queue_done(tendon_feelspace_session *session, const tendon_gatt_result *result);
/* What the check of the patch wrote has ended. */
void tendon_feelspace_patch_done(tendon_feelspace_session *session, tendon_status status);
/* Starts the next operation, if there is one and none is outstanding: at the end of each input and call. */
void tendon_feelspace_pump(tendon_feelspace_session *session);

#endif
