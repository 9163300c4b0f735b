"""Larger models of cpu.py for images, of PyTorch's own modules, with random weights."""

from __future__ import annotations

from cpu_models import Residual, normed, pooled


def gated(inside, width, outside, size, stride, act):
    """An inverted residual whose gate has a quarter of the channels that come in."""
    from torch import nn

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            inner = max(inside // 4, 1)
            self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, inner, 1), act(),
                                      nn.Conv2d(inner, width, 1), nn.Sigmoid())

        def forward(self, x):
            return x * self.gate(x)

    main = [normed(inside, width, 1, act=act)] if width != inside else []
    main = nn.Sequential(*main, normed(width, width, size, stride, width, act), Gate(),
                         normed(width, outside, 1))
    straight = stride == 1 and inside == outside
    return Residual.of(main, nn.Identity()) if straight else main


def efficientnet():
    """EfficientNet-B0."""
    from torch import nn, randn
    layers, inside = [normed(3, 32, 3, 2, act=nn.SiLU)], 32
    for times, outside, count, stride, size in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3),
                                                (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                                                (6, 320, 1, 1, 3)):
        for i in range(count):
            layers += [gated(inside, times * inside, outside, size, 1 if i else stride, nn.SiLU)]
            inside = outside
    return pooled([*layers, normed(320, 1280, 1, act=nn.SiLU)],
                  nn.Linear(1280, 1000)), (randn(2, 3, 224, 224),)


def yolo():
    """A detector like YOLO's: stages that are cut and joined, a pyramid of three sizes, boxes of
    distributions of 16 distances, and scores of 80 classes."""
    import torch
    from torch import nn

    def conv(inside, outside, size=1, stride=1):
        return normed(inside, outside, size, stride, act=nn.SiLU)

    class Cut(nn.Module):
        def __init__(self, inside, outside, count, straight):
            super().__init__()
            half = outside // 2
            self.first, self.last = conv(inside, outside), conv((2 + count) * half, outside)
            self.blocks = nn.ModuleList()
            for _ in range(count):
                main = nn.Sequential(conv(half, half, 3), conv(half, half, 3))
                self.blocks += [Residual.of(main, nn.Identity()) if straight else main]

        def forward(self, x):
            parts = list(self.first(x).chunk(2, 1))
            for b in self.blocks:
                parts += [b(parts[-1])]
            return self.last(torch.cat(parts, 1))

    class Pools(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.first, self.last = conv(width, width // 2), conv(2 * width, width)
            self.pool = nn.MaxPool2d(5, 1, 2)

        def forward(self, x):
            parts = [self.first(x)]
            for _ in range(3):
                parts += [self.pool(parts[-1])]
            return self.last(torch.cat(parts, 1))

    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(conv(3, 16, 3, 2), conv(16, 32, 3, 2), Cut(32, 32, 1, True))
            self.stages = nn.ModuleList([
                nn.Sequential(conv(32, 64, 3, 2), Cut(64, 64, 2, True)),
                nn.Sequential(conv(64, 128, 3, 2), Cut(128, 128, 2, True)),
                nn.Sequential(conv(128, 256, 3, 2), Cut(256, 256, 1, True), Pools(256))])
            self.up = nn.Upsample(scale_factor=2)
            self.joins = nn.ModuleList([Cut(384, 128, 1, False), Cut(192, 64, 1, False),
                                        Cut(192, 128, 1, False), Cut(384, 256, 1, False)])
            self.downs = nn.ModuleList([conv(64, 64, 3, 2), conv(128, 128, 3, 2)])
            self.boxes, self.scores = nn.ModuleList(), nn.ModuleList()
            for w in (64, 128, 256):
                self.boxes += [nn.Sequential(conv(w, 64, 3), conv(64, 64, 3),
                                             nn.Conv2d(64, 64, 1))]
                self.scores += [nn.Sequential(conv(w, 80, 3), conv(80, 80, 3),
                                              nn.Conv2d(80, 80, 1))]

        def forward(self, x):
            x = self.stem(x)
            a = self.stages[0](x)
            b = self.stages[1](a)
            c = self.stages[2](b)
            d = self.joins[0](torch.cat([self.up(c), b], 1))
            e = self.joins[1](torch.cat([self.up(d), a], 1))
            f = self.joins[2](torch.cat([self.downs[0](e), d], 1))
            g = self.joins[3](torch.cat([self.downs[1](f), c], 1))
            boxes = torch.cat([m(v).flatten(2) for m, v in zip(self.boxes, (e, f, g))], 2)
            scores = torch.cat([m(v).flatten(2) for m, v in zip(self.scores, (e, f, g))], 2)
            steps = torch.arange(16, dtype=boxes.dtype)
            distances = (boxes.unflatten(1, (4, 16)).softmax(2) * steps[:, None]).sum(2)
            return torch.cat([distances, scores.sigmoid()], 1)

    return Detector(), (torch.randn(1, 3, 320, 320),)


class Attention:
    """Attention of all tokens, as a module that takes a bias or none."""

    @staticmethod
    def of(width, heads):
        from torch import nn
        from torch.nn import functional as F

        class Attend(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

            def forward(self, x, bias=None):
                b, n, _ = x.shape
                q, k, v = self.qkv(x).view(b, n, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
                return self.out(y.transpose(1, 2).reshape(b, n, width))

        return Attend()


def mobilevit():
    """MobileViT-XXS."""
    import torch
    from torch import nn

    def inverted(inside, outside, stride=1):
        main = nn.Sequential(normed(inside, 2 * inside, 1, act=nn.SiLU),
                             normed(2 * inside, 2 * inside, 3, stride, 2 * inside, nn.SiLU),
                             normed(2 * inside, outside, 1))
        straight = stride == 1 and inside == outside
        return Residual.of(main, nn.Identity()) if straight else main

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.attend = Attention.of(width, 4)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(),
                                     nn.Linear(2 * width, width))

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class Patches(nn.Module):
        def __init__(self, inside, width, layers):
            super().__init__()
            self.near = nn.Sequential(normed(inside, inside, 3, act=nn.SiLU),
                                      nn.Conv2d(inside, width, 1, bias=False))
            self.layers = nn.Sequential(*[Layer(width) for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.back = normed(width, inside, 1, act=nn.SiLU)
            self.join = normed(2 * inside, inside, 3, act=nn.SiLU)

        def forward(self, x):
            y = self.near(x)
            b, c, h, w = y.shape
            y = y.view(b, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 2, 4, 1)
            y = self.norm(self.layers(y.reshape(4 * b, h * w // 4, c)))
            y = y.view(b, 2, 2, h // 2, w // 2, c).permute(0, 5, 3, 1, 4, 2).reshape(b, c, h, w)
            return self.join(torch.cat([x, self.back(y)], 1))

    layers = [normed(3, 16, 3, 2, act=nn.SiLU), inverted(16, 16), inverted(16, 24, 2),
              inverted(24, 24), inverted(24, 24), inverted(24, 48, 2), Patches(48, 64, 2),
              inverted(48, 64, 2), Patches(64, 80, 4), inverted(64, 80, 2), Patches(80, 96, 3),
              normed(80, 320, 1, act=nn.SiLU)]
    return pooled(layers, nn.Linear(320, 1000)), (torch.randn(2, 3, 256, 256),)


def swin():
    """Swin-T: attention in windows of 7x7, every second time shifted by three."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, width, heads, size, shift):
            super().__init__()
            self.attend, self.size = Attention.of(width, heads), size
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                     nn.Linear(4 * width, width))
            self.shift = shift if size > 7 else 0
            self.bias = nn.Parameter(torch.randn(169, heads) * 0.02)
            at = torch.stack(torch.meshgrid(torch.arange(7), torch.arange(7),
                                            indexing="ij")).flatten(1)
            far = at[:, :, None] - at[:, None] + 6
            self.register_buffer("places", (far[0] * 13 + far[1]).flatten())
            if self.shift:
                part = torch.zeros(size, size)
                for i, s in enumerate((slice(-7, -shift), slice(-shift, None))):
                    part[s] += 1 + i
                    part[:, s] += 3 * (1 + i)
                part = self.windows(part[None, :, :, None])[..., 0]
                self.register_buffer("hidden", (part[:, :, None] != part[:, None]) * -100.0)

        def windows(self, x):
            b, h, w, c = x.shape
            return x.view(b, h // 7, 7, w // 7, 7, c).transpose(2, 3).reshape(-1, 49, c)

        def forward(self, x):
            b, h, w, c = x.shape
            y = self.norm1(x)
            bias = self.bias[self.places].view(49, 49, -1).permute(2, 0, 1)[None]
            if self.shift:
                y = y.roll((-self.shift, -self.shift), (1, 2))
                bias = (bias + self.hidden[:, None]).repeat(b, 1, 1, 1)
            y = self.attend(self.windows(y), bias)
            y = y.view(b, h // 7, w // 7, 7, 7, c).transpose(2, 3).reshape(b, h, w, c)
            x = x + (y.roll((self.shift, self.shift), (1, 2)) if self.shift else y)
            return x + self.mlp(self.norm2(x))

    class Merge(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm = nn.LayerNorm(4 * width)
            self.less = nn.Linear(4 * width, 2 * width, bias=False)

        def forward(self, x):
            parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
            return self.less(self.norm(torch.cat(parts, -1)))

    class Swin(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches, layers = nn.Conv2d(3, 96, 4, 4), [nn.LayerNorm(96)]
            for stage, count in enumerate((2, 2, 6, 2)):
                width, size = 96 << stage, 56 >> stage
                layers += [Merge(width // 2)] if stage else []
                layers += [Block(width, 3 << stage, size, 3 * (i % 2)) for i in range(count)]
            self.layers = nn.Sequential(*layers, nn.LayerNorm(768))
            self.head = nn.Linear(768, 1000)

        def forward(self, x):
            x = self.layers(self.patches(x).permute(0, 2, 3, 1))
            return self.head(x.mean((1, 2)))

    return Swin(), (torch.randn(2, 3, 224, 224),)


VISION = {f.__name__: f for f in (efficientnet, yolo, mobilevit, swin)}
