"""Reads the tables of the sources: rows X(...) of a macro in a header."""
import pathlib, re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(header, table):
    """(section, [columns]) of each row X(...) of `#define table(X)`, and G(...), Y(...)."""
    text = (ROOT / header).read_text()
    body = re.search(rf"#define {table}\(X(?:, \w)*\) *\\\n((?:.*\\\n)*.*\n)", text)[1]
    section = ""
    for line in body.splitlines():
        heading = re.match(r"\s*/\* -- (.*?) -- \*/", line)
        row = re.match(r"\s*[XGY]\((.*)\)\s*\\?$", line)
        if heading:
            section = heading[1]
        elif row:
            cells = re.findall(r'\s*((?:"(?:\\.|[^"\\])*"\s*)+\w*|[^",]+)(?:,|$)', row[1])
            yield section, [unquoted(c) for c in cells]


def unquoted(text):
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text)) if '"' in text else text.strip()
