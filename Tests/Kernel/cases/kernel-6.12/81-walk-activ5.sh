# SPDX-License-Identifier: MIT
# title: the session table of activ5 over the kernel's links: every pair of state and input that a link can bring about
# lane: 2
# needs: build
# limit: 150
timeout -k 5 280 "$BUILD/Tests/Kernel/c/session_walk" activ5 hci0 hci1
