# Each reason once, with counts.
# slow: it measures
export NEREID_CACHE_DIR="$TMP/cache"
cp -r "$MEASURED" "$NEREID_CACHE_DIR"
try() {
  nereid tune tuning.py:scale x=rand:f32[64] y=zeros:f32[64] n=64 --grid 1 --device cpu "$@"
  echo $?
}
try --space BLOCK=16,32,64 --space MODE=2,3 2>&1 | sed 's/Segmentation fault/a signal/'
try --space BLOCK=16,32,64 --space MODE=2,3 2>&1 | sed 's/Segmentation fault/a signal/'
try --space BLOCK=16,32 --space MODE=3
try --space BLOCK=16,32 --space MODE=3 --budget 0
try --space BLOCK=16,32 --space MODE=1 --budget 0.001s
