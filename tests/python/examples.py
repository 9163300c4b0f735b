#!/usr/bin/env python3
"""examples/python runs, and so do the blocks of Python of docs/python.md, one after the other.
Each runs where the packages that it imports are installed."""
# tests/run: users' compiler
import importlib.util, os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "tests/support"))
import tally

IMPORT = re.compile(r"^(?:import|from) (\w+)", re.M)


def can_run(text):
    names = set(IMPORT.findall(text)) - {"nereid", "triton"}
    return all(importlib.util.find_spec(name) for name in names)


def check_run(name, path, cache):
    done = subprocess.run([sys.executable, path], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cache,
                          env=os.environ | {"PYTHONPATH": str(BUILD / "python"),
                                            "PYTHONDONTWRITEBYTECODE": "1",
                                            "NEREID_CACHE_DIR": cache})
    tally.check(done.returncode == 0, f"{name}: status {done.returncode}\n{done.stdout}")


def main():
    with tempfile.TemporaryDirectory() as cache:
        for path in sorted((ROOT / "examples/python").rglob("*.py")):
            if can_run(path.read_text()):
                check_run(path.name, path, cache)
        page = (ROOT / "docs/python.md").read_text()
        blocks = [block for block in re.findall(r"(?ms)^```python\n(.*?)^```", page)
                  if can_run(block)]
        path = pathlib.Path(cache, "blocks.py")
        path.write_text("\n".join(blocks))
        check_run("docs/python.md", path, cache)
    return tally.report()


sys.exit(main())
