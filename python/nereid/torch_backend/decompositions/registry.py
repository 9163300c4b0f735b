"""Decompositions of operators that Nereid adds to PyTorch's tables."""

from __future__ import annotations

own: dict = {}
drawing: dict = {}
"""Forms of operators that draw random numbers, others than PyTorch draws."""
beside: dict = {}
"""Why an operator that the table of Nereid's operators has too gets a form in Python."""


def decomposes(*operators, table: dict = own, because: str | None = None):
    """Registers a function that computes the operators by others, or gives NotImplemented.  An
    operator that Nereid has needs a reason: its meaning is in C alone, where files have it, too."""
    def register(function):
        table.update(dict.fromkeys(operators, function))
        if because:
            beside.update(dict.fromkeys(operators, because))
        return function

    return register
