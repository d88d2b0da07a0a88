# SPDX-License-Identifier: MIT
"""The reference cloud of Obvious, for tests and demos. Written from docs/protocols/obvious.md; shares no code with us."""
