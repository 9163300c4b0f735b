#!/usr/bin/env python3
"""tests/replay: a build equals itself, each kind of text that another build changes is reported,
and what can't be compared is said."""
import os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
GRAPH, KERNEL, REFUSED = "graph/ops/bags/0", "codegen/softmax.args", "onnx_read/deep"

# A program whose texts differ in a word of each kind.
OTHER = """#!/bin/sh
last= ; for word; do [ "$last" = -o ] && out=$word; last=$word; done
"{nereid}" "$@" 2>"{folder}/$$"; status=$?
words='s/target sm_90a/target sm_99/; s/float/double/; s/constexpr/constant/; s/error:/fault:/'
sed "$words" "{folder}/$$" >&2
[ -e "$out" ] && find "$out" -type f ! -name weights.bin -exec sed -i "$words" {{}} +
exit $status
"""


def replay(*words):
    done = subprocess.run([sys.executable, ROOT / "tests/replay", "-j", "1", *words],
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main():
    status, out, _ = replay(NEREID, NEREID, GRAPH, KERNEL, REFUSED)
    check(status == 0 and "3 inputs, 0 of them differ" in out, f"the same build: {status}\n{out}")
    for kind in ("PTX", "C", "kernels' source", "plans", "messages"):
        check(f"\n{kind}: " in f"\n{out}", f"no text of kind {kind}:\n{out}")
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder, "other")
        other.write_text(OTHER.format(nereid=NEREID, folder=folder))
        other.chmod(0o700)
        status, out, _ = replay(NEREID, str(other), GRAPH, KERNEL, REFUSED)
        check(status == 1 and "3 inputs, 3 of them differ" in out, f"another: {status}\n{out}")
        for line in ("PTX: 2 texts, 2 differ", "kernels' source: 2 texts, 2 differ",
                     "plans: 1 texts, 1 differ", "messages: 3 texts, 3 differ", "-- C: ",
                     '+    ".target sm_99\\n"'):
            check(line in out, f"{line} is missing in\n{out}")
    for words, said in ((["no-such-revision"], "neither a program nor a revision"),
                        ([NEREID, NEREID, "no-such-input"], "no input has such a name"),
                        ([], "which build")):
        status, _, err = replay(*words)
        check(status == 2 and said in err, f"{words}: {status} {err}")
    return report()


sys.exit(main())
