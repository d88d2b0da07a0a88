#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sender, receiver and link of the independent OGP/1: rules one by one, then both ends under faults. Prints TAP lines."""

import heapq
import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tap  # noqa: E402
from ogp import segment as seg  # noqa: E402
from ogp.air import Air, Rates  # noqa: E402
from ogp.frame import Frame  # noqa: E402
from ogp.link import Link  # noqa: E402
from ogp.receiver import Receiver  # noqa: E402
from ogp.sender import Sender  # noqa: E402


def frame(length, fill=0):
    return Frame(0, 1, 0x21, 0, bytes([fill]) * (length - 14)).encode()


class SenderRules(unittest.TestCase):
    """A message of ten segments at MTU 23: 14 bytes, then 16 each."""

    def setUp(self):
        self.sent, self.ends = [], []
        self.answer = True
        self.sender = Sender(self.write, lambda: self.ends.append("done"), lambda: self.ends.append("failed"))

    def write(self, part):
        self.sent.append(part)
        return self.answer

    def indexes(self):
        """What was sent since the last call: (index, ACKREQ)."""
        seen = [(part[2] | part[3] << 8, bool(part[0] & seg.ACKREQ)) for part in self.sent]
        self.sent.clear()
        return seen

    def start(self, now=0):
        self.sender.start(frame(14 + 16 * 9), now)

    def control(self, kind, now, reason=0, following=0, bitmap=0, credit=8, msgseq=0):
        self.sender.control(seg.Control(msgseq, kind, reason, following, bitmap, credit), now)

    def ack(self, now, following, bitmap=0, credit=8):
        self.control(seg.ACK, now, 0, following, bitmap, credit)

    def test_window_before_an_answer(self):
        self.start()
        self.assertEqual(self.indexes(), [(i, i in (3, 7)) for i in range(8)])
        self.ack(10, 8)
        self.assertEqual(self.indexes(), [(8, False), (9, True)])
        self.ack(20, 10)
        self.assertEqual(self.ends, ["done"])

    def test_exactly_the_missing_ones_again(self):
        self.start()
        self.indexes()
        self.ack(10, 2, 0b010111)  # 3, 4, 5 and 7 are there, 2 and 6 are not
        self.assertEqual(self.indexes(), [(2, False), (6, False), (8, False), (9, True)])

    def test_at_most_once_in_200_ms(self):
        self.start()
        self.indexes()
        self.ack(10, 2, 0b11111)
        self.assertEqual(self.indexes(), [(2, False), (8, False), (9, True)])
        self.ack(209, 2, 0b1111111)
        self.assertEqual(self.indexes(), [])
        self.ack(210, 2, 0b1111111)
        self.assertEqual(self.indexes(), [(2, False)])

    def test_back_off_then_failure(self):
        self.start()
        self.indexes()
        now = 0
        for wait in (1000, 2000, 4000, 8000, 16000):
            self.sender.poll(now + wait - 1)
            self.assertEqual(self.indexes(), [])
            now += wait
            self.sender.poll(now)
            self.assertEqual(self.indexes(), [(0, True)])
        self.assertEqual(self.ends, [])
        self.sender.poll(now + 32000)
        self.assertEqual((self.indexes(), self.ends), ([], ["failed"]))

    def test_progress_ends_the_back_off(self):
        self.start()
        self.sender.poll(1000)
        self.sender.poll(3000)
        self.indexes()
        self.ack(3100, 4, 0b111)
        self.indexes()
        self.sender.poll(4099)
        self.assertEqual(self.indexes(), [])
        self.sender.poll(4100)
        self.assertEqual(self.indexes(), [(4, True)])

    def test_dropped_begins_again_three_times(self):
        for reason in (seg.BAD_INDEX, seg.BAD_SIZE, seg.BAD_LEN, seg.CONFLICT, seg.TIMEOUT):
            with self.subTest(reason=reason):
                self.setUp()
                self.start()
                for _ in range(3):
                    self.indexes()
                    self.control(seg.NAK, 10, reason)
                    self.assertEqual(self.indexes(), [(i, i in (3, 7)) for i in range(8)])
                self.control(seg.NAK, 20, reason)
                self.assertEqual((self.indexes(), self.ends), ([], ["failed"]))

    def test_out_of_the_window(self):
        self.start()
        self.ack(5, 2, 0)
        self.indexes()
        self.control(seg.NAK, 10, seg.WINDOW)
        self.sender.poll(109)
        self.assertEqual(self.indexes(), [])
        self.sender.poll(110)
        self.assertEqual([index for index, _ in self.indexes()], list(range(2, 10)))

    def test_refused_frame_takes_a_new_number(self):
        self.start()
        self.assertEqual({part[1] for part in self.sent}, {0})
        for number in (1, 2, 3):
            self.sent.clear()
            self.control(seg.NAK, 10, seg.FRAME, msgseq=number - 1)
            self.assertEqual({part[1] for part in self.sent}, {number})
        self.control(seg.NAK, 20, seg.FRAME, msgseq=3)
        self.assertEqual(self.ends, ["failed"])

    def test_refused_frame_after_its_last_acknowledgement(self):
        self.start()
        self.ack(10, 8)
        self.ack(10, 10)
        self.sent.clear()
        self.control(seg.NAK, 11, seg.FRAME)
        self.assertEqual({part[1] for part in self.sent}, {1})

    def test_busy(self):
        self.start()
        for i in range(10):
            self.indexes()
            self.control(seg.NAK, 1000 * i, seg.BUSY)
            self.sender.poll(1000 * i + 499)
            self.assertEqual(self.indexes(), [])
            self.sender.poll(1000 * i + 500)
            self.assertEqual(len(self.indexes()), 8)
        self.control(seg.NAK, 10000, seg.BUSY)
        self.assertEqual(self.ends, ["failed"])

    def test_other_version(self):
        self.start()
        self.control(seg.NAK, 10, seg.BAD_VERSION)
        self.assertEqual(self.ends, ["failed"])

    def test_no_credit_is_probed_for_30_s(self):
        self.start()
        self.ack(10, 4, 0b111, credit=0)
        self.indexes()
        for second in range(29):
            self.sender.poll(1009 + 1000 * second)
            self.assertEqual(self.indexes(), [])
            self.sender.poll(1010 + 1000 * second)
            self.assertEqual(self.indexes(), [(4, True)])
        self.sender.poll(30010)
        self.assertEqual(self.ends, ["failed"])

    def test_wait_ends_with_credit(self):
        self.start()
        self.control(seg.WAIT, 10)
        self.indexes()
        self.sender.poll(1010)
        self.assertEqual(self.indexes(), [(0, True)])
        self.ack(1020, 8)
        self.assertEqual(self.indexes(), [(8, False), (9, True)])

    def test_small_credit_still_asks_for_answers(self):
        self.start()
        self.ack(10, 8, credit=1)
        self.assertEqual(self.indexes()[8:], [(8, True)])
        self.ack(20, 9, credit=1)
        self.assertEqual(self.indexes(), [(9, True)])

    def test_five_refused_writes(self):
        self.answer = False
        self.start()
        self.assertEqual((len(self.sent), self.ends), (5, ["failed"]))

    def test_answers_about_other_messages(self):
        self.start()
        self.indexes()
        for kind in (seg.ACK, seg.NAK, seg.WAIT):
            self.control(kind, 10, seg.CONFLICT if kind == seg.NAK else 0, following=10, msgseq=9)
        self.ack(10, 9)  # more than was sent
        self.assertEqual((self.indexes(), self.ends), ([], []))

    def test_mtu_of_the_next_message(self):
        self.start()
        self.sender.mtu = 64
        self.sender.poll(1000)
        self.assertEqual(len(self.sent[-1]), 20)
        self.ack(1001, 8)
        self.ack(1001, 10)
        self.sent.clear()
        self.start(1002)
        self.assertEqual([(len(part), part[1]) for part in self.sent], [(61, 1), (61, 1), (50, 1)])


class ReceiverAnswers(unittest.TestCase):
    def setUp(self):
        self.sent = []
        self.receiver = Receiver(lambda data: self.sent.append(seg.Control.decode(data)))
        self.parts = seg.split(frame(14 + 16 * 19), 20, 0, 1000)

    def feed(self, index, now, on=0):
        part = self.parts[index]
        return self.receiver.feed(bytes([part[0] | on]) + part[1:], now)

    def test_after_each_half_window(self):
        for index in range(8):
            self.feed(index, index)
        self.assertEqual([control.next for control in self.sent], [4, 8])

    def test_when_a_hole_appears_at_most_once_in_100_ms(self):
        self.receiver.window = 32
        self.feed(0, 0)
        self.feed(2, 10)
        self.feed(4, 109)
        self.assertEqual([(control.next, control.bitmap) for control in self.sent], [(1, 1)])
        self.feed(6, 110)
        self.assertEqual((self.sent[-1].next, self.sent[-1].bitmap, len(self.sent)), (1, 0b10101, 2))

    def test_on_request(self):
        self.feed(0, 0, seg.ACKREQ)
        self.feed(0, 1, seg.ACKREQ)
        self.assertEqual([control.next for control in self.sent], [1, 1])

    def test_done_again(self):
        part = seg.split(frame(14), 20, 7, 8)[0]
        self.assertIsNotNone(self.receiver.feed(part, 0))
        self.assertIsNone(self.receiver.feed(part, 1))
        self.assertEqual(self.sent, [seg.Control(7, seg.ACK, 0, 1, 0, 8)] * 2)

    def test_a_reason_for_each_drop(self):
        self.feed(0, 0)
        self.receiver.expire(3001)
        self.assertEqual(self.sent, [seg.Control(0, seg.NAK, seg.TIMEOUT, 0, 0, 8)])


class Pair:
    """Two links and the air between them."""

    def __init__(self, seed, rates, mtu, windows, frame_max=4096):
        self.now, self.events, self.count = 0, [], 0
        self.got, self.failures = ([], []), [0, 0]
        self.airs = [Air(rates, f"{seed} {side}") for side in (0, 1)]
        self.links = [Link(lambda part, s=side: self.put(s, part), lambda f, now, s=side: self.got[s].append(f.encode()),
                           lambda now, s=side: self.fail(s)) for side in (0, 1)]
        for side, link in enumerate(self.links):
            link.start(mtu)
            link.limits(frame_max, windows[side], windows[1 - side])

    def fail(self, side):
        self.failures[side] += 1

    def put(self, side, part):
        for delay, data in self.airs[side].carry(part):
            self.count += 1
            heapq.heappush(self.events, (self.now + 8 + delay, self.count, 1 - side, data))
        return True

    def run(self, limit):
        while self.now < limit:
            due = [link.deadline() for link in self.links] + ([self.events[0][0]] if self.events else [])
            due = [at for at in due if at is not None]
            if not due:
                return
            self.now = max(self.now, min(due))
            while self.events and self.events[0][0] <= self.now:
                _, _, side, data = heapq.heappop(self.events)
                self.links[side].receive(data, self.now)
            for link in self.links:
                link.poll(self.now)


class UnderFaults(unittest.TestCase):
    def test_each_message_once_and_whole_or_a_failure(self):
        delivered = failed = 0
        for seed in range(400):
            dice = random.Random(f"pair {seed}")
            rates = Rates(lost=dice.choice((0, 0.05, 0.2, 0.4)), doubled=0.1, late=0.02, reordered=0.15)
            pair = Pair(seed, rates, dice.choice((23, 27, 64, 185, 517)), (dice.choice((1, 4, 8, 32)), dice.choice((2, 8, 32))))
            sent = ([], [])
            for side in (0, 1):
                for number in range(4):
                    data = Frame(0, number + 1, 0x21, 0, dice.randbytes(dice.choice((9, 30, 100, 700, 4082)))).encode()
                    sent[side].append(data)
                    pair.links[side].send(data, 0)
            pair.run(3_600_000)
            with self.subTest(seed=seed):
                for side in (0, 1):
                    got = pair.got[1 - side]
                    self.assertEqual(len(set(got)), len(got))
                    self.assertEqual([data for data in sent[side] if data in got], got)
                    self.assertTrue(len(got) == 4 or rates.lost and (pair.failures[0] or pair.failures[1]))
                    delivered += len(got)
                    failed += 4 - len(got)
                    self.assertFalse(pair.links[side].sender.busy)
        print(f"# {delivered} messages arrived, {failed} ended with a failure of their sender")
        self.assertGreater(delivered, 2500)

    def test_changed_bits_are_not_delivered(self):
        for seed in range(100):
            pair = Pair(seed, Rates(changed=0.02), 64, (8, 8))
            data = [frame(500, number) for number in range(6)]
            for one in data:
                pair.links[0].send(one, 0)
            pair.run(3_600_000)
            with self.subTest(seed=seed):
                self.assertLessEqual(set(pair.got[1]), set(data))
                self.assertTrue(set(pair.got[1]) == set(data) or sum(pair.failures) or pair.links[1].errors)


if __name__ == "__main__":
    tap.main("ogp link")
