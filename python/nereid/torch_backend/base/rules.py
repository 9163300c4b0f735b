"""Entries of PyTorch's tables that others take the place of for a while."""

from __future__ import annotations

import threading
from typing import Any, Callable


class Rules:
    """Within it, tables have other entries, which `make` gives: (table, key, entry).  Compilations
    of several threads may overlap: the last of them to end gives PyTorch its own entries back."""

    def __init__(self, make: Callable[[], list[tuple[dict, Any, Any]]]):
        self._make = make
        self._lock = threading.Lock()
        self._inside = 0
        self._before: list = []

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                entries = self._make()
                self._before = [(table, key, table[key]) for table, key, _ in entries]
                for table, key, entry in entries:
                    table[key] = entry

    def __exit__(self, *error) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for table, key, entry in self._before:
                    table[key] = entry
