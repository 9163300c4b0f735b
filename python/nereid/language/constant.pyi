# `constexpr` is Any; see constant.py.
from typing import Any

class base_value:
    type: Any

class base_type:
    def mangle(self) -> str: ...

class constexpr_type(base_type):
    value: Any
    def __init__(self, value: Any) -> None: ...

def __getattr__(name: str) -> Any: ...
