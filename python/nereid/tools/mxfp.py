"""Tensors of the microscaling formats (OCP MX 1.0), for tests: E2M1 elements, E8M0 scales.

They live in PyTorch's uint8 tensors, `data`, one element a byte.
"""

from __future__ import annotations

import math

# The magnitudes of E2M1 by code, without the sign in bit 3.
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS = 127
_NAN = 255


class _Tensor:
    def __init__(self, data=None, size=None, device=None):
        import torch

        self.device = device
        if data is not None:
            assert isinstance(data, torch.Tensor), "`data` must be a torch tensor"
            self.device = data.device
            self.data = self._from_float(data)
        elif size is not None:
            self.size = size if isinstance(size, tuple) else (size,)
        else:
            raise ValueError("give `data`, floats that are converted, or `size`")

    def _random_codes(self, first: int, last: int):
        import torch

        return torch.randint(first, last + 1, self.size, dtype=torch.uint8, device=self.device)


class MXFP4Tensor(_Tensor):
    """Elements of 4 bits, E2M1: rounded to nearest, ties to even, and clamped to 6."""

    def random(self):
        """Makes all 16 codes equally likely."""
        self.data = self._random_codes(0, 15)
        return self

    def to(self, dtype):
        """The elements as float32."""
        import torch

        assert dtype == torch.float32, "elements are converted to float32 only"
        table = torch.tensor([*_E2M1, *(-v for v in _E2M1)], device=self.data.device)
        return table[self.data.long()]

    def _from_float(self, values):
        import torch

        size = torch.nan_to_num(values.float().abs(), nan=_E2M1[-1], posinf=_E2M1[-1])
        code = torch.zeros_like(size, dtype=torch.uint8)
        for i in range(len(_E2M1) - 1):
            middle = (_E2M1[i] + _E2M1[i + 1]) / 2
            code += size >= middle if i % 2 else size > middle
        return code | (torch.signbit(values).to(torch.uint8) << 3)

    def to_packed_tensor(self, dim: int):
        """Two elements a byte along `dim`, the first in the lower half; a last odd one has a 0
        beside it."""
        import torch

        data = self.data
        assert 0 <= dim < data.ndim, "`dim` is no dimension of this tensor"
        if data.shape[dim] % 2:
            shape = list(data.shape)
            shape[dim] = 1
            data = torch.cat((data, data.new_zeros(shape)), dim)
        low, high = data.unflatten(dim, (-1, 2)).unbind(dim + 1)
        return low | (high << 4)

    def unpack_packed_tensor(self, packed_tensor, dim: int, original_shape):
        """The elements of a packed tensor, one a byte, without what filled up an odd one."""
        import torch

        both = torch.stack((packed_tensor & 15, packed_tensor >> 4), dim + 1)
        return both.flatten(dim, dim + 1).narrow(dim, 0, original_shape[dim]).to(torch.uint8)


class MXScaleTensor(_Tensor):
    """Scales of 8 bits, E8M0: powers of two from 2**-127 to 2**127, and a NaN."""

    def random(self, low=None, high=None):
        """Powers of two in [low, high], which by default are all but the NaN."""
        first = 0 if low is None else max(0, int(math.log2(low)) + _BIAS)
        last = _NAN - 1 if high is None else min(_NAN - 1, max(0, int(math.log2(high)) + _BIAS))
        assert first <= last, "`low` must not be above `high`"
        self.data = self._random_codes(first, last)
        return self

    def to(self, dtype):
        """The scales as float32."""
        import torch

        assert dtype == torch.float32, "scales are converted to float32 only"
        value = torch.pow(2.0, self.data.float() - _BIAS)
        return torch.where(self.data == _NAN, torch.nan, value)

    def _from_float(self, values):
        import torch

        values = values.float()
        code = (torch.floor(torch.log2(values)) + _BIAS).nan_to_num().clamp(0, _NAN - 1)
        valid = torch.isfinite(values) & (values > 0)
        return torch.where(valid, code, _NAN).to(torch.uint8)
