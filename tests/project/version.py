#!/usr/bin/env python3
"""The version of the Python distribution (python/link/version) in repositories and archives of a
few files: it differs for different sources, commits and releases, and pip sorts them.  And what
`make release` finds missing."""
import os, pathlib, re, shutil, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import tally

FOLDERS = ["lang", "parser", "sema", "lower", "codegen", "runtime", "graph", "import",
           "tiling", "decompose", "planner", "model", "cli", "python/link"]
NUMBER = re.search(r"(?m)^VERSION := (\S+)", (ROOT / "Makefile").read_text())[1]
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
               **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER")
                  for what in ("NAME", "EMAIL")}}


def run(tree, *command):
    done = subprocess.run(command, cwd=tree, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.strip()


def expect(tree, what, form):
    """Checks the version there, and gives it."""
    status, version = run(tree, "python/link/version")
    tally.check(status == 0 and re.fullmatch(form, version), f"{what}: {version}, not {form}")
    return version


def make_tree(tree):
    for folder in FOLDERS:
        (tree / folder).mkdir(parents=True)
        (tree / folder / "a.c").write_text("int a;\n")
    for name in ("python/link/version", "python/link/release", "Makefile", "setup.py",
                 "pyproject.toml", ".gitattributes", ".gitignore"):
        shutil.copy2(ROOT / name, tree / name)
    (tree / "CHANGELOG.md").write_text(f"# Changelog\n\n## {NUMBER} (not released)\n")


def commit(tree):
    run(tree, "git", "add", "-A")
    status, output = run(tree, "git", "commit", "-q", "--no-gpg-sign", "-m", "x")
    tally.check(status == 0, f"git commit: {output}")


def check_commits(tree):
    base = re.escape(NUMBER)
    seen = [expect(tree, "no repository", rf"{base}\.dev0\+d[0-9a-f]{{8}}")]
    run(tree, "git", "init", "-q")
    commit(tree)
    seen.append(expect(tree, "a commit", rf"{base}\.dev1\+g[0-9a-f]{{8}}"))
    for text in ("int b;\n", "int c;\n"):
        (tree / "lang/a.c").write_text(text)
        seen.append(expect(tree, "an edit", rf"{base}\.dev1\+g[0-9a-f]{{8}}\.d[0-9a-f]{{8}}"))
    (tree / "README.md").write_text("not a source\n")
    tally.check(expect(tree, "another file", ".*") == seen[-1], "a page changes the version")
    commit(tree)
    seen.append(expect(tree, "the next commit", rf"{base}\.dev2\+g[0-9a-f]{{8}}"))
    (tree / "graph/new.c").write_text("int d;\n")
    seen.append(expect(tree, "a new file", rf"{base}\.dev2\+g[0-9a-f]{{8}}\.d[0-9a-f]{{8}}"))
    tally.check(len(set(seen)) == len(seen), f"a version comes twice: {seen}")
    commit(tree)


def check_release(tree):
    status, output = run(tree, "python/link/release", "--release")
    tally.check(status == 1 and "CHANGELOG.md" in output, f"release without a date: {output}")
    released = re.search(r"(?m)^RELEASED := (\S+)", (tree / "Makefile").read_text())[1]
    (tree / "CHANGELOG.md").write_text(f"# Changelog\n\n## {NUMBER} ({released})\n")
    status, output = run(tree, "python/link/release", "--release")
    tally.check(status == 1 and "differ from the last commit" in output, f"edited: {output}")
    commit(tree)
    status, output = run(tree, "python/link/release", "--release")
    tally.check(status == 0 and f"git tag -a v{NUMBER}" in output, f"ready: {output}")
    run(tree, "git", "tag", f"v{NUMBER}")
    expect(tree, "a tag", re.escape(NUMBER))
    (tree / "lang/a.c").write_text("int e;\n")
    expect(tree, "an edit of a release", rf"{re.escape(NUMBER)}\.dev4\+g.*\.d.*")
    commit(tree)
    status, output = run(tree, "python/link/release", "--release")
    tally.check(status == 1 and "tag of another commit" in output, f"released before: {output}")


def check_archives(tree, folder):
    def archive(name, of):
        (folder / name).mkdir()
        run(tree, "sh", "-c", f"git archive {of} | tar -x -C {folder / name}")
        return folder / name

    expect(archive("tagged", f"v{NUMBER}"), "an archive of a tag", re.escape(NUMBER))
    later = archive("later", "HEAD")
    hashed = run(tree, "git", "rev-parse", "--short=8", "HEAD")[1]
    expect(later, "an archive of a commit", rf"{re.escape(NUMBER)}\.dev0\+g{hashed[:7]}.*")
    (later / "generated").mkdir()
    (later / "generated/version").write_text(run(tree, "python/link/version", "--content")[1])
    here = run(tree, "python/link/version")[1]
    expect(later, "the archive of the sources", re.escape(here))
    (later / "lang/a.c").write_text("int f;\n")
    expect(later, "an edit of it", re.escape(here) + r"\.d[0-9a-f]{8}")


def main():
    if not shutil.which("git"):
        print("1 skipped: no git")
        return tally.report()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_tree(folder / "tree")
        check_commits(folder / "tree")
        check_release(folder / "tree")
        check_archives(folder / "tree", folder)
    return tally.report()


sys.exit(main())
