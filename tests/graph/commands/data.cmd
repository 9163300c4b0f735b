# Data that operators refuse ends a run with a message, as an index out of range does.  Integers
# that are drawn are 0.  A divisor is checked where it may be 0, for the elements that use it.
# An operator that is expanded is checked before.
for device in cpu nest interp; do
  nereid graph data.py --random-inputs --device $device
done
nereid graph data.py --random-inputs --device cpu --no-checks > $TMP/unchecked && echo unchecked
nereid graph data.py --device cpu --emit plan | grep records
nereid graph data_lengths.py --random-inputs --device cpu
nereid graph data_numbers.py --random-inputs --device cpu
nereid graph data_floats.py --random-inputs --device cpu
