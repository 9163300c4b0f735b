# Matrices that have no factors, pivots that are no rows, and assertions of numbers that data has,
# are errors of a run, also where nothing uses the result.
for device in cpu nest interp; do
  nereid graph factors.py --random-inputs --device $device
done
nereid graph factors.py --random-inputs --device cpu --no-checks > $TMP/unchecked && echo unchecked
for model in factors_definite factors_pivots asserted_count asserted_item; do
  nereid graph $model.py --random-inputs --device cpu
done
