#!/usr/bin/env python3
"""Programs of device cpu that wait for others: all of them are begun, whatever they wait for, with
the flag of cooperative launches from the beginning; what waits for ever is told.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.environ.get("NEREID", str(ROOT / "build/nereid"))
KERNELS = ROOT / "tests/runtime/waiting/kernels.py"
COOPERATIVE = "--launch-cooperative-grid"


def run(kernel, programs, arguments, *more, limit=60, device="cpu"):
    """The status, None where it did not end, and what it said."""
    command = [NEREID, "run", f"{KERNELS}:{kernel}", *arguments, "-D", f"P={programs}", "--grid",
               str(programs), "--device", device, *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as expired:
        return None, (expired.stderr or b"").decode()
    return done.returncode, done.stdout + done.stderr


def arrays(kernel, n):
    if kernel == "barrier":
        return [f"x=zeros:i32[{n},16]", f"o=zeros:i32[{n},16]", "cnt=zeros:i32[1]", "-D", "N=16"]
    return [f"o=zeros:i32[{n}]", f"f=zeros:i32[{n + 1}]"]


def check_all_are_begun(kernel, n, *more):
    status, said = run(kernel, n, arrays(kernel, n), *more)
    expected = f"sum {n * (n - 1) // 2}\n"
    if kernel == "barrier":
        expected = run(kernel, n, arrays(kernel, n), device="interp")[1]
    check(status == 0 and expected in said, f"{kernel} of {n} programs {more}: {status} {said}")


def check_telling():
    """What waits for ever says so after ten seconds, and no second time in the next."""
    command = [NEREID, "run", f"{KERNELS}:dead", *arrays("dead", 3), "-D", "P=3", "--grid", "3",
               "--device", "cpu"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True)
    said = process.stderr.readline()
    while said and "has waited" not in said:
        said = process.stderr.readline()
    time.sleep(1)
    check("has waited for 10 s at" in said and "kernels.py:25" in said and process.poll() is None,
          f"what waits for ever is told: {said}")
    process.kill()
    more = process.communicate()[1]
    check("has waited" not in more, f"it is told once: {said}{more}")


MAIN = """
int main(void) {
  int32_t o[3] = {0}, f[4] = {0};
  void *args[] = {o, f};
  dead_launch(args, (const uint32_t[]){3, 1, 1}, NULL);
}
"""


def check_without_a_team():
    """Printed C whose caller has no team: the first program waits for ever, and says so."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "dead.c"), pathlib.Path(folder, "dead")
        made = subprocess.run([NEREID, "compile", f"{KERNELS}:dead", "--sig", "o=*i32,f=*i32", "-D",
                               "P=3", "--target", "cpu:4", "--emit", "c"],
                              capture_output=True, text=True, check=True)
        source.write_text(made.stdout + MAIN)
        subprocess.run(["cc", "-w", "-O1", "-o", program, source, "-lm"], check=True,
                       capture_output=True)
        with subprocess.Popen([program], stderr=subprocess.PIPE, text=True) as running:
            said = running.stderr.readline()
            running.kill()
    check("kernels.py:25: program (0, 0, 0) waits" in said and "a team" in said, f"alone: {said}")


def main():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        telling = pool.submit(check_telling)
        check_without_a_team()
        for kernel in ("barrier", "ring", "plain", "polled"):
            for n in (2, 12, 200):
                if kernel != "barrier" or n < 50:
                    check_all_are_begun(kernel, n)
                    check_all_are_begun(kernel, n, COOPERATIVE)
        telling.result()
    return report()


sys.exit(main())
