#!/usr/bin/env python3
"""The commands in docs/tour.md print what the page says.

    tour.py [--update]      writes their outputs into the page

A block of the page that begins with `$` is a command and its output.  Commands run in the
repository's folder, with the program as `nereid`; one that is `NAME='...'` sets a variable of those
after it.
"""
import difflib, os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tour.md"
NEREID = pathlib.Path(os.environ.get("NEREID", ROOT / "build/nereid")).resolve()
LINE = r"(?!```)[^\n]*\n"
COMMAND = rf"\$ [A-Z]+='[^']*'\n|\$ {LINE}"
BLOCK = re.compile(rf"^```\n({COMMAND})((?:{LINE})*)```$", re.M)


def output(command, programs):
    path = f"{programs}:{os.environ['PATH']}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, env={**os.environ, "PATH": path},
                          capture_output=True, text=True, timeout=60)
    text = (done.stdout + done.stderr).expandtabs()
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def main():
    page = PAGE.read_text()
    passed, failures, variables = 0, [], ""
    with tempfile.TemporaryDirectory() as programs:
        os.symlink(NEREID, pathlib.Path(programs, "nereid"))

        def block(found):
            nonlocal passed, variables
            command, want = found.groups()
            if re.match(r"\$ [A-Z]+='", command):
                variables += command[2:]
                return found[0]
            got = output(variables + command[2:], programs)
            if want == got and got.strip():
                passed += 1
            else:
                lines = difflib.unified_diff(want.splitlines(), got.splitlines(), "docs/tour.md",
                                             "now", lineterm="")
                failures.append(command + "\n".join(lines))
            return f"```\n{command}{got}```"

        page = BLOCK.sub(block, page)
    if "--update" in sys.argv:
        PAGE.write_text(page)
        return 0
    for text in failures:
        print(f"FAIL {text}")
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
