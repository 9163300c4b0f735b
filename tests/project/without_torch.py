#!/usr/bin/env python3
"""Drivers of tests/python that import torch skip what needs it where it is missing.

While such a file is loaded it uses none of the names that its guarded import makes, but where these
are tested first; and it has a line that says what is skipped.  Found by the file's syntax, since
the machine on which it is written may have torch.
"""
import ast, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from tally import check, report  # noqa: E402

ABSENT = {"ImportError", "ModuleNotFoundError"}
SKIPS = re.compile(r"skipped: no (torch|PyTorch|vllm)\b")
LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_guard(node):
    """Is it a `try` that imports torch, or else goes on without it?"""
    imports = [n for n in node.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    of_torch = any("torch" in ast.unparse(n) for n in imports)
    caught = {ast.unparse(h.type) for h in node.handlers if h.type}
    return of_torch and bool(caught & ABSENT)


def imported(node):
    return {(alias.asname or alias.name).split(".")[0] for n in ast.walk(node)
            if isinstance(n, (ast.Import, ast.ImportFrom)) for alias in n.names}


def ends(body):
    return any(re.match(r"(sys\.exit|exit|raise SystemExit)\b", ast.unparse(n)) for n in body)


def at_load(node):
    """The parts of a node that loading the file evaluates."""
    if isinstance(node, LATER):
        yield from getattr(node, "decorator_list", [])
        yield from node.args.defaults + [d for d in node.args.kw_defaults if d]
    else:
        yield from ast.iter_child_nodes(node)


def uses(node, names):
    """Lines on which loading the file takes an attribute of one of the names, or calls it."""
    if isinstance(node, (ast.If, ast.IfExp)) and names & words(node.test):
        branches = node.orelse if isinstance(node.orelse, list) else [node.orelse]
        return [line for n in branches for line in uses(n, names)]
    if isinstance(node, ast.BoolOp) and names & words(node.values[0]):
        return []
    if isinstance(node, ast.Try) and ABSENT & set().union(*(words(h) for h in node.handlers)):
        return []
    used = {ast.Attribute: "value", ast.Call: "func", ast.Subscript: "value"}.get(type(node))
    base = getattr(node, used) if used else None
    own = [node.lineno] if isinstance(base, ast.Name) and base.id in names else []
    return own + [line for n in at_load(node) for line in uses(n, names)]


def words(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def found_in(body, names):
    """What is wrong in statements that loading the file runs, up to the one that ends it."""
    for node in body:
        if isinstance(node, ast.Try) and is_guard(node):
            if any(ends(handler.body) for handler in node.handlers):
                return
            names |= imported(ast.Module(node.body, []))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if re.match(r"(import|from) torch\b", ast.unparse(node)):
                yield f"line {node.lineno}: torch is imported unguarded"
        elif isinstance(node, ast.If) and names & words(node.test) and ends(node.body):
            return
        elif isinstance(node, ast.If) and not names & words(node.test):
            yield from found_in(node.body, names)
            yield from found_in(node.orelse, names)
        else:
            for line in uses(node, names):
                yield f"line {line}: torch is used while the file is loaded"


def problems(text):
    says = [] if SKIPS.search(text) else ["no line says `1 skipped: no torch`"]
    return [*found_in(ast.parse(text).body, set()), *says]


def check_rule():
    head = "try:\n    import torch\n    import torch.nn.functional as F\nexcept ImportError:\n" \
           "    torch = None\nSAYS = '1 skipped: no torch'\n"
    right = ["def f(x=3):\n    return torch.ones(x)\n",
             "FORMS = {'ones': lambda n: torch.ones(n)}\n",
             "if torch is not None:\n    torch.manual_seed(1)\n",
             "if MAIN:\n    if not torch:\n        sys.exit(0)\n    torch.ones(3)\n",
             "ONES = torch and torch.ones(3)\n", "ONE = torch.ones(1) if torch else None\n",
             "if not torch:\n    sys.exit(0)\ntorch.manual_seed(1)\n"]
    wrong = ["if len(sys.argv) > 1:\n    torch.ones(3)\n", "FORMS = {'ones': torch.ones}\n",
             "def f(x=torch.float32):\n    return x\n",
             "class Net(torch.nn.Module):\n    pass\n", "@torch.compile\ndef f(x):\n    return x\n",
             "SIZES = [F.relu(x) for x in range(3)]\n", "import torch\n",
             "if DEVICE:\n    pass\nelse:\n    torch.ones(3)\n"]
    for text in right:
        check(not problems(head + text), f"{text!r} is right")
    for text in wrong:
        check(problems(head + text), f"{text!r} is not")
    check(problems(head.replace("SAYS", "# ").replace("skipped", "")), "it says nothing")
    check(not problems(head.replace("torch = None", "sys.exit(0)") + "torch.ones(3)\n"), "it ends")


def main():
    check_rule()
    for path in sorted((ROOT / "tests/python").glob("*.py")):
        text = path.read_text()
        if path.name.startswith("torch_") or re.search(r"(?m)^ *import torch\b", text):
            for problem in problems(text) or [None]:
                check(problem is None, f"{path.name}: {problem}")
    return report()


sys.exit(main())
