# SPDX-License-Identifier: MIT
# A belt vibrates on the right, by pybelt.
from pybelt.belt_controller import BeltController
from pybelt.belt_scanner import create

with create() as scanner:
    belts = []
    while not belts:
        belts = scanner.scan()
belt = BeltController()
belt.connect(belts[0])
belt.vibrate_at_angle(90)
belt.disconnect_belt()
