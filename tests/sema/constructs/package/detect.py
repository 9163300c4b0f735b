import types
from importlib.util import find_spec

from other_package import drivers

HAS_LANGUAGE = find_spec("triton") is not None
if HAS_LANGUAGE:
    try:
        if len([d for d in drivers.values() if d.is_active()]) != 1:
            HAS_LANGUAGE = False
    except ImportError:
        HAS_LANGUAGE = False


class StandIn(types.ModuleType):
    def __init__(self):
        super().__init__("triton")
        self.jit = lambda f: f


class LanguageStandIn(types.ModuleType):
    def __init__(self):
        super().__init__("triton.language")
        self.constexpr = None
