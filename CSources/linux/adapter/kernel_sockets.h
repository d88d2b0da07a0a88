/* SPDX-License-Identifier: MIT */
/*
 * The kernel's Bluetooth sockets, described here so that a build needs no libbluetooth (Meson: -Dbluez=kernel; SwiftPM:
 * trait KernelSockets). Only what this folder uses. Names and layouts are the kernel's binary interface
 * (include/net/bluetooth/bluetooth.h, hci_sock.h and l2cap.h of Linux); the names are those that every program for
 * these sockets uses. test_kernel_sockets.c compares all of it with libbluetooth's headers.
 */
#ifndef TENDON_KERNEL_SOCKETS_H
#define TENDON_KERNEL_SOCKETS_H

#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#ifndef AF_BLUETOOTH
#define AF_BLUETOOTH 31
#endif

/** Protocols of AF_BLUETOOTH. */
enum { BTPROTO_L2CAP = 0, BTPROTO_HCI = 1 };

/** Levels of setsockopt() and getsockopt(). */
#define SOL_HCI 0
#define SOL_L2CAP 6
#ifndef SOL_BLUETOOTH
#define SOL_BLUETOOTH 274
#endif

/** A device address, least significant byte first. */
typedef struct {
    uint8_t b[6];
} __attribute__((packed)) bdaddr_t;

/** Types of it in sockaddr_l2. */
#define BDADDR_LE_PUBLIC 0x01
#define BDADDR_LE_RANDOM 0x02

/** Numbers on the wire are little endian. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define htobs(value) ((uint16_t)(value))
#else
#define htobs(value) __builtin_bswap16((uint16_t)(value))
#endif
#define btohs(value) htobs(value)

/** Option of SOL_BLUETOOTH: the security of a link. */
#define BT_SECURITY 4
struct bt_security {
    uint8_t level;
    uint8_t key_size;
};
#define BT_SECURITY_SDP 0
#define BT_SECURITY_LOW 1
#define BT_SECURITY_MEDIUM 2 /* encrypted */
#define BT_SECURITY_HIGH 3   /* encrypted with an authenticated key */

/* HCI sockets. */

struct sockaddr_hci {
    sa_family_t hci_family;
    unsigned short hci_dev;
    unsigned short hci_channel;
};
#define HCI_DEV_NONE 0xFFFF
#define HCI_CHANNEL_RAW 0
#define HCI_CHANNEL_MONITOR 2
#define HCI_CHANNEL_CONTROL 3 /* the management interface */

/** The first byte of a packet. */
#define HCI_COMMAND_PKT 0x01
#define HCI_ACLDATA_PKT 0x02
#define HCI_EVENT_PKT 0x04

/** An opcode: a group of 6 bits, a command of 10 (Core Spec Vol 4 Part E 5.4.1). */
#define cmd_opcode_pack(ogf, ocf) ((uint16_t)(((ocf)&0x03FF) | ((ogf) << 10)))
#define cmd_opcode_ogf(opcode) ((opcode) >> 10)
#define cmd_opcode_ocf(opcode) ((opcode)&0x03FF)

/** Option of SOL_HCI: which packets a socket receives; one bit for each kind and each event. */
#define HCI_FILTER 2
struct hci_filter {
    uint32_t type_mask;
    uint32_t event_mask[2];
    uint16_t opcode;
};

static inline void hci_filter_clear(struct hci_filter *filter) {
    memset(filter, 0, sizeof *filter);
}

static inline void hci_filter_set_ptype(int kind, struct hci_filter *filter) {
    filter->type_mask |= UINT32_C(1) << (kind & 31);
}

static inline void hci_filter_set_event(int event, struct hci_filter *filter) {
    filter->event_mask[(event & 63) / 32] |= UINT32_C(1) << (event & 31);
}

struct hci_dev_stats {
    uint32_t err_rx, err_tx, cmd_tx, evt_rx, acl_tx, acl_rx, sco_tx, sco_rx, byte_rx, byte_tx;
};

struct hci_dev_info {
    uint16_t dev_id;
    char name[8];
    bdaddr_t bdaddr;
    uint32_t flags;
    uint8_t type;
    uint8_t features[8];
    uint32_t pkt_type;
    uint32_t link_policy;
    uint32_t link_mode;
    uint16_t acl_mtu;
    uint16_t acl_pkts;
    uint16_t sco_mtu;
    uint16_t sco_pkts;
    struct hci_dev_stats stat;
};

struct hci_conn_info {
    uint16_t handle;
    bdaddr_t bdaddr;
    uint8_t type;
    uint8_t out;
    uint16_t state;
    uint32_t link_mode; /* HCI_LM_... */
};
#define HCI_LM_ENCRYPT 0x0004

struct hci_conn_info_req {
    bdaddr_t bdaddr;
    uint8_t type;
    struct hci_conn_info conn_info[];
};

#define HCIDEVDOWN _IOW('H', 202, int)
#define HCIDEVRESTAT _IOW('H', 204, int)
#define HCIGETDEVINFO _IOR('H', 211, int)
#define HCIGETCONNINFO _IOR('H', 213, int)

/* L2CAP sockets. */

struct sockaddr_l2 {
    sa_family_t l2_family;
    unsigned short l2_psm;
    bdaddr_t l2_bdaddr;
    unsigned short l2_cid;
    uint8_t l2_bdaddr_type;
};

/** Option of SOL_L2CAP: the handle of the connection. */
#define L2CAP_CONNINFO 2
struct l2cap_conninfo {
    uint16_t hci_handle;
    uint8_t dev_class[3];
};

/* Two calls under the names that libbluetooth has for them; a program may link both. */
#define hci_devinfo tendon_kernel_devinfo
#define hci_send_cmd tendon_kernel_send_command

/** Fills *info. Returns 0, or -1 with errno: ENODEV: there is no such adapter. */
int hci_devinfo(int index, struct hci_dev_info *info);
/** Sends a command with @p length bytes of parameters. Returns 0, or -1 with errno. */
int hci_send_cmd(int fd, uint16_t ogf, uint16_t ocf, uint8_t length, void *parameters);

#endif
