# SPDX-License-Identifier: MIT
# title: the virtual machine has what the other cases stand on
# kinds: legacy extended

check "two linked controllers" test -d /sys/class/bluetooth/hci1
check "the file system is writable, in a layer of its own" touch /usr/share/tendon-layer
check "the host's directory for results is writable" touch "$OUT/written"
check "no rfkill block" eval '! grep -l 1 /sys/class/rfkill/*/soft'
