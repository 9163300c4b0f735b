"""What `triton.backends.compiler` has: targets, and the base of backends."""

from nereid import _nereid
from nereid.runtime.active import GPUTarget


class BaseBackend:
    """What the compiler knows of a target, as code that asks Triton's backends wants it."""

    binary_ext = "cubin"

    def __init__(self, target: GPUTarget):
        self.target = target

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return False

    def hash(self) -> str:
        """A text that differs between versions of the compiler and between targets."""
        from triton.runtime.cache import triton_key

        return f"{triton_key()}-{self.target}"

    def parse_options(self, options: dict):
        """The options of a compilation with their defaults."""
        return Options(**options)


class Options:
    """Options of a compilation."""

    def __init__(self, **given):
        values = {name: value or None for name, value in _nereid.tuned_options()} | given
        values = {"debug": False, "enable_fp_fusion": True, "launch_pdl": False, **values}
        self.__dict__.update(values)

    def hash(self) -> str:
        return "_".join(f"{k}-{v}" for k, v in sorted(self.__dict__.items()))
