# - is a kernel file or a model on standard input, and a pipe is as good as a file.
k=../../../examples/kernels/vector_add.py
args="x_ptr=ones:f32[9] y_ptr=ones:f32[9] out_ptr=empty:f32[9] n=9 --grid cdiv(n,BLOCK)"
nereid compile - --sig n=i32,x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32 -D BLOCK=64 --emit tile < $k | head -n 2
nereid compile -:vector_add --sig n=i32,x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32 -D BLOCK=64 --emit tile < $k |
  nereid compile - --emit tile | head -n 1
cat $k | nereid run -:vector_add $args -D BLOCK=16 --device interp
cat $k | nereid run - $args -D BLOCK=16 --device cpu
cat $k | nereid list -
cat $k | nereid list -:vector_add --configs ${args% --grid*} -D BLOCK=16 2>&1
cat $k | NEREID_CACHE_DIR=$TMP nereid tune - $args --space BLOCK=16,32 --budget 0 --device cpu | sed 's/ on .*//; 2,$d'
cat $k | nereid estimate - $args -D BLOCK=16 --target sm_90a | head -n 1
mkfifo $TMP/pipe && cat $k > $TMP/pipe & sleep 0.1; nereid run $TMP/pipe:vector_add $args -D BLOCK=16 --device interp
echo '@triton.jit
def f(x, n):
    tl.store(x + n, 1)' | sed '1i import triton, triton.language as tl' > $TMP/f.py
nereid run - x=zeros:i32[4] n=4 --grid 1 --device interp < $TMP/f.py
nereid run - x=zeros:i32[4] n=-1 --grid 1 --device nest < $TMP/f.py
sed 's/, n):/, n:/' $TMP/f.py | nereid compile - --sig 'x=*fp32,n=i32'
nereid list - < /dev/null
mlp=../../models/mlp
nereid graph - $mlp/input_0.npy --device interp --compare $mlp --tol 1e-4 < $mlp/model.pt2 | cut -d: -f1
cat $mlp/model.pt2 | nereid graph - --emit graph | head -n 1
cat ../../../examples/graphs/softmax.py | nereid graph - --emit fused
cat $mlp/model.pt2 | nereid build - -o $TMP/mlp --target cpu && ls $TMP/mlp/model.h | xargs -n 1 basename
head -c 70000000 /dev/zero | nereid graph -
nereid graph - < /dev/null
