# SPDX-License-Identifier: MIT
# title: the shipped device files against independent devices with their services (bumble's profiles, host and GATT server)
# lane: 3
# needs: build venv
# kinds: extended legacy rootcanal
# limit: 180
source "$KERNEL_TESTS/services.sh"

serve_services heart_rate battery cycling running environment pulse_oximeter weight_scale infinitime
