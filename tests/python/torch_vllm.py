#!/usr/bin/env python3
"""Nereid within vLLM, by vLLM's own source: the entry points, three models that vLLM cuts at their
attention, artifacts of its cache in another process without a compiler, and kernels of linear
layers.  vLLM needs no compiled parts for it."""
import importlib.util, json, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import quick_cc, tally

# Models, how their sizes are open, and whether vLLM keeps all pieces of one in one file.
CASES = (("llama", "backed", 0), ("qwen", "unbacked", 0), ("experts", "backed", 1))
NO_TOOLS = {"PATH": "", "CC": "no-such-compiler"}
# On a machine without a GPU vLLM has no platform, but that of a build for CPUs.
PLATFORM = """
import json, os, sys
from vllm import platforms
platforms.builtin_platform_plugins["cpu"] = lambda: "vllm.platforms.cpu.CpuPlatform"
platforms.builtin_platform_plugins["cuda"] = lambda: None
import torch, nereid.vllm
"""
NAMES = PLATFORM + """
print(json.dumps([platforms.resolve_current_platform_cls_qualname(),
                  platforms.current_platform.get_compile_backend()]))
"""
MODELS = PLATFORM + """
import logging
lines = []
log = logging.getLogger("nereid.torch_backend")
log.setLevel(logging.INFO)
log.addHandler(type("Lines", (logging.Handler,), {"emit": lambda self, record: lines.append(
    record.getMessage())})())
import served_models as served
from vllm.compilation.counter import compilation_counter
from vllm.compilation.decorators import support_torch_compile
from vllm.config import CompilationConfig, VllmConfig, set_current_vllm_config
from vllm.forward_context import set_forward_context

def configuration(kind, sizes):
    return VllmConfig(compilation_config=CompilationConfig(
        mode=3, splitting_ops=[served.SPLITS], cudagraph_mode="NONE", compile_sizes=[16],
        compile_ranges_endpoints=[64] if kind == "llama" else [],
        dynamic_shapes_config={"type": sizes}))

def run(kind, sizes, whole):
    os.environ["VLLM_USE_MEGA_AOT_ARTIFACT"] = str(whole)
    os.environ["VLLM_USE_BYTECODE_HOOK"] = str(int(sizes == "backed"))

    class Model(served.Served):
        def __init__(self, *, vllm_config, prefix=""):
            super().__init__(kind)

    Model.__qualname__ = kind
    Compiled = support_torch_compile(dynamic_arg_dims={"tokens": 0, "positions": 0})(Model)
    config = configuration(kind, sizes)
    lines.clear()
    before = compilation_counter.num_piecewise_capturable_graphs_seen
    with set_current_vllm_config(config), torch.no_grad(), set_forward_context(None, config):
        model = Compiled(vllm_config=config)
        far, compiled = [], []
        for count in (40, 16, 1, 2, 3, 64, 65, 257):
            call = served.call_of(count)
            far.append((model(*call) - model.forward(*call)).abs().max().item())
            compiled.append(len(lines))
    return {"far": max(far), "compiled": compiled, "lines": [*lines],
            "pieces": compilation_counter.num_piecewise_capturable_graphs_seen - before,
            "custom_ops": config.compilation_config.custom_ops}

print(json.dumps([run(*case) for case in json.loads(sys.argv[1])]))
"""
LINEAR = PLATFORM + """
nereid.vllm.register()
nereid.vllm.register()
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.model_executor import parameter
from vllm.model_executor.kernels import linear
from vllm.model_executor.kernels.linear.mixed_precision import MPLinearLayerConfig
from vllm.model_executor.layers.quantization.utils.quant_utils import (kFp8Dynamic128Sym,
                                                                       kFp8Static128BlockSym)
from vllm.scalar_type import scalar_types
from vllm.model_executor.parameter import GroupQuantScaleParameter, PackedvLLMParameter
parameter.get_tensor_model_parallel_rank = lambda: 0
parameter.get_tensor_model_parallel_world_size = lambda: 1
K, N, GROUP = 256, 384, 64
bf16 = torch.bfloat16
found = {}

def far(kernel, layer, weight, bias):
    worst = 0
    for rows in (5, 1, 40):
        x = torch.randn(rows, K, dtype=bf16)
        want = x.float() @ weight + (0 if bias is None else bias.float())
        got = kernel.apply_weights(layer, x, bias).float()
        worst = max(worst, ((got - want).norm() / want.norm()).item())
    return worst

def packed(values, axis):
    parts = values.unflatten(axis, (-1, 8)).long().unbind(axis + 1)
    return sum(part << 4 * i for i, part in enumerate(parts)).to(torch.int32)

def parameters(words, zeros, scale, flip):
    layer = torch.nn.Module()
    place = {"input_dim": 1, "output_dim": 0} if flip else {"input_dim": 0, "output_dim": 1}
    turned = (lambda x: x.T.contiguous()) if flip else (lambda x: x.clone())
    more = {"packed_factor": 8, "weight_loader": None, **place}
    layer.words = PackedvLLMParameter(data=turned(packed(words, 0)), packed_dim=int(flip), **more)
    layer.scale = GroupQuantScaleParameter(data=turned(scale), weight_loader=None, **place)
    if zeros is not None:
        layer.zeros = PackedvLLMParameter(data=turned(packed(zeros, 1)), packed_dim=int(not flip),
                                          **more)
    return layer

torch.manual_seed(0)
with set_current_vllm_config(VllmConfig()), torch.no_grad():
    kernel = linear.init_fp8_linear_kernel(kFp8Dynamic128Sym, kFp8Static128BlockSym, bf16, bf16,
                                           (N, K))
    layer = torch.nn.Module()
    layer.weight = torch.nn.Parameter(torch.randn(N, K).to(torch.float8_e4m3fn), False)
    layer.weight_scale_inv = torch.nn.Parameter(torch.rand(N // 128, K // 128) + 0.5, False)
    wide = layer.weight_scale_inv.repeat_interleave(128, 0).repeat_interleave(128, 1)
    weight = (layer.weight.float() * wide).T
    kernel.process_weights_after_loading(layer)
    found["fp8"] = type(kernel).__name__, far(kernel, layer, weight, None)
    for kind in ("uint4b8", "uint4"):
        words, scale = torch.randint(16, (K, N)), (torch.rand(K // GROUP, N) / 9).to(bf16)
        zeros = torch.randint(16, (K // GROUP, N)) if kind == "uint4" else None
        config = MPLinearLayerConfig((K, N), (K, N), getattr(scalar_types, kind), bf16, GROUP,
                                     zeros is not None)
        zero = 8 if zeros is None else zeros.repeat_interleave(GROUP, 0)
        weight = (words - zero) * scale.float().repeat_interleave(GROUP, 0)
        for flip in (False, True):
            layer = parameters(words, zeros, scale, flip)
            make = linear.choose_mp_linear_kernel(config)
            kernel = make(config, "words", "scale", "zeros")
            kernel.process_weights_after_loading(layer)
            found[f"{kind} {flip}"] = make.__name__, far(kernel, layer, weight,
                                                         torch.ones(N, dtype=bf16))
    refused = {}
    for group, kind, points in ((64, "uint8b128", False), (64, "uint4", False), (60, "uint4b8", 0)):
        weight_type = getattr(scalar_types, kind)
        config = MPLinearLayerConfig((K, N), (K, N), weight_type, bf16, group, points)
        refused[f"{group} {kind}"] = linear._POSSIBLE_KERNELS[
            platforms.current_platform._enum][0].can_implement(config)
print(json.dumps({"found": found, "refused": refused}))
"""
OFF = """
import sys
import nereid.vllm
assert nereid.vllm.platform() is None and nereid.vllm.register() is None
assert "vllm" not in sys.modules and "torch" not in sys.modules
print("{}")
"""


def python(text, *words, folder, **environment):
    """What a process prints at last; None: it failed."""
    path = os.pathsep.join([str(BUILD / "python"), str(ROOT / "tests/support"),
                            os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", text, *words], text=True, stdout=subprocess.PIPE,
                          stderr=None if "--verbose" in sys.argv else subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": path, "NEREID_VLLM": "1",
                               "VLLM_CACHE_ROOT": str(folder / "vllm"),
                               "VLLM_LOGGING_LEVEL": "ERROR", **environment})
    if done.returncode:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def check_off(folder):
    for value in ("", "0", "off"):
        tally.check(python(OFF, folder=folder, NEREID_VLLM=value) == {}, f"NEREID_VLLM={value!r}")


def check_names(folder):
    got = python(NAMES, folder=folder)
    tally.check(got == ["nereid.vllm.platforms.NereidPlatform",
                        "nereid.vllm.compiler.NereidCompiler"], f"entry points: {got}")
    got = python(NAMES, folder=folder, NEREID_VLLM="0")
    tally.check(got is not None and "nereid" not in got[0] and "nereid" not in got[1],
                f"and not asked for: {got}")


def check_models(folder):
    """The first process compiles; the second has another cache of ours, and no compiler."""
    first = python(MODELS, json.dumps(CASES), folder=folder)
    again = python(MODELS, json.dumps(CASES), folder=folder, **NO_TOOLS,
                   NEREID_CACHE_DIR=str(folder / "other"))
    tally.check(first is not None and again is not None, f"processes: {first}, {again}")
    for case, made, loaded in zip(CASES, first or (), again or ()):
        tally.check(made["far"] < 1e-5 and len({*made["compiled"]}) == 1 and made["pieces"] == 4
                    and all(", 0 nodes by PyTorch" in line for line in made["lines"])
                    and made["custom_ops"] == ["none"], f"{case}: {made}")
        tally.check(loaded["far"] < 1e-5 and loaded["lines"]
                    and all("cache" in line for line in loaded["lines"]), f"{case}: {loaded}")


def check_linear(folder):
    got = python(LINEAR, folder=folder)
    tally.check(got is not None, "linear layers")
    for name, (kernel, far) in (got or {"found": {}})["found"].items():
        least = 0.04 if name == "fp8" else 0.005  # activations are quantized there
        tally.check(kernel.startswith("Nereid") and far < least, f"{name}: {kernel}, {far}")
    for name, (fits, reason) in (got or {"refused": {}})["refused"].items():
        tally.check(not fits and reason.startswith("needs"), f"{name}: {fits}, {reason}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        quick_cc.quick_compiler(folder)
        check_off(folder)
        if importlib.util.find_spec("vllm") is None:
            print("1 skipped: no vllm")
        else:
            check_names(folder)
            check_models(folder)
            check_linear(folder)
    sys.exit(tally.report())
