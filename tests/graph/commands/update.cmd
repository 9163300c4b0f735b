# What an update writes is as large as what it is written to.
$PYTHON -c 'import numpy, sys
for n in 4, 3: numpy.save(f"{sys.argv[1]}/{n}.npy", numpy.arange(n, dtype="f4"))' $TMP
nereid graph ../aot/update.plan $TMP/4.npy --device interp
nereid graph ../aot/update.plan $TMP/3.npy --device interp
