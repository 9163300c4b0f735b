"""table.txt, which make.py wrote."""
import pathlib, re

TABLE = pathlib.Path(__file__).resolve().parent / "table.txt"
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
NUMBERS = ("True", "3", "-3", "200", "40000", "70000", "3000000000", "1099511627776",
           "10000000000000000000", "1.5", "-0.1", "1e+300")


def read_table():
    """(op, left, right, cell): operands are dtypes or texts of numbers, right is None of an
    operator of one operand; a cell is OPERATION.DTYPE, or - of a form that Triton refuses."""
    for block in TABLE.read_text().strip().split("\n\n")[1:]:
        head, *rows = block.splitlines()
        title, *columns = re.split(r"  +", head)
        op = title.split()[1]
        for row in rows:
            name, *cells = row.split()
            for column, cell in zip(columns, cells):
                yield ((name, column, None, cell) if title == "op x" else
                       (op, column, name, cell) if title[0] == "n" else (op, name, column, cell))
