#!/usr/bin/env python3
"""The commands of README.md and of docs/*.md do what the pages say, for a newcomer: in a bare copy
of the files under version control with its own build/, home and cache.

    pages.py [--update] [PAGE...]     those pages alone; --update (`make docs`) writes outputs

A block ```console is a session of bash: `$ ` begins a command, and what follows is its output.  The
blocks of a page are one session, in the copy's folder, with build/nereid as `nereid` in the path.
A command must succeed; one that shows a failure ends in `|| echo "status $?"`, as the page says
which.  Where output is shown it is compared: a line `...` stands for any lines, errors of rounding,
times and the machine's name for others of their kind; of commands in MEASURES, all numbers.  Every
other block has another language, of which `text` is no command, and python is for python/examples.
"""
import difflib, os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
NEREID = pathlib.Path(os.environ.get("NEREID", BUILD / "nereid")).resolve()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LIMIT_S = 600
# Commands that are not run here, and why.
SKIPPED = {
    "README.md": {"sh setup.sh check": "it runs this test"},
    "docs/python.md": {
        "pip install .": "python/wheel does, in an environment of its own",
        "make wheel": "python/wheel builds one",
        "export CC=": "python/wheel_arm has the tools for another machine",
        "_PYTHON_HOST_PLATFORM=": "python/wheel_arm has the tools for another machine",
    },
}
# Commands by what they need, which some machines lack.
NEEDS = {
    "packages": {
        "README.md": ["sh setup.sh demo", "sh setup.sh python", ". .venv/bin/activate",
                      "python examples/python/vector_add.py"],
        "docs/python.md": ["sh setup.sh python"],
    },
    "build": {"README.md": ["make -s install", "export PKG_CONFIG_PATH", "cp examples/c/",
                            "./vector_add"]},
    "pkg-config": {"README.md": ["cp examples/c/", "./vector_add"]},
    "ptxas": {"docs/reading-ptx.md": ["ptxas"]},
}
# What is measured: every number of the output may be another one, and lines may change places.
MEASURES = re.compile(r" (?:tune|bench|estimate) | -v\b|--explain|--time")
MASKS = [
    (r"\b\d+(?:\.\d+)?e-\d+\b", "ERROR"),
    (r"\b\d+(?:\.\d+)? (?:us|ms|s)\b", "TIME"),
    (r" on [^:,]+, \d+ cores?\b", " on MACHINE"),
    (r"\bcpu:\d+\b", "cpu:N"),
]
failures, passed = [], 0


def commands(block):
    """The commands of a session and the lines after each."""
    found, lines = [], block.splitlines()
    while lines:
        line = lines.pop(0)
        if not line.startswith("$ "):
            if not found:
                raise ValueError(f"a session begins with `$ `: {line}")
            found[-1][1].append(line)
            continue
        text = line[2:]
        while lines and not complete(text):
            text += "\n" + lines.pop(0)
        found.append((text, []))
    return found


def complete(text):
    """Whether a shell would run it, or read another line."""
    here = re.search(r"<<\s*'?(\w+)'?", text)
    if here:
        return re.search(rf"(?m)^{here[1]}$", text) is not None
    bare = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", "", text)
    return not text.endswith("\\") and not re.search(r"['\"]", bare.partition(" #")[0])


def masked(lines, measures):
    """Lines as they are compared."""
    def one(line):
        for pattern, word in MASKS:
            line = re.sub(pattern, word, line)
        if measures:
            line = re.sub(r"\d+(?:\.\d+)?(?: [kMGT](?=B|op|\b))?", "#", line)
        return re.sub(r"\s+", " ", line).strip() if measures else line.rstrip()

    return [one(line) for line in lines]


def agrees(want, got):
    """`...` alone on its line stands for any lines."""
    parts = [[]]
    for line in want:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return want == got
    first, last = parts[0], parts[-1]
    if got[:len(first)] != first or len(got) < len(first) + len(last):
        return False
    at = len(first)
    for part in parts[1:-1]:
        ends = [i for i in range(at, len(got)) if got[i:i + len(part)] == part]
        if not ends:
            return False
        at = ends[0] + len(part)
    return at <= len(got) - len(last) and got[len(got) - len(last):] == last


def lack(need):
    """Why this machine can't run commands that need it, or None."""
    if need in ("packages", "build") and (BUILD != ROOT / "build" or NEREID.parent != BUILD):
        return "another build than build/"
    if need == "packages":
        text = (ROOT / "setup.sh").read_text()
        names = " ".join(re.findall(r'packages="(?:\$packages )?([^"]*)"', text)).split()
        query = ["dpkg-query", "-W", "-f", "${db:Status-Status} "]
        missing = [name for name in names if not shutil.which(query[0]) or subprocess.run(
            [*query, name], capture_output=True, text=True).stdout.strip() != "installed"]
        return missing and f"no package {', '.join(missing)}"
    return None if need == "build" or shutil.which(need) else f"no {need}"


def all_skipped():
    """The commands of each page that are not run, by their beginnings, with the reasons."""
    found = {page: dict(starts) for page, starts in SKIPPED.items()}
    for need, pages in NEEDS.items():
        reason = lack(need)
        for page, starts in pages.items() if reason else ():
            for start in starts:
                found.setdefault(page, {}).setdefault(start, reason)
    return found


SESSION = """
set -o pipefail
for command in "$SESSION"/*.command; do
  eval "$(cat "$command")" >"${command%command}out" 2>&1 </dev/null
  echo $? >"${command%command}status"
done
"""


def run_session(texts, tree, folder):
    """Status and output of each command, in one shell."""
    session = folder / "session"
    shutil.rmtree(session, ignore_errors=True)
    home = folder / "home"  # another one for each page
    shutil.rmtree(home, ignore_errors=True)
    session.mkdir()
    home.mkdir()
    for i, text in enumerate(texts):
        (session / f"{i:03}.command").write_text(text)
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(home),
                   "SESSION": str(session), "LANG": "C.UTF-8", "NEREID_LIBRARY_PATH": "",
                   "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        subprocess.run(["bash", "-c", SESSION], cwd=tree, env=environment, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        pass
    for i in range(len(texts)):
        out, status = session / f"{i:03}.out", session / f"{i:03}.status"
        text = out.read_text(errors="backslashreplace") if out.exists() else ""
        yield int(status.read_text()) if status.exists() else -1, text.expandtabs().splitlines()


def check(name, command, want, status, got):
    global passed
    measures = MEASURES.search(command) is not None
    ok = status == 0 and (not want or agrees(masked(want, measures), masked(got, measures)))
    if ok:
        passed += 1
        return
    diff = "\n".join(difflib.unified_diff(want, got, name, "now", lineterm=""))
    failures.append(f"{name}: $ {command}\nstatus {status}\n{diff}")


def check_languages(name, text):
    """Every block has a language, and none but sessions has commands."""
    for language, block in re.findall(r"(?ms)^```(.*?)\n(.*?)^```", text):
        if not language:
            failures.append(f"{name}: a block without a language: {block[:60]!r}")
        elif language == "text" and any(is_command(line) for line in block.splitlines()):
            failures.append(f"{name}: a command in a block of {language}: {block[:60]!r}")


def is_command(line):
    """One that can be run as it is: it has a prompt, or names a file that is there."""
    words = line.split("  ")[0].split()
    return words[:1] == ["$"] or words[:1] and bool(
        re.fullmatch(r"nereid|build/nereid|make|cc|sh|python|pip|dot", words[0])) and any(
            "/" in word and (ROOT / word).exists() for word in words[1:])


def written(block, results):
    """The block with the outputs that were printed, where they differ and can be shown whole."""
    lines = []
    for (command, want), (status, got) in zip(commands(block), results):
        measures = MEASURES.search(command) is not None
        keep = status != 0 or not want or "..." in [line.strip() for line in want] or agrees(
            masked(want, measures), masked(got, measures))
        lines += [f"$ {command}", *(want if keep else [line.rstrip() for line in got])]
    return "".join(f"{line}\n" for line in lines)


def check_page(page, tree, folder, update, skips):
    name = str(page.relative_to(ROOT))
    text = page.read_text()
    check_languages(name, text)
    session = re.compile(r"(?ms)^```console\n(.*?)^```")
    todo, plan = [], []
    for block in session.findall(text):
        for command, want in commands(block):
            skip = any(command.startswith(start) for start in skips)
            plan.append((command, want, skip))
            todo += [] if skip else [command]
    results, all_results = iter(list(run_session(todo, tree, folder)) if todo else []), []
    for command, want, skip in plan:
        status, got = (0, want) if skip else next(results)
        all_results.append((status, got))
        if not skip:
            check(name, command, want, status, got)
    if update:
        left = iter(all_results)
        page.write_text(session.sub(lambda m: "```console\n" + written(
            m[1], [next(left) for _ in commands(m[1])]) + "```", text))


def make_tree(tree):
    """The files under version control, as they are in the folder, and the build."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    others = shutil.ignore_patterns("build*", ".git", ".bundle", ".venv", "dist", "__pycache__")
    if listed.returncode:
        shutil.copytree(ROOT, tree, symlinks=True, ignore=others)
    for name in filter(None, listed.stdout.split("\0")):
        if os.path.lexists(ROOT / name):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    for folder, _, _ in os.walk(tree, topdown=False):  # make looks at these times as well
        shutil.copystat(ROOT / pathlib.Path(folder).relative_to(tree), folder)
    others = shutil.ignore_patterns("tests", "examples", "bench", "wheel", "torch-*")
    if lack("build"):
        (tree / "build").mkdir()
        for part in ("nereid", "libnereid.so", "libnereid.a", "man", "python"):
            (tree / "build" / part).symlink_to(NEREID if part == "nereid" else BUILD / part)
    else:
        shutil.copytree(BUILD, tree / "build", symlinks=True, ignore=others)


def check_skipped(skips):
    """Those that are told are on the pages."""
    for pages in (SKIPPED, *NEEDS.values()):
        for page, starts in pages.items():
            text = (ROOT / page).read_text()
            failures.extend(f"{page}: no command begins with `{start}`" for start in starts
                            if f"\n$ {start}" not in text)
    for page, starts in skips.items():
        for start, reason in starts.items():
            print(f"1 skipped: {page}: $ {start}: {reason}")


def main():
    update = "--update" in sys.argv
    wanted = [word.removesuffix(".md").split("/")[-1] for word in sys.argv[1:] if word[0] != "-"]
    pages = [page for page in PAGES if not wanted or page.stem in wanted]
    skips = all_skipped()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        (folder / "bin").mkdir()
        make_tree(folder / "tree")
        (folder / "bin/nereid").symlink_to(folder / "tree/build/nereid")
        (folder / "bin/python").symlink_to(shutil.which(os.environ.get("PYTHON", sys.executable)))
        for page in pages:
            check_page(page, folder / "tree", folder, update,
                       skips.get(str(page.relative_to(ROOT)), {}))
    if update:
        return 0
    check_skipped(skips)
    for text in failures:
        print(f"FAIL {text}")
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
