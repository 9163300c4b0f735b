"""Rules of C: no circles of files, and no header for one client alone.

In a circle files call each other's functions, directly or through other files.  Only calls count,
and only those within a room, as rooms have an order: what a table dispatches to (rules of
operators, commands) is not called by the file of the table.
"""
import collections, pathlib, re

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Circles that recursion makes: by a file of each, how many files it has at most, and why.
CIRCLES = {
    "sema/eval/expressions.c": (
        38, "an expression calls functions, whose statements have expressions; builtins and "
            "imported modules evaluate them too"),
    "import/pt2/pt2_nodes.c": (2, "a node has regions, which have nodes"),
    "model/api/api.c": (4, "an executable makes others: of given sizes, and of stored bytes"),
    "planner/kernels/kernel.c": (
        4, "a value is an element of a window or a search, or a number, which values are read for"),
}
# Headers of at most four functions that one file alone includes, and which stay so.
SMALL_HEADERS_MOST = 16

DEFINITION = re.compile(r"(?m)^(?!static|typedef|return|else|#|\}|extern)[A-Za-z_][\w \*]*?\b(\w+)"
                        r"\([^;{}]*?\)\s*\{")
NOT_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^\s*#\s*include.*?$', re.S | re.M)


def calls(files):
    """The functions that each file calls of each other file."""
    code = {name: NOT_CODE.sub(" ", text) for name, text in files.items()
            if not name.endswith(".h")}
    where = collections.defaultdict(set)
    for name, text in code.items():
        for function in DEFINITION.findall(text):
            where[function].add(name)
    found = {name: collections.defaultdict(set) for name in code}
    for name, text in code.items():
        # Static functions may have the names of others' functions.
        own = set(DEFINITION.findall(re.sub(r"(?m)^static ", "", text)))
        for word in set(re.findall(r"(?<![.>])\b([a-z]\w*)\(", text)) - own:
            for other in where.get(word, ()):
                same_room = other.split("/")[0] == name.split("/")[0]
                if len(where[word]) == 1 and other != name and same_room:
                    found[name][other].add(word)
    return found


def components(graph):
    """The strongly connected components of more than one file (Tarjan's algorithm)."""
    number, low, stack = {}, {}, []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in graph[file]:
            if other not in number:
                yield from visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                yield sorted(component)

    for file in graph:
        if file not in number:
            yield from visit(file)


def circles(files):
    """The circles of these files: sorted lists of names."""
    return components(calls(files))


def clients_of_headers(files):
    """The files, unit tests among them, that include each header, directly or by other headers."""
    tests = {str(path.relative_to(ROOT)): path.read_text() for folder in ("*/unit", "fuzz")
             for path in (ROOT / "tests").glob(f"{folder}/*.c")}
    includes = collections.defaultdict(set)
    for name, text in (files | tests).items():
        for header in re.findall(r'(?m)^\s*#\s*include\s+"([^"]+)"', text):
            includes[header if "/" in header else f"runtime/{header}"].add(name)

    def reached(header, met):
        for name in includes[header] - met:
            met.add(name)
            if name.endswith(".h"):
                reached(name, met)
        return met

    return {header: {name for name in reached(header, set()) if not name.endswith(".h")}
            for header in list(includes)}


def small_headers(files):
    """Headers of at most four functions, all of one file, that one other file alone includes:
    `HEADER LINES <- CLIENT`."""
    includes = clients_of_headers(files)
    for header, text in files.items():
        if not header.endswith(".h") or header.endswith("messages.h"):
            continue
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        code = re.sub(r"(?m)^\s*#(?:.*\\\n)*.*", "", code)
        declared = re.findall(r"(?m)^(?!typedef)[A-Za-z_][\w \*]*?\b(\w+)\([^;{}]*?\)[;\s{]", code)
        if not 1 <= len(declared) <= 4:
            continue
        form = rf"(?m)^[\w \*]+\b(?:{'|'.join(declared)})\([^;]*?\)\s*\{{"
        clients = {name for name in includes.get(header, ())
                   if not re.search(form, files.get(name, ""))}
        if len(clients) == 1 and len(includes[header]) == 2:
            yield header, text.count("\n"), next(iter(clients))


def check(check, files):
    """Reports to the function `check` as `make lint` does."""
    for circle in circles(files):
        most, _ = next((CIRCLES[file] for file in circle if file in CIRCLES), (0, ""))
        check(len(circle) <= most, f"a circle of {len(circle)} files that call each other, of at "
              f"most {most}: {' '.join(circle)}")
    small = list(small_headers(files))
    check(len(small) <= SMALL_HEADERS_MOST,
          f"{len(small)} headers of at most four functions have one client each, and at most "
          f"{SMALL_HEADERS_MOST} may: " + ", ".join(f"{header} <- {client}"
                                                    for header, _, client in small))
