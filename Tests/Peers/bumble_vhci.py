# SPDX-License-Identifier: MIT
"""An adapter on /dev/vhci that is bumble's controller, with what bumble 0.0.236 leaves out."""

import asyncio
import errno
import os

from bumble import hci
from bumble.controller import Controller


class Sink:
    """What an adapter sends that is switched off is lost. bumble's own closes /dev/vhci then, and the adapter is gone."""

    def __init__(self, transport):
        self.device = transport.sink.transport.get_extra_info("pipe").fileno()

    def on_packet(self, packet):
        try:
            os.write(self.device, packet)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise


class VirtualAdapter(Controller):
    """A controller of a link, as an adapter of this machine once it is attached."""

    def __init__(self, link, address):
        super().__init__(f"adapter {address}", link=link, public_address=address)
        # It never sends LE Enhanced Connection Complete, for which Linux 7 waits when there are these (Core Spec Vol 4 Part E
        # 7.7.65.10).
        self.le_features &= ~(hci.LeFeatureMask.LL_PRIVACY | hci.LeFeatureMask.LE_EXTENDED_ADVERTISING
                              | hci.LeFeatureMask.LE_PERIODIC_ADVERTISING)
        self.accept_list = set()

    def attach(self, transport):
        transport.source.set_packet_sink(self)
        self.set_packet_sink(Sink(transport))

    def on_hci_command(self, command):
        """bumble's own answers nothing to a command that it does not know the response of, and the kernel, which reads the
        transmit power of connections, waits 2 s and sends nothing meanwhile (Core Spec Vol 4 Part E 4.5)."""
        if isinstance(command, hci.HCI_SyncCommand):
            return super().on_hci_command(command)
        self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)
        return None

    def on_hci_read_transmit_power_level_command(self, command):
        """0 dBm (Core Spec Vol 4 Part E 7.3.35)."""
        self.send_hci_packet(hci.HCI_Command_Complete_Event(
            num_hci_command_packets=1, command_opcode=command.op_code,
            return_parameters=hci.HCI_GenericReturnParameters(data=bytes([0, *command.parameters[:2], 0]))))

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

    def on_hci_read_rssi_command(self, command):
        return hci.HCI_Read_RSSI_ReturnParameters(hci.HCI_ErrorCode.SUCCESS, command.handle, -50)

    # bumble's own answers these commands, and reports everybody to a passive scan with a list as to an active one, with the
    # advertising data as the scan response (Core Spec Vol 4 Part E 7.8.10, 7.8.15 to 7.8.17).

    def on_hci_le_clear_filter_accept_list_command(self, _command):
        self.accept_list.clear()
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)

    def on_hci_le_add_device_to_filter_accept_list_command(self, command):
        self.accept_list.add(bytes(command.address))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)

    def on_hci_le_remove_device_from_filter_accept_list_command(self, command):
        self.accept_list.discard(bytes(command.address))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)

    def on_advertising_pdu(self, pdu):
        address = pdu.advertiser_address
        if self.le_scan_enable and (not self.le_scanning_filter_policy & 1 or bytes(address) in self.accept_list):
            self._report(0, address, pdu.data)
            if self.le_scan_type == 1:
                self._report(4, address, self._scan_response(address))
        if self.pending_le_connection is not None and self.pending_le_connection.peer_address == address:
            self.create_le_connection(address)

    def _scan_response(self, address):
        advertiser = self.link.find_le_controller(address)
        if advertiser is None:
            return b""
        sets = [advertiser.le_legacy_advertiser, *advertiser.advertising_sets.values()]
        return next((bytes(each.scan_response_data) for each in sets if each.scan_response_data), b"")

    def _report(self, kind, address, data):
        self.send_hci_packet(hci.HCI_LE_Advertising_Report_Event([hci.HCI_LE_Advertising_Report_Event.Report(
            event_type=kind, address_type=address.address_type, address=address, data=data, rssi=-50)]))
