# The bandwidth of memory is about the same each time it is measured, also while other processes have
# the cores; and it is measured once, with its date.
# slow: it measures
m=../../models/mlp/model.pt2
device() { NEREID_CACHE_DIR="$TMP/$1" nereid graph $m --explain --device cpu | grep '^device'; }
for i in 1 2 3; do while :; do :; done & busy="$busy $!"; done
trap 'kill $busy' EXIT
for i in 1 2 3; do device $i >>$TMP/measured; done
device 3 >$TMP/again
tail -n 1 $TMP/measured | cmp - $TMP/again && echo kept
grep -c '(measured 20[0-9][0-9]-[0-9][0-9]-[0-9][0-9])' $TMP/measured
"${PYTHON:-python3}" - $TMP/measured <<'END'
import re, sys
scale = {"M": 1e6, "G": 1e9, "T": 1e12}
rates = [float(n) * scale[unit] for n, unit in
         re.findall(r"; ([\d.]+) ([MGT])B/s", open(sys.argv[1]).read())]
print(len(rates), "within a factor of 2" if max(rates) < 2 * min(rates) else rates)
END
