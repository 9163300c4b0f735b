"""Linear layers of vLLM's with weights of 8-bit floats in blocks, and of 4 bits, as expressions
that the compiler fuses with what is around them: no layout of its own, and no packing at load."""

from __future__ import annotations

import functools

import torch
from vllm.model_executor.kernels import linear
from vllm.model_executor.kernels.linear.mixed_precision import MPLinearKernel
from vllm.model_executor.kernels.linear.scaled_mm import Fp8BlockScaledMMLinearKernel
from vllm.model_executor.parameter import permute_param_layout_
from vllm.platforms import current_platform
from vllm.scalar_type import scalar_types

from nereid.vllm.platforms import COMPILER

_BLOCK = 128
_LEAST = 1e-10  # of a block's greatest absolute value, as in vLLM's own
_FIELDS = 8  # numbers of 4 bits in a word


@functools.cache
def _compiled(function):
    """The function compiled alone, for calls outside of a compiled model."""
    return torch.compile(function, backend="nereid", dynamic=True)


def _call(function, x, *args):
    """Inlines the function in a compiled model; else it is compiled, for any number of rows."""
    if torch.compiler.is_compiling():
        return function(x, *args)
    torch._dynamo.mark_static(x, 1)
    return _compiled(function)(x, *args)


def block_scaled_linear(x, weight, scale, out_dtype):
    """The product of x, quantized by 128 columns, with weights of 8-bit floats in blocks of 128x128
    and their scales."""
    rows, columns = x.shape
    parts = x.reshape(rows, columns // _BLOCK, _BLOCK).float()
    most = torch.finfo(weight.dtype).max
    scale_x = parts.abs().amax(-1).clamp_min(_LEAST) / most
    narrow = (parts / scale_x.unsqueeze(-1)).clamp(-most, most).to(weight.dtype)
    return torch._scaled_mm(narrow.view(rows, columns), weight.t(),
                            scale_a=scale_x.t().contiguous().t(), scale_b=scale.t(),
                            out_dtype=out_dtype)


def packed_linear(x, words, scale, zeros, zero: int):
    """The product of x with numbers of 4 bits, eight rows in a word, by groups of rows; `zeros` are
    the zero points of each group, eight columns in a word, or None: all are `zero`."""
    shifts = torch.arange(0, 4 * _FIELDS, 4, dtype=torch.int32, device=words.device)
    groups, columns = scale.shape
    w = ((words.unsqueeze(1) >> shifts.view(1, -1, 1)) & 15).view(groups, -1, columns)
    if zeros is None:
        w = w - zero
    else:
        w = w - ((zeros.unsqueeze(2) >> shifts.view(1, 1, -1)) & 15).view(groups, 1, -1)
    return x @ (scale.unsqueeze(1) * w).view(-1, columns).to(x.dtype)


def _is_ours() -> tuple[bool, str | None]:
    if current_platform.get_compile_backend() != COMPILER:
        return False, "needs the platform of Nereid, which NEREID_VLLM=1 chooses"
    return True, None


class NereidFp8BlockKernel(Fp8BlockScaledMMLinearKernel):
    apply_input_quant = False  # block_scaled_linear() does it

    @classmethod
    def is_supported(cls, compute_capability: int | None = None) -> tuple[bool, str | None]:
        if compute_capability is not None and compute_capability < 89:
            return False, "needs units of 8-bit floats, which capability 8.9 has"
        return _is_ours()

    @classmethod
    def can_implement(cls, config) -> tuple[bool, str | None]:
        fits, reason = super().can_implement(config)
        if not fits:
            return fits, reason
        if tuple(config.activation_quant_key.scale.group_shape) != (1, _BLOCK):
            return False, "needs activations in blocks of 1x128"
        if tuple(config.weight_quant_key.scale.group_shape) != (_BLOCK, _BLOCK):
            return False, "needs weights in blocks of 128x128"
        if config.weight_shape[1] % _BLOCK:
            return False, "needs a multiple of 128 columns"
        return True, None

    def apply_block_scaled_mm(self, A: torch.Tensor, B: torch.Tensor, As: torch.Tensor,
                              Bs: torch.Tensor) -> torch.Tensor:
        return _call(block_scaled_linear, A, B, Bs, self.config.out_dtype)


class NereidInt4Kernel(MPLinearKernel):
    """Weights of GPTQ's, AWQ's and compressed-tensors' files, after vLLM has loaded them."""

    @classmethod
    def get_min_capability(cls) -> int:
        return 80

    @classmethod
    def can_implement(cls, c) -> tuple[bool, str | None]:
        ours, reason = _is_ours()
        if not ours:
            return ours, reason
        if getattr(c, "has_g_idx", False):  # of vLLM before 0.30
            return False, "needs rows in the order of their groups"
        if c.weight_type not in (scalar_types.uint4, scalar_types.uint4b8):
            return False, f"needs 4 bits without sign, not {c.weight_type}"
        if c.weight_type == scalar_types.uint4 and not c.zero_points:
            return False, "needs zero points, or weights with a bias of 8"
        rows, columns = c.partition_weight_shape
        group = rows if c.group_size == -1 else c.group_size
        if rows % group or group % _FIELDS or columns % _FIELDS:
            return False, (f"needs groups and columns that are multiples of 8, not {group} of "
                           f"{rows}x{columns}")
        return True, None

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        def along_rows(x):
            permute_param_layout_(x, input_dim=0, output_dim=1, packed_dim=0)
            x.data = x.data.contiguous()
            return x

        def by_groups(x):
            permute_param_layout_(x, input_dim=0, output_dim=1)
            x.data = x.data.contiguous()
            return x

        self._transform_param(layer, self.w_q_name, along_rows)
        self._transform_param(layer, self.w_s_name, by_groups)
        if self.config.zero_points:
            self._transform_param(layer, self.w_zp_name, by_groups)

    def apply_weights(self, layer: torch.nn.Module, x: torch.Tensor,
                      bias: torch.Tensor | None = None) -> torch.Tensor:
        words, scale, zeros = self._get_weight_params(layer)
        kind = self.config.weight_type
        made = _call(packed_linear, x.reshape(-1, x.shape[-1]), words, scale,
                     zeros if self.config.zero_points else None,
                     kind.bias if kind.has_bias() else 0)
        made = made.view(*x.shape[:-1], made.shape[-1])
        return made if bias is None else made + bias


_KINDS = {"fp8_block": (NereidFp8BlockKernel, "_POSSIBLE_FP8_BLOCK_KERNELS"),
          "mp": (NereidInt4Kernel, "_POSSIBLE_KERNELS")}


def register_kernels() -> None:
    """vLLM takes the first kernel of its list that fits; what it registers comes last there."""
    platform = current_platform._enum
    for kind, (kernel, table) in _KINDS.items():
        kernels = getattr(linear, table, {}).get(platform, [])
        if kernel in kernels:
            continue
        linear.register_linear_kernel(kernel, platform, kind)
        kernels = getattr(linear, table, {}).get(platform, [])
        if kernel in kernels:
            kernels.insert(0, kernels.pop(kernels.index(kernel)))
