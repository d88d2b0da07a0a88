# SPDX-License-Identifier: MIT
"""An adapter on /dev/vhci that is bumble's controller, with what bumble 0.0.236 leaves out."""

import asyncio

from bumble import hci
from bumble.controller import Controller


class VirtualAdapter(Controller):
    """A controller of a link, as an adapter of this machine once it is attached."""

    def __init__(self, link, address):
        super().__init__(f"adapter {address}", link=link, public_address=address)
        # It never sends LE Enhanced Connection Complete, for which Linux 7 waits when there are these (Core Spec Vol 4 Part E
        # 7.7.65.10).
        self.le_features &= ~(hci.LeFeatureMask.LL_PRIVACY | hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
                              | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING)

    def attach(self, transport):
        transport.source.set_packet_sink(self)
        self.set_packet_sink(transport.sink)

    def on_hci_le_create_connection_cancel_command(self, command):
        """bumble's own goes on with the attempt and sends no event, without which the kernel connects to nobody any more
        (Core Spec Vol 4 Part E 7.8.13)."""
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        event = hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR, connection_handle=0, role=hci.Role.CENTRAL,
            peer_address_type=pending.peer_address.address_type, peer_address=pending.peer_address, connection_interval=0,
            peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0)
        asyncio.get_running_loop().call_soon(self.send_hci_packet, event)  # after the end of the command
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)
