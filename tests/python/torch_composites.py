#!/usr/bin/env python3
"""PyTorch's composite operators, of the installed PyTorch, against the table of Nereid's operators:
each is in the table, or on a list with the reason.

    torch_composites.py          what neither has, by kind
    torch_composites.py --all    also what the list excuses, with its reasons

PyTorch computes a composite operator by others, so that a program of torch.export may contain it
where AOTAutograd's graphs have its parts.  The list is composites/exceptions.txt, whose head says
of which PyTorch it is; of another one the operators are printed, and no failure.
"""
import collections, fnmatch, os, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "support")]
import tally  # noqa: E402

try:
    import torch
    import quick_torch
except ImportError:
    torch = None

LIST = HERE / "composites" / "exceptions.txt"
KINDS = ("CompositeImplicitAutograd", "CompositeExplicitAutograd",
         "CompositeExplicitAutogradNonFunctional")
IN_PLACE = re.compile(r"^\w+(?:::\w+)?(?:\.\w+)?\(Tensor\([a-z]!\)(?:\[\])? ")


def kind_of(operator):
    """The first of the dispatch keys that has a kernel; None: it is no composite."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return next((kind for kind in KINDS if has(operator, kind)), None)


def composites():
    """(name as the table has it, kind, schema)"""
    schemas = {s.name + (f".{s.overload_name}" if s.overload_name else ""): str(s)
               for s in torch._C._jit_get_all_schemas()}
    for operator in sorted(torch._C._dispatch_get_all_op_names()):
        kind = operator.startswith("aten::") and kind_of(operator)
        if kind:
            name = operator if "." in operator else f"{operator}.default"
            yield name.replace("::", "."), kind, schemas.get(operator, "")


def exceptions():
    """(PyTorch's version, [(reason, pattern of names, pattern of schemas)])"""
    version, reason, rows = None, None, []
    for line in LIST.read_text().splitlines():
        if found := re.match(r"# PyTorch (\S+)", line):
            version = found[1]
        elif line.startswith("== "):
            reason = line[3:]
        elif line.startswith("schema "):
            rows.append((reason, "*", line[7:]))
        elif line and not line.startswith("#"):
            rows.extend((reason, name, "") for name in line.split())
    return version, rows


def excuse(name, schema, rows):
    found = (row for row in rows
             if fnmatch.fnmatchcase(name, f"aten.{row[1]}") and re.search(row[2], schema))
    return next(found, None)


def print_missing(missing):
    by_kind = collections.defaultdict(list)
    for name, kind, schema in missing:
        by_kind[kind + (", in place" if IN_PLACE.match(schema) else "")].append(name)
    for kind, names in sorted(by_kind.items()):
        print(f"{kind}: {len(names)}", *names, sep="\n    ")


def print_excused(used):
    for reason, names in used.items():
        print(f"{reason}: {len(names)}", *names, sep="\n    ")


def check_composites(print_all):
    from nereid import _nereid
    version, rows = exceptions()
    same = torch.__version__.startswith(f"{version}.")
    counts, missing, stale = collections.Counter(), [], set(rows)
    used = collections.defaultdict(list)
    for name, kind, schema in composites():
        has, row = _nereid.has_operator(name), excuse(name, schema, rows)
        counts[kind, has] += 1
        if not has and row:
            used[row[0]].append(name)
            stale.discard(row)
        elif not has:
            missing.append((name, kind, schema))
        tally.check(has or row or not same, f"{name}: not in the table of operators, and no reason "
                                            f"in {LIST.relative_to(ROOT)}")
        tally.check(not has or not row or row[2] or "*" in row[1],
                    f"{name}: in the table of operators, and excused")
    for reason, name, schema in stale if same else ():
        tally.check(False, f"{LIST.relative_to(ROOT)}: nothing is {name} {schema}")
    print_missing(missing)
    if print_all:
        print_excused(used)
    for kind in KINDS:
        known, others = counts[kind, True], counts[kind, False]
        print(f"{kind}: {known} of {known + others} are in the table")


if __name__ == "__main__":
    if torch is None:
        print("1 skipped: no torch")
        tally.check(True, "")
    else:
        check_composites("--all" in sys.argv)
    sys.exit(tally.report())
