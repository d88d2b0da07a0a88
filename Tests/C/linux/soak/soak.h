/* SPDX-License-Identifier: MIT */
/*
 * Connect, discover, stream, disconnect, again and again: a session and its simulated device on two virtual radios of
 * one process. Each cycle is cut at another PDU, and what it leaves behind is counted.
 */
#ifndef SOAK_H
#define SOAK_H

#include "../link_fixture.h"

#include "tendon/tendon.h"

/** How a cycle ends. */
typedef enum soak_cut {
    SOAK_LOST = 0, /**< the device's PDU vanishes, and its link ends */
    SOAK_HUNG_UP,  /**< the device's PDU is the last one */
    SOAK_CLOSED,   /**< the program closes its session after the PDU, in either direction */
    SOAK_DROPPED,  /**< the link is closed under the session after the PDU */
    SOAK_CUTS
} soak_cut;

typedef struct soak soak;

/** One family. Sessions are made once, and used for all cycles. */
typedef struct soak_family {
    const char *name;
    const tendon_session_inputs *inputs;
    void (*make)(soak *s);                            /**< the session; attached with soak_attach() */
    tendon_peripheral_device (*make_device)(soak *s); /**< before each cycle */
    tendon_simulated_centrals *(*centrals)(soak *s);  /**< those of the device */
    tendon_status (*open)(soak *s, uint64_t now);     /**< starts to connect */
    tendon_status (*stream)(soak *s, uint64_t now);   /**< once ready */
    void (*close)(soak *s, uint64_t now);             /**< as a program would, in any state */
    bool (*is_closed)(const soak *s);                 /**< it could be opened again */
    void (*forget)(soak *s, uint64_t now);            /**< its memory of a bond; may be NULL */
    /** The session's counters tell what became of each of @p count notifications; of all connections. */
    bool (*accounts)(const soak *s, uint64_t count);
    /** The session counts the notifications of this value handle; NULL: of each. */
    bool (*counts)(const soak *s, unsigned handle);
} soak_family;

struct soak {
    const soak_family *family;
    bool paced; /**< the device streams at its own pace and without end; otherwise a few values, as fast as it can */
    char directory[64];
    tendon_loop loop;
    tendon_virtual_radio ours, theirs;
    tendon_bonds our_bonds, their_bonds;
    tendon_connection connection;
    tendon_peripheral peripheral;
    union {
        tendon_bose_session bose;
        tendon_feelspace_session feelspace;
        tendon_fjorden_session fjorden;
        struct {
            tendon_activ5_options options;
            tendon_activ5_device device;
            tendon_activ5_session session;
        } activ5;
        struct {
            tendon_obvious_session session;
            uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(512)];
        } obvious;
    } session;
    void *attached;
    tendon_fjorden_profile profile;
    union {
        tendon_simulated_bose bose;
        tendon_simulated_feelspace feelspace;
        tendon_simulated_activ5 activ5;
        tendon_simulated_fjorden fjorden;
        tendon_simulated_obvious obvious;
    } device;
    /* the present cycle */
    soak_cut cut;
    unsigned at;     /**< PDU at which it is cut */
    unsigned passed; /**< PDUs of the device, or of both ends */
    bool struck, hang_up, writable;
    tendon_bearer_io device_link;
    bool ready;
    unsigned values, ups, ends;
    /* all of them */
    uint64_t rejected; /**< notifications that a counter has together with other values: as events told */
    uint64_t reads;    /**< Read Responses; filled by the test that counts them, as is `surplus` */
    uint64_t surplus;  /**< responses that answered nothing */
    unsigned cycles, completed, longest; /**< longest: PDUs of a completed cycle */
    size_t files, sources;
};

extern const soak_family soak_bose, soak_feelspace, soak_activ5, soak_activ5_legacy, soak_fjorden, soak_obvious;

/** Values that a whole cycle streams. */
#define SOAK_VALUES 3

soak *soak_open(const soak_family *family);
/** One cycle; fails the test when something is left of it. */
void soak_cycle(soak *s, soak_cut cut, unsigned at);
void soak_close(soak *s);

tendon_session_link soak_link(soak *s);
void soak_attach(soak *s, void *session);
/** Open descriptors of this process. */
size_t soak_open_files(void);

#endif
