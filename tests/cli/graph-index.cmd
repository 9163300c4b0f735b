# Indices in the data of an input that no tensor has: no other memory is read or written.
python=$(command -v /usr/bin/python3 || command -v python3)
$python -c "
import numpy
numpy.save('$TMP/x.npy', numpy.arange(1, 7, dtype='f4').reshape(3, 2))
numpy.save('$TMP/i.npy', numpy.array([-3, 2, 3 << 40, -(3 << 40)]))"
for d in cpu nest interp; do nereid graph graph_index.py $TMP/x.npy $TMP/i.npy --device $d; done
nereid graph graph_index.py $TMP/x.npy $TMP/i.npy --device interp --mode eager
