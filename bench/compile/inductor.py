#!/usr/bin/env python3
"""TorchInductor with Triton and with Nereid: time to compile and to run, side by side.

    python3 bench/compile/inductor.py [--models bert,resnet50] [--rounds 3] [--json FILE]

Each side of each round is a process of its own with fresh caches, and sides take turns.  It needs a
GPU, PyTorch with Triton, transformers, and timm or torchvision.  The bar is half of Triton's cold
time, and a run time within 2%."""
import argparse, json, os, pathlib, statistics, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIDES = ("triton", "nereid")


def run(side, model):
    """The result of a process: see inductor_child.py."""
    with tempfile.TemporaryDirectory(prefix="nereid-inductor-") as folder:
        names = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NEREID_CACHE_DIR",
                 "CUDA_CACHE_PATH")
        caches = {name: f"{folder}/{name.lower()}" for name in names}
        if side == "nereid":
            del caches["TRITON_CACHE_DIR"]
        done = subprocess.run([sys.executable, str(HERE / "inductor_child.py"), side, model],
                              text=True, capture_output=True, env={**os.environ, **caches})
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"side": side, "model": model, "failed": (done.stdout + done.stderr)[-6000:]}


def medians(results):
    out = {"side": results[0]["side"], "model": results[0]["model"]}
    for key in ("import", "cold", "second", "error", "run_ms", "eager_ms", "kernels"):
        out[key] = statistics.median(r[key] for r in results)
    out["phases"] = {p: statistics.median(r["phases"][p] for r in results)
                     for p in results[0]["phases"]}
    return out


def measure(models, rounds, say=print):
    """{model: {side: medians}}, all results."""
    results = []
    for _ in range(rounds):
        for model in models:
            for side in SIDES:
                results.append(run(side, model))
                r = results[-1]
                if "failed" in r:
                    say(f"{side} {model} failed:\n{r['failed']}")
                else:
                    say(f"{side} {model}: cold {r['cold']:.2f} s, run {r['run_ms']:.3f} ms, error "
                        f"{r['error']:.1e}")
    table = {}
    for model in models:
        for side in SIDES:
            own = [r for r in results if (r["model"], r["side"]) == (model, side)]
            if own and not any("failed" in r for r in own):
                table.setdefault(model, {})[side] = medians(own)
    return table, results


def print_table(table, say=print):
    say("| model | kernels | cold: Triton, s | Nereid, s | ratio | run: eager, ms | Triton, ms | "
        "Nereid, ms | ratio | error: Triton | Nereid |")
    say("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for model, sides in table.items():
        if len(sides) < 2:
            continue
        t, n = sides["triton"], sides["nereid"]
        say(f"| {model} | {n['kernels']:.0f} | {t['cold']:.2f} | {n['cold']:.2f} | "
            f"{n['cold'] / t['cold']:.2f} | {t['eager_ms']:.3f} | {t['run_ms']:.3f} | "
            f"{n['run_ms']:.3f} | {n['run_ms'] / t['run_ms']:.3f} | {t['error']:.1e} | "
            f"{n['error']:.1e} |")
    for model, sides in table.items():
        for side, r in sides.items():
            shown = ", ".join(f"{what} {s:.2f}" for what, s in r["phases"].items() if s >= 0.005)
            say(f"{model}, {side}, s: import {r['import']:.2f}; {shown}; second call "
                f"{r['second']:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default="bert,resnet50")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    options = parser.parse_args()
    table, results = measure(options.models.split(","), options.rounds)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results))
    print_table(table)


if __name__ == "__main__":
    main()
