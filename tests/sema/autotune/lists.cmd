nereid list --configs lists.py && nereid list --configs lists.py:by_functions --target cpu:8 -D GROUP=4 &&
nereid list --configs lists.py:by_comprehension -D BM=16 --num-warps 2 2>/dev/null &&
nereid list --configs lists.py:outer && nereid list --configs lists.py:other && nereid list --configs lists.py:inner
