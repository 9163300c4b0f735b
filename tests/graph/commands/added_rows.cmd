nereid graph added_rows.py --device cpu --no-checks --emit kernels | sed -n '/^# with/d;/^#.*nereid.scatter_rows/,/^ *tl.store/p'
