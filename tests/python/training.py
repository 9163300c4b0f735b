#!/usr/bin/env python3
"""Steps of training against PyTorch: the graphs of AOTAutograd, forward and backward, without
decompositions, and programs with gradients of torch.export.

    training.py [cuda] [NAME...]     only models whose name contains a NAME
"""
import copy, logging, os, pathlib, sys, tempfile, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import quick_cc
import tally

try:
    import torch
    import quick_torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    torch = None

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"


def models():
    """(name, module, inputs): floating inputs have gradients."""
    def normal(*shape):
        return torch.randn(*shape).requires_grad_()

    def module(function, *parts):
        class Module(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleList(parts)

            def forward(self, *inputs):
                return function(*self.parts, *inputs)
        return Module()

    classes = torch.randint(0, 7, (6,))
    classes[1] = -100
    image = torch.randint(0, 7, (2, 3, 4))
    yield "conv", nn.Conv2d(4, 6, 3, padding=1, stride=2), [normal(2, 4, 8, 7)]
    yield "conv_groups", nn.Conv2d(4, 8, 3, groups=2, dilation=2), [normal(2, 4, 8, 7)]
    yield "conv_depthwise", nn.Conv1d(4, 4, 3, groups=4), [normal(2, 4, 9)]
    yield "conv_transposed", nn.ConvTranspose2d(4, 3, 3, stride=2), [normal(2, 4, 4, 5)]
    yield "max_pool", nn.MaxPool2d(3, 2, 1), [normal(2, 3, 8, 9)]
    yield "avg_pool", nn.AvgPool2d(3, 2, 1, ceil_mode=True), [normal(2, 3, 8, 9)]
    yield "adaptive", nn.AdaptiveAvgPool2d((3, 4)), [normal(2, 3, 7, 8)]
    yield "batch_norm", nn.BatchNorm2d(5), [normal(3, 5, 4, 4)]
    yield "layer_norm", nn.LayerNorm(16), [normal(2, 3, 16)]
    yield "group_norm", nn.GroupNorm(2, 6), [normal(2, 6, 5, 4)]
    yield "rms_norm", nn.RMSNorm(16), [normal(2, 3, 16)]
    yield "embedding", nn.Embedding(99, 20, padding_idx=2), [torch.randint(0, 99, (3, 40))]
    yield "lstm", nn.LSTM(4, 5, batch_first=True), [normal(2, 3, 4)]
    yield "gru", nn.GRU(4, 5), [normal(3, 2, 4)]
    for name in ("gelu", "silu", "mish", "elu", "softplus", "hardswish", "relu", "logsigmoid",
                 "hardsigmoid", "leaky_relu", "selu", "tanhshrink", "glu", "relu6"):
        yield name, module(getattr(F, name)), [normal(6, 8)]
    yield "softmax", module(lambda x: x.softmax(1)), [normal(6, 8)]
    yield "cross_entropy", module(F.cross_entropy), [normal(6, 7), classes]
    yield "smoothed", module(lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1)), [
        normal(6, 7), classes]
    yield "cross_entropy_2d", module(F.cross_entropy), [normal(2, 7, 3, 4), image]
    for name in "mse_loss", "huber_loss", "smooth_l1_loss":
        yield name, module(getattr(F, name)), [normal(6, 7), normal(6, 7)]
    yield "gather", module(lambda x, i: x.gather(1, i)), [normal(3, 4), classes[:3, None] * 0]
    yield "index", module(lambda x, i: x[i]), [normal(6, 20), torch.randint(0, 6, (5, 3))]
    yield "mlp", module(lambda a, b, x, y: F.cross_entropy(b(F.relu(a(x))), y), nn.Linear(8, 16),
                        nn.Linear(16, 7)), [torch.randn(6, 8), classes]


def graphs(module, inputs):
    """The graphs that a step runs, each with its inputs."""
    from functorch.compile import aot_module, make_boxed_func

    found = []

    def compiler(graph, _):
        def run(*inputs):
            found.append((graph, copy.deepcopy(inputs)))
            return graph(*inputs)
        return make_boxed_func(run)

    out = aot_module(module, fw_compiler=compiler, bw_compiler=compiler)(*inputs)
    out = out if torch.is_tensor(out) else out[0]
    out.backward(torch.randn_like(out))
    return found


def differs(got, want):
    """None, or where."""
    if want is None or got is None:
        return None if got is want else f"{got}, not {want}"
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    if not torch.allclose(got.double(), want.double(), 2e-4, 2e-5, equal_nan=True):
        return f"by {(got.double() - want.double()).abs().max().item()}"
    return None


def check_graph(name, graph, inputs):
    want = graph(*copy.deepcopy(inputs))
    try:
        got = nereid.load(graph, device=DEVICE).run(*inputs)
    except nereid.errors.NereidError as e:
        tally.check(False, f"{name}: {e}")
        return
    for i, (x, y) in enumerate(zip(got, want)):
        where = differs(x, y)
        tally.check(not where, f"{name}: output {i} differs: {where}")


def check_models(names):
    for name, module, inputs in models():
        if names and not any(n in name for n in names):
            continue
        inputs = [x.detach().to(DEVICE).requires_grad_(x.requires_grad) for x in inputs]
        for which, (graph, values) in zip(("forward", "backward"),
                                          graphs(module.to(DEVICE), inputs)):
            check_graph(f"{name}, {which}", graph, values)


class Step(nn.Module if torch else object):
    """The loss of a classifier."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return F.cross_entropy(self.model(x), y)


class Sentence(nn.Module if torch else object):
    """A transformer's layer with a causal attention beside it."""

    def __init__(self):
        super().__init__()
        self.words, self.three = nn.Embedding(11, 16), nn.Linear(16, 48)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.last = nn.Linear(16, 7)

    def forward(self, x):
        n, length = x.shape
        x = self.layer(self.words(x))
        q, k, v = self.three(x).view(n, length, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.last((x + y.transpose(1, 2).reshape(n, length, 16)).mean(1))


def saved(program, folder):
    path = os.path.join(folder, "program.pt2")
    torch.export.save(program, path)
    return nereid.load(path, device="cpu")


def check_exported(folder):
    """Programs of torch.export with gradients, which a file keeps: two steps of each."""
    from torch.export.experimental import _export_forward_backward

    image = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU(),
                          nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 7))
    vector = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 7))
    for name, model, x in (("vectors", vector, torch.randn(6, 8)),
                           ("images", image, torch.randn(6, 3, 8, 8)),
                           ("sentences", Sentence(), torch.randint(0, 11, (6, 5)))):
        step, y = Step(model), torch.randint(0, 7, (6,))
        loaded = saved(_export_forward_backward(torch.export.export(step, (x, y))), folder)
        for _ in range(2):
            loss, *gradients = loaded.run(x, y)
            step.zero_grad()
            want = step(x, y)
            want.backward()
            tally.check(not differs(loss, want), f"the loss of {name} is {loss}, not {want}")
            for (of, parameter), gradient in zip(step.named_parameters(), gradients):
                where = differs(gradient, parameter.grad)
                tally.check(not where, f"{name}: the gradient of {of} differs: {where}")


def check_statistics(folder):
    """A batch norm that trains in a file: its statistics stay from run to run."""
    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)

        def forward(self, x):
            y = self.norm(x)
            return y, self.norm.running_mean + 0, self.norm.running_var + 0

    module, x = Norm(), torch.randn(6, 4) * 3 + 1
    program = torch.export.export(module, (x,))
    for form, exported in (("as it is", program), ("decomposed", program.run_decompositions())):
        loaded, eager = saved(exported, folder), copy.deepcopy(module)
        for run in range(3):
            for got, want in zip(loaded.run(x + run), eager(x + run)):
                where = differs(got, want)
                tally.check(not where, f"a batch norm, {form}, run {run}: {where}")


def main():
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "nothing to compare with")
        return tally.report()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    names = [a for a in sys.argv[1:] if a != "cuda"]
    with tempfile.TemporaryDirectory() as folder:
        if DEVICE == "cpu":
            quick_cc.quick_compiler(folder)
        check_models(names)
        if DEVICE == "cpu" and not names:
            check_exported(folder)
            check_statistics(folder)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
