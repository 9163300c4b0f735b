# Complex inputs and outputs keep their dtype: in plans, from files, drawn; another is refused.
nereid graph complex.py --emit plan | sed -n '/^step/q;p'
nereid graph complex.py --emit plan > $TMP/complex.plan
nereid graph $TMP/complex.plan --emit plan | cmp - $TMP/complex.plan
$PYTHON -c "
import numpy as np
x, y = np.arange(12).reshape(4, 3), np.ones(3, 'f4')
np.save('$TMP/x.npy', (x + 2j).astype('c8'))
np.save('$TMP/wide.npy', x + 2j)
np.save('$TMP/y.npy', 2 * y)"
nereid graph $TMP/complex.plan $TMP/x.npy $TMP/y.npy --device interp
nereid graph complex.py $TMP/wide.npy $TMP/y.npy --device interp
nereid graph complex.py $TMP/y.npy $TMP/y.npy --device interp
nereid graph complex.py --random-inputs --device interp --out-dir $TMP/out
$PYTHON -c "
import numpy as np
print(np.load('$TMP/out/output_0.npy').dtype, np.load('$TMP/out/output_0.npy').shape)"
nereid graph complex.py --dtype fp16 --emit graph
