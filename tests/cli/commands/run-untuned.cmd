# What no run has measured is not guessed; --tune measures it, and later runs know.
# slow: it measures
export NEREID_CACHE_DIR="$TMP/cache"
cp -r "$MEASURED" "$NEREID_CACHE_DIR"
try() { nereid run add.py:add x_ptr=ones:f32[64] y_ptr=ones:f32[64] out_ptr=zeros:f32[64] n=64 scale=1.5 --grid 'cdiv(n, BLOCK)' --device cpu "$@"; echo $?; }
try
try --tune
try
# Why nothing can be found.
why() { nereid run tuning.py:$1 x=ones:f32[64] y=zeros:f32[64] --device cpu $2; echo $?; }
why flagged 'n=64 --grid cdiv(n,BLOCK)'
why listed 'n=64 --grid cdiv(n,BLOCK) --tune'
why listed '--grid 1'
why listed 'n=64'
# Values of any space that was tuned are taken, unless one of them is fixed.
other() { nereid "$@" --grid 'cdiv(n, BLOCK)' --device cpu; }
other tune tuning.py:listed x=ones:f32[64] y=zeros:f32[64] n=64 --space BLOCK=24,48 > $TMP/out || cat $TMP/out
other run tuning.py:listed x=rand:f32[64] y=zeros:f32[64] n=64 && echo found
other tune tuning.py:flagged x=ones:f32[64] y=zeros:f32[64] n=64 --space BLOCK=64 --space KIND=copy > $TMP/out
other run tuning.py:flagged x=ones:f32[64] y=zeros:f32[64] n=64
other run tuning.py:flagged x=ones:f32[64] y=zeros:f32[64] n=64 -D KIND=copy
