"""Compare torch.compile(backend="nereid") with eager PyTorch on OpInfo's samples of operators.

Started by opinfo.py with one JSON argument: device, dtype, layout, samples. Names of operators are
read from standard input, a line each; to descriptor `tell` go JSON objects, a line each:
{"ready": names}, then for an operator {"row": ..., "whole": false} as its samples are done, and
true at its end.
"""

import contextlib
import copy
import io
import json
import os
import sys
import time
import warnings

os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"  # programs of this process are looked at
import torch
from torch._subclasses import FakeTensorMode
from torch.testing._internal import common_methods_invocations as invocations
from torch.utils._pytree import tree_flatten, tree_unflatten

TEXT = 500  # characters of an error that are kept
LARGE = 1 << 16  # elements of a sample that is left out where there are smaller ones
# Other dtypes for operators that do not take the one asked for.
INSTEAD = (torch.int64, torch.int32, torch.bool, torch.complex64, torch.float64)
# Operators of which only the form of the results is defined.
UNDEFINED = ("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided",
             "empty_permuted")
# Operators that draw a number for a whole channel: too few for statistics on a sample.
OF_CHANNELS = ("nn.functional.dropout2d", "nn.functional.dropout3d")
MODES = ("inference", "training")
# Operators that may take any of several equal elements: its index, and its gradient, is theirs.
AMBIGUOUS = ("mode", "sort", "msort", "argsort", "topk", "kthvalue")
# Operators of which OpInfo's tests compare what output_process_fn_grad leaves of the results: the
# signs of vectors, and bases of equal values, are free.
FREE_SIGNS = ("linalg.eigh", "linalg.svd", "svd", "pca_lowrank", "svd_lowrank")
# torch.compile's own parts, without our compiler: a failure of theirs is apart.
BELOW = ("aot_eager", "aot_eager_decomp_partition")
# Assertions on numbers in Python, and seeds from PyTorch's generator: no work of a GPU's.
CHECKS = ("prims.inductor_seeds.default", "aten._assert_scalar.default",
          "aten.sym_constrain_range_for_size.default")
WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
        torch.complex64: torch.complex128, torch.complex32: torch.complex128}


def is_tensor(value):
    return isinstance(value, torch.Tensor)


def differentiable(value):
    return is_tensor(value) and (value.is_floating_point() or value.is_complex())


# ---- layouts of operands: the same shape otherwise in memory ----


def channels_last(x):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.contiguous(memory_format=formats[x.dim()]) if x.dim() in formats else x


def transposed(x):
    """The axes in memory from the last to the first."""
    axes = tuple(reversed(range(x.dim())))
    return x.permute(axes).contiguous().permute(axes)


def expanded(x):
    """The first along an axis for all of it."""
    axis = next((i for i, n in enumerate(x.shape) if n > 1), None)
    return x if axis is None else x.narrow(axis, 0, 1).expand_as(x)


def stepped(x):
    """Every second element from the second on, of longer rows."""
    wide = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1] + 1))
    return wide[..., 1::2].copy_(x)


LAYOUTS = {"plain": lambda x: x, "channels_last": channels_last, "transposed": transposed,
           "expanded": expanded, "stepped": stepped}


def laid(x, layout):
    if x.layout is not torch.strided or not x.dim() or not x.numel() or x.is_quantized:
        return x
    return LAYOUTS[layout](x)


class Sample:
    """The arguments of one call of an operator."""

    def __init__(self, op, sample, layout="plain"):
        self.op, self.layout = op, layout
        self.finish = sample.output_process_fn_grad
        leaves, self.spec = tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
        self.leaves = leaves

    def is_laid(self):
        """Has a tensor other strides than it had?"""
        return self.layout == "plain" or any(
            laid(leaf.detach(), self.layout).stride() != leaf.stride()
            for leaf in self.leaves if is_tensor(leaf) and leaf.layout is torch.strided)

    def elements(self):
        return sum(leaf.numel() for leaf in self.leaves if is_tensor(leaf))

    def has_equals(self):
        """Are there equal elements in its first tensor?"""
        first = laid(next(leaf for leaf in self.leaves if is_tensor(leaf)).detach(), self.layout)
        return first.unique().numel() < first.numel()

    def form(self):
        """What tells it from another sample."""
        return repr([(tuple(leaf.shape), leaf.stride(), str(leaf.dtype)) if is_tensor(leaf)
                     else leaf for leaf in self.leaves]) + repr(self.spec)

    def label(self):
        text = ", ".join(f"{str(leaf.dtype)[6:]}{list(leaf.shape)}" if is_tensor(leaf)
                         else repr(leaf) for leaf in self.leaves)
        return text[:200]

    def arguments(self, train, wide=False, fake=None):
        """Fresh copies: the leaves, and the arguments that they are in; `fake`: FakeTensorMode."""
        leaves = []
        for leaf in self.leaves:
            if is_tensor(leaf):
                wanted = leaf.requires_grad and train
                leaf = laid(copy.deepcopy(leaf.detach()), self.layout).detach()
                if wide and leaf.dtype in WIDE:
                    leaf = leaf.to(WIDE[leaf.dtype])
                if fake:
                    leaf = fake.from_tensor(leaf)
                leaf.requires_grad_(wanted)
            elif wide and isinstance(leaf, torch.dtype):
                leaf = WIDE.get(leaf, leaf)
            leaves.append(leaf)
        return leaves, tree_unflatten(leaves, self.spec)


class Result:
    """What a call gave: outputs, the inputs after it, gradients."""

    def __init__(self, function, sample, train, seed=0, wide=False, fake=None):
        leaves, (args, kwargs) = sample.arguments(train, wide, fake)
        torch.manual_seed(seed)
        self.inputs = [leaf for leaf in leaves if is_tensor(leaf)]
        self.gradients = []
        with fake or contextlib.nullcontext(), torch.set_grad_enabled(train):
            raw = function(*args, **kwargs)
            free = sample.op.name in FREE_SIGNS
            self.outputs = tree_flatten(sample.finish(raw) if free else raw)[0]
            if train:
                self._differentiate(sample.finish(raw))
        self.outputs = [out.detach() if is_tensor(out) else out for out in self.outputs]

    def _differentiate(self, raw):
        inputs = [leaf for leaf in self.inputs if leaf.requires_grad]
        outputs = [out for out in tree_flatten(raw)[0]
                   if differentiable(out) and out.requires_grad]
        if not inputs or not outputs:
            return
        weights = torch.Generator().manual_seed(7)
        total = []
        for out in outputs:
            weight = torch.randn(out.shape, generator=weights, dtype=torch.float64)
            weight = weight.to(torch.complex128 if out.is_complex() else torch.float64)
            total.append(weight.to(device=out.device, dtype=out.dtype))
        self.gradients = list(torch.autograd.grad(outputs, inputs, total, allow_unused=True))

    def groups(self):
        return (("output", self.outputs), ("input", self.inputs), ("gradient", self.gradients))


def plain(tensor):
    """The tensor's values, wide."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def strides(tensor):
    """Strides of the axes that have more than one element; none of an empty tensor."""
    if tensor.layout is not torch.strided or not tensor.numel():
        return None
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]


def form_differs(got, want):
    if (got.shape, got.dtype, got.device.type) != (want.shape, want.dtype, want.device.type):
        return (f"{got.dtype} {list(got.shape)} on {got.device}, not "
                f"{want.dtype} {list(want.shape)} on {want.device}")
    if strides(got) != strides(want):
        return f"strides {got.stride()}, not {want.stride()}"
    return None


def tolerance(dtype):
    """Relative and absolute: those that torch.testing.assert_close has by default."""
    return {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5),
            torch.float32: (1.3e-6, 1e-5), torch.complex64: (1.3e-6, 1e-5),
            torch.float64: (1e-7, 1e-7), torch.complex128: (1e-7, 1e-7)}.get(dtype, (0.0, 0.0))


def value_differs(got, want, exact):
    """A text where values differ by more than the tolerance, and by more than twice what eager's
    are off those of float64 arithmetic, `exact`."""
    relative, absolute = tolerance(want.dtype)
    a, b = plain(got), plain(want)
    if torch.allclose(a, b, rtol=relative, atol=absolute, equal_nan=True):
        return None
    off = (a - b).abs()
    both = torch.isnan(a) & torch.isnan(b) | (a == b)
    off = torch.where(both, torch.zeros_like(off), off)
    text = f"differs by {off.max().item():.3g} of {b.abs().max().item():.3g}"
    if exact is None or not differentiable(want) or exact.shape != want.shape:
        return text
    c = plain(exact)
    finite = torch.isfinite(c) & torch.isfinite(b)
    if not torch.equal(torch.isfinite(a) | ~finite, torch.ones_like(finite)):
        return text + ", not finite"
    if not bool(finite.any()):
        return None
    theirs = torch.where(finite, (b - c).abs(), 0).max().item()
    mine = torch.where(finite, (a - c).abs(), 0)
    scale = torch.where(finite, c.abs(), 0).max().item()
    step = torch.finfo(want.dtype).eps if want.dtype.is_floating_point else 1e-7
    limit = torch.where(finite, relative * c.abs(), 0) + max(2 * theirs, 8 * step * scale, 1e-7)
    if bool((mine <= limit).all()):
        return None
    return f"{text}; off the exact by {mine.max().item():.3g}, eager by {theirs:.3g}"


def statistics_differ(got, want):
    """Random numbers: quartiles, where there are enough of them; a mean need not exist."""
    if got.numel() < 100 or not differentiable(got) or got.is_complex():
        return None
    places = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
    a, b = (torch.quantile(plain(x).cpu().flatten(), places).tolist() for x in (got, want))
    spread = b[2] - b[0]
    if max(abs(x - y) for x, y in zip(a, b)) <= spread * 10 / got.numel() ** 0.5 + 1e-6:
        return None
    return f"quartiles {a}, not {b}"


def differs(got, want, exact, random):
    """A text on the first difference of two results; None: there is none."""
    for i, (group, wanted) in enumerate(want.groups()):
        found = got.groups()[i][1]
        truth = exact.groups()[i][1] if exact else []
        if len(found) != len(wanted):
            return f"{len(found)} {group}s, not {len(wanted)}"
        for j, (a, b) in enumerate(zip(found, wanted)):
            name = f"{group} {j}"
            if not is_tensor(b):
                if type(a) is not type(b) or (a != b and not (a != a and b != b) and not random):
                    return f"{name}: {str(a)[:80]}, not {str(b)[:80]}"
                continue
            if not is_tensor(a):
                return f"{name}: {str(a)[:80]}, not a tensor"
            text = form_differs(a, b)
            if not text and random != "undefined":
                if random == "indices" and (group == "gradient" or not differentiable(b)):
                    continue
                if random == "random":
                    text = statistics_differ(a, b)
                else:
                    text = value_differs(a, b, truth[j] if j < len(truth) else None)
            if text:
                return f"{name}: {text}"
    return None


def short(error):
    """The line of an exception that says the most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = type(error).__name__
    for line in lines:
        if "rror:" in line or "rror in" in line:
            return f"{kind}: {line}"[:TEXT]
    more = 2 if lines and lines[0].endswith(":") else 1
    return f"{kind}: {' '.join(lines[:more])}"[:TEXT]


class Case:
    """One operator."""

    def __init__(self, op, options):
        self.op, self.options = op, options
        self.function = op.get_op()
        self.row = {"op": name_of(op), "right": 0, "eager": 0, "wrong": [], "errors": [],
                    "fallbacks": {}, "breaks": 0, "random": ""}

    def dtype(self):
        takes = self.op.supported_dtypes(self.options["device"])
        asked = getattr(torch, self.options["dtype"])
        if asked in takes:
            return asked
        if asked is torch.float32:
            return next((dtype for dtype in INSTEAD if dtype in takes), None)
        return None

    def samples(self, dtype):
        torch.manual_seed(0)
        train = (self.op.supports_autograd and dtype
                 in self.op.supported_backward_dtypes(self.options["device"]))
        self.row["train"] = train
        found = {}
        for i, sample in enumerate(self.op.sample_inputs(self.options["device"], dtype,
                                                         requires_grad=train)):
            one = Sample(self.op, sample, self.options["layout"])
            if one.is_laid():
                found.setdefault(one.form(), one)
            if i > 300:
                break
        every = list(found.values())
        small = [one for one in every if one.elements() <= LARGE] or every[:1]
        n = self.options["samples"]
        if n and len(small) > n:
            small = [small[i * (len(small) - 1) // max(n - 1, 1)] for i in range(n)]
        return small, train

    def kind_of_random(self, sample):
        """Do results depend on the generator?"""
        if self.op.name in UNDEFINED:
            return "undefined"
        if self.op.name in AMBIGUOUS and sample.has_equals():
            return "indices"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, other = (Result(self.function, sample, False, seed) for seed in (0, 1))
        if not differs(one, other, None, ""):
            return ""
        return "undefined" if self.op.name in OF_CHANNELS else "random"

    def compiled(self, sample, train, backend):
        function = self.function

        def call(*args, **kwargs):
            return function(*args, **kwargs)

        torch._dynamo.reset()
        try:
            return Result(torch.compile(call, backend=backend, fullgraph=True, dynamic=False),
                          sample, train), 0
        except torch._dynamo.exc.Unsupported:
            torch._dynamo.reset()
            return Result(torch.compile(call, backend=backend, dynamic=False), sample, train), 1

    def fake_differs(self, sample, train, want) -> bool:
        """Do PyTorch's own rules say other strides, dtypes or shapes than its operators give?"""
        said = Result(self.function, sample, train, fake=FakeTensorMode())
        pairs = [pair for (_, a), (_, b) in zip(said.groups(), want.groups())
                 for pair in zip(a, b) if is_tensor(pair[0]) and is_tensor(pair[1])]
        return any(form_differs(a, b) for a, b in pairs)

    def below(self, sample, train, want, exact, random):
        """torch.compile's own parts that fail on the sample."""
        failing = []
        with contextlib.suppress(Exception):
            if self.fake_differs(sample, train, want):
                failing.append("FakeTensor")
        for backend in BELOW:
            try:
                got, _ = self.compiled(sample, train, backend)
                if differs(got, want, exact, random):
                    failing.append(backend)
            except Exception:
                failing.append(backend)
        return failing

    def one(self, sample, train):
        programs = sys.modules["nereid.torch_backend"]._programs
        programs.clear()
        try:
            random = self.kind_of_random(sample)
            want = Result(self.function, sample, train)
        except Exception:
            self.row["eager"] += 1
            return
        self.row["random"] = self.row["random"] or random
        exact, text, into = None, None, self.row["wrong"]
        try:
            got, breaks = self.compiled(sample, train, "nereid")
            self.row["breaks"] += breaks
            text = differs(got, want, None, random)
            if text:
                with contextlib.suppress(Exception):
                    exact = Result(self.function, sample, train, wide=True)
                text = differs(got, want, exact, random)
        except Exception as error:
            text, into = short(error), self.row["errors"]
        for program in programs:
            for node, reason in program.reasons.items():
                if isinstance(node.target, torch._ops.OperatorBase):
                    if str(node.target) not in CHECKS:
                        self.row["fallbacks"][str(node.target)] = reason
        programs.clear()
        if text is None:
            self.row["right"] += 1
        else:
            below = self.below(sample, train, want, exact, random)
            if "strides" not in text and "FakeTensor" in below:
                below.remove("FakeTensor")
            into.append({"sample": self.row["at"], "text": text, "below": below})

    def run(self, tell):
        start = time.monotonic()
        dtype = self.dtype()
        self.row["dtype"] = str(dtype)[6:] if dtype else ""
        if dtype:
            try:
                samples, train = self.samples(dtype)
            except Exception as error:
                samples, train = [], False
                self.row["note"] = "no samples: " + short(error)
            for sample in samples:
                for training in ([False, True] if train else [False]):
                    self.row["at"] = f"{MODES[training]}: {sample.label()}"
                    self.row["seconds"] = round(time.monotonic() - start, 1)
                    tell({"row": self.row, "whole": False})
                    self.one(sample, training)
        self.row.pop("at", None)
        self.row["seconds"] = round(time.monotonic() - start, 1)
        tell({"row": self.row, "whole": True})


def name_of(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def main():
    options = json.loads(sys.argv[1])
    out = os.fdopen(options["tell"], "w", buffering=1)

    def tell(value):
        out.write(json.dumps(value) + "\n")
        out.flush()

    warnings.simplefilter("ignore")
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    torch._dynamo.config.capture_scalar_outputs = True
    import nereid.torch_backend

    nereid.torch_backend._programs.keep()

    # Functions that draw set the seed for themselves, which TorchDynamo does not trace.
    invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)

    ops = {name_of(op): op for op in invocations.op_db}
    tell({"ready": list(ops)})
    # By default convolutions may be in TF32, which cuDNN uses for some sizes and Nereid for others.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        for line in sys.stdin:
            with contextlib.redirect_stdout(io.StringIO()):
                Case(ops[line.strip()], options).run(tell)
    os._exit(0)


if __name__ == "__main__":
    main()
