#!/usr/bin/env python3
"""Products of matrices on a CPU by torch.compile, beside the library that PyTorch calls.

    products_cpu.py [--threads 1,4] [--rounds N] [--seconds S] [--names ...] [--jobs N]
                    [--inductor]

Microseconds of whole calls, operands as inputs, sides in turns: least, and eager's least over ours,
with --inductor TorchInductor's call, too; a turn is calls for 10 ms that are not counted, in which
threads of another side's library go to sleep, and calls for as long that are.  A name has the
dtype, the layout (T: the right operand is the transpose of what is in memory; then the left one's),
batches x rows x columns x sum.  Values
are compared with those in f64 before."""

import argparse
import concurrent.futures
import math
import time

TYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16",
         "c64": "complex64", "c128": "complex128", "i8": "int8"}
# The largest error, of the result's norm.
BOUNDS = {"f32": 2e-6, "f64": 1e-14, "bf16": 4e-3, "f16": 6e-4, "c64": 2e-6, "c128": 1e-14, "i8": 0}
NAMES = """
f32 NN 1024x1024x1024
f32 NT 1024x1024x1024
f32 TN 1024x1024x1024
f32 NN 512x512x512
f32 NT 512x512x512
f32 NN 256x256x256
f32 NT 256x256x256
f32 TN 256x256x256
f32 NN 256x384x128
f32 NN 128x128x128
f32 NN 64x64x64
f32 NN 1000x900x700
f32 NT 1000x900x700
f32 NN 333x111x222
f32 NT 128x768x3072
f32 NN 32x64x64x64
f32 NT 32x64x64x64
f32 NT 48x128x128x64
f32 NN 48x128x64x128
f32 TN 48x128x64x128
f32 NN 8x256x256x256
f32 NT 16x197x197x64
f32 NN 16x197x64x197
f64 NN 1024x1024x1024
f64 NN 512x512x512
f64 NT 512x512x512
f64 NN 256x256x256
f64 NT 256x256x256
f64 NN 100x200x300
f64 NN 32x64x64x64
f64 NT 32x64x64x64
f64 NN 8x128x128x128
c64 NN 512x512x512
c64 NN 256x256x256
c64 NN 32x64x64x64
c128 NN 512x512x512
c128 NN 200x200x200
c128 NN 32x64x64x64
bf16 NN 1024x1024x1024
bf16 NT 1024x1024x1024
bf16 NT 128x768x3072
bf16 NN 512x512x512
bf16 NN 256x256x256
bf16 NN 1000x900x700
bf16 NT 1000x900x700
bf16 NN 32x128x128x64
bf16 NT 32x128x128x64
bf16 NN 32x128x64x128
bf16 NT 16x197x197x64
bf16 NN 16x197x64x197
f16 NN 512x512x512
f16 NT 512x1024x1024
f16 NN 32x128x128x64
f16 NT 32x128x128x64
f16 NN 100x200x300
i8 NN 64x1024x1024
i8 NT 64x1024x1024
i8 NT 129x3072x768
i8 NT 17x4096x1024
i8 NT 1024x768x768
i8 NT 1024x3072x768
i8 NT 1024x768x3072
i8 NT 197x2304x768
i8 NN 1024x1024x1024
i8 NN 256x256x256
""".strip().split("\n")
# Weights of four bits: two a byte, scales and zeros of groups of 128 along the sum (int4), or of
# columns of one row of the sum (int4c); rows x columns x sum.
NAMES += [f"int4 {m}x2048x4096" for m in (1, 4, 8, 9, 12, 16, 32)]
NAMES += [f"int4c {m}x2048x4096" for m in (1, 4, 8, 12)]
GROUP, UNCOUNTED = 128, 0.01


class Case:
    def __init__(self, name):
        import torch
        self.name, self.torch, self.times = name, torch, {}
        torch.manual_seed(0)
        parts = name.split()
        self.dtype, sizes = parts[0], [int(n) for n in parts[-1].split("x")]
        if self.dtype.startswith("int4"):
            self.draw_bits(*sizes)
            return
        batch, (m, n, k) = sizes[:-3], sizes[-3:]
        dtype = getattr(torch, TYPES[self.dtype])
        a, b = (*batch, m, k), (*batch, k, n)
        turned_a, turned_b = (letter == "T" for letter in parts[1])
        self.args = self.draw(dtype, a, turned_a), self.draw(dtype, b, turned_b)
        self.flops = 2 * m * n * k * math.prod(batch) * (4 if dtype.is_complex else 1)
        eager = torch._int_mm if self.dtype == "i8" else torch.bmm if batch else torch.mm
        self.eager = self.function = eager
        high = torch.complex128 if dtype.is_complex else torch.float64
        self.right = torch.matmul(*(x.to(high) for x in self.args))

    def draw(self, dtype, shape, turned):
        shape = (*shape[:-2], shape[-1], shape[-2]) if turned else shape
        if self.dtype == "i8":
            x = self.torch.randint(-128, 128, shape, dtype=dtype)
        else:
            wide = self.torch.complex128 if dtype.is_complex else self.torch.float64
            x = self.torch.randn(shape, dtype=wide).to(dtype)
        return x.mT if turned else x

    def draw_bits(self, m, n, k):
        torch, along = self.torch, self.dtype == "int4"
        x = torch.randn(m, k, dtype=torch.bfloat16)
        packed = torch.randint(0, 256, (n, k // 2), dtype=torch.uint8)
        scales = torch.rand(n, k // GROUP, dtype=torch.bfloat16) + 0.1
        if not along:
            packed = torch.randint(0, 256, (k, n // 2), dtype=torch.uint8)
            scales = torch.rand(k, n // GROUP, dtype=torch.bfloat16) + 0.1
        self.flops = 2 * m * n * k

        def weight(packed, scales):
            bits = torch.stack((packed & 15, packed >> 4), -1).view(packed.shape[0], -1)
            groups = (bits.to(scales.dtype) - 8).view(*scales.shape, GROUP)
            return (groups * scales.unsqueeze(-1)).view(packed.shape[0], -1)

        def product(x, packed, scales):
            w = weight(packed, scales)
            return x @ (w.T if along else w)
        self.function, self.args = product, (x, packed, scales)
        w = weight(packed, scales.double())
        self.right = x.double() @ (w.T if along else w)
        self.eager = self.packed_kernel(n, k) if along else product

    def packed_kernel(self, n, k):
        """PyTorch's product by weights that it packed."""
        torch = self.torch
        bits = torch.randint(0, 16, (n, k), dtype=torch.int32)
        weight = torch.ops.aten._convert_weight_to_int4pack_for_cpu(bits, 2)
        pairs = torch.rand(k // GROUP, n, 2, dtype=torch.bfloat16)

        def product(x, *_):
            return torch.ops.aten._weight_int4pack_mm_for_cpu(x, weight, GROUP, pairs)
        return product

    def error(self, result):
        high = self.right.dtype
        return ((result.to(high) - self.right).norm() / self.right.norm()).item()

    def compile(self):
        torch = self.torch
        torch._dynamo.reset()
        self.compiled = torch.compile(self.function, backend="nereid", dynamic=False)
        error = self.error(self.compiled(*self.args))
        bound = BOUNDS.get(self.dtype, BOUNDS["bf16"])
        if not error <= bound:
            print(f"{self.name}: WRONG, error {error:.2e}", flush=True)
        return error

    def compile_by_inductor(self):
        self.torch._dynamo.reset()
        self.inductor = self.torch.compile(self.function, dynamic=False)
        self.inductor(*self.args)

    def run(self, call, seconds):
        """Seconds of a call, the least of those within so many seconds, and one at least."""
        args, best, end = self.args, math.inf, time.perf_counter() + seconds
        while True:
            start = time.perf_counter()
            call(*args)
            now = time.perf_counter()
            best = min(best, now - start)
            if now >= end:
                return best

    def measure(self, rounds, seconds):
        calls = {"eager": self.eager, "nereid": self.compiled}
        if hasattr(self, "inductor"):
            calls["inductor"] = self.inductor
        best, begin = dict.fromkeys(calls, math.inf), time.perf_counter()
        for _ in range(rounds):
            for name, call in calls.items():
                self.run(call, UNCOUNTED)
                best[name] = min(best[name], self.run(call, UNCOUNTED))
            if time.perf_counter() - begin > seconds:
                break
        return best


def first_call(name, threads):
    """In a process of its own, so that the code of all cases is made beside each other."""
    import torch
    torch.set_num_threads(threads)
    Case(name).compile()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--threads", default="1")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--seconds", type=float, default=1.0, help="of a case at a number of threads")
    p.add_argument("--names", default=[], type=lambda text: text.split(","))
    p.add_argument("--inductor", action="store_true", help="time TorchInductor, too")
    p.add_argument("--jobs", type=int, default=1, help="processes that make code beside each other")
    args = p.parse_args()
    names = [n for n in NAMES if not args.names or any(n.startswith(x) for x in args.names)]
    threads = [int(n) for n in args.threads.split(",")]
    begin = time.perf_counter()
    if args.jobs > 1:
        with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
            for done in [pool.submit(first_call, name, threads[0]) for name in names]:
                done.exception()
        print(f"compiled after {time.perf_counter() - begin:.0f} s", flush=True)
    import torch
    head = "".join(f" | {n:3} threads, ours  share" for n in threads)
    print(f"{'':26}{'error':>8}{'GF/s':>7}{head}", flush=True)
    for name in names:
        torch.set_num_threads(threads[0])
        try:
            case = Case(name)
            error, cells, rate = case.compile(), "", 0
            if args.inductor:
                case.compile_by_inductor()
        except Exception as problem:
            print(f"{name}: {type(problem).__name__}: {str(problem)[:300]}", flush=True)
            continue
        for n in threads:
            torch.set_num_threads(n)
            best = case.measure(args.rounds, args.seconds)
            eager, ours = (1e6 * best[side] for side in ("eager", "nereid"))
            rate = rate or case.flops / ours / 1e3
            cells += f" | {eager:9.1f} {ours:8.1f} {eager / ours:5.2f}"
            if args.inductor:
                cells += f" (TorchInductor {1e6 * best['inductor']:.1f})"
        print(f"{name:26}{error:8.1e}{rate:7.0f}{cells}", flush=True)


if __name__ == "__main__":
    main()
