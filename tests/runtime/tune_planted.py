#!/usr/bin/env python3
"""`nereid tune` where candidates hang, fault, fail to compile, do not fit, or are wrong: none of
them ends or wins a run.  Many processes share one database, and a tuner that is killed leaves
nobody behind.

    tune_planted.py [--device cpu|cuda]

Without a GPU a fake driver takes its place, which knows what to do by the grid.
"""
# tests/run: alone
import argparse, json, pathlib, re, signal, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
import sanitizers  # noqa: E402
from tally import check, report  # noqa: E402
from tuner import (FAILS, FAULTS, HANGS, LARGE, OK, WRONG, Machine, by_config,  # noqa: E402
                   fake_gpu, scale, space, without_doubt)

sanitizers.leave_faults()

BY_MODE = "cdiv(n, BLOCK),MODE+1"
FAKE = f"axis=1,hang={HANGS + 1},fault={FAULTS + 1},wrong={WRONG + 1}"
# How candidates of each mode end, and what the reason has.
ENDS = {OK: ("ok", ""), HANGS: ("timeout", "the timeout expired"),
        FAILS: ("compile", "static_assert failed: no such mode"),
        WRONG: ("wrong", "its results differ from those of most others")}
# On a CPU the model drops what is too large.
ENDS_ON = {"cpu": {**ENDS, FAULTS: ("fault", "kernels was terminated: Segmentation fault")},
           "cuda": {**ENDS, FAULTS: ("fault", "CUDA_ERROR_"),
                    LARGE: ("resources", " bytes of shared memory, but sm_")}}


def check_ends(tuning, device):
    for (block, mode), c in by_config(tuning).items():
        status, reason = ENDS_ON[device][mode]
        told = c["reason"] == reason if mode == OK else reason in c["reason"]
        check(c["status"] == status and told, f"{device} BLOCK={block} MODE={mode}: {c}")
    check(tuning["best"].get("MODE") == OK, f"{device}: won by {tuning['best']}")


def test_planted(machine):
    """Candidates that fail in each way, beside two good ones."""
    ends = ENDS_ON[machine.device]
    kernel, what = scale(machine.device, BY_MODE), space((1024, 4096), ends)
    tuning = machine.tune(*what, kernel=kernel, disagree=True)  # two of four are wrong
    check(len(tuning["candidates"]) == 2 * len(ends), "all candidates are told")
    check_ends(tuning, machine.device)
    # Nobody could measure.
    nobody = dict(machine.env, NEREID_PROGRAM="/bin/false")
    again = machine.tune(*what, kernel=kernel, disagree=True, env=nobody)
    check(again["source"] == "records", "failures are not recorded")
    check_ends(again, machine.device)
    status, out, err = machine.run(*kernel, *what)
    lines = out.splitlines()
    check(status == 0 and "(records)" in lines[0], f"a table: {out}{err}")
    for mode, (name, reason) in ends.items():
        check(mode == OK or any(l.startswith(f"{name}: 2, as BLOCK=") and reason in l
                                for l in lines), f"no line of {name} in {out}")
    check("\ntake it by: -D BLOCK=" in out, f"how to use it: {out}")


def test_deaths(machine):
    """The process that measures dies again and again, and what it knew of the results with it."""
    kernel, good, bad = scale(machine.device, BY_MODE), (64, 4096), (128, 256, 512, 1024, 2048)
    tuning = machine.tune(*space((*good, *bad), (OK, FAULTS)), kernel=kernel)
    check(len(tuning["candidates"]) == 14, f"{machine.device}: all are told: {tuning}")
    check_ends(tuning, machine.device)
    status, _, err = machine.run(*kernel, *space(bad[:2], (FAULTS,)))
    check(status == 1 and re.search(r"\n  \d fault: ", err) and "--device interp" in err,
          f"{machine.device}: all fault: {err}")


def test_spills(machine):
    """What spills runs, and says so."""
    what = ("--space", "BLOCK=4096", "--space", "maxnreg=32,255", "--num-warps", "1")
    for tuning in machine.tune(*what), machine.tune(*what):
        for c in tuning["candidates"]:
            spills = re.fullmatch(r"\d+ bytes per thread are spilled", c["reason"])
            few = c["config"]["maxnreg"] == 32
            check(c["status"] == "ok" and (spills if few else not c["reason"]), f"spills: {c}")
    check(tuning["source"] == "records", "what spills is not recorded")
    check("spilled)" in machine.run(*scale(machine.device), *what)[1], "no spills in the table")


def test_processes(machine):
    """Sixteen at once: each time that is told is in the database, and nothing else."""
    blocks = 128, 512, 1024, 2048, 4096
    running = [machine.start(*scale(machine.device), *space((256, blocks[i % len(blocks)])),
                             "--json", "-") for i in range(16)]
    told = set()
    for process in running:
        out, err = process.communicate()
        err = without_doubt(err)
        check(process.returncode == 0 and not err, f"one of sixteen: {err}")
        tuning = json.loads(out) if process.returncode == 0 else {"candidates": [], "best": {}}
        check(tuning["best"], "one of sixteen chooses nothing")
        told |= {(c["config"]["BLOCK"], c["median_us"]) for c in tuning["candidates"]}
    found = re.findall(r'config "BLOCK=(\d+) MODE=0" ok median (\S+)', machine.records())
    found = [(int(block), float(us)) for block, us in found]
    check(sorted(b for b, _ in found) == sorted({b for b, _ in told}), f"records: {found}")
    check(set(found) <= told, f"{found} were not told: {told}")
    check(machine.tune(*space((256, *blocks)))["source"] == "records", "sixteen lose records")


def workers(machine):
    """Processes that were started with this machine's environment."""
    wanted, found = f"NEREID_CACHE_DIR={machine.folder}\0".encode(), []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            words = (path.parent / "cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"worker"] and wanted in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            pass  # it has ended, or is another user's
    return found


def wait_for(what, seconds):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def test_kill(machine):
    """The one that waits is killed while a kernel hangs."""
    machine.tune(*space((256,)))
    for sent in (signal.SIGKILL, signal.SIGINT):
        # What a shell starts in the background ignores Ctrl-C, and so do its children.
        process = machine.start(*scale(machine.device, BY_MODE), *space((512,), (HANGS,)),
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        check(wait_for(lambda: workers(machine), 20), "no process measures")
        time.sleep(3 if machine.device == "cuda" else 0.5)  # opening a GPU takes long
        process.send_signal(sent)
        process.communicate()
        check(process.returncode == -sent, f"it ends by {process.returncode}")
        check(wait_for(lambda: not workers(machine), 20), f"after {sent!r} a process is left")
    check(machine.tune(*space((256,)))["source"] == "records", "a kill loses records")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    device = parser.parse_args().device
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        on_gpu = [test_planted, test_deaths, test_spills]
        on_cpu = [test_planted, test_deaths]
        for test in [*(on_cpu if device == "cpu" else on_gpu), test_processes, test_kill]:
            test(Machine(tmp / test.__name__, device))
        for test in on_gpu if device == "cpu" else []:
            test(fake_gpu(tmp, f"fake-{test.__name__}", FAKE))
    return report()


sys.exit(main())
