# What cannot be measured or drawn is told, before anything is measured where that can be.
cp add.py $TMP; cd $TMP
try() { nereid bench "$@"; echo "status $?"; }
k="add.py:unmasked x_ptr=ones:f32[n] out_ptr=empty:f32[n] --grid cdiv(n,BLOCK) --device interp"
K="$k -D BLOCK=64"
peer() { printf '%s\n' "$1" > peer.json; try --peer peer.json $2; }
try
try --x n=1
try --json x.json --peer x.json
try $K
try $K --x n
try $K --x n=
try $K --x n=1,x
try $K --x n=4,8,4
try $K --x n=1 --x n=2
try $K --x n=1 n=2
try $K --x BLOCK=64
try $K --x m=1
try $K --x n=64 --bytes 8*n --flops n
try $K --x n=64 --bytes 8*m
try $K --x n=64 --bytes n-64
try $K --x n=64 -o none/plot.svg
try $K --x n=64 --json .
try add.py:unmasked x_ptr='ones:f32[n' out_ptr=empty:f32[64] --x n=64 --grid 1
try add.py:unmasked x_ptr='ones:f32[{n]' out_ptr=empty:f32[64] --x n=64 --grid 1
try add.py:unmasked x_ptr='ones:f32[n,k]' out_ptr=empty:f32[64] --x n=64 --grid 1
try add.py:unmasked x_ptr='ones:f32[n]' out_ptr=empty:f32[64] --x n=64
try add.py:unmasked x_ptr='ones:f32[n]' -D BLOCK=64 --x n=64 --grid 1
# One size cannot be compiled, and all of them.
one="add.py:unmasked x_ptr=ones:f32[64] out_ptr=empty:f32[64] --grid 1 --device interp"
try $one --x BLOCK=0,64 | sed 's/\(  *[0-9.]\{1,\}\)\{3\}$/ TIMES/'
try $one --x BLOCK=0
try $K --x n=64 --peer none.json
peer '{"label": "a",}'
peer '[1]'
peer '{"label": 1}'
peer '{"label": "a", "x_name": "n", "unit": "us"}'
peer '{"label": "a", "x_name": "n", "unit": "us", "points": []}'
peer '{"label": "a", "x_name": "n", "unit": "us", "points": [[1, 2, 3, 4]]}'
peer '{"label": "a", "x_name": "n", "unit": "us", "points": [[1, 2, 0, 4]]}'
peer '{"label": "a", "x_name": "n", "unit": "us", "points": [[1, 2, 2]]}'
peer '{"label": "a", "x_name": "n", "unit": "us", "points": [[2, 2, 2, 2], [2, 2, 2, 2]]}'
echo '{"label": "a", "x_name": "n", "unit": "us", "points": [[1, 2, 2, 2]]}' > us.json
peer '{"label": "a", "x_name": "n", "unit": "GB/s", "points": [[1, 2, 2, 2]]}' '--peer us.json'
peer '{"label": "a", "x_name": "m", "unit": "us", "points": [[1, 2, 2, 2]]}' '--peer us.json'
try $K --x n=64 --bytes 8*n --peer us.json
p="--peer us.json"
try $p $p $p $p $p $p $p $p $p
