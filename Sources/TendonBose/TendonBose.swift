// SPDX-License-Identifier: MIT
import CTendon
