# SPDX-License-Identifier: MIT
"""Faults of one direction of a connection: segments that are lost, doubled, late, reordered or changed."""

import random
from collections import Counter
from dataclasses import dataclass


@dataclass
class Rates:
    """Shares of all segments, 0 to 1."""

    lost: float = 0
    doubled: float = 0
    late: float = 0
    reordered: float = 0
    changed: float = 0


class Air:
    LATE_MS = 700

    def __init__(self, rates=None, seed=0):
        self.rates = rates or Rates()
        self.dice = random.Random(f"air {seed}")
        self.carried = 0
        self.faults = Counter()  # by name of the rate: what was done to segments

    def carry(self, segment):
        """What arrives of a segment, as (ms later, bytes)."""
        self.carried += 1
        rates, dice = self.rates, self.dice
        if self._hit("lost", rates.lost):
            return []
        if self._hit("changed", rates.changed):
            at = dice.randrange(len(segment))
            segment = segment[:at] + bytes([segment[at] ^ 1 << dice.randrange(8)]) + segment[at + 1:]
        delay = 0
        if self._hit("late", rates.late):
            delay = self.LATE_MS
        elif self._hit("reordered", rates.reordered):
            delay = dice.randrange(5, 60)
        arrivals = [(delay, segment)]
        if self._hit("doubled", rates.doubled):
            arrivals.append((delay + dice.randrange(0, 40), segment))
        return arrivals

    def _hit(self, name, rate):
        hit = self.dice.random() < rate
        self.faults[name] += hit
        return hit
