"""options={"verify": True}: the results of each segment against those of PyTorch's operators.

A difference is bisected: the segment's first nodes are compiled anew, fewer and fewer, until the
last of them is the first with which results are wrong.
"""

from __future__ import annotations

import math
import operator

import torch

from nereid.errors import NereidError
from nereid.torch_backend.base.draws import is_seeded
from nereid.torch_backend.base.log import line_of
from nereid.torch_backend.base.nodes import is_tensor
from nereid.torch_backend.segments.partition import Segment
from nereid.torch_backend.segments.regions import is_graph, module_of
from nereid.torch_backend.segments.segment import Compiled, SegmentPlan

aten = torch.ops.aten
_WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64,
         torch.float32: torch.float64, torch.complex64: torch.complex128}
_LOOSE = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 2e-4,
          torch.complex64: 2e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}
_TF32 = 1e-2
_SUMS = 256 * torch.finfo(torch.float32).eps


class WrongResult(NereidError):
    """A segment and PyTorch disagree.  `node` is the first node with which they do, `target` its
    operator, `line` the line of the model, `error` the largest difference, `alone` whether the
    node is wrong without those before it."""

    def __init__(self, message: str, node=None, line: str = "", error: float = 0.0,
                 alone: bool = False):
        super().__init__(message)
        self.node, self.target = node, str(node.target)
        self.line, self.error, self.alone = line, error, alone


def _tolerance(dtype: torch.dtype) -> float:
    loose = _LOOSE.get(dtype, 0.25 if dtype.is_floating_point else 0.0)
    tf32 = (torch.get_float32_matmul_precision() != "highest"
            or torch.backends.cudnn.allow_tf32 and torch.cuda.is_available())
    return max(loose, _TF32) if tf32 and loose and dtype in _WIDE else loose


def distance(got, want, exact=None, operands: float = 0.0) -> float | None:
    """The largest difference, if it is more than rounding; None: it is not.  `exact` has the
    results in float64, so that PyTorch's own rounding is known; `operands` is the largest operand,
    of which a sum that is almost 0 has the rounding."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if not want.numel():
        return None
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        off = (got != want)
        return (got.double() - want.double()).abs().max().item() if off.any() else None
    wide = torch.complex128 if want.dtype.is_complex else torch.float64
    a, b = got.to(wide), want.to(wide)
    finite = torch.isfinite(b)
    if not torch.equal(torch.isnan(a), torch.isnan(b)):
        return float("nan")
    if not torch.equal(a[~finite & ~torch.isnan(b)], b[~finite & ~torch.isnan(b)]):
        return float("inf")
    a, b = a[finite], b[finite]
    if not b.numel():
        return None
    loose, far = _tolerance(want.dtype), (a - b).abs()
    largest = far.max().item()
    least = _SUMS * operands if want.dtype in _WIDE else 0.0
    if (far <= loose * (b.abs() + b.abs().max()) + least).all():
        return None
    if exact is not None and exact.shape == want.shape:
        e = exact.to(wide)[finite]
        if (a - e).abs().max().item() <= 4 * (b - e).abs().max().item():
            return None
    return largest


def _copy(value, wide: bool = False):
    if not is_tensor(value):
        return value
    value = value.detach().clone()
    return value.to(_WIDE[value.dtype]) if wide and value.dtype in _WIDE else value


class Verified:
    """A segment that is compared at each call."""

    def __init__(self, compiled, program):
        self.compiled, self.program, self.plan = compiled, program, compiled.plan

    def __call__(self, values: list):
        kept = [_copy(value) for value in values]
        results = self.compiled(list(values))
        env, exact = self._references(kept)
        for node, got in [*zip(self.plan.bases, results), *self._updates(values)]:
            error = self._distance(node, got, env, exact)
            if error is not None:
                self._report(kept, env, exact, node, error)
        return results

    def _updates(self, values) -> list:
        """(input, tensor) of inputs that the segment writes."""
        given = dict(zip(self.plan.inputs, values))
        written = [n.args[0] for n in self.plan.nodes if n.target is aten.copy_.default]
        return [(node, given[node]) for node in written if node in given]

    @staticmethod
    def _distance(node, got, env: dict, exact: dict) -> float | None:
        of = node.args[0] if node.target is operator.getitem else node
        sizes = [value.abs().max().item() for value in map(env.get, of.all_input_nodes)
                 if is_tensor(value) and value.dtype in _WIDE and value.numel()]
        finite = [size for size in sizes if math.isfinite(size)]
        return distance(got, env[node], exact.get(node), max(finite, default=0.0))

    # ---- PyTorch ----

    def _references(self, values) -> tuple[dict, dict]:
        """What PyTorch's operators give, by nodes; and in float64, as far as they take it."""
        drawn = self._drawn(values)
        env = self._interpret(values, drawn, wide=False)
        try:
            exact = self._interpret(values, drawn, wide=True)
        except Exception:  # an operator without float64
            exact = {}
        return env, exact

    def _symbols(self, values) -> dict:
        found: dict = {}
        for node, value in zip(self.plan.inputs, values):
            kind = node.meta["val"]
            pairs = zip(kind.shape, value.shape) if is_tensor(kind) else [(kind, value)]
            for size, number in pairs:
                if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
                    found[size.node.expr] = number
        return found

    def _interpret(self, values, drawn: dict, wide: bool) -> dict:
        env = {node: _copy(value, wide) for node, value in zip(self.plan.inputs, values)}
        symbols = self._symbols(values)

        def value_of(arg):
            if isinstance(arg, torch.fx.Node):
                return module_of(arg) if is_graph(arg) else env[arg]
            if isinstance(arg, torch.SymInt):
                return int(arg.node.expr.subs(symbols))
            return _WIDE.get(arg, arg) if wide and isinstance(arg, torch.dtype) else arg

        for node in self.plan.nodes:
            if node in drawn:
                env[node] = torch.utils._pytree.tree_map(lambda t: _copy(t, wide), drawn[node])
                continue
            args, kwargs = torch.utils._pytree.tree_map(
                value_of, (list(node.args), dict(node.kwargs)),
                is_leaf=lambda arg: isinstance(arg, torch.fx.Node))
            env[node] = node.target(*args, **kwargs)
        return env

    # ---- parts of the segment ----

    def _part(self, nodes: list, outputs: list, env: dict) -> list:
        """The results of some of the nodes, compiled anew, from these values of the others."""
        segment = Segment(0, self.plan.device, nodes)
        plan = SegmentPlan(segment, self.program.number_of_symbol, self.program.apart)
        plan.bases = outputs
        compiled = Compiled(plan, self.program.settings, self.program.shape_env)
        compiled.compile()
        compiled.check()
        return compiled([_copy(env[node]) for node in plan.inputs])

    def _drawn(self, values) -> dict:
        """Random numbers, which only Nereid has for a seed."""
        found: dict = {}
        env = dict(zip(self.plan.inputs, values))
        for node in self.plan.nodes:
            if not is_seeded(node):
                continue
            parts = [user for user in node.users if user.target is operator.getitem]
            wanted = parts if parts else [node]
            before = self.plan.nodes[:self.plan.nodes.index(node) + 1]
            needed = self._needed(before, node)
            got = self._part([*needed, *parts], wanted, env)
            if not parts:
                found[node] = got[0]
            for part, value in zip(parts, got):
                found[part] = value
            found.setdefault(node, None)
        return found

    @staticmethod
    def _needed(nodes: list, last) -> list:
        """Those of the nodes that `last` is computed from, and itself."""
        wanted = {last}
        for node in reversed(nodes):
            if node in wanted:
                wanted.update(node.all_input_nodes)
        return [node for node in nodes if node in wanted]

    def _worst(self, nodes: list, env: dict, exact: dict) -> float | None:
        """The difference of the results of these nodes, as one executable."""
        inside = set(nodes)
        ends = [node for node in nodes if is_tensor(node.meta.get("val"))
                and not (node.users and all(user in inside for user in node.users))
                and node.target is not aten.copy_.default]
        if not ends:
            return None
        try:
            got = self._part(nodes, ends, env)
        except Exception:  # a part that the compiler refuses alone
            return None
        for node, value in zip(ends, got):
            found = self._distance(node, value, env, exact)
            if found is not None:
                return found
        return None

    def _report(self, values, env, exact, output, error: float) -> None:
        """Raises with the first node whose results are wrong."""
        nodes = [n for n in self.plan.nodes if n.target is not aten.copy_.default]
        env = {**env, **dict(zip(self.plan.inputs, values))}
        right, wrong = 0, len(nodes)
        while wrong - right > 1:
            middle = (right + wrong) // 2
            found = self._worst(nodes[:middle], env, exact)
            if found is None:
                right = middle
            else:
                wrong, error = middle, found
        node = nodes[wrong - 1]
        if node.target is operator.getitem:
            node = node.args[0]
        parts = [other for other in nodes if other.target is operator.getitem
                 and other.args[0] is node]
        alone = self._worst([node, *parts], env, exact) is not None
        line, title = line_of(node), self.compiled.title
        how = "alone" if alone else "together with nodes before it"
        raise WrongResult(
            f"{title}: result {output.name} is wrong. The first wrong node is {node.name}, "
            f"{node.target}, {how}: it differs from PyTorch by {error:.3g}"
            + (f"\n  in {line}" if line else ""), node, line, error, alone)
