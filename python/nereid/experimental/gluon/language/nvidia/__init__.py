"""Gluon's functions for NVIDIA's GPUs."""

from __future__ import annotations

from nereid.experimental.gluon.language.nvidia import ampere
