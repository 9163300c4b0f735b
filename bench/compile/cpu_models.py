"""Models of cpu.py, of PyTorch's own modules, with random weights: each function gives a module,
and its inputs."""

from __future__ import annotations

def mlp():
    from torch import nn, randn
    layers = [nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
              nn.Linear(4096, 1024)]
    return nn.Sequential(*layers), (randn(32, 1024),)


def convolutions():
    from torch import nn, randn
    layers = [nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
              nn.Conv2d(32, 64, 3, padding=1, stride=2, bias=False), nn.BatchNorm2d(64),
              nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)]
    return nn.Sequential(*layers), (randn(8, 3, 32, 32),)


def transformer(layers, width, heads, causal, vocabulary=0):
    """Blocks with norms before or, as in BERT, after their parts."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

        def attend(self, x):
            b, n, _ = x.shape
            q, k, v = self.qkv(x).view(b, n, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return self.out(y.transpose(1, 2).reshape(b, n, width))

        def forward(self, x):
            if causal:
                x = x + self.attend(self.norm1(x))
                return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.down(F.gelu(self.up(x))))

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.places = nn.Parameter(torch.randn(512, width) * 0.02)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary, bias=False) if causal else nn.Identity()

        def forward(self, ids):
            x = self.words(ids) + self.places[:ids.shape[1]]
            return self.head(self.norm(self.blocks(x)))

    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, width, 16, 16)
            self.places = nn.Parameter(torch.randn(196, width) * 0.02)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2) + self.places
            return self.head(self.norm(self.blocks(x)).mean(1))

    return Words() if vocabulary else Patches()


def bert():
    import torch
    return transformer(4, 768, 12, False, 30522), (torch.randint(0, 30522, (8, 128)),)


def gpt2():
    import torch
    return transformer(4, 768, 12, True, 50257), (torch.randint(0, 50257, (1, 256)),)


def vit():
    import torch
    return transformer(4, 768, 12, False), (torch.randn(4, 3, 224, 224),)


def small():
    """Its calls cost what Python and launches cost."""
    from torch import nn, randn
    layers = [nn.Linear(64, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 64), nn.GELU(),
              nn.Linear(64, 8), nn.Softmax(-1)]
    return nn.Sequential(*layers), (randn(16, 64),)


def layers_of_256():
    """Six linear layers, 16 rows."""
    from torch import nn, randn
    layers = [m for _ in range(6) for m in (nn.Linear(256, 256), nn.ReLU())]
    return nn.Sequential(*layers), (randn(16, 256),)


def encoder():
    """Two layers of 128, four texts of 64."""
    import torch
    return transformer(2, 128, 4, False, 1000), (torch.randint(0, 1000, (4, 64)),)


def image():
    """The two convolutions for one image."""
    model, (x,) = convolutions()
    return model, (x[:1],)


def token():
    """One token through two layers of 256, with 128 keys and values of each kept."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)
            self.up, self.down = nn.Linear(256, 1024), nn.Linear(1024, 256)
            self.norm1, self.norm2 = nn.LayerNorm(256), nn.LayerNorm(256)

        def forward(self, x, keys, values):
            q, k, v = self.qkv(self.norm1(x)).view(1, 3, 8, 1, 32).unbind(1)
            keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            y = F.scaled_dot_product_attention(q, keys, values)
            x = x + self.out(y.reshape(1, 256))
            return x + self.down(F.gelu(self.up(self.norm2(x)))), keys, values

    class Token(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Layer(), Layer()])

        def forward(self, x, keys, values):
            for i, layer in enumerate(self.layers):
                x, _, _ = layer(x, keys[i], values[i])
            return x

    return Token(), (torch.randn(1, 256), *torch.randn(2, 2, 1, 8, 128, 32))


class Residual:
    """Sums of an input and branches, as modules."""

    @staticmethod
    def of(*branches):
        import torch

        class Sum(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.branches = torch.nn.ModuleList(branches)

            def forward(self, x):
                return sum((b(x) for b in self.branches[1:]), self.branches[0](x))

        return Sum()


def normed(inside, outside, size, stride=1, groups=1, act=None):
    """A convolution without a bias, a batch norm, and an activation."""
    from torch import nn
    layers = [nn.Conv2d(inside, outside, size, stride, size // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outside)]
    return nn.Sequential(*layers, *([act()] if act else []))


def pooled(layers, *head):
    """A classifier after the last convolution."""
    from torch import nn
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), *head)


def resnet18():
    from torch import nn, randn

    def block(inside, outside, stride):
        main = nn.Sequential(normed(inside, outside, 3, stride, act=nn.ReLU),
                             normed(outside, outside, 3))
        short = nn.Identity() if stride == 1 else normed(inside, outside, 1, stride)
        return nn.Sequential(Residual.of(main, short), nn.ReLU())

    layers, inside = [normed(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for stage in range(4):
        for i in range(2):
            layers += [block(inside, 64 << stage, 2 if stage and not i else 1)]
            inside = 64 << stage
    return pooled(layers, nn.Linear(512, 1000)), (randn(8, 3, 64, 64),)


def resnet50():
    from torch import nn, randn

    def block(inside, width, stride):
        outside = 4 * width
        main = nn.Sequential(normed(inside, width, 1, act=nn.ReLU),
                             normed(width, width, 3, stride, act=nn.ReLU),
                             normed(width, outside, 1))
        straight = inside == outside and stride == 1
        short = nn.Identity() if straight else normed(inside, outside, 1, stride)
        return nn.Sequential(Residual.of(main, short), nn.ReLU())

    layers, inside = [normed(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for i in range(count):
            layers += [block(inside, 64 << stage, 2 if stage and not i else 1)]
            inside = 256 << stage
    return pooled(layers, nn.Linear(2048, 1000)), (randn(4, 3, 224, 224),)


def inverted_residuals(rows, hidden):
    """MobileNetV3: inverted residuals with squeeze and excite.  A row is the size of the window,
    channels inside and outside, excitation, activation and stride."""
    from torch import nn

    class Excite(nn.Module):
        def __init__(self, width):
            super().__init__()
            inner = (width // 4 + 4) // 8 * 8
            self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, inner, 1),
                                      nn.ReLU(), nn.Conv2d(inner, width, 1), nn.Hardsigmoid())

        def forward(self, x):
            return x * self.gate(x)

    layers, inside = [normed(3, 16, 3, 2, act=nn.Hardswish)], 16
    for size, width, outside, excited, act, stride in rows:
        main = [normed(inside, width, 1, act=act)] if width != inside else []
        main += [normed(width, width, size, stride, width, act)]
        main += [Excite(width)] if excited else []
        main = nn.Sequential(*main, normed(width, outside, 1))
        straight = stride == 1 and inside == outside
        layers += [Residual.of(main, nn.Identity()) if straight else main]
        inside = outside
    last = 6 * inside
    return pooled([*layers, normed(inside, last, 1, act=nn.Hardswish)], nn.Linear(last, hidden),
                  nn.Hardswish(), nn.Linear(hidden, 1000))


def mobilenet():
    from torch import nn, randn
    relu, swish = nn.ReLU, nn.Hardswish
    rows = [(3, 16, 16, 0, relu, 1), (3, 64, 24, 0, relu, 2), (3, 72, 24, 0, relu, 1),
            (5, 72, 40, 1, relu, 2), (5, 120, 40, 1, relu, 1), (5, 120, 40, 1, relu, 1),
            (3, 240, 80, 0, swish, 2), (3, 200, 80, 0, swish, 1), (3, 184, 80, 0, swish, 1),
            (3, 184, 80, 0, swish, 1), (3, 480, 112, 1, swish, 1), (3, 672, 112, 1, swish, 1),
            (5, 672, 160, 1, swish, 2), (5, 960, 160, 1, swish, 1), (5, 960, 160, 1, swish, 1)]
    return inverted_residuals(rows, 1280), (randn(4, 3, 224, 224),)


def mobilenet_small():
    from torch import nn, randn
    relu, swish = nn.ReLU, nn.Hardswish
    rows = [(3, 16, 16, 1, relu, 2), (3, 72, 24, 0, relu, 2), (3, 88, 24, 0, relu, 1),
            (5, 96, 40, 1, swish, 2), (5, 240, 40, 1, swish, 1), (5, 240, 40, 1, swish, 1),
            (5, 120, 48, 1, swish, 1), (5, 144, 48, 1, swish, 1), (5, 288, 96, 1, swish, 2),
            (5, 576, 96, 1, swish, 1), (5, 576, 96, 1, swish, 1)]
    return inverted_residuals(rows, 1024), (randn(8, 3, 128, 128),)


def convnext():
    """ConvNeXt with two blocks a stage: depthwise windows of 7x7, and norms of channels."""
    import torch
    from torch import nn

    class Norm(nn.LayerNorm):
        def forward(self, x):
            return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    def block(width):
        main = nn.Sequential(nn.Conv2d(width, width, 7, padding=3, groups=width), Norm(width),
                             nn.Conv2d(width, 4 * width, 1), nn.GELU(),
                             nn.Conv2d(4 * width, width, 1))
        return Residual.of(main, nn.Identity())

    layers, inside = [nn.Conv2d(3, 48, 4, 4), Norm(48)], 48
    for stage in range(4):
        width = 48 << stage
        if stage:
            layers += [Norm(inside), nn.Conv2d(inside, width, 2, 2)]
        layers += [block(width), block(width)]
        inside = width
    return pooled(layers, nn.Linear(inside, 1000)), (torch.randn(4, 3, 128, 128),)


def unet():
    import torch
    from torch import nn

    def twice(inside, outside):
        return nn.Sequential(normed(inside, outside, 3, act=nn.ReLU),
                             normed(outside, outside, 3, act=nn.ReLU))

    class Level(nn.Module):
        def __init__(self, width, depth):
            super().__init__()
            self.down = nn.Sequential(nn.MaxPool2d(2), twice(width, 2 * width))
            self.inner = Level(2 * width, depth - 1) if depth > 1 else nn.Identity()
            self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
            self.join = twice(2 * width, width)

        def forward(self, x):
            return self.join(torch.cat([x, self.up(self.inner(self.down(x)))], 1))

    layers = [twice(3, 16), Level(16, 3), nn.Conv2d(16, 2, 1)]
    return nn.Sequential(*layers), (torch.randn(2, 3, 128, 128),)


MODELS = {f.__name__: f
          for f in (convolutions, mlp, bert, gpt2, vit, resnet18, resnet50, mobilenet,
                    mobilenet_small, convnext, unet, small, layers_of_256, encoder, image, token)}
