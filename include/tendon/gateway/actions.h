/* SPDX-License-Identifier: MIT */
/*
 * What devices can do, by name with words as arguments: `mode compass` of a belt, `led blinkFast 500` of a grip. The
 * names, words and mistakes of the rules and of the MQTT commands of `tendon run`.
 *
 * tendon_act_parse() checks an action without a device, tendon_FAMILY_act() starts it on a session, and
 * tendon_FAMILY_acted() finds its end in the session's events.
 */
#ifndef TENDON_GATEWAY_ACTIONS_H
#define TENDON_GATEWAY_ACTIONS_H

#include "tendon/definition.h"
#include "tendon/devices.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most words of an action, with its name: a value of a device file has at most so many arguments. */
#define TENDON_ACT_WORDS (TENDON_DEFINITION_VALUE + 1)

/** A word of an action. */
typedef struct tendon_act_word {
    const char *text; /**< without a terminator */
    size_t length;
} tendon_act_word;

typedef enum tendon_act_kind {
    TENDON_ACT_NONE = 0,
    TENDON_ACT_ACTIV5_TARE,
    TENDON_ACT_ACTIV5_START,
    TENDON_ACT_ACTIV5_STOP,
    TENDON_ACT_FEELSPACE_SIGNAL,
    TENDON_ACT_FEELSPACE_VIBRATE,
    TENDON_ACT_FEELSPACE_MODE,
    TENDON_ACT_FEELSPACE_STOP,
    TENDON_ACT_FJORDEN_LED,
    TENDON_ACT_OBVIOUS_TOGGLE,
    TENDON_ACT_OBVIOUS_FIRMWARE,
    TENDON_ACT_DEFINED /**< of a device file */
} tendon_act_kind;

/** An action of a family, for help texts. */
typedef struct tendon_act_help {
    const char *family, *name;
    const char *arguments; /**< "warning|goal_reached|battery", "FEATURE on|off|flip"; "": it takes none */
    tendon_act_kind kind;
} tendon_act_help;

/** Returns the action at an index of the table of the five families, or NULL beyond the last. Static storage. */
const tendon_act_help *tendon_act_at(size_t index);

/** An action that was checked; the caller's memory. */
typedef struct tendon_act {
    tendon_act_kind kind;
    /** signal, mode, led's mode, toggle's number of the feature, angle of vibrate; firmware: 0 check, 1 upgrade; of a
     * device file the index of the action */
    int32_t number;
    uint32_t detail;                  /**< led: milliseconds, 0: until the next; toggle: 0 flip, 1 on, 2 off */
    const tendon_definition *defined; /**< borrowed */
    uint8_t length;                   /**< of a device file: of its bytes */
    uint8_t bytes[TENDON_DEFINITION_VALUE];
    /** Of toggle, while it is performed: what the device has reported, after success. */
    tendon_obvious_feature feature;
} tendon_act;

/** Why words are no action. */
typedef struct tendon_act_mistake {
    size_t word;    /**< index of the first wrong one; 0 is the name. @p count: one is missing */
    char text[200]; /**< a sentence without its end, with a terminator; what was typed is safe for a terminal */
} tendon_act_mistake;

/**
 * Parses an action of a family.
 * @param family "bose" ...; @p definition the device file with that name, or NULL if it is one of the five.
 * @param words the name of the action, then its arguments; borrowed.
 * @return TENDON_OK; TENDON_ERROR_NOT_FOUND: the family has no such action; TENDON_ERROR_INVALID_ARGUMENT. Both set
 *   *mistake, which may not be NULL.
 */
tendon_status tendon_act_parse(const char *family, const tendon_definition *definition, const tendon_act_word *words,
                               size_t count, tendon_act *out, tendon_act_mistake *mistake);
/**
 * The same of one text, whose words are separated by spaces and tabs. A word that begins with a quotation mark ends
 * with the next one, and can have spaces or no characters: "HELLO \"WORLD\"\n". A backslash in it is before a quotation
 * mark, a backslash, or n, r, t for a newline, a carriage return, a tab.
 */
tendon_status tendon_act_parse_text(const char *family, const tendon_definition *definition, const char *text,
                                    size_t length, tendon_act *out, tendon_act_mistake *mistake);
/** Returns the most bytes that a text or bytes of an action of a device file can have beside its other fields.
 * @param field of the layout of the action. */
size_t tendon_act_most(const tendon_definition *definition, size_t action, const tendon_field *field);
/**
 * Reads a word in quotation marks at the beginning of a text.
 * @param out set to what is in them, which has fewer bytes than the text. @param out_length set to its length.
 * @return the length with its quotation marks; 0: there is none that ends with one, or it has an escape that words do
 * not have, and *out is not defined.
 */
size_t tendon_act_unquote(const char *text, size_t length, char *out, size_t *out_length);
/** Writes a word as tendon_act_parse_text() reads it, in quotation marks if it would not be one word otherwise.
 * @param out 2 * @p length + 2 bytes; without a terminator. @return what it has of them. */
size_t tendon_act_quote(const char *word, size_t length, char *out);
/** Finds the first word behind a place, with its quotation marks; its length is 0 if there is none. @return the place
 * behind it. */
size_t tendon_act_next_word(const char *text, size_t length, size_t at, tendon_act_word *out);

/** An action that is being performed. The caller's memory; zeros while there is none. Private. */
typedef struct tendon_act_progress {
    bool is_starting;
    bool was_ignored;      /**< feelSpace: the belt ignores the command in its mode */
    uint8_t kind;          /**< tendon_act_kind */
    uint8_t step;          /**< feelSpace stop: to app mode, stop, back to the mode before */
    uint8_t before;        /**< mode of the belt */
    uint32_t number;       /**< of the command that is in progress; Activ5: requests that are still to end */
    tendon_status failure; /**< feelSpace: of a command; the belt gets its mode back all the same */
} tendon_act_progress;

/*
 * Start an action. TENDON_OK: it is in progress, and ..._acted() finds its end, which may come within this call if the
 * session reports an event in it. Or an error: it was not started, or it was not taken. One action at a time for one
 * progress; the caller keeps the others.
 */

/** @param session initialized; its device is connected. */
tendon_status tendon_activ5_act(tendon_activ5_session *session, const tendon_act *act, tendon_act_progress *progress,
                                uint64_t now);
tendon_status tendon_feelspace_act(tendon_feelspace_session *session, const tendon_act *act,
                                   tendon_act_progress *progress, uint64_t now);
tendon_status tendon_fjorden_act(tendon_fjorden_session *session, const tendon_act *act, tendon_act_progress *progress,
                                 uint64_t now);
/** Firmware: its needs are events of the manager, for a program that has a cloud. @param act lent to the manager until
 * the action has ended. */
tendon_status tendon_obvious_act(tendon_obvious_manager *manager, tendon_act *act, tendon_act_progress *progress,
                                 uint64_t now);
tendon_status tendon_defined_act(tendon_defined_session *session, const tendon_act *act, tendon_act_progress *progress,
                                 uint64_t now);

/*
 * Take an event of the session while an action is in progress. Not the end of a connection: after that no event ends an
 * action, and the caller sets the progress to zeros.
 * @return true once, if the action has ended: *status is TENDON_OK or why it failed.
 */

bool tendon_activ5_acted(const tendon_activ5_event *event, tendon_act_progress *progress, tendon_status *status);
/** Sends the next command of an action that has several. */
bool tendon_feelspace_acted(tendon_feelspace_session *session, const tendon_feelspace_event *event,
                            tendon_act_progress *progress, tendon_status *status, uint64_t now);
/** What a grip answers is TENDON_ERROR_UNSUPPORTED, _INVALID_ARGUMENT, _BUSY, or _WRONG_STATE: not permitted now. */
bool tendon_fjorden_acted(const tendon_fjorden_session_event *event, tendon_act_progress *progress,
                          tendon_status *status);
/** TENDON_ERROR_WRONG_STATE: the operation has failed without a status. No newer firmware is no failure of a check. */
bool tendon_obvious_acted(const tendon_obvious_event *event, tendon_act_progress *progress, tendon_status *status);
bool tendon_defined_acted(const tendon_defined_event *event, tendon_act_progress *progress, tendon_status *status);

#ifdef __cplusplus
}
#endif
#endif
