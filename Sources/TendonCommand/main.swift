// SPDX-License-Identifier: MIT
import Tendon
