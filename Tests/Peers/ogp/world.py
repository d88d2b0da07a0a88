# SPDX-License-Identifier: MIT
"""A client and a device with the air between them, under simulated time."""

import heapq
import itertools

from .air import Air
from .client import Client
from .device import Device

FLIGHT_MS, CONNECT_MS = 8, 50


class ClientHost:
    def __init__(self, world):
        self.world = world

    def write(self, segment):
        return self.world.carry(self.world.up, segment, "device")

    def connect(self):
        self.world.connect()

    def disconnect(self):
        self.world.after(0, self.world.end_connection)

    def read_status(self):
        self.world.after(FLIGHT_MS, self.world.give_status)


class DeviceHost:
    def __init__(self, world):
        self.world = world

    def write(self, segment):
        return self.world.carry(self.world.down, segment, "client")

    def drop(self):
        self.world.after(0, self.world.end_connection)


class World:
    def __init__(self, mtu=185, up=None, down=None, seed=0, device=None, make_device=None, **options):
        self.now = 0
        self.mtu = mtu
        self.up, self.down = Air(up, f"{seed} up"), Air(down, f"{seed} down")
        self.events, self.order = [], itertools.count()
        self.connection = 0  # its number while one is open
        self.connections = 0
        self.connecting = False
        self.dead = False  # the device does not advertise at all
        self.client = Client(ClientHost(self), **options)
        host = DeviceHost(self)
        self.device = make_device(host) if make_device else Device(host, seed=seed, **(device or {}))

    def after(self, delay, act, *arguments):
        heapq.heappush(self.events, (self.now + delay, next(self.order), act, arguments))

    # --- the connection

    def connect(self):
        if not self.connecting:
            self.connecting = True
            self.after(CONNECT_MS, self._try_connect)

    def _try_connect(self):
        if self.dead or not self.device.is_up or self.connection:
            self.after(200, self._try_connect)
            return
        self.connection = self.connections + 1
        self.device.on_connected(self.now, self.mtu)
        if not self.device.connected:  # it is not connectable yet
            self.connection = 0
            self.after(200, self._try_connect)
            return
        self.connecting = False
        self.connections += 1
        self.client.on_connected(self.now, self.mtu)

    def end_connection(self):
        if self.connection:
            self.connection = 0
            if self.device.connected:
                self.device.on_disconnected(self.now)
            self.client.on_disconnected(self.now)

    def carry(self, air, segment, to):
        if not self.connection:
            return False
        for delay, data in air.carry(segment):
            self.after(FLIGHT_MS + delay, self._arrive, self.connection, to, data)
        return True

    def _arrive(self, connection, to, data):
        if connection != self.connection:
            return
        if to == "device":
            self.device.receive(data, self.now)
        else:
            self.client.on_data(data, self.now)

    def give_status(self):
        if self.connection:
            if hasattr(self.device, "read_status"):
                self.device.read_status(self.now)
            self.client.on_status(self.device.status_value(), self.now)

    # --- time

    def step(self):
        due = [at for at in (self.client.deadline(), self.device.deadline()) if at is not None]
        if self.events:
            due.append(self.events[0][0])
        if not due:
            return False
        self.now = max(self.now, min(due))
        while self.events and self.events[0][0] <= self.now:
            _, _, act, arguments = heapq.heappop(self.events)
            act(*arguments)
        self.device.poll(self.now)
        self.client.poll(self.now)
        return True

    def run(self, operation, limit=3_600_000):
        """Runs an operation to its end; false if it has none within `limit` ms."""
        started = self.now
        if not self.client.start(operation, self.now):
            raise RuntimeError("busy")
        while self.client.operation is not None:
            if self.now - started > limit or not self.step():
                return False
        return True

    def idle(self, duration):
        self.after(duration, lambda: None)
        end = self.now + duration
        while self.now < end:
            self.step()
