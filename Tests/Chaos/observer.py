# SPDX-License-Identifier: MIT
"""A subscriber of MQTT 3.1.1 that sees everything that a broker publishes. It subscribes with QoS 0 and sends nothing
afterwards: what the broker wrote to it before it was killed is still received."""

import socket
import struct
import threading
import time


def text(words):
    return struct.pack(">H", len(words)) + words.encode()


def packet(kind, body):
    length, rest = b"", len(body)
    while True:
        length += bytes([rest % 128 | (0x80 if rest > 127 else 0)])
        rest //= 128
        if rest == 0:
            return bytes([kind]) + length + body


def connection(host, port, name, patience=10):
    end = time.monotonic() + patience
    while True:
        try:
            stream = socket.create_connection((host, port), timeout=patience)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.005)
    stream.sendall(packet(0x10, text("MQTT") + bytes([4, 2, 0, 0]) + text(name)))
    return stream


def publish(host, port, topic, payload):
    """One message of QoS 0, not retained."""
    with connection(host, port, "publisher") as stream:
        Packets(stream).next()
        stream.sendall(packet(0x30, text(topic) + payload.encode()) + packet(0xE0, b""))


class Packets:
    """What comes from a broker, packet by packet."""

    def __init__(self, stream):
        self.stream, self.buffer = stream, b""

    def next(self):
        """Kind and body; nil: the connection ended."""
        while True:
            found = self.split()
            if found:
                return found
            try:
                more = self.stream.recv(1 << 16)
            except OSError:
                return None
            if not more:
                return None
            self.buffer += more

    def split(self):
        length = shift = 0
        for index in range(1, min(len(self.buffer), 5)):
            length |= (self.buffer[index] & 0x7F) << shift
            shift += 7
            if self.buffer[index] < 0x80:
                end = index + 1 + length
                if len(self.buffer) < end:
                    return None
                kind, body = self.buffer[0], self.buffer[index + 1:end]
                self.buffer = self.buffer[end:]
                return kind, body
        return None


class Observer:
    """`messages`: (topic, payload, is retained, time of arrival), over all connections."""

    def __init__(self, host, port, topics=("#",)):
        self.host, self.port, self.topics = host, port, topics
        self.messages = []
        self.thread = None
        self.stream = None

    def attach(self):
        """Returns when the broker has taken the subscription."""
        self.stream = connection(self.host, self.port, "observer")
        packets = Packets(self.stream)
        body = struct.pack(">H", 1) + b"".join(text(topic) + b"\0" for topic in self.topics)
        self.stream.sendall(packet(0x82, body))
        while True:
            found = packets.next()
            if found is None:
                raise OSError("the broker closed the connection of the observer")
            if found[0] == 0x90:
                break
            self.take(*found)
        self.stream.settimeout(None)
        self.thread = threading.Thread(target=self.read, args=(packets,), daemon=True)
        self.thread.start()

    def take(self, kind, body):
        if kind & 0xF0 == 0x30:
            length = struct.unpack_from(">H", body)[0]
            topic, payload = body[2:2 + length].decode(), body[2 + length:]
            self.messages.append((topic, payload, bool(kind & 1), time.time()))

    def read(self, packets):
        while True:
            found = packets.next()
            if found is None:
                return
            self.take(*found)

    def drain(self):
        """After the broker was killed: returns when everything is read that it had written."""
        self.thread.join(10)
        self.stream.close()
