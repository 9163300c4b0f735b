"""Rules of Python: names defined twice, names and imports that nothing uses, imports of modules
that are not there or against the order of folders, and imports within functions without a reason.

Packages of LATE need no reason but that the module doesn't import them anyway; another import has
a comment above it or after it.  Kernels are not checked: the compiler reads them.
"""
import ast, pathlib, re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
# The folders of torch_backend, in the order in which they may import each other.  Modules beside
# them come last.
FOLDERS = ["base", "decompositions", "segments", "passes", "cache"]
# Names of modules that the build makes begin so.
MADE = ("nereid._nereid", "nereid._version", "nereid.language")
# `import nereid` costs little: its modules and what is slow to import come when they are needed.
# Others are optional.
LATE = set("""nereid triton torch numpy pandas matplotlib concurrent copy csv ctypes difflib glob
hashlib importlib inspect linecache platform re runpy shutil subprocess typing warnings""".split())


def bound(node):
    """The names that an import binds."""
    for alias in node.names:
        yield (alias.asname or alias.name).split(".")[0]


def exports(tree):
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id == "__all__":
                yield from re.findall(r"'(\w+)'", ast.dump(node.value))


def used(tree):
    """Names that are read anywhere, in annotations that are strings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"[A-Za-z_]\w*", node.value)


def twice(body):
    """Functions and classes of one body with the name of an earlier one that nothing decorates."""
    seen = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name in seen and not node.decorator_list and node.name != "_":
                yield node.lineno, node.name
            seen[node.name] = node


def locals_unused(function):
    """Local names that are assigned alone and never read."""
    read, stored, free = set(), {}, set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                stored.setdefault(node.id, node.lineno)
            else:
                read.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            free |= set(node.names)
    in_classes = {id(inner) for node in ast.walk(function) if isinstance(node, ast.ClassDef)
                  for inner in node.body}
    plain = {target.id for node in ast.walk(function)
             if isinstance(node, ast.Assign) and id(node) not in in_classes
             for target in node.targets if isinstance(target, ast.Name)}
    for name in plain - read - free:
        if not name.startswith("_"):
            yield stored[name], name


def imported(node):
    """The modules that an import names; of `from a import b` also a.b."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]


def is_missing(module):
    """Is it a module of the package that is not there?  MADE is taken for granted."""
    if not module.startswith("nereid.") or module.startswith(MADE):
        return False
    path = PACKAGE / module.replace(".", "/")
    return not path.is_dir() and not any(path.with_suffix(s).exists() for s in (".py", ".pyi"))


def place(parts):
    """Where a module of torch_backend is in the order of FOLDERS, by the parts of its name; None:
    it is no such module."""
    if parts[:2] != ("nereid", "torch_backend"):
        return None
    return FOLDERS.index(parts[2]) if parts[2:] and parts[2] in FOLDERS else len(FOLDERS)


def against_order(path, node):
    """The modules that an import names and that come later than the module of the file."""
    if not path.is_relative_to(PACKAGE):
        return
    own = place(path.relative_to(PACKAGE).with_suffix("").parts)
    first, *more = imported(node)
    for module in more if first == "nereid.torch_backend" else [first]:
        later = place(tuple(module.split(".")))
        if own is not None and later is not None and later > own:
            yield module


def has_reason(node, tree):
    """Is the reason one that needs no words?  What the module imports anyway has none."""
    module = imported(node)[0]
    at_top = {m for other in tree.body if isinstance(other, (ast.Import, ast.ImportFrom))
              for m in imported(other)[:1]} - {"nereid"}
    return module.split(".")[0] in LATE and module not in at_top


def findings(path):
    """(line, finding) of a module.  Some modules import names for others."""
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    names, shown = set(used(tree)), set(exports(tree))
    shows = path.name == "__init__.py" or "as_triton" in path.parts
    for node in tree.body if not shows else []:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in bound(node):
                if name not in names | shown and name not in ("*", "annotations"):
                    if "#" not in lines[node.lineno - 1]:
                        yield node.lineno, f"nothing uses the import {name}"
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for module in imported(node)[:1]:
                if is_missing(module):
                    yield node.lineno, f"there is no module {module}"
            for module in against_order(path, node):
                yield node.lineno, f"{module} comes after this module's folder (FOLDERS)"
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield from ((line, f"{name} is defined twice") for line, name in twice(node.body))
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        yield from ((line, f"nothing reads {name}") for line, name in locals_unused(node))
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Import, ast.ImportFrom)):
                for name in bound(inner):
                    if name not in names and "#" not in lines[inner.lineno - 1]:
                        yield inner.lineno, f"nothing uses the import {name}"
                above = lines[inner.lineno - 2].lstrip()
                said = above.startswith("#") or "#" in lines[inner.lineno - 1]
                if path.is_relative_to(PACKAGE) and not said and not has_reason(inner, tree):
                    yield inner.lineno, "an import in a function without a reason"


def sources():
    """The package, the scripts of the build, and drivers of tests with their support."""
    yield from (ROOT / "setup.py", *sorted(PACKAGE.rglob("*.py")))
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.stat().st_mode & 0o100 or path.parent.name == "support":
            yield path


def check(say):
    """Calls say(ok, text) for each file, once for each finding."""
    for path in sources():
        found = sorted(set(findings(path)))
        for line, text in found:
            say(False, f"{path.relative_to(ROOT)}:{line}: {text}")
        if not found:
            say(True, "")
