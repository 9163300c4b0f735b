#!/usr/bin/env python3
"""Times attention and its gradients on a GPU: the example kernels, beside Triton (the same files)
and cuDNN through PyTorch, and Nereid's templates, as torch.compile takes them.

    attention.py [--heads 64,128,256] [--lengths 1024,4096,16384] [--warm N] [--triton 4096]
                 [--json FILE] [--trial]

Each side has the best of the same short list of blocks; all sides take turns, with the L2 cache
flushed before each run, and the median counts.  Two heads are compared with float64 first.  A
gradient takes 2.5 times the operations of the forward pass, however it is computed; ours is the sum
of three kernels.  --triton names the lengths at which Triton is measured."""
import argparse, concurrent.futures, json, math, subprocess, sys

import binding
import kernels

FORWARD, BACKWARD = (kernels.EXAMPLES / name for name in ("attention.py", "attention_backward.py"))
# By columns of a head: (BLOCK_M, BLOCK_N, warps, stages), forward and of both gradients.
BLOCKS = {
    "attention": {64: [(64, 128, 4, 2), (128, 128, 8, 3)],
                  128: [(128, 128, 8, 3), (128, 64, 8, 3)],
                  256: [(128, 64, 8, 2), (128, 80, 8, 2), (128, 32, 8, 2)]},
    "grad_keys": {64: [(64, 64, 4, 2), (128, 64, 8, 3)], 128: [(128, 64, 8, 3), (64, 64, 4, 2)],
                  256: [(64, 64, 8, 2), (64, 32, 8, 2)]},
    "grad_query": {64: [(64, 64, 4, 3), (64, 128, 4, 2)], 128: [(128, 64, 8, 3), (64, 64, 4, 2)],
                   256: [(64, 64, 4, 2), (128, 64, 8, 2)]},
    "row_sums": {64: [(64, 0, 4, 2)], 128: [(64, 0, 4, 2)], 256: [(32, 0, 4, 2)]},
}
TOKENS = {64: 1 << 18, 128: 1 << 18, 256: 1 << 17}  # of all heads
LOG2_E = 1.4426950408889634


class Problem:
    def __init__(self, memory, dim, length, causal, trial):
        self.torch = memory.torch
        self.memory, self.dim, self.length, self.causal = memory, dim, length, causal
        self.heads = max(2, (TOKENS[dim] >> 12 if trial else TOKENS[dim]) // length)
        shape = (self.heads, length, dim)
        self.q, self.k, self.v, self.grad = (memory.normal("bf16", *shape) for _ in range(4))
        self.out, self.dq, self.dk, self.dv = (memory.empty("bf16", *shape) for _ in range(4))
        self.sums, self.delta = (memory.empty("f32", self.heads, length) for _ in range(2))
        self.scale = dim**-0.5
        self.flops = 4 * self.heads * length**2 * dim // (2 if causal else 1)
        self.references = {}

    def scores(self, head, dtype):
        x = self.q[head].to(dtype) @ self.k[head].to(dtype).T * self.scale
        if not self.causal:
            return x
        hidden = self.torch.ones(x.shape, dtype=self.torch.bool, device="cuda").triu_(1)
        return x.masked_fill_(hidden, -math.inf)

    def find_sums(self):
        for head in range(self.heads):
            self.sums[head] = LOG2_E * self.scores(head, self.torch.float32).logsumexp(-1)

    def reference(self, head):
        """out, dq, dk and dv of a head in float64."""
        p = self.scores(head, self.torch.float64).softmax(-1)
        q, k, v, grad = (x[head].double() for x in (self.q, self.k, self.v, self.grad))
        out = p @ v
        ds = p * (grad @ v.T - (out * grad).sum(-1, keepdim=True)) * self.scale
        return out, ds @ k, ds.T @ q, p.T @ grad

    def errors(self, results):
        """The largest |result - reference| / |reference| of the first and the last head."""
        worst = [0.0] * len(results)
        for head in (0, self.heads - 1):
            if head not in self.references:
                self.references[head] = self.reference(head)
            for i, (x, want) in enumerate(zip(results, self.references[head])):
                off = ((x[head].double() - want).norm() / want.norm()).item()
                worst[i] = off if math.isnan(off) else max(worst[i], off)
        return worst

    def arguments(self, kernel):
        if kernel == "row_sums":
            return dict(out_ptr=self.out, grad_ptr=self.grad, delta_ptr=self.delta,
                        n_rows=self.heads * self.length)
        inputs = dict(q_ptr=self.q, k_ptr=self.k, v_ptr=self.v)
        sizes = dict(seq_len=self.length, scale=self.scale)
        if kernel == "attention":
            return dict(inputs, out_ptr=self.out, **sizes)
        rows = dict(inputs, grad_ptr=self.grad, sums_ptr=self.sums, delta_ptr=self.delta)
        outputs = dict(dk_ptr=self.dk, dv_ptr=self.dv) if kernel == "grad_keys" else \
            dict(dq_ptr=self.dq)
        return dict(rows, **outputs, **sizes)

    def turns(self):
        """Heads whose keys and values take 8 MB, as far as they divide all."""
        return math.gcd(max(1, (8 << 20) // (4 * self.length * self.dim)), self.heads)

    def case(self, kernel):
        def constants(m, n):
            if kernel == "row_sums":
                return dict(HEAD_DIM=self.dim, BLOCK=m)
            turns = dict(TURNS=self.turns()) if kernel == "attention" and self.causal else {}
            return dict(HEAD_DIM=self.dim, BLOCK_M=m, BLOCK_N=n, CAUSAL=self.causal, **turns)

        def grid(c):
            if kernel == "row_sums":
                return -(-self.heads * self.length // c["BLOCK"]),
            return -(-self.length // c["BLOCK_M"]), self.heads
        shapes = [(constants(m, n), w, s) for m, n, w, s in BLOCKS[kernel][self.dim]]
        file = FORWARD if kernel == "attention" else BACKWARD
        return kernels.Case(file, kernel, self.arguments(kernel), "", grid, shapes, None, 0)


def prepared(side, case):
    """[(blocks, function)] of the shapes that run."""
    def one(shape):
        try:
            run, info = side.prepare(shape)
            spills = f", {info['spill_bytes']} bytes spilled" if info.get("spill_bytes") else ""
            return kernels.shape_label(shape) + spills, run
        except Exception as problem:
            print(f"{side.name}, {kernels.shape_label(shape)}: {kernels.first_line(problem)}")
            return None
    with concurrent.futures.ThreadPoolExecutor(1 if side.name == "triton" else 8) as pool:
        return [x for x in pool.map(one, case.shapes) if x]


def cudnn(problem):
    """Functions of PyTorch's operators, forward and backward."""
    aten = problem.torch.ops.aten
    q, k, v, grad = (x[None] for x in (problem.q, problem.k, problem.v, problem.grad))

    def forward():
        return aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, problem.causal)
    out, sums, cq, ck, mq, mk, seed, offset, _ = forward()
    return forward, lambda: aten._scaled_dot_product_cudnn_attention_backward(
        grad, q, k, v, out, sums, seed, offset, None, cq, ck, mq, mk, 0.0, problem.causal)


def template(problem):
    """Functions of the kernels that torch.compile takes, forward and backward, on arrays in which
    heads of a token are beside each other, as layers of models give them."""
    import nereid

    heads, n, dim, causal = problem.heads, problem.length, problem.dim, problem.causal
    op = "torch.ops.aten._scaled_dot_product_flash_attention"
    shape, rows = f'"bf16[1, {n}, {heads}, {dim}]"', f'"f32[1, {heads}, {n}]"'

    def turned(*names):
        return "".join(f"    {to} = torch.ops.aten.permute.default({x}, [0, 2, 1, 3])\n"
                       for to, x in names)
    inputs = f"q0: {shape}, k0: {shape}, v0: {shape}"
    head = turned(*((x, f"{x}0") for x in "qkv"))
    forward = (f"def forward(self, {inputs}):\n{head}"
               f"    a = {op}.default(q, k, v, 0.0, {causal})\n    a0 = a[0]\n    a1 = a[1]\n"
               f"{turned(('o', 'a0'))}    return (o, a1)\n")
    backward = (f'def forward(self, {inputs}, g0: {shape}, o0: {shape}, l: {rows}, '
                f'seed: "i64[]"):\n{head}'
                f"{turned(('g', 'g0'), ('o', 'o0'))}"
                f"    b = {op}_backward.default(g, q, k, v, o, l, None, None, {n}, {n}, 0.0, "
                f"{causal}, seed, seed)\n    b0 = b[0]\n    b1 = b[1]\n    b2 = b[2]\n"
                f"{turned(('x', 'b0'), ('y', 'b1'), ('z', 'b2'))}    return (x, y, z)\n")
    run_forward, run_backward = (nereid.load(x, device="cuda") for x in (forward, backward))
    arrays = [x.transpose(0, 1).contiguous()[None]
              for x in (problem.q, problem.k, problem.v, problem.grad)]
    out, *grads = (problem.torch.empty_like(arrays[0]) for _ in range(4))
    sums = problem.torch.empty(1, heads, n, device="cuda")
    seed = problem.torch.zeros((), dtype=problem.torch.int64, device="cuda")

    def finish():
        for x, y in zip((problem.out, problem.dq, problem.dk, problem.dv), (out, *grads)):
            x.copy_(y[0].transpose(0, 1))
    problem.finish = finish
    return (lambda: run_forward.run(*arrays[:3], out=[out, sums]),
            lambda: run_backward.run(*arrays, out, sums, seed, out=grads))


def guarded(make, problem, name):
    try:
        functions = make(problem)
        for function in functions:
            function()
        return functions
    except Exception as trouble:
        print(f"{name}: {kernels.first_line(trouble)}")
        return None, None


def poison(problem):
    for x in (problem.out, problem.dq, problem.dk, problem.dv):
        x.fill_(math.nan)


def measure(problem, timer, with_triton):
    """A row of the table: microseconds by side and direction, blocks, the largest error."""
    memory, row = problem.memory, dict(errors={})
    sides = [kernels.NereidSide] + [kernels.TritonSide] * with_triton
    problem.find_sums()
    functions = {}
    for make in sides:
        poison(problem)
        for kernel in ("attention", "row_sums", "grad_keys", "grad_query"):
            case = problem.case(kernel)
            for label, run in prepared(make(memory, case), case):
                run()
                functions[make.name, kernel, label] = run
        row["errors"][make.name] = problem.errors((problem.out, problem.dq, problem.dk, problem.dv))
    for name, make in ("cudnn", cudnn), ("template", template):
        poison(problem)
        for kernel, run in zip(("forward", "backward"), guarded(make, problem, name)):
            if run:
                functions[name, kernel, ""] = run
        if name == "template" and hasattr(problem, "finish"):
            problem.finish()
            row["errors"][name] = problem.errors((problem.out, problem.dq, problem.dk, problem.dv))
    times = timer.medians(list(functions.values()), 9, warm_up=2)
    for (side, kernel, label), us in zip(functions, times):
        best = row.setdefault(side, {}).get(kernel)
        if best is None or us < best[0]:
            row[side][kernel] = round(us, 1), label
    return row


def rate(flops, us):
    return flops / us * 1e-6 if us else 0


def line_of(name, problem, row):
    def forward(side):
        x = row.get(side, {})
        return (x.get("forward") or x.get("attention") or (0,))[0]

    def backward(side):
        x = row.get(side, {})
        parts = [x[k][0] for k in ("row_sums", "grad_keys", "grad_query") if k in x]
        return x["backward"][0] if "backward" in x else sum(parts) if len(parts) == 3 else 0
    out = [name]
    for times, factor in (forward, 1), (backward, 2.5):
        rates = [rate(factor * problem.flops, times(s))
                 for s in ("nereid", "triton", "cudnn", "template")]
        out += [f"{r:.0f}" if r else "-" for r in rates]
        out += [f"{rates[0] / rates[2]:.2f} / {rates[3] / rates[2]:.2f}" if rates[2] else "-"]
    blocks = [row["nereid"][k][1] for k in ("attention", "grad_keys", "grad_query")
              if k in row.get("nereid", {})]
    worst = max(max(x) if all(e == e for e in x) else math.inf for x in row["errors"].values())
    return "| " + " | ".join([*out, "; ".join(blocks), f"{worst:.1e}"]) + " |"


COLUMNS = "ours | Triton | cuDNN | template | to cuDNN"
HEADER = (f"| case | {COLUMNS} | backward: {COLUMNS} | blocks | error |\n"
          "| --- |" + " ---: |" * 10 + " --- | ---: |")


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers = lambda text: [int(x) for x in text.split(",") if x]  # noqa: E731
    parser.add_argument("--heads", type=numbers, default=[64, 128, 256])
    parser.add_argument("--lengths", type=numbers, default=[1024, 4096, 16384])
    parser.add_argument("--triton", type=numbers, default=[4096])
    parser.add_argument("--warm", type=int, default=0, metavar="N",
                        help="compiles all kernels first, by N processes")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json")
    parser.add_argument("--trial", action="store_true", help="few heads, to test this program")
    return parser.parse_args(arguments)


def cases_of(options):
    return [(dim, length, causal) for length in options.lengths for dim in options.heads
            for causal in (False, True)]


def compile_part(options, memory):
    """Fills the compilers' caches: part `--part` of `--warm`."""
    sides = {"attention": 2, "grad_keys": 2, "grad_query": 2, "template": 1}
    jobs = [(case, kernel, side) for case in cases_of(options) for kernel in sides
            for side in range(sides[kernel]) if not side or case[1] in options.triton]
    for (dim, length, causal), kernel, side in jobs[options.part::options.warm]:
        problem = Problem(memory, dim, length, causal, options.trial)
        if kernel == "template":
            guarded(template, problem, kernel)
        else:
            make = kernels.TritonSide if side else kernels.NereidSide
            case = problem.case(kernel)
            prepared(make(memory, case), case)


def main():
    options = options_of(sys.argv[1:])
    import torch

    device = binding.Device("cuda")
    memory = kernels.TorchMemory(device, torch)
    if options.part is not None:
        return compile_part(options, memory)
    parts = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--part", str(i)],
                              stdout=subprocess.DEVNULL) for i in range(options.warm)]
    for part in parts:
        part.wait()
    timer = binding.Timer(device, memory.stream)
    results, wrong = [], False
    print(device.description, "PyTorch", torch.__version__, "TFLOP/s", flush=True)
    print(HEADER)
    for dim, length, causal in cases_of(options):
        problem = Problem(memory, dim, length, causal, options.trial)
        row = measure(problem, timer, length in options.triton)
        name = f"{dim}, {length // 1024}k{' causal' if causal else ''}"
        print(line_of(name, problem, row), flush=True)
        wrong |= any(not e < 1e-2 for errors in row["errors"].values() for e in errors)
        results.append(dict(case=name, flops=problem.flops, **row))
        memory.free()
    if options.json:
        with open(options.json, "w") as out:
            json.dump(results, out, indent=1)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
