#!/usr/bin/env python3
"""`nereid tune` on the CPU: what was measured is not measured again, budgets are kept, and what the
model says is used for what it is good for.  Candidates that fail are tune_planted.py's."""
import json, os, pathlib, re, shutil, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import quick_cc  # noqa: E402
from tally import check, report  # noqa: E402
from tuner import (FAILS, FILE, HANGS, OK, WRONG, Machine, by_config, fake_gpu,  # noqa: E402
                   on_terminal, scale, space)

SCALE = scale("cpu")


def test_ranking(machine):
    tuning = machine.tune(*space((256, 1024, 4096)))
    times = [c["median_us"] for c in tuning["candidates"]]
    check(tuning["kernel"] == "scale" and tuning["source"] == "measured", "what was tuned")
    check(len(times) == 3 and times == sorted(times) and times[0] > 0, f"a ranking: {times}")
    check(tuning["best"] == tuning["candidates"][0]["config"], "the best is the first")
    for c in tuning["candidates"]:
        check(c["status"] == "ok" and not c["reason"] and c["runs"] >= 1, f"a candidate: {c}")
        spread = c["runs"] == 1 or c["spread_us"] >= 0
        check(c["predicted_us"] > 0 and spread, f"what is said of it: {c}")
    again = machine.tune(*space((256, 1024, 4096)))
    check(again["source"] == "records", f"a second run measures: {again}")
    predicted = [c["predicted_us"] > 0 for c in again["candidates"]]
    check(predicted == 3 * [True], f"predictions: {again}")
    same = {k: (c["median_us"], c["runs"]) for k, c in by_config(tuning).items()}
    check(same == {k: (c["median_us"], c["runs"]) for k, c in by_config(again).items()},
          "records have other times")
    more = machine.tune(*space((256, 1024, 4096, 512)))
    check(more["source"] == "measured", "a new candidate is measured")
    check({k: (c["median_us"], c["runs"]) for k, c in by_config(more).items() if k in same} == same,
          "and others are not")
    check(by_config(more)[512, OK]["status"] == "ok", f"the new one: {more}")
    wrong = machine.tune(*space((256, 1024, 4096, 512), (OK, WRONG)), disagree=True)
    ends = {k: c["status"] for k, c in by_config(wrong).items()}
    check(len(ends) == 8 and all(s == ("wrong" if k[1] else "ok") for k, s in ends.items()),
          f"wrong ones: {ends}")
    fresh = machine.tune(*space((256, 1024, 4096)), "--fresh")
    check(fresh["source"] == "measured", "--fresh measures")
    check([c["median_us"] for c in fresh["candidates"]] != times, "--fresh takes no new times")


def test_bounds(machine):
    """What writes past an array faults itself, and no later candidate does."""
    args = ["x=rand:f32[5000]", "y=zeros:f32[5000]", "n=5000", "--grid", "cdiv(n, BLOCK)"]
    tuning = machine.tune("--device", "cpu", *space((1024, 512, 1000, 625))[:2],
                          kernel=[f"{FILE}:unmasked", *args])
    ends = {c["config"]["BLOCK"]: c["status"] for c in tuning["candidates"]}
    check(ends == {1024: "fault", 512: "fault", 1000: "ok", 625: "ok"}, f"past the end: {ends}")
    status, _, err = machine.run(f"{FILE}:unmasked", *args, *space((1024,))[:2], "--device", "cpu")
    check(status == 1 and "1 fault: " in err and "--device interp" in err, f"all fault: {err}")


def test_disagreement(machine):
    """Where nothing has a majority, the choice is not to be trusted."""
    tuning = machine.tune(*space((1024,), (OK, WRONG)), disagree=True)
    check({c["status"] for c in tuning["candidates"]} == {"ok", "wrong"}, f"a tie: {tuning}")
    tuning = machine.tune(*space((1024, 512), (OK,)))
    check(tuning["best"], "those that agree are no news")


def test_budget(machine):
    start = time.monotonic()
    tuning = machine.tune(*space((256, 512)), "--budget", "0")
    check(tuning["source"] == "model" and tuning["best"], f"the model's choice: {tuning}")
    check(all(c["runs"] == 0 and c["predicted_us"] > 0 and c["median_us"] is None
              for c in tuning["candidates"]), f"something was measured: {tuning}")
    blocks = [2**i for i in range(6, 12)]
    machine.tune(*space((4096,)))
    start = time.monotonic()
    tuning = machine.tune(*space([4096, *blocks], (OK, HANGS)), "--budget", "1s")
    took = time.monotonic() - start
    # What hangs is given two seconds.
    check(took < 10, f"a budget of one second took {took:.1f}")
    check(tuning["best"] and tuning["best"]["MODE"] == OK, f"the best of them: {tuning['best']}")
    late = [c for c in tuning["candidates"] if c["status"] == "pruned"]
    reason = "the budget is used up"
    check(all(c["reason"] == reason for c in late) and len(late) >= 4, f"late: {late}")


def test_tools(machine, tmp):
    """Times belong to the C compiler that made the code, whatever its path."""
    def install(path, version, compile=os.environ.get("CC", "cc") + ' "$@"'):
        path.write_text(f'#!/bin/sh\nfor a; do [ "$a" = --version ] && echo "{version}" && exit\n'
                        f'done\nexec {compile}\n')
        path.chmod(0o755)
        return dict(machine.env, CC=f"{path} -O1")
    tune = lambda *what: machine.tune(*space((256,)), env=install(*what))["source"]
    broken = install(tmp / "cc1", "cc 1.0", "false")
    status, _, err = machine.run(*SCALE, *space((256,)), env=broken)
    check(status == 1 and "compile: " in err, f"with a broken compiler: {err}")
    check(tune(tmp / "cc1", "cc 1.0") == "measured", "what it failed at is not recorded")
    check(tune(tmp / "cc2", "cc 1.0") == "records", "the same one elsewhere")
    check(tune(tmp / "cc1", "cc 1.1") == "measured", "a newer one")
    text = machine.records()
    check(re.findall('driver "(.*)"', text) == ["cc 1.0 -O1", "cc 1.1 -O1"], f"drivers in {text}")
    times = re.findall(r"(?:median|spread) (\S+)", text)
    check(len(times) == 4 and all(re.fullmatch(r"\d+(\.\d{1,3})?", t) for t in times),
          f"times of a nanosecond: {times}")


def test_version(machine, tmp):
    """What another version of the compiler has measured holds where it has made the same code."""
    blocks = (256, 1024)
    before = by_config(machine.tune(*space(blocks)))
    # Doubtful times, as busy machines give, would be measured again.
    text = re.sub(r"spread \S+", "spread 0.1", machine.records())
    other, file = Machine(machine.folder / "other", machine.device), tmp / "old.records"
    other.env = dict(machine.env, NEREID_CACHE_DIR=str(other.folder))
    version = re.search('version "(.*?)"', text)[1]
    lines = text.replace(f'version "{version}"', 'version "old"').splitlines()
    changed = [re.sub('code "....', 'code "0000', l) if "BLOCK=1024" in l else l for l in lines]
    for old, source in ((changed, "measured"), (lines, "records")):
        file.write_text("\n".join(old) + "\n")
        other.run("import", file, command="records")
        again = other.tune(*space(blocks))
        times = {k: c["median_us"] for k, c in by_config(again).items()}
        check(again["source"] == source, f"{source} of another version: {again}")
        same = {k for k in before if times[k] == before[k]["median_us"]}
        # The best of what is known is measured again if it is uncertain.
        sure = {k for k in before if not before[k]["uncertain"]}
        check(same >= sure & {(256, OK)} if old is changed else same >= sure, f"times: {again}")
        shutil.rmtree(other.folder)
    other.run("import", file, command="records")
    nobody = dict(other.env, NEREID_PROGRAM="/bin/false")
    again = other.tune(*space(blocks), env=nobody)
    check(by_config(again).keys() == before.keys(), f"with nobody who measures: {again}")
    text = other.records()
    check(text.count(version) == 2 and text.count('version "old"') == 2, f"both versions: {text}")


def test_model_only(machine, tmp):
    """The model chooses what can be compiled, and tells why the rest can't."""
    path = tmp / "large.py"
    path.write_text(LARGE)
    kernel = [f"{path}:turn", "x=rand:f64[2048,2048]", "y=zeros:f64[2048,2048]", "n=2048", "--grid",
              "cdiv(n, BLOCK)", "--device", "cpu", "--budget", "0"]
    tuning = machine.tune("--space", "BLOCK=4,1024", kernel=kernel)
    ends = by_config(tuning)
    check(ends[1024,]["predicted_us"] < ends[4,]["predicted_us"], f"a test of nothing: {ends}")
    check(tuning["best"] == {"BLOCK": 4} and ends[1024,]["status"] == "resources"
          and "a thread has 16777216" in ends[1024,]["reason"], f"the second choice: {tuning}")
    out = machine.run(*kernel, "--space", "BLOCK=4,1024")[1]
    check("resources: 1, as BLOCK=1024: " in out and out.endswith("take it by: -D BLOCK=4\n"),
          f"a table: {out}")
    status, _, err = machine.run(*kernel, "--space", "BLOCK=1024")
    check(status == 1 and "1 resources: " in err and "a thread has 16777216" in err, f"none: {err}")
    tuning = machine.tune(*space((256,), (FAILS, OK)), "--budget", "0")
    check(tuning["best"].get("MODE") == OK and "no such mode" in
          by_config(tuning)[256, FAILS]["reason"], f"one that can't be elaborated: {tuning}")


LARGE = '''
import triton
import triton.language as tl

@triton.jit
def turn(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for j in range(0, n, BLOCK):
        at = i[:, None] * n + (j + tl.arange(0, BLOCK))[None, :]
        to = (j + tl.arange(0, BLOCK))[:, None] * n + i[None, :]
        a, b = tl.load(x + at), tl.load(y + at)
        tl.store(y + to, tl.trans((a + b).to(tl.float32)) + b + a * b)
'''


def test_resources(machine, tmp):
    """What the device is too small for, whether the compiler finds out or who loads the kernel."""
    path = tmp / "large.py"
    path.write_text(LARGE)
    kernel = [f"{path}:turn", "x=rand:f64[1024,1024]", "y=zeros:f64[1024,1024]", "n=1024", "--grid",
              "cdiv(n, BLOCK)", "--space", "BLOCK=32,1024"]
    for device, on, reason in (("cpu", machine, "bytes; a thread has 16777216 for them"),
                               ("cuda", fake_gpu(tmp, "large"), "but sm_90a has 232448")):
        ends = by_config(on.tune("--device", device, kernel=kernel))
        check(ends[32,]["status"] == "ok", f"a small one on {device}: {ends}")
        check(ends[1024,]["status"] == "resources" and reason in ends[1024,]["reason"],
              f"a large one on {device}: {ends}")
    status, out, err = fake_gpu(tmp, "small", "shared=1024").run(*kernel, "--device", "cuda")
    check(status == 1 and err.count("resources: ") == 2 and "Fake GPU 0 has 1024" in err,
          f"on a small device: {err}")


def planted(text, **of_config):
    """Records with another time and number of runs of some configurations."""
    for block, (median, runs) in of_config.items():
        text = re.sub(rf'(config "BLOCK={block[1:]} .*? ok) median \S+ spread \S+ runs \d+',
                      rf"\1 median {median} spread 0.0 runs {runs}", text)
    return text


def test_doubt(machine, tmp):
    """A time that says nothing is measured again, or taken with a word."""
    kernel = [*scale("cpu")]
    kernel[kernel.index("n=65536")] = "n=65500"
    what, file = space((256, 1024)), tmp / "doubt.records"
    machine.tune(*what, kernel=kernel)
    text = machine.records()
    check('shape "x=[65536] y=[65536] n=65500"' in text, f"no shape in {text}")
    check("of x=[65536] y=[65536] n=65500\n" in machine.run(command="records")[1], "none is shown")
    check(not re.search("predicted 0.0$", text, re.M), f"no prediction in {text}")

    def run(other, **plant):
        other = Machine(tmp / other)
        file.write_text(planted(text, **plant))
        other.run("import", file, command="records")
        status, out, err = other.run(*kernel, command="run")
        check(status == 0, f"a run by records: {err}")
        return other, err
    again, err = run("none-sure", B256=(0.001, 1), B1024=(9000.0, 2))
    check("the best time of kernel scale is uncertain: BLOCK=256 MODE=0 took 0.001 us, "
          "but it was measured in 1 run; `nereid tune` measures it again" in err, f"silent: {err}")
    check("  uncertain: it was measured in 1 run\n" in again.run(command="records")[1], "listed")
    _, err = run("one-sure", B256=(0.001, 1), B1024=(9000.0, 50))
    check("BLOCK=256 MODE=0 may be faster than the chosen configuration" in err, f"or: {err}")
    sure, err = run("sure", B256=(50.0, 50), B1024=(9000.0, 2))
    check(not err, f"a word of what is sure: {err}")
    check(sure.tune(*what, kernel=kernel)["source"] == "records", "what is sure is measured again")
    tuning = again.tune(*what, kernel=kernel)
    check(tuning["source"] == "measured", f"what is not, is not: {tuning}")
    check(all(c["median_us"] != 0.001 for c in tuning["candidates"]), f"it is believed: {tuning}")
    check(tuning["candidates"][0]["runs"] >= 5, f"the winner: {tuning}")

LONG = '''
import triton
import triton.language as tl

@triton.jit
def long(x, y, times, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    for j in range(tl.load(times)):
        v = v * 0.999 + 1
    tl.store(y + i, v)
'''


def test_hangs(machine, tmp):
    """What hangs is known by what the model says; what only seems to is given time, if need be."""
    start = time.monotonic()
    tuning = machine.tune(*space((16, 2048), (OK, HANGS)))
    took = time.monotonic() - start
    ends = {k: c["status"] for k, c in by_config(tuning).items()}
    check(len(ends) == 4 and all(s == ("timeout" if k[1] else "ok") for k, s in ends.items()),
          f"two hang: {ends}")
    check(took < 15, f"two that hang took {took:.1f} s")
    path = tmp / "long.py"
    path.write_text(LONG)
    tuning = machine.tune(
        "--space", "BLOCK=64", "--budget", "60", kernel=[
            f"{path}:long", "x=rand:f32[64]", "y=zeros:f32[64]",
            "times=randint:i32[1]:12000000:12000001", "--grid", "1", "--device", "cpu"])
    check(tuning["candidates"][0]["status"] == "ok", f"a long one: {tuning}")
    check(tuning["candidates"][0]["predicted_us"] * 1e3 < tuning["candidates"][0]["median_us"],
          f"which the model understands: {tuning}")


def test_cut(machine):
    """What runs while the budget ends is as good as it was before."""
    tuning = machine.tune(*space((64, 128)), "--budget", "4.5", kernel=scale("cuda", "10"))
    ends = [c["status"] for c in tuning["candidates"]]
    check(ends == ["ok", "ok"], f"launches of 0.3 s with a budget of 4.5: {tuning}")


DECORATED = """
import triton
import triton.language as tl

def configs():
    return [triton.Config({'BM': m, 'BN': n}, num_warps=4) for m in (16, 32) for n in (16, 32)]

@triton.autotune(configs=configs(), key=['n'], reset_to_zero=['y'])
@triton.heuristics({'EVEN': lambda args: args['n'] % (args['BM'] * args['BN']) == 0})
@triton.jit
def total(x, y, n, BM: tl.constexpr, BN: tl.constexpr, EVEN: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None] * BN + tl.arange(0, BN)
    v = tl.load(x + i) if EVEN else tl.load(x + i, i < n, 0)
    tl.atomic_add(y, tl.sum(v))
"""


def test_decorators(machine, tmp):
    path = tmp / "decorated.py"
    path.write_text(DECORATED)
    kernel = [f"{path}:total", "x=ones:f32[4000]", "y=zeros:f32[1]", "n=4000", "--grid",
              "cdiv(n, BM * BN)", "--device", "cpu"]
    tuning = machine.tune(kernel=kernel)
    sizes = {(c["config"]["BM"], c["config"]["BN"]) for c in tuning["candidates"]}
    check(sizes == {(m, n) for m in (16, 32) for n in (16, 32)}, f"configurations: {sizes}")
    check(all(c["status"] == "ok" for c in tuning["candidates"]), f"decorated: {tuning}")


def test_output(machine, tmp):
    what = [*SCALE, *space((256, 512))]
    report, plain = tmp / "report.html", tmp / "tuning.json"
    status, out, err = machine.run(*what, "--json", plain, "--report", report)
    check(status == 0 and not err and out.startswith("scale on "), f"a table: {out}{err}")
    check(len(json.loads(plain.read_text())["candidates"]) == 2, "--json FILE")
    page = report.read_text()
    check(page.lower().startswith("<!doctype html>") and "BLOCK" in page, "--report")
    with open("/dev/full", "w") as full:
        process = machine.start(*what, "--json", "-", stdout=full)
        err = process.communicate()[1]
    check(process.returncode == 1 and "No space left" in err, f"on a full disk: {err}")
    lines = on_terminal(["tune", *what, "--fresh"], machine.env)
    check(lines[1].startswith("0 of 2") and any(re.match(
        r"2 of 2  best \d+\.\d\d us  BLOCK=(256|512) MODE=0$", l) for l in lines), f"{lines}")
    check(all(len(l) < 80 for l in lines) and not lines[-1], f"what is left there: {lines}")
    read, write = os.pipe()
    os.close(read)
    process = machine.start(*what, stdout=write)
    os.close(write)
    err = process.communicate()[1]
    check(process.returncode != 0 and "internal" not in err, f"to nobody: {err}")


def main():
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        os.environ["CC"] = quick_cc.write(tmp)
        machine = lambda test: Machine(tmp / test)
        test_ranking(machine("ranking"))
        test_bounds(machine("bounds"))
        test_disagreement(machine("disagreement"))
        test_budget(machine("budget"))
        test_tools(machine("tools"), tmp)
        test_version(machine("version"), tmp)
        test_version(fake_gpu(tmp, "version-gpu"), tmp)
        test_resources(machine("resources"), tmp)
        test_model_only(machine("model"), tmp)
        test_doubt(machine("doubt"), tmp)
        test_hangs(machine("hangs"), tmp)
        test_cut(fake_gpu(tmp, "cut", "sleep=300,cost=30000"))
        test_decorators(machine("decorators"), tmp)
        test_output(machine("output"), tmp)
    return report()


sys.exit(main())
