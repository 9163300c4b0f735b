# What no run has measured is not guessed; --tune measures it, and later runs know.
export NEREID_CACHE_DIR="$TMP/cache"
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
