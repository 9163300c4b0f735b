"""vLLM's platform of this machine with Nereid as its compiler."""

from __future__ import annotations

from vllm import platforms
from vllm.utils.import_utils import resolve_obj_by_qualname

COMPILER = "nereid.vllm.compiler.NereidCompiler"
_DEVICES = ("cuda", "cpu")  # those of vLLM that Nereid has kernels for


def base_name() -> str | None:
    """The name of vLLM's own class for this machine; None: it has another device."""
    for device in _DEVICES:
        found = platforms.builtin_platform_plugins[device]()
        if found is not None:
            return found
    return None


def _compiles(vllm_config) -> bool:
    """Does Nereid compile the model?  No mode means vLLM's default, which compiles."""
    config = vllm_config.compilation_config
    level = getattr(vllm_config.optimization_level, "value", vllm_config.optimization_level)
    return config.backend == COMPILER and (level > 0 if config.mode is None else config.mode != 0)


_Base = resolve_obj_by_qualname(base_name() or "vllm.platforms.interface.Platform")


class NereidPlatform(_Base):  # type: ignore[misc, valid-type]
    """Operators that the compiler fuses are PyTorch's, not kernels that vLLM has of them, where
    the user does not say otherwise."""

    @classmethod
    def get_compile_backend(cls) -> str:
        return COMPILER

    @classmethod
    def get_pass_manager_cls(cls) -> str:
        return "nereid.vllm.compiler.Passes"

    @classmethod
    def apply_config_platform_defaults(cls, vllm_config) -> None:
        super().apply_config_platform_defaults(vllm_config)
        config = vllm_config.compilation_config
        if _compiles(vllm_config) and not {"all", "none"} & {*config.custom_ops}:
            config.custom_ops.append("none")

    @classmethod
    def check_and_update_config(cls, vllm_config) -> None:
        """The platform of CPUs sets its own compiler here."""
        config, ours = vllm_config.compilation_config, _compiles(vllm_config)
        mode = config.mode
        super().check_and_update_config(vllm_config)
        if ours and config.mode not in (None, 0):
            config.backend, config.mode = COMPILER, mode

    @classmethod
    def get_default_ir_op_priority(cls, vllm_config):
        from vllm.config.kernel import IrOpPriorityConfig  # whose package needs the platform

        if _compiles(vllm_config):
            return IrOpPriorityConfig.with_default(["native"])
        return super().get_default_ir_op_priority(vllm_config)
