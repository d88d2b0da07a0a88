/* SPDX-License-Identifier: MIT */
/* Numbers of the kernel's Bluetooth sockets that the library uses, by one set of headers; see test_kernel_sockets.c. */
#ifndef TENDON_TEST_SOCKET_ABI_H
#define TENDON_TEST_SOCKET_ABI_H

#include <stddef.h>

typedef struct socket_number {
    const char *name;
    unsigned long value;
} socket_number;

/** By libbluetooth's headers, and by ours; the same rows in the same order. */
extern const socket_number library_numbers[], own_numbers[];
extern const size_t library_count, own_count;

#define NUMBER(value)                                                                                                  \
    { #value, (unsigned long)(value) }
#define SIZE(type)                                                                                                     \
    { "sizeof " #type, sizeof(type) }
#define OFFSET(type, member)                                                                                           \
    { #type "." #member, offsetof(type, member) }
#define MEMBER(type, member)                                                                                           \
    OFFSET(type, member), {                                                                                            \
        "sizeof " #type "." #member, sizeof(((type *)NULL)->member)                                                    \
    }

#define SOCKET_NUMBERS                                                                                                 \
    NUMBER(AF_BLUETOOTH), NUMBER(BTPROTO_L2CAP), NUMBER(BTPROTO_HCI), NUMBER(SOL_HCI), NUMBER(SOL_L2CAP),              \
        NUMBER(SOL_BLUETOOTH), SIZE(bdaddr_t), NUMBER(BDADDR_LE_PUBLIC), NUMBER(BDADDR_LE_RANDOM),                     \
        NUMBER(htobs(0x1234)), NUMBER(btohs(0x1234)), NUMBER(BT_SECURITY), NUMBER(BT_SECURITY_SDP),                    \
        NUMBER(BT_SECURITY_LOW), NUMBER(BT_SECURITY_MEDIUM), NUMBER(BT_SECURITY_HIGH), SIZE(struct bt_security),       \
        MEMBER(struct bt_security, level), MEMBER(struct bt_security, key_size), SIZE(struct sockaddr_hci),            \
        MEMBER(struct sockaddr_hci, hci_family), MEMBER(struct sockaddr_hci, hci_dev),                                 \
        MEMBER(struct sockaddr_hci, hci_channel), NUMBER(HCI_DEV_NONE), NUMBER(HCI_CHANNEL_RAW),                       \
        NUMBER(HCI_CHANNEL_MONITOR), NUMBER(HCI_CHANNEL_CONTROL), NUMBER(HCI_COMMAND_PKT), NUMBER(HCI_ACLDATA_PKT),    \
        NUMBER(HCI_EVENT_PKT), NUMBER(cmd_opcode_pack(0x08, 0x0039)), NUMBER(cmd_opcode_ogf(0x2039)),                  \
        NUMBER(cmd_opcode_ocf(0x2039)), NUMBER(HCI_FILTER), SIZE(struct hci_filter),                                   \
        MEMBER(struct hci_filter, type_mask), MEMBER(struct hci_filter, event_mask),                                   \
        MEMBER(struct hci_filter, opcode), SIZE(struct hci_dev_info), MEMBER(struct hci_dev_info, dev_id),             \
        MEMBER(struct hci_dev_info, name), MEMBER(struct hci_dev_info, bdaddr), MEMBER(struct hci_dev_info, flags),    \
        MEMBER(struct hci_dev_info, type), MEMBER(struct hci_dev_info, features),                                      \
        MEMBER(struct hci_dev_info, pkt_type), MEMBER(struct hci_dev_info, link_policy),                               \
        MEMBER(struct hci_dev_info, link_mode), MEMBER(struct hci_dev_info, acl_mtu),                                  \
        MEMBER(struct hci_dev_info, acl_pkts), MEMBER(struct hci_dev_info, sco_mtu),                                   \
        MEMBER(struct hci_dev_info, sco_pkts), MEMBER(struct hci_dev_info, stat),                                      \
        MEMBER(struct hci_dev_stats, byte_tx), SIZE(struct hci_conn_info), MEMBER(struct hci_conn_info, handle),       \
        MEMBER(struct hci_conn_info, bdaddr), MEMBER(struct hci_conn_info, type), MEMBER(struct hci_conn_info, out),   \
        MEMBER(struct hci_conn_info, state), MEMBER(struct hci_conn_info, link_mode), NUMBER(HCI_LM_ENCRYPT),          \
        SIZE(struct hci_conn_info_req), MEMBER(struct hci_conn_info_req, bdaddr),                                      \
        MEMBER(struct hci_conn_info_req, type), OFFSET(struct hci_conn_info_req, conn_info), NUMBER(HCIDEVRESTAT),     \
        NUMBER(HCIGETDEVINFO), NUMBER(HCIGETCONNINFO), SIZE(struct sockaddr_l2),                                       \
        MEMBER(struct sockaddr_l2, l2_family), MEMBER(struct sockaddr_l2, l2_psm),                                     \
        MEMBER(struct sockaddr_l2, l2_bdaddr), MEMBER(struct sockaddr_l2, l2_cid),                                     \
        MEMBER(struct sockaddr_l2, l2_bdaddr_type), NUMBER(L2CAP_CONNINFO), SIZE(struct l2cap_conninfo),               \
        MEMBER(struct l2cap_conninfo, hci_handle), MEMBER(struct l2cap_conninfo, dev_class)

/** The bits of a filter for the packet kinds 0 to 31 and the events 0 to 63, each alone. */
typedef struct filter_bits {
    unsigned type_mask, event_mask[2], opcode;
} filter_bits;
void library_filter(int kind, int event, filter_bits *bits);
void own_filter(int kind, int event, filter_bits *bits);

#define DEFINE_FILTER(name)                                                                                            \
    void name(int kind, int event, filter_bits *bits) {                                                                \
        struct hci_filter filter;                                                                                      \
        memset(&filter, 0xA5, sizeof filter);                                                                          \
        hci_filter_clear(&filter);                                                                                     \
        hci_filter_set_ptype(kind, &filter);                                                                           \
        hci_filter_set_event(event, &filter);                                                                          \
        bits->type_mask = filter.type_mask;                                                                            \
        bits->event_mask[0] = filter.event_mask[0];                                                                    \
        bits->event_mask[1] = filter.event_mask[1];                                                                    \
        bits->opcode = filter.opcode;                                                                                  \
    }

#endif
