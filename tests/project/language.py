#!/usr/bin/env python3
"""nereid.language has the compiler's functions, each with a sentence: the modules of signatures
that python/generate/language.py makes are complete, and are those of the build."""
import ast, os, pathlib, sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "python/generate"))
import language


def undefined(text):
    """Names in __all__ that the module neither defines nor imports."""
    names, exported = set(), []
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            exported = ast.literal_eval(node.value)
    return [name for name in exported if name not in names]


def main():
    passed, failures = 0, []
    for name, text in language.modules():
        built = BUILD / "python" / "nereid/language" / name
        stale = not built.exists() or built.read_text() != text
        found = [f"{built} is stale: run `make python`"] if stale else []
        found += [f"{name}: __all__ has {lacks}" for lacks in undefined(text)]
        passed, failures = passed + 2 - bool(found), failures + found
    failures += language.problems
    for text in failures:
        print(f"FAIL {text}")
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
