ARGS="x=empty:f32[1000448] y=empty:f32[1000448] out=empty:f32[1000448] n=1000448"
echo "== all of autotune"
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --target sm_90a
echo "== one of them"
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --target sm_90a -D BLOCK=4096 | head -3
echo "== all given"
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --target sm_90a -D BLOCK=512 -D EVEN=False --num-warps 4 --num-stages 2 | head -2
echo "== derived, on a CPU of this width"
nereid estimate ../../../examples/kernels/softmax.py x_ptr=empty:f32[64,781] out_ptr=empty:f32[64,781] n_cols=781 --grid 64 --target cpu:8 | head -1
echo "== --device"
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --device cpu | sed -nE 's/^(device +cpu|add: 3.*time|take it by|configuration  ).*/\1/p'
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --device cpu --target sm_80
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --device cuda --target cpu
echo "== none can be compiled, or has a grid"
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOCK)" --target sm_90a -D BLOCK=100
nereid estimate estimate_configs.py $ARGS --grid "cdiv(n, BLOK)" --target sm_90a --diagnostics ids
nereid estimate estimate_failing.py x=empty:f32[64] n=64 --grid 1 --target sm_90a --diagnostics ids
