# SPDX-License-Identifier: MIT
# A button of a belt is pressed, by pybelt.
import threading

from pybelt.belt_controller import BeltController, BeltControllerDelegate
from pybelt.belt_scanner import create


class Buttons(BeltControllerDelegate):
    def __init__(self):
        self.is_pressed = threading.Event()

    def on_belt_button_pressed(self, button_id, previous_mode, new_mode):
        print(button_id)
        self.is_pressed.set()


with create() as scanner:
    belts = []
    while not belts:
        belts = scanner.scan()
buttons = Buttons()
belt = BeltController(buttons)
belt.connect(belts[0])
buttons.is_pressed.wait()
belt.disconnect_belt()
