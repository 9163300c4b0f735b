from .shapes import *
from . import shapes
from .ops import scale as scale_by
