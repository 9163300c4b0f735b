"""Models of cpu.py with weights of eight bits, as a user's quantizers leave them: linear layers as
torchao's dynamic quantization has them (rows of the input scaled by their largest element, products
of integers), and convolutions as PyTorch's export quantization has them (operators that quantize
and dequantize before each, whose scales a sample gave)."""

from __future__ import annotations


def scaled(weight):
    """Eight bits of each row of a weight, and the rows' scales."""
    import torch
    scale = weight.flatten(1).abs().amax(1).clamp(min=1e-8) / 127
    rows = weight / scale.view(-1, *[1] * (weight.dim() - 1))
    return rows.round().to(torch.int8), scale


def linear(layer):
    import torch
    from torch import nn

    class Linear(nn.Module):
        def __init__(self):
            super().__init__()
            weight, scale = scaled(layer.weight.detach())
            self.register_buffer("weight", weight)
            self.register_buffer("scale", scale)
            self.register_buffer("bias", layer.bias.detach())

        def forward(self, x):
            rows = x.flatten(0, -2)
            scale = rows.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
            y = torch._int_mm((rows / scale).round().to(torch.int8), self.weight.t())
            return (y.float() * scale * self.scale + self.bias).view(*x.shape[:-1], -1)

    return Linear()


def convolution(layer):
    import torch
    from torch import nn
    from torch.ao.quantization.fx import _decomposed  # noqa: F401
    ops = torch.ops.quantized_decomposed  # which the import registers

    class Convolution(nn.Module):
        def __init__(self):
            super().__init__()
            weight, scale = scaled(layer.weight.detach())
            self.register_buffer("weight", weight)
            self.register_buffer("scale", scale)
            self.register_buffer("zeros", torch.zeros(len(scale), dtype=torch.int64))
            self.register_buffer("bias", layer.bias.detach())
            self.step, self.zero = None, 0

        def forward(self, x):
            if self.step is None:  # the sample
                least, most = min(float(x.min()), 0.0), max(float(x.max()), 1e-8)
                self.step, self.zero = (most - least) / 255, round(-least / (most - least) * 255)
            given = self.step, self.zero, 0, 255, torch.uint8
            x = ops.dequantize_per_tensor(ops.quantize_per_tensor(x, *given), *given)
            weight = ops.dequantize_per_channel(self.weight, self.scale, self.zeros, 0, -128, 127,
                                                torch.int8)
            return nn.functional.conv2d(x, weight, self.bias, layer.stride, layer.padding,
                                        layer.dilation, layer.groups)

    return Convolution()


def quantized(model, kind, make):
    """The model, whose layers of that kind are others."""
    for name, layer in model.named_children():
        if isinstance(layer, kind):
            setattr(model, name, make(layer))
        else:
            quantized(layer, kind, make)
    return model


def folded(model):
    """Batch norms are in the convolutions before them."""
    from torch import nn
    from torch.nn.utils.fusion import fuse_conv_bn_eval
    for layer in model.children():
        if isinstance(layer, nn.Sequential) and len(layer) > 1 and isinstance(layer[0], nn.Conv2d):
            layer[0], layer[1] = fuse_conv_bn_eval(layer[0], layer[1]), nn.Identity()
        else:
            folded(layer)
    return model


def bert_int8():
    from torch import nn
    from cpu_models import bert
    model, inputs = bert()
    return quantized(model, nn.Linear, linear), inputs


def resnet50_int8():
    import torch
    from torch import nn
    from cpu_models import resnet50
    model, inputs = resnet50()
    model = quantized(folded(model.eval()), nn.Conv2d, convolution)
    with torch.no_grad():
        model(*inputs)
    return model, inputs


INT8 = {f.__name__: f for f in (bert_int8, resnet50_int8)}
