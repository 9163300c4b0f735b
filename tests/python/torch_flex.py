#!/usr/bin/env python3
"""FlexAttention by torch.compile: values and gradients beside PyTorch's own form in float64; on
tensors of the CPU, or with the argument cuda of a GPU.  --random N, --seed S: that many random
masks, functions of scores and sizes, with up to --most M (200) rows and keys, by --jobs J (1)
processes, which end after --limit L seconds."""
import logging, os, pathlib, random, re, subprocess, sys, time, warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import nereid
import tally

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"
try:
    import torch
    import quick_torch
    import torch.nn.attention.flex_attention as flex
except ImportError:
    torch = None
if torch is not None and DEVICE == "cpu":
    # PyTorch has no gradients there, nor the largest scores.
    flex._validate_device = lambda *tensors: None
    kernel_options = flex._apply_kernel_options
    flex._apply_kernel_options = lambda *args: kernel_options(*args[:5])


def argument(name, otherwise):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else otherwise


# ---- masks and functions of scores; tables are tensors that they read ----


def causal(tables):
    return lambda b, h, q, k: q >= k


def window(tables):
    return lambda b, h, q, k: (q >= k) & (q - k < 40)


def documents(tables):
    of = tables["document"]
    return lambda b, h, q, k: (q >= k) & (of[q] == of[k])


def late_rows(tables):  # others see nothing
    return lambda b, h, q, k: (q >= k) & (q >= 70)


def nothing(tables):
    return lambda b, h, q, k: torch.scalar_tensor(0, dtype=torch.bool, device=DEVICE)


def everything(tables):
    return lambda b, h, q, k: torch.full((), True, device=DEVICE)


def by_head(tables):
    limit = tables["limit"]
    return lambda b, h, q, k: k < limit[b, h]


by_head.of_heads = True  # blocks of one head are not those of all

def far(tables):
    return lambda b, h, q, k: torch.abs(q - k) > 20


def prefix(tables):
    return lambda b, h, q, k: (q >= k) | (k < 30)


def dilated(tables):
    return lambda b, h, q, k: (q - k) % 3 == 0


def alibi(tables):
    slopes = tables["slopes"]
    return lambda s, b, h, q, k: s + slopes[h] * (k - q)


def soft_cap(tables):
    return lambda s, b, h, q, k: torch.tanh(s / 5) * 5


def bias(tables):
    of = tables["bias"]
    return lambda s, b, h, q, k: s * 2 + of[b, h, q, k]


def hides(tables):
    return lambda s, b, h, q, k: torch.where((q + k) % 3 == 0, s, -float("inf"))


def number(tables):  # a tensor without axes, of another dtype
    factor = tables["factor"]
    return lambda s, b, h, q, k: s * factor


def constants(tables):  # tensors that the function makes
    return lambda s, b, h, q, k: torch.where(
        q - k > torch.tensor(9), s * torch.tensor(0.5, device=DEVICE), s + torch.tensor(True))


def alone(tables):  # no score depends on the product
    return lambda s, b, h, q, k: torch.tensor(2.0, device=DEVICE)


def of_rows(tables):
    return lambda s, b, h, q, k: (q * 0.25).to(s.dtype)


MASKS = [None, causal, window, documents, late_rows, by_head]
SCORES = [None, alibi, soft_cap, bias, hides, number]


def tables_of(batch, heads, rows, keys):
    most = max(rows, keys)
    return {"document": torch.arange(most, device=DEVICE) // 23,
            "limit": torch.randint(1, keys + 1, (batch, heads), device=DEVICE),
            "slopes": torch.rand(heads, device=DEVICE),
            "bias": torch.randn(batch, heads, rows, keys, device=DEVICE),
            "factor": torch.tensor(0.75, dtype=torch.float64, device=DEVICE)}


# ---- one problem ----


def run(function, inputs, weights, backend):
    """The results, and gradients of the inputs."""
    torch._dynamo.reset()
    inputs = [x.clone().requires_grad_() for x in inputs]
    out, sums = torch.compile(function, backend=backend)(*inputs)
    seen = sums.isfinite()  # the sum of a row that sees nothing has no gradient
    loss = (out.double() * weights[0]).sum() + (sums.double() * weights[1])[seen].sum()
    return [out, sums, *torch.autograd.grad(loss, inputs)]


def off(got, want):
    """How far off, relative to the largest; infinite numbers must be the same."""
    got, want = got.double(), want.double()
    if not torch.equal(got.isfinite(), want.isfinite()):
        return float("inf")
    got, want = got.nan_to_num(0, 0, 0), want.nan_to_num(0, 0, 0)
    return ((got - want).abs().max() / want.abs().max().clamp(min=1e-6)).item()


def cancels(inputs, weights, got, want):
    """Are gradients of scores differences of equal numbers, as in rows that see one key?  Their
    roundings are all that is left of them."""
    query, key, value = (x.double().abs().max() for x in inputs)
    term = weights[0].double().abs().sum(-1).max() * value * max(query, key)
    rounding = 4 * torch.finfo(inputs[0].dtype).eps * term
    return all((a.double() - b).abs().max() <= rounding and b.abs().max() <= 16 * rounding
               for a, b in zip(got[2:4], want[2:4]))


def check(what, mask, score, *, batch=2, heads=4, key_heads=4, rows=100, keys=100, width=32,
          columns=None, block=128, dtype=None, nodes=None):
    """`nodes`: how many PyTorch runs, by the explanation; None: it is not asked."""
    dtype = dtype or torch.float32
    torch.manual_seed(0)
    shapes = [(batch, heads, rows, width), (batch, key_heads, keys, width),
              (batch, key_heads, keys, columns or width)]
    inputs = [torch.randn(shape, device=DEVICE).to(dtype) for shape in shapes]
    tables = tables_of(batch, heads, rows, keys)
    weights = [torch.randn(batch, heads, rows, columns or width, device=DEVICE),
               torch.randn(batch, heads, rows, device=DEVICE)]
    per_head = hasattr(mask, "of_heads")
    blocks = mask and flex.create_block_mask(
        mask(tables), batch if per_head else None, heads if per_head else None, rows, keys,
        device=DEVICE, BLOCK_SIZE=block)
    function = score and score(tables)

    def attend(query, key, value):
        return flex.flex_attention(query, key, value, score_mod=function, block_mask=blocks,
                                   enable_gqa=key_heads != heads, return_lse=True)

    want = run(attend, [x.double() for x in inputs], weights, "aot_eager")
    got = run(attend, inputs, weights, "nereid")
    least = {torch.float32: 2e-5, torch.float64: 1e-13}.get(dtype, 1e-2)
    names = ("result", "sums", "query", "key", "value")
    wrong = {name: off(a, b) for name, a, b in zip(names, got, want) if not off(a, b) <= least}
    if wrong and cancels(inputs, weights, got, want):
        wrong = {name: error for name, error in wrong.items() if name not in ("query", "key")}
    if wrong:  # perhaps eager mode is as far off
        eager = run(attend, inputs, weights, "aot_eager")
        allowed = {name: 2 * off(a, b) for name, a, b in zip(names, eager, want)}
        wrong = {name: error for name, error in wrong.items() if not error <= allowed[name]}
    tally.check(not wrong, f"{what}: off by {wrong}")
    if dtype == torch.float64:
        tally.check([x.dtype for x in got] == [dtype] * 5, f"{what}: {[x.dtype for x in got]}")
    if nodes is not None:
        inputs = [x.requires_grad_() for x in inputs]
        torch._dynamo.reset()
        page = str(nereid.explain(attend, *inputs))
        tally.check(f"{nodes} nodes by PyTorch" in page, f"{what}: {page.splitlines()[0]}")


def check_kinds():
    """Each mask with two functions of scores, and each of these with two masks."""
    for i, mask in enumerate(MASKS):
        for score in (SCORES[i], SCORES[(i + 1) % len(SCORES)]):
            name = f"{mask and mask.__name__}, {score and score.__name__}"
            shared = (mask is window) + (score is alibi)
            check(name, mask, score, key_heads=4 >> shared,
                  nodes=0 if score is alibi else None)


def check_sizes():
    check("a mask that hides all", nothing, alibi, rows=40, keys=40)
    check("a mask that hides nothing", everything, alibi, rows=40, keys=40)
    check("one row", causal, alibi, rows=1, keys=90)
    check("more keys than rows", window, soft_cap, rows=60, keys=170, block=64)
    check("more rows than keys", late_rows, None, rows=170, keys=60, block=64)
    check("small blocks", documents, bias, rows=130, keys=130, block=(32, 16))
    check("columns of values", causal, bias, width=16, columns=48)
    check("odd columns", causal, soft_cap, width=20, columns=20)
    check("tensors made within", causal, constants, nodes=0)
    check("wide", causal, alibi, width=128, rows=70, keys=70)
    for dtype in (torch.bfloat16, torch.float16):
        check(f"{dtype}", documents, alibi, dtype=dtype)
    doubles = {"dtype": torch.float64, "nodes": 0}
    check("doubles", documents, alibi, key_heads=2, width=24, columns=40, **doubles)
    check("doubles, no function", causal, None, block=(40, 24), **doubles)
    check("doubles, rows that see nothing", late_rows, soft_cap, rows=90, keys=130, **doubles)


def check_scores_alone():
    """Functions that no product is in; PyTorch has gradients of those that add 0 times one."""
    tables = tables_of(2, 4, 100, 100)
    inputs = [torch.randn(2, 4, 100, 32, device=DEVICE) for _ in range(3)]
    weights = [torch.randn(2, 4, 100, 32, device=DEVICE), torch.randn(2, 4, 100, device=DEVICE)]
    for function in (alone, of_rows):
        score = function(tables)

        def attend(query, key, value, score=score):
            return flex.flex_attention(query, key, value, score_mod=score, return_lse=True)

        def same(query, key, value, score=score):
            return attend(query, key, value, lambda s, *at: s * 0 + score(s, *at))
        want = run(same, [x.double() for x in inputs], weights, "aot_eager")
        errors = [off(a, b) for a, b in zip(run(attend, inputs, weights, "nereid"), want)]
        page = str(nereid.explain(attend, *inputs)).splitlines()[0]
        tally.check(max(errors) < 2e-5 and "0 nodes by PyTorch" in page,
                    f"{function.__name__}: off by {errors}; {page}")


def check_blocks():
    """Blocks that tiles do not divide."""
    check("blocks of 40", causal, None, block=40, nodes=0)
    check("blocks of 100 by 24", documents, alibi, block=(100, 24), rows=230, key_heads=2, nodes=0)
    check("blocks of 7 by 33", by_head, soft_cap, block=(7, 33), rows=50, keys=70)
    check("blocks of 72, one row", causal, alibi, block=72, rows=1, keys=300)
    for name in ("or_masks", "and_masks"):
        mask = joined(getattr(flex, name), (by_head, late_rows))
        check(f"blocks of heads, {mask.__name__}", mask, number, rows=130, keys=130, block=16)


def check_results():
    """The largest scores, which have no gradient, beside the sums, which have one."""
    wants = flex.AuxRequest(lse=True, max_scores=True)
    for what, mask, score, rows, heads in (("causal", causal, alibi, 90, 4),
                                           ("rows that see nothing", late_rows, soft_cap, 90, 2),
                                           ("no function", window, None, 90, 4),
                                           ("one row", everything, alibi, 1, 1)):
        torch.manual_seed(0)
        inputs = [torch.randn(2, n, r, 32, device=DEVICE)
                  for n, r in ((4, rows), (heads, 90), (heads, 90))]
        tables = tables_of(2, 4, rows, 90)
        blocks = flex.create_block_mask(mask(tables), None, None, rows, 90, device=DEVICE)
        function = score and score(tables)

        def attend(query, key, value):
            out, aux = flex.flex_attention(query, key, value, function, blocks, return_aux=wants,
                                           enable_gqa=heads != 4)
            return out, aux.lse, aux.max_scores

        def results(backend, inputs):
            torch._dynamo.reset()
            inputs = [x.clone().requires_grad_() for x in inputs]
            out, sums, most = torch.compile(attend, backend=backend)(*inputs)
            tally.check(not most.requires_grad, f"{what}: the largest scores have a gradient")
            seen = sums.isfinite()
            of_sums = torch.autograd.grad(sums[seen].square().sum(), inputs[:2], retain_graph=True)
            return [out, sums, most, *of_sums, *torch.autograd.grad(out.square().sum(), inputs)]

        want = results("aot_eager", [x.double() for x in inputs])
        wrong = [off(a, b) for a, b in zip(results("nereid", inputs), want, strict=True)]
        tally.check(max(wrong) < 2e-5, f"results beside, {what}: off by {wrong}")


def check_shared_batches():
    """Batches of the query that share keys, whose gradients are sums."""
    torch.manual_seed(0)
    inputs = [torch.randn(shape, device=DEVICE)
              for shape in ((3, 4, 70, 16), (1, 2, 90, 16), (1, 2, 90, 24))]
    tables = tables_of(3, 4, 70, 90)
    blocks = flex.create_block_mask(by_head(tables), 3, 4, 70, 90, device=DEVICE)

    def attend(query, key, value):
        return flex.flex_attention(query, key, value, alibi(tables), blocks, enable_gqa=True)

    def results(backend, inputs):
        torch._dynamo.reset()
        inputs = [x.clone().requires_grad_() for x in inputs]
        out = torch.compile(attend, backend=backend)(*inputs)
        return [out, *torch.autograd.grad(out.square().sum(), inputs)]

    want = results("aot_eager", [x.double() for x in inputs])
    wrong = [off(a, b) for a, b in zip(results("nereid", inputs), want, strict=True)]
    tally.check(max(wrong) < 2e-5, f"batches that share keys: off by {wrong}")
    page = str(nereid.explain(attend, *inputs))
    tally.check("0 nodes by PyTorch" in page, f"batches that share keys: {page.splitlines()[0]}")


def check_pages():
    """PyTorch's own pages of a cache: writes, and blocks whose table names the pages."""
    from torch.nn.attention.experimental._paged_attention import PagedAttention
    torch.manual_seed(0)
    batch, heads, width, page, room = 3, 4, 16, 32, 160
    lengths = torch.tensor([150, 40, 97], device=DEVICE)
    pages = PagedAttention(14, page, batch, device=DEVICE)
    for i in (1, 0, 2, 1):  # pages of a batch are not one after the other
        pages.reserve(torch.tensor(i, device=DEVICE), torch.tensor(
            int(lengths[i]) // 2 if i != 1 else 20, device=DEVICE))
    for i in range(batch):
        pages.reserve(torch.tensor(i, device=DEVICE), lengths[i])
    caches = [torch.zeros(1, 2, 14 * page, width, device=DEVICE) for _ in range(2)]
    plain = [torch.randn(batch, 2, room, width, device=DEVICE) for _ in range(2)]
    for i in range(batch):
        n = int(lengths[i])
        pages.assign(torch.tensor([i], device=DEVICE), torch.arange(n, device=DEVICE)[None],
                     *(x[i:i + 1, :, :n] for x in plain), *caches)
    tables = tables_of(batch, heads, room, room)
    for rows, score in ((1, alibi(tables)), (room, None)):
        def seen(b, h, q, k):
            return (k < lengths[b]) & (q + (room - rows) >= k)

        logical = flex.create_block_mask(seen, batch, None, rows, room, device=DEVICE,
                                         BLOCK_SIZE=page)
        query = torch.randn(batch, heads, rows, width, device=DEVICE)
        want = flex.flex_attention(query.double(), *(x.double() for x in plain), score,
                                   logical, enable_gqa=True)

        def attend(query, key, value, logical=logical, score=score):
            physical = pages.convert_logical_block_mask(logical, kv_len=lengths)
            return flex.flex_attention(query, key, value, pages.get_score_mod(score, lengths),
                                       physical, enable_gqa=True)

        def step(query, key, value, at, *caches):
            pages.assign(torch.arange(batch, device=DEVICE), at, key, value, *caches)
            return attend(query, *caches)

        torch._dynamo.reset()
        got = torch.compile(attend, backend="nereid")(query, *caches)
        tally.check(off(got, want) < 2e-5, f"pages, {rows} rows: off by {off(got, want):.1e}")
        at = (lengths - 1)[:, None]
        last = [x[torch.arange(batch, device=DEVICE)[:, None], :, at].transpose(1, 2)
                for x in plain]
        got = torch.compile(step, backend="nereid", fullgraph=True)(query, *last, at, *caches)
        tally.check(off(got, want) < 2e-5, f"pages, a step of {rows} rows")
        text = str(nereid.explain(step, query, *last, at, *caches))
        tally.check("0 nodes by PyTorch" in text, f"pages: {text.splitlines()[0]}")


class Exported(torch.nn.Module if torch else object):
    def __init__(self, form):
        super().__init__()
        self.form, self.before = form, torch.nn.Linear(16, 16)
        self.slopes = torch.nn.Parameter(torch.rand(4))
        self.document = torch.nn.Buffer(torch.arange(90) // 23)
        self.factor = torch.nn.Buffer(torch.tensor(0.75, dtype=torch.float64))
        self.blocks = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 90, 90,
                                             device=DEVICE, BLOCK_SIZE=40)

    def forward(self, query, key, value):
        blocks, of = self.blocks, self.document
        if self.form == "blocks made within":
            blocks = flex.create_block_mask(lambda b, h, q, k: (q >= k) & (of[q] == of[k]), None,
                                            None, query.shape[2], key.shape[2], device=DEVICE)
        if self.form == "no blocks":
            return flex.flex_attention(self.before(query), key, value)
        return flex.flex_attention(
            self.before(query), key, value, enable_gqa=True, block_mask=blocks, return_lse=True,
            score_mod=lambda s, b, h, q, k: torch.tanh(s * self.factor) * 5 + self.slopes[h])


def check_exported():
    """Programs of torch.export, which torch.export.save does not write, and their texts."""
    torch.manual_seed(0)
    for form in ("blocks of a constant", "blocks made within", "no blocks"):
        model = Exported(form).to(DEVICE).requires_grad_(False)
        heads = 4 if form == "no blocks" else 2
        inputs = [torch.randn(2, n, 90, 16, device=DEVICE) for n in (4, heads, heads)]
        want = model(*inputs)
        program = torch.export.export(model, tuple(inputs))
        got = nereid.load(program, device=DEVICE)(*inputs)
        wants, gots = (x if isinstance(x, (tuple, list)) else (x,) for x in (want, got))
        wrong = [off(torch.as_tensor(a), b) for a, b in zip(gots, wants, strict=True)]
        tally.check(max(wrong) < 1e-5, f"exported, {form}: off by {wrong}")


def graphs_of(attend, inputs):
    """The graphs of both passes in one, and of the backward pass, with their inputs and results."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.aot_autograd import make_boxed_func
    from torch._functorch.partitioners import default_partition
    found = {}

    def note(name, runs):
        def compiler(module, examples):
            def run(*args):
                results = module(*args)
                found[name] = module, args, results
                return results
            return make_boxed_func(run if runs else module.forward)
        return compiler

    def partition(joint, joint_inputs, **options):
        found["joint"] = joint
        return default_partition(joint, joint_inputs, **options)

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=note("forward", True), bw_compiler=note("backward", True),
                           partition_fn=partition)
    inputs = [x.clone().requires_grad_() for x in inputs]
    out, sums = torch.compile(attend, backend=backend)(*inputs)
    torch.autograd.grad(out.square().sum() + sums.sum(), inputs, allow_unused=True)
    return found


def check_backward_text():
    """Graphs of AOTAutograd with the operator's gradient, which nereid.load prints and reads."""
    torch.manual_seed(0)
    cases = (("three", causal, 2), ("of distances", None, 4), ("of rows and of keys", documents, 2))
    for what, mask, key_heads in cases:
        inputs = [torch.randn(2, heads, 100, 16, device=DEVICE)
                  for heads in (4, key_heads, key_heads)]
        inputs += [torch.randn(shape, device=DEVICE) for shape in ((4,), (4, 200), (100,))]
        blocks = mask and flex.create_block_mask(mask(tables_of(2, 4, 100, 100)), None, None, 100,
                                                 100, device=DEVICE, BLOCK_SIZE=(32, 40))

        def attend(query, key, value, *read, what=what, blocks=blocks, grouped=key_heads != 4):
            return flex.flex_attention(query, key, value, READ[what](*read), blocks,
                                       enable_gqa=grouped, return_lse=True)

        found = graphs_of(attend, inputs)
        module, args, want = found["backward"]
        compare_text(f"the gradient, {what}", module, args, want, 4)
        primals = [x.detach().requires_grad_(x.is_floating_point())
                   for x in found["forward"][1]]
        tangents = [torch.randn(2, 4, 100, *more, device=DEVICE) for more in ((16,), ())]
        want = torch.utils._pytree.tree_leaves(found["joint"](primals, tangents))
        compare_text(f"both passes, {what}", found["joint"], [*primals, *tangents], want, 6)


def compare_text(what, module, args, want, least):
    """The module's text on Nereid beside its results, of which some are None."""
    got = nereid.load(module, device=DEVICE)(*args)
    pairs = list(zip([x for x in got if x is not None], [x for x in want if x is not None],
                     strict=True))
    wrong = [off(torch.as_tensor(a), b) for a, b in pairs]
    tally.check(len(pairs) >= least and max(wrong) < 2e-5, f"text of {what}: {wrong}")


# What a score_mod reads of tensors that are trained, of shapes [4], [4, 200], [100].
READ = {
    "of heads": lambda a, b, c: lambda s, n, h, q, k: s + a[h] * (k - q),
    "of distances": lambda a, b, c: lambda s, n, h, q, k: s + b[h, q - k],
    "of rows and of keys": lambda a, b, c: lambda s, n, h, q, k: s * c[q] + c[k],
    "three": lambda a, b, c: lambda s, n, h, q, k: torch.tanh(s * b[h, k + 3]) * a[h] + c[k],
}


def check_read(what, of, mask, *, key_heads=4, dtype=None):
    """Gradients of what a score_mod reads."""
    torch.manual_seed(0)
    inputs = [torch.randn(2, heads, 100, 16, device=DEVICE).to(dtype or torch.float32)
              for heads in (4, key_heads, key_heads)]
    inputs += [torch.randn(shape, device=DEVICE) for shape in ((4,), (4, 200), (100,))]
    blocks = mask and flex.create_block_mask(mask(tables_of(2, 4, 100, 100)), None, None, 100, 100,
                                             device=DEVICE, BLOCK_SIZE=32)
    weight = torch.randn(2, 4, 100, 16, device=DEVICE)

    def attend(query, key, value, *read):
        return flex.flex_attention(query, key, value, of(*read), blocks,
                                   enable_gqa=key_heads != 4)

    def gradients(backend, inputs):
        torch._dynamo.reset()
        inputs = [x.clone().requires_grad_() for x in inputs]
        out = torch.compile(attend, backend=backend)(*inputs)
        return torch.autograd.grad((out * weight).sum(), inputs, allow_unused=True)

    want = gradients("aot_eager", [x.double() for x in inputs])
    got = gradients("nereid", inputs)
    least = 1e-2 if dtype else 3e-5
    wrong = [i for i, (a, b) in enumerate(zip(got, want))
             if (a is None) != (b is None) or a is not None and not off(a, b) < least]
    tally.check(not wrong, f"gradients of what is read, {what}: {wrong}")
    torch._dynamo.reset()
    page = str(nereid.explain(attend, *[x.requires_grad_() for x in inputs]))
    tally.check("0 nodes by PyTorch" in page, f"{what}: {page.splitlines()[0]}")


def check_places():
    """What an index out of range would add belongs to no other row."""
    learned = torch.randn(4, 60, device=DEVICE, requires_grad=True)
    query, key, value = (torch.randn(1, 2, 40, 16, device=DEVICE) for _ in range(3))

    def attend(of):
        return flex.flex_attention(query, key, value, lambda s, b, h, q, k: torch.where(
            h == 0, s + of[h * 0, k + 30], s)).square().sum()

    torch._dynamo.reset()
    compiled = torch.compile(attend, backend="nereid", options={"check_indices": False})
    (grad,) = torch.autograd.grad(compiled(learned), learned)
    tally.check(not grad[1:].any() and bool(grad[0].any()), "an index out of range adds to a row")


def check_reads():
    for i, (what, of) in enumerate(READ.items()):
        check_read(what, of, (None, causal, documents, window)[i], key_heads=2 if i % 2 else 4)
    check_read("of bf16", READ["of distances"], causal, dtype=torch.bfloat16)


def check_open_sizes():
    tables = tables_of(2, 4, 300, 300)

    def attend(query, key, value):
        rows = query.shape[2]
        blocks = flex.create_block_mask(documents(tables), None, None, rows, rows, device=DEVICE)
        return flex.flex_attention(query, key, value, alibi(tables), blocks)

    torch._dynamo.reset()
    compiled = torch.compile(attend, backend="nereid", dynamic=True)
    for rows in (100, 150, 257):
        inputs = [torch.randn(2, 4, rows, 32, device=DEVICE) for _ in range(3)]
        want = attend(*[x.double() for x in inputs])
        tally.check(off(compiled(*inputs), want) < 2e-5, f"{rows} rows of an open size")


class Lines(logging.Handler):
    """What the backend warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.found = []
        logging.getLogger("nereid.torch_backend").addHandler(self)

    def emit(self, record):
        self.found.append(record.getMessage())


def check_other_masks():
    """Block masks that were made for other sizes: eager mode's exception."""
    query, key, value = (torch.randn(1, 2, 100, 16, device=DEVICE) for _ in range(3))

    def attend(query, key, value):
        return flex.flex_attention(query, key, value, block_mask=blocks)

    for rows, keys in ((60, 60), (200, 200), (100, 60), (60, 100), (300, 100)):
        blocks = flex.create_block_mask(causal({}), None, None, rows, keys, device=DEVICE)
        told = []
        for call in (attend, torch.compile(attend, backend="nereid")):
            torch._dynamo.reset()
            try:
                call(query, key, value)
                told.append("no exception")
            except ValueError as error:
                told.append(str(error).partition("\n")[0])
        tally.check(told[0] == told[1] and "block_mask was created for" in told[1],
                    f"a mask of {rows} by {keys}: {told}")


def check_no_kernel():
    """A score_mod with an operator that is none of single elements: PyTorch runs the whole node, as
    one warning for both passes says."""
    torch.manual_seed(0)
    inputs = [torch.randn(1, 2, 40, 16, device=DEVICE) for _ in range(3)]
    table = torch.randn(2, 7, device=DEVICE)

    def attend(query, key, value):
        return flex.flex_attention(query, key, value, lambda s, b, h, q, k: s + table[h].amax())

    def results(backend):
        torch._dynamo.reset()
        given = [x.clone().requires_grad_() for x in inputs]
        out = torch.compile(attend, backend=backend)(*given)
        return [out, *torch.autograd.grad(out.square().sum(), given)]

    want, lines = results("aot_eager"), Lines()
    wrong = [off(a, b) for a, b in zip(results("nereid"), want, strict=True)]
    tally.check(max(wrong) < 2e-5, f"a function without a kernel: off by {wrong}")
    parts = ("PyTorch runs flex_attention", "all 3,200 scores", "aten.index.Tensor in its graph",
             "torch_flex.py")
    tally.check(len(lines.found) == 1 and all(part in lines.found[0] for part in parts),
                f"a function without a kernel: {lines.found}")


def joined(join, masks):
    """Masks as one, by PyTorch's function."""
    def mask(tables):
        return join(*(mask(tables) for mask in masks))

    if any(hasattr(mask, "of_heads") for mask in masks):
        mask.of_heads = True
    mask.__name__ = f"{join.__name__} of {' and '.join(mask.__name__ for mask in masks)}"
    return mask


def random_case(pick, most):
    """A mask, a function of scores, and the sizes for `check`."""
    dtypes = [torch.float32, torch.float64, torch.bfloat16]
    dtypes += [torch.float16] if DEVICE == "cuda" else []
    heads = pick.choice((1, 2, 4))
    sizes = {"batch": pick.choice((1, 2, 3)), "heads": heads,
             "key_heads": pick.choice([n for n in (1, 2, 4) if heads % n == 0]),
             "rows": pick.randint(1, most), "keys": pick.randint(1, most),
             "width": pick.choice((16, 20, 24, 32, 64, 96, 128, 256)),
             "columns": pick.choice((None, None, 16, 48, 128)),
             "dtype": pick.choice(dtypes),
             "block": pick.choice((16, 32, 50, 64, 128, (32, 64), (64, 16)))}
    mask, score = pick.choice(MASKS + [far, prefix, dilated]), pick.choice(SCORES)
    if pick.random() < 0.2:
        masks = pick.sample(MASKS[1:] + [far, prefix, dilated], 2)
        mask = joined(pick.choice((flex.and_masks, flex.or_masks)), masks)
    return mask, score, sizes


def check_random(count, seed, most=200, part=0, parts=1, limit=None):
    """Those of `count` random cases whose number is `part`, modulo `parts`."""
    pick, begun = random.Random(seed), time.monotonic()
    for i in range(count):
        mask, score, sizes = random_case(pick, most)
        if i % parts != part:
            continue
        if limit and time.monotonic() - begun > limit:
            print(f"{(count - i + parts - 1) // parts} skipped: the limit of time")
            return
        name = f"random {seed}.{i}: {mask and mask.__name__}, {score and score.__name__}, {sizes}"
        try:
            check(name, mask, score, **sizes)
        except Exception as error:
            tally.check(False, f"{name}: {type(error).__name__}: {error}")


def check_random_beside(jobs):
    """Random cases by several processes."""
    at = sys.argv.index("--jobs")
    command = [sys.executable, __file__, *sys.argv[1:at], *sys.argv[at + 2:], "--parts", str(jobs)]
    children = [subprocess.Popen([*command, "--part", str(i)], stdout=subprocess.PIPE, text=True)
                for i in range(jobs)]
    for child in children:
        lines = child.communicate()[0].splitlines()
        found = re.fullmatch(r"(\d+) passed, \d+ failed", lines[-1] if lines else "")
        for line in lines[:-1] if found else lines:
            if line.startswith("FAIL "):
                tally.check(False, line.removeprefix("FAIL "))
            else:
                print(line)
        tally.check(found, f"a process ended with status {child.returncode}")
        tally.passed += int(found[1]) if found else 0


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
        sys.exit(tally.report())
    warnings.simplefilter("ignore")
    if "--jobs" in sys.argv:
        check_random_beside(argument("--jobs", 1))
    elif "--random" in sys.argv:
        torch.set_num_threads(1 if "--parts" in sys.argv else torch.get_num_threads())
        check_random(argument("--random", 0), argument("--seed", 0), argument("--most", 200),
                     argument("--part", 0), argument("--parts", 1), argument("--limit", 0))
    else:
        check_kinds()
        check_sizes()
        check_scores_alone()
        check_blocks()
        check_results()
        check_shared_batches()
        check_pages()
        check_exported()
        check_backward_text()
        check_reads()
        check_places()
        check_open_sizes()
        check_other_masks()
        check_no_kernel()
        check_random(4, 1)
    sys.exit(tally.report())
