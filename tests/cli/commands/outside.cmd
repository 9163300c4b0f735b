# A launch that certainly leaves an array is refused on device cpu; what a mask or the grid keeps inside is not.
run() { nereid run ../../conformance/regressions/checked_accesses.py:add x=ones:f32[1000] y=ones:f32[1000] \
  o=empty:f32[1000] -D B=256 --device cpu "$@"; }
run n=1000 --grid 4
run n=1001 --grid 4
run n=2000 --grid 3 >/dev/null
run n=-1 --grid 400
