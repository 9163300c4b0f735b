"""The tables that make.py wrote."""
import pathlib, re

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
NUMBERS = ("True", "3", "-3", "200", "40000", "70000", "3000000000", "1099511627776",
           "10000000000000000000", "1.5", "-0.1", "1e+300")


def table_path(language):
    return pathlib.Path(__file__).resolve().parent / f"table_{language}.txt"


def read_table(language):
    """(op, left, right, cell): operands are dtypes or texts of numbers, right is None of an
    operator of one operand; a cell is OPERATION.DTYPE, or - of a form that Triton refuses."""
    for block in table_path(language).read_text().strip().split("\n\n")[1:]:
        head, *rows = block.splitlines()
        title, *columns = re.split(r"  +", head)
        op = title.split()[1]
        for row in rows:
            name, *cells = row.split()
            for column, cell in zip(columns, cells):
                yield ((name, column, None, cell) if title == "op x" else
                       (op, column, name, cell) if title[0] == "n" else (op, name, column, cell))
