#!/usr/bin/env python3
"""Training steps of architectures as torch.compile gives them for a GPU, where there is none: each
segment of the forward and the backward graph is planned and compiled for an H200, and none runs.

    gpu_models.py [--dtypes float32,bfloat16] [--forms plain,dynamic,last] [--texts DIR] [NAME...]

Without names it is a driver; `all`, or names: those of bench/compile/architectures.py, with
"_small" after them, and of cpu_models.py.  A kernel that can't be made is a failure; other reasons
why PyTorch runs a node are printed.  --texts keeps the graphs, for comparisons of plans.  It needs
a PyTorch that was built for GPUs.
"""
import argparse, logging, os, pathlib, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support"), str(ROOT / "bench/compile")]
import tally  # noqa: E402

FEW = ("convnext",)


def start_again(folder):
    """The same program, with a driver and a runtime that say that there is a GPU."""
    cc = os.environ.get("CC", "cc").split()
    support = ROOT / "tests/support"
    driver = f"{folder}/libcuda.so.1"
    subprocess.run([*cc, "-shared", "-fPIC", "-O1", "-o", driver, support / "fake_cuda.c",
                    support / "fake_cudart.c"], check=True)
    env = {"LD_PRELOAD": driver, "LD_LIBRARY_PATH": folder, "NEREID_PTXAS": "",
           "NEREID_LIBCUDA": driver, "NEREID_LIBRARY_PATH": "",
           "NEREID_CACHE_DIR": f"{folder}/cache", "GPU_MODELS": folder}
    return subprocess.run([sys.executable, *sys.argv], env={**os.environ, **env}).returncode


class Models:
    """Compiles models for the absent GPU; `programs` and `segments` are those of the last one."""

    def __init__(self, texts):
        import torch
        import absent_gpu
        from nereid.torch_backend.segments import program, segment

        absent_gpu.install()
        torch._functorch.config.enable_autograd_cache = False
        self.torch, self.ran, self.texts = torch, absent_gpu.Ran, texts
        self.programs, self.segments, self.told = [], [], []
        handler = logging.Handler(logging.WARNING)
        handler.emit = lambda record: self.told.append(record.getMessage())
        logging.getLogger("nereid.torch_backend").addHandler(handler)
        init, compile = program.Program.__init__, segment.Compiled.compile

        def made(one, *args, **named):
            init(one, *args, **named)
            self.programs.append(one)

        def compiled(one):
            self.segments.append(one)
            return compile(one)

        def called(one, values):
            raise absent_gpu.Ran

        program.Program.__init__ = made
        segment.Compiled.compile, segment.Compiled.__call__ = compiled, called

    def there(self, mode, dtype, last):
        """A function of tensors that gives them on the GPU, without data."""
        torch = self.torch

        def move(value):
            if isinstance(value, (list, tuple)):
                return type(value)(map(move, value))
            if not isinstance(value, torch.Tensor):
                return value
            value = value.detach().to(dtype) if value.is_floating_point() else value
            if last and value.dim() == 4:
                value = value.contiguous(memory_format=torch.channels_last)
            with mode:
                return torch._subclasses.FakeTensor(mode, value.to("meta"),
                                                    torch.device("cuda", 0))

        return move

    def check(self, name, make, dtype, form):
        torch = self.torch
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        torch._dynamo.reset()
        self.programs.clear(), self.segments.clear(), self.told.clear()
        model, given, named = make()
        mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
        move = self.there(mode, getattr(torch, dtype), form == "last")
        for part in model.modules():
            for key, value in part._parameters.items():
                if value is not None:
                    part._parameters[key] = torch.nn.Parameter(move(value), value.requires_grad)
            part._buffers.update({key: move(value) for key, value in part._buffers.items()})
        call = torch.compile(model.train(), backend="nereid", dynamic=form == "dynamic" or None)
        given, named, end = move(tuple(given)), {k: move(v) for k, v in named.items()}, ""
        try:
            with mode:
                call(*given, **named)
        except self.ran:
            pass
        except Exception as error:
            end = f"; {type(error).__name__}: {str(error)[:200]}"
        self.report(f"{name} {dtype} {form}", end)

    def report(self, title, end):
        """Fails for what a kernel's failure leaves to PyTorch; prints the rest."""
        for program in self.programs:
            program.finish()
            tally.check(program.failure is None, f"{title}: {program.failure}")
            for why in sorted({f"{node.target}: {why}" for node, why in program.reasons.items()}):
                print(f"{title}: by PyTorch {why[:200]}")
        refused = [line for line in self.told if "can't be compiled" in line]
        tally.check(not refused, f"{title}: {refused[:3]}")
        print(f"{title}: {len(self.programs)} graphs, {len(self.segments)} segments{end}")
        for i, segment in enumerate(self.segments if self.texts else []):
            path = pathlib.Path(self.texts) / f"{title} {i}.py".replace(" ", "_")
            path.write_text(segment.source)


def run(asked):
    import architectures
    import cpu_models

    makers = {name: (lambda make=make: (*make(), {})) for name, make in cpu_models.MODELS.items()}
    makers.update({f"{name}_small": (lambda one=one: one.make(False))
                   for name, one in architectures.TABLE.items()})
    names = [*makers] if asked.names == ["all"] else asked.names or FEW
    models = Models(asked.texts)
    for name in names:
        for dtype in asked.dtypes.split(","):
            for form in asked.forms.split(","):
                models.check(name, makers[name], dtype, form)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtypes", default="float32")
    parser.add_argument("--forms", default="plain")
    parser.add_argument("--texts")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or torch.version.cuda is None or not torch.version.cuda.startswith("13"):
        print("1 skipped: no torch that was built for GPUs")
        tally.check(True, "")
        return tally.report()
    if "GPU_MODELS" not in os.environ:
        folder = tempfile.mkdtemp()
        try:
            return start_again(folder)
        finally:
            shutil.rmtree(folder)
    run(asked)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
