"""Decompositions of operators that Nereid adds to PyTorch's tables."""

from __future__ import annotations

own: dict = {}


def decomposes(*operators):
    """Registers a function that computes the operators by others, or gives NotImplemented."""
    def register(function):
        own.update(dict.fromkeys(operators, function))
        return function

    return register
