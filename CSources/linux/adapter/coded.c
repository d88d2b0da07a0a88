/* SPDX-License-Identifier: MIT */
/* Connections on LE Coded: the kernel looks for a device on the PHYs that the adapter is configured for, which do not
 * include LE Coded by default. */
#if defined(TENDON_HAVE_BLUEZ)
#include "adapter.h"

/** LE Coded TX and RX in the PHYs of the management interface (doc/mgmt-api.txt, Get PHY Configuration). */
#define CODED (UINT32_C(1) << 13 | UINT32_C(1) << 14)

/* No response is awaited: without it, only the devices that need LE Coded are out of reach, as before. */
void tendon_bluez_allow_coded(tendon_bluez_radio *radio) {
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_GET_PHYS, NULL, 0);
}

void tendon_bluez_phys_event(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    (void)tendon_read_u32le(&reader); /* supported */
    const uint32_t configurable = tendon_read_u32le(&reader), selected = tendon_read_u32le(&reader);
    const uint32_t wanted = selected | (configurable & CODED);
    if (!tendon_reader_ok(&reader) || event->status != TENDON_MANAGEMENT_SUCCESS || wanted == selected ||
        !radio->scan.parameters.coded) { /* another program's, or the radio does not want it any more */
        return;
    }
    uint8_t phys[4];
    tendon_writer writer = tendon_writer_make(phys, sizeof phys);
    tendon_write_u32le(&writer, wanted);
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_SET_PHYS, phys, sizeof phys);
}

#else
typedef int tendon_bluez_coded_nothing; /* ISO C requires a declaration in every file */
#endif
