# What was measured best for a size is taken; sizes that no run has measured are left out, or tuned.
# slow: it measures
export NEREID_CACHE_DIR="$TMP/cache"
cp -r "$MEASURED" "$NEREID_CACHE_DIR"
# A machine that is busy leaves times uncertain, which is told.
sure() { sed '/measures it again$/d'; }
shown() { sure | sed 's/\(  *[0-9.e+-]\{1,\}\)\{3\}$/ TIMES/'; }
arrays='x_ptr=randn:f32[n] y_ptr=rand:f32[n] out_ptr=empty:f32[n]'
try() { nereid bench add.py:add "$@" --device cpu 2>&1 | shown; }
nereid tune add.py:add x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=empty:f32[64] n=64 scale=1.0 \
    --space BLOCK=32,64 --grid 'cdiv(n, BLOCK)' --device cpu > $TMP/out || cat $TMP/out
try $arrays scale=2.0 --x n=64,1000 --grid 'cdiv(n, BLOCK)'
try $arrays scale=2.0 --x n=64,1000 --grid 'cdiv(n, BLOCK)' --tune
try $arrays scale=2.0 --x n=64,1000 --grid 'cdiv(n, BLOCK)'
# A size that is no argument stands as a number in the grid.
try 'x_ptr=randn:f32[4*k]' 'y_ptr=rand:f32[4*k]' 'out_ptr=empty:f32[4*k]' 'n={4*k}' scale=2.0 --x k=16,32 \
    --grid 'cdiv(4 * k, BLOCK)' --tune
nereid run add.py:add x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=empty:f32[64] n=64 scale=1.0 \
    --grid 'cdiv(4 * 16, BLOCK)' --device cpu 2> "$TMP/err"
sure < "$TMP/err" >&2
