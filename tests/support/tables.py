"""Reads the tables of the sources."""
import pathlib, re, sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/generate"))
from header_rows import ROOT, rows, unquoted  # rows is for drivers


def operand_dtypes():
    """(function, letters of its operands) of each function that lang/std/operand_dtypes.h lists."""
    text = (ROOT / "lang/std/operand_dtypes.h").read_text()
    for letters, names in re.findall(r'(?m)^X\("(\w+)", ((?:"[^"]*"[ \\\n]*)+)\)', text):
        for name in unquoted(names).split():
            yield name, letters
