# A size that is read when the plan runs; and one that cannot be.
$PYTHON -c "
import numpy as np
for n in 0, 3, 4, 5, -1: np.save(f'$TMP/{n}.npy', np.int64(n))"
for n in 0 3 4 5 -1; do nereid graph read.plan $TMP/$n.npy --device interp; done
