# SPDX-License-Identifier: MIT
# title: the other shipped device files against independent devices: medical ones, a trainer, devices of makers
# lane: 2
# needs: build venv
# kinds: extended legacy
# limit: 180
source "$KERNEL_TESTS/services.sh"

serve_services blood_pressure glucose health_thermometer body_composition indoor_bike mi_thermometer polar_h10 sensortag
