# SPDX-License-Identifier: MIT
# A wearable that is in range.
import tendon

for event in tendon.Gateway().listen(seconds=30):
    if event.event == "found":
        print(event.family, event.name, event.address, event.rssi_dbm)
        break
