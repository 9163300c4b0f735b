# What no run has measured is not guessed; --tune measures it, and later runs know.
export NEREID_CACHE_DIR="$TMP/cache"
try() { nereid run scale.py:scale x=ones:f32[64] out=zeros:f32[64] n=64 --grid 'cdiv(n, BLOCK)' --device cpu "$@"; echo $?; }
try
try --tune
try
