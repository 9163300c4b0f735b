# nereid: --emit ast
import triton.language as
from import x
from a import (b
from . import
import 3
if x:
    from a import b c
def host():
    import 3
from import y
