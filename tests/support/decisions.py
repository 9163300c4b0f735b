"""The decisions: docs/decisions/ROOM.md has them, docs/decisions.md is their index.

`make lint` checks that numbers are unique, that no entry has more than 120 words, that decisions
which an entry names as its successors exist, and that the index is right.

    decisions.py --update     writes the index anew (`make docs` does it)

An entry is `## NUMBER. TITLE`, then, unless it stands as it is, a line `*Amended by N.*` or
`*Superseded by N.*` (or several numbers, with `and` between), and its text.  Entries at the end of
docs/decisions.md itself are not sorted into a room yet, nor cut.
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX, FOLDER = ROOT / "docs/decisions.md", ROOT / "docs/decisions"
MOST_WORDS = 120
HEAD = """# Decisions

Why things are as they are. Each room has a page of its decisions, with context, decision and
consequences in at most 120 words each. Numbers are in the order of time, and never given twice;
some were never given. A decision that is overturned stays, and says by which number.

A new decision goes to the end of its room's page in `docs/decisions/`, with the next number;
`make docs` writes this index.

| number | decision | room | status |
| ---: | --- | --- | --- |
"""


class Entry:
    def __init__(self, room, number, title, text):
        self.room, self.number, self.title = room, int(number), title.strip()
        found = re.match(r"\s*\*((?:Amended|Superseded) by [\d, and]+)\.\*\n", text)
        self.status = found[1].lower() if found else "stands"
        self.text = text[found.end():] if found else text

    def words(self):
        return len(re.sub(r"\*[A-Z]\w+[.:]?\*[.:]?", " ", self.text).split())

    def row(self):
        page = f"decisions/{self.room}.md#{anchor(self)}"
        return f"| {self.number} | [{self.title}]({page}) | {self.room} | {self.status} |"


def anchor(entry):
    """As the platforms that show the pages make it of a heading."""
    text = re.sub(r"[^\w\- ]", "", f"{entry.number}. {entry.title}".lower())
    return text.replace(" ", "-")


def entries_of(path, room):
    parts = re.split(r"(?m)^## (\d+)\. (.*)\n", path.read_text())
    return [Entry(room, *parts[i:i + 3]) for i in range(1, len(parts), 3)]


def read():
    """Those of the rooms, and those that are at the end of the index."""
    sorted_ones = [e for path in sorted(FOLDER.glob("*.md")) for e in entries_of(path, path.stem)]
    return sorted_ones, entries_of(INDEX, "")


def index_of(entries):
    rows = sorted(entries, key=lambda e: e.number)
    return HEAD + "".join(f"{e.row()}\n" for e in rows)


def check(say):
    """Calls say(ok, text) for each rule and entry."""
    entries, unsorted = read()
    numbers = [e.number for e in entries + unsorted]
    for e in entries + unsorted:
        name = f"decision {e.number}"
        say(numbers.count(e.number) == 1, f"{name}: the number is given twice")
        say(e in unsorted or e.words() <= MOST_WORDS,
            f"{name}: {e.words()} words, the limit is {MOST_WORDS}")
        for other in map(int, re.findall(r"\d+", e.status)):
            say(other in numbers, f"{name}: there is no decision {other}")
    say(INDEX.read_text().startswith(index_of(entries)),
        "docs/decisions.md: the index is stale: make docs")


def update():
    entries, unsorted = read()
    text = INDEX.read_text()
    tail = re.search(r"(?m)^## \d+\. ", text)
    INDEX.write_text(index_of(entries) + ("\n" + text[tail.start():] if tail else ""))


if __name__ == "__main__" and sys.argv[1:] == ["--update"]:
    update()
