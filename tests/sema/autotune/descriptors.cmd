nereid list descriptors.py:copy --configs 'd=tensordesc<f32[1,1]>:ones:f32[6,16]' 'e=tensordesc<f32[1,1]>:zeros:f32[6,16]' count=zeros:i32[1] rows=6
nereid run descriptors.py:copy 'd=tensordesc<f32[1,1]>:ones:f32[6,16]' 'e=tensordesc<f32[1,1]>:zeros:f32[6,16]' count=ones:i32[1] rows=6 --grid 'cdiv(d.shape.0, M), cdiv(d.shape.1, N)' --device interp
nereid run descriptors.py:copy 'd=tensordesc<f32[1,1]>:ones:f32[6,16]' 'e=tensordesc<f32[1,1]>:zeros:f32[6,16]' count=ones:i32[1] rows=6 -D M=4 -D N=16 --grid 'cdiv(rows, M), cdiv(d.shape.1, N)' --device interp
nereid run descriptors.py:odd 'd=tensordesc<f32[4]>:ones:f32[8]' --grid 1 --device interp
nereid list descriptors.py:odd --configs 'd=tensordesc<f32[4]>:ones:f32[8]'
nereid bench descriptors.py:copy 'd=tensordesc<f32[1,1]>:ones:f32[6,16]' 'e=tensordesc<f32[1,1]>:zeros:f32[6,16]' count=ones:i32[1] --x rows=6 -D M=4 -D N=16 --grid 'cdiv(rows, M), cdiv(d.shape.1, N)' --device cpu >"$TMP/bench" && echo benched
