# On a GPU, sums of rows of a few blocks have their loop written out, so that all loads wait together.
nereid graph long_rows.py --random-inputs --device interp 2>/dev/null
NEREID_CPU=cpu:8 nereid graph long_rows.py --random-inputs --device cpu 2>/dev/null
nereid graph long_rows.py --emit kernels --device cuda | sed -n '/for start/s/^ *//p'
