#!/usr/bin/env python3
"""One model under torch.compile's Inductor in a process of its own; a line of JSON last.

    inductor_child.py SIDE MODEL

SIDE is `nereid` (nereid.inductor.enable()) or `triton`.  MODEL is a name of MODELS.  Times are in
seconds: `import`, of Nereid and PyTorch; `cold`, from torch.compile to the end of the first call,
CUDA's context and libraries being up; `phases` of it as PyTorch counts them.  `run_ms` is the
median time of later calls.  `error` is the largest difference from eager over its largest value."""
import json, os, pathlib, statistics, sys, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.path.insert(0, str(BUILD / "python"))
RUNS = 60
PHASES = {
    "dynamo and all below": "_compile.compile_inner",
    "AOTAutograd and all below": "create_aot_dispatcher_function",
    "Inductor": "compile_fx_inner",
    "lowering": "GraphLowering.run",
    "scheduling, code": "GraphLowering.codegen",
    "loading": "PyCodeCache.load_by_key_path",
    "kernels in the way": "async_compile.precompile",
    "waiting for kernels": "async_compile.wait",
    "measuring": "CachingAutotuner.benchmark_all_configs",
}


def bert(torch, layers=12, train=False):
    from transformers import BertConfig, BertModel

    config = BertConfig(num_hidden_layers=layers, hidden_dropout_prob=0.0,
                        attention_probs_dropout_prob=0.0)
    model = BertModel(config)
    ids = torch.randint(0, config.vocab_size, (4, 128) if train else (16, 512))
    return model, (ids,), lambda out: out.last_hidden_state


def resnet(torch, name="resnet50", batch=32):
    try:
        import timm

        model = timm.create_model(name)
    except ImportError:
        import torchvision

        model = getattr(torchvision.models, name)()
    return model, (torch.randn(batch, 3, 224, 224),), lambda out: out


MODELS = {
    "bert": (bert, {}, False),
    "resnet50": (resnet, {}, False),
    "bert2-train": (bert, {"layers": 2, "train": True}, True),
    "resnet18-train": (resnet, {"name": "resnet18", "batch": 16}, True),
}


def prepared(torch, name):
    """A function of nothing that gives what is compared, and another that does it compiled."""
    make, options, train = MODELS[name]
    torch.manual_seed(0)
    model, inputs, result = make(torch, **options)
    model = model.cuda()
    inputs = [x.cuda() for x in inputs]
    if not train:
        model = model.half().eval()
        inputs = [x.half() if x.is_floating_point() else x for x in inputs]

        def forward(*inputs):
            with torch.no_grad():
                return result(model(*inputs))

        compiled = torch.compile(forward)
        return (lambda: [forward(*inputs)]), lambda: [compiled(*inputs)]

    model.train()

    def loss(*inputs):
        return result(model(*inputs)).float().square().mean()

    compiled = torch.compile(loss)

    def step(function):
        model.zero_grad(set_to_none=True)
        for m in model.modules():
            if hasattr(m, "reset_running_stats"):
                m.reset_running_stats()
        value = function(*inputs)
        value.backward()
        return [value.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]

    return (lambda: step(loss)), lambda: step(compiled)


def difference(torch, found, wanted):
    worst = 0.0
    for x, y in zip(found, wanted):
        x, y = x.detach().double(), y.detach().double()
        scale = max(y.abs().max().item(), 1e-6)
        worst = max(worst, (x - y).abs().max().item() / scale)
        if not torch.isfinite(x).all():
            return float("inf")
    return worst if len(found) == len(wanted) else float("inf")


def median_ms(torch, function):
    for _ in range(10):
        function()
    times = []
    for _ in range(RUNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        function()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def main(side, name):
    begin = time.perf_counter()
    if side == "nereid":
        import nereid.inductor

        nereid.inductor.enable()
    import torch

    imported = time.perf_counter() - begin
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    eager, compiled = prepared(torch, name)
    wanted = [x.clone() for x in eager()]
    torch.cuda.synchronize()
    begin = time.perf_counter()
    found = compiled()
    torch.cuda.synchronize()
    cold = time.perf_counter() - begin
    error = difference(torch, found, wanted)
    begin = time.perf_counter()
    compiled()
    torch.cuda.synchronize()
    second = time.perf_counter() - begin
    from torch._dynamo.utils import compilation_time_metrics, counters

    phases = {what: sum(compilation_time_metrics.get(key, [])) for what, key in PHASES.items()}
    import triton

    print(json.dumps({
        "side": side, "model": name, "import": imported, "cold": cold, "second": second,
        "error": error, "run_ms": median_ms(torch, compiled), "eager_ms": median_ms(torch, eager),
        "phases": phases, "kernels": counters["inductor"]["async_compile_cache_miss"],
        "static": counters["inductor"]["triton_bundler_save_static_autotuner"],
        "triton": triton.__file__, "device": torch.cuda.get_device_name(),
    }))


if __name__ == "__main__":
    main(*sys.argv[1:3])
