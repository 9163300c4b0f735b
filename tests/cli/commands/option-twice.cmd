# An option that has one value is given once; flags and those that take one value each may be again.
k=../../../examples/kernels/vector_add.py
args="x_ptr=ones:f32[4] y_ptr=ones:f32[4] out_ptr=empty:f32[4] n=4 -D BLOCK=4"
again() { nereid "$@"; echo "status $?"; }
again run $k $args --grid 1 --grid=2
again run $k $args --grid 1 --device cpu --device interp
again run $k $args --grid 1 --out out_ptr=$TMP/a.npy --out out_ptr=$TMP/b.npy
again run $k $args --grid 1 --device interp --time --num-warps 4 --num-warps 4
again compile $k --sig n=i32 -o $TMP/a -o $TMP/b
again tune $k $args --budget 1 --budget 2
again bench $k $args --x n=1 --x n=2
again estimate $k $args --grid 1 --grid 1
again list $k --num-stages 2 --num-stages 3
again graph ../../models/dyn_mlp/model.pt2 --mode eager --mode default
again graph ../../models/dyn_mlp/model.pt2 --range s31=1..4 --range s31=1..8
again build ../../models/mlp/model.pt2 -o $TMP/a -o $TMP/b
again records merge -o $TMP/a -o $TMP/b
nereid compile $k --sig x_ptr=*fp32 --sig y_ptr=*fp32,out_ptr=*fp32 --sig n=i32 -D BLOCK=64 \
  --import-path . --import-path .. --emit tile | head -n 1
nereid run $k $args --grid 1 --device interp --tune --tune
