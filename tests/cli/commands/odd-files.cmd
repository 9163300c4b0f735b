# Files that are not what is asked for, pipes in place of files, compilers that make nothing.
k=$PWD/../../../examples/kernels/vector_add.py m=$PWD/../../models/mlp
rest="y_ptr=ones:f32[4] out_ptr=empty:f32[4] n=4 -D BLOCK=4 --grid 1"
export NEREID_CACHE_DIR=
cd $TMP
$PYTHON -c 'import numpy; numpy.save("x.npy", numpy.ones(4, numpy.float32))'
nereid graph x.npy
nereid build x.npy -o built
nereid run x.npy $rest
give() { rm -f pipe; mkfifo pipe; cat "$1" > pipe & }
give x.npy; nereid run $k x_ptr=@pipe $rest --device interp
give $k; nereid run pipe:vector_add x_ptr=@x.npy $rest --device interp
give $m/model.pt2; nereid graph pipe $m/input_0.npy --compare $m --device interp | cut -c1-22
give $m/input_0.npy; nereid graph $m/model.pt2 pipe --compare $m --device interp | cut -c1-22
CC=/bin/true nereid run $k x_ptr=@x.npy $rest --device cpu
NEREID_PTXAS=/bin/true nereid compile $k --sig x_ptr=*fp32,y_ptr=*fp32,out_ptr=*fp32,n=i32 -D BLOCK=64 --emit cubin
