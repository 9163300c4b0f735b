#!/usr/bin/env python3
"""Checks that the pictures of docs/pictures are up to date; `pictures.py --update` (`make docs`)
draws them, for which it needs `dot` of Graphviz.

folders.dot is made from the includes between the folders of the sources.  Each X.svg is drawn from
X.dot, whose checksum it has at its end.
"""
import collections, hashlib, pathlib, runpy, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
LINT = runpy.run_path(str(ROOT / "tests/project/lint"))
HEAD = """// The folders of the sources.  An arrow goes from a folder to one whose headers it
// includes, unless other arrows imply it.  Made from the includes by `make docs`.
digraph folders {
  rankdir=BT; ranksep=0.4; nodesep=0.15; bgcolor="transparent"; compound=true
  node [fontname="Helvetica", fontsize=10, shape=box, style="rounded,filled", fillcolor=white,
        color="#5b7da8", height=0.3]
  edge [color="#88888899", arrowsize=0.5]
"""


def folder(name):
    room, *inner, _ = name.split("/")
    return f"{room}/{'/'.join(inner)}" if inner else room


def folders():
    """The text of folders.dot: within rooms, arrows between folders; between rooms, of rooms."""
    inside, between = collections.defaultdict(set), set()
    for path in LINT["room_files"]():
        name = str(path.relative_to(ROOT))
        for _, header in LINT["includes"](path.read_text()):
            if header.split("/")[0] not in LINT["ROOMS"]:
                continue
            a, b = folder(name), folder(header)
            if a == b:
                continue
            if a.split("/")[0] == b.split("/")[0]:
                inside[a].add(b)
            else:
                between.add((a.split("/")[0], b.split("/")[0]))
    lines = []
    for room in LINT["ROOMS"]:
        lines += [f'  subgraph "cluster_{room}" {{', f'    label="{room}"; fontname="Helvetica"; '
                  'style="rounded,filled"; fillcolor="#eef3f9"; color="#9db4d1"']
        names = [f"{room}/{stage}" for stage in LINT["STAGES"].get(room, [])]
        for name in names:
            lines.append(f'    "{name}" [label="{name.partition("/")[2]}"]')
        lines.append(f'    "{room}" [label="{room}/*"]')
        edges = {a: {b for b in inside[a] if b != room} for a in [*names, room]}
        lines += [f'    "{a}" -> "{b}"' for a, b in reduced(edges)]
        lines.append("  }")
    rooms = collections.defaultdict(set)
    for a, b in between:
        rooms[a].add(b)
    lines += [f'  "{a}" -> "{b}" [ltail="cluster_{a}", lhead="cluster_{b}", penwidth=1.6]'
              for a, b in reduced(rooms)]
    return HEAD + "\n".join(lines) + "\n}\n"


def reduced(edges):
    """Edges of an acyclic graph that no longer way implies."""
    def reaches(a, b, seen):
        if a not in seen:
            seen.add(a)
            return any(n == b or reaches(n, b, seen) for n in edges.get(a, ()))
        return False

    for a in sorted(edges):
        for b in sorted(edges[a]):
            if not any(n != b and reaches(n, b, set()) for n in edges[a]):
                yield a, b


def stamp(text):
    return f"<!-- {hashlib.sha256(text.encode()).hexdigest()} -->\n"


def update():
    (PICTURES / "folders.dot").write_text(folders())
    if not shutil.which("dot"):
        sys.exit("pictures.py: `dot` is missing: install graphviz to draw docs/pictures")
    for path in PICTURES.glob("*.dot"):
        svg = subprocess.run(["dot", "-Tsvg", path], check=True, capture_output=True, text=True)
        path.with_suffix(".svg").write_text(svg.stdout + stamp(path.read_text()))


def main():
    if "--update" in sys.argv:
        return update()
    stale = []
    if (PICTURES / "folders.dot").read_text() != folders():
        stale.append("folders.dot")
    drawn = list(PICTURES.glob("*.dot"))
    for path in drawn:
        svg = path.with_suffix(".svg")
        if not svg.exists() or not svg.read_text().endswith(stamp(path.read_text())):
            stale.append(svg.name)
    for name in stale:
        print(f"FAIL docs/pictures/{name} is stale: run make docs")
    print(f"{len(drawn) + 1 - len(stale)} passed, {len(stale)} failed")
    return bool(stale)


sys.exit(main())
