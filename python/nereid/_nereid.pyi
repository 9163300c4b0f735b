# The extension, for type checkers: it is for the package itself.
from typing import Any

def __getattr__(name: str) -> Any: ...
