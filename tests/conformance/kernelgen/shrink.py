"""Makes a kernel smaller, as long as it goes wrong in the same way.

An edit is (what, id) with a statement's number in the order of the text, or (a launch option,
value).  Edits are applied to the kernel that the seed makes, so that they travel as a few words.
"""
import re

from .model import NAME, TL, Stmt, dims


def walk(stmts):
    for s in stmts:
        yield s
        for body in s.blocks:
            yield from walk(body)


def apply(kernel, edits):
    for i, s in enumerate(walk(kernel.body)):
        s.id = i
    what = {}
    for kind, value in edits:
        if kind in ("warps", "stages", "grid"):
            setattr(kernel, kind, value)
        else:
            what[value] = kind
    kernel.body = edited(kernel.body, what)
    kernel.body = defined(kernel.body, {*kernel.arrays, *kernel.scalars})
    return kernel


def edited(stmts, what):
    out = []
    for s in stmts:
        kind = what.get(s.id)
        if kind == "drop":
            continue
        if kind == "stub":
            out.append(Stmt([f"{v} = tl.full({dims(v.shape)}, 1, {TL[v.dtype]})" for v in s.outs]))
            continue
        bodies = [edited(body, what) for body in s.blocks]
        if kind == "hoist":
            out += bodies[0]
        else:
            out.append(Stmt(s.lines, s.outs, bodies, s.fixed))
    return out


def defined(stmts, known):
    """The statements without those that use names which nothing defines any more."""
    out = []
    for s in stmts:
        inner = set(known)
        if s.blocks:
            index = re.match(r"for (\w+) in", s.lines[0])
            uses = set(NAME.findall(s.lines[0])) - ({index[1]} if index else set())
            if uses <= inner:
                inner |= {index[1]} if index else set()
                out.append(Stmt(s.lines, s.outs, [defined(b, set(inner)) for b in s.blocks]))
        elif defines(s, inner):
            known |= inner
            out.append(s)
    return out


def defines(stmt, known):
    """True if all that the lines use is known; what they define is then known too."""
    for line in stmt.lines:
        left, equals, right = line.partition(" = ")
        if not equals or not re.fullmatch(r"[\w, ]+(: tl\.constexpr)?", left):
            left, right = "", line
        uses = {n for n in NAME.findall(right) if n not in DTYPE_NAMES}
        if not uses <= known:
            return False
        known |= set(NAME.findall(left))
    return True


DTYPE_NAMES = {"i1"}


def candidates(kernel, edits):
    """Edits that may be added, large ones first."""
    done = {value: kind for kind, value in edits}
    stmts = [s for s in walk(kernel.body)]
    for i in reversed(range(len(stmts))):
        if done.get(i) == "drop" or stmts[i].fixed:
            continue
        yield "drop", i
        if i in done:
            continue
        if stmts[i].blocks:
            yield "hoist", i
        if stmts[i].outs:
            yield "stub", i
    for kind, value in ("grid", 1), ("stages", 1), ("warps", 1), ("warps", 2):
        if getattr(kernel, kind) > value and kind not in {k for k, _ in edits}:
            yield kind, value


def shrink(generate, still_fails):
    """The edits with which the kernel is smallest.  `still_fails(edits)` tries one."""
    edits, again = [], True
    while again:
        again = False
        for edit in candidates(generate(), edits):
            if still_fails(edits + [edit]):
                edits, again = edits + [edit], True
    return edits
