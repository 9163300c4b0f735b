nereid run scale.py:scale x=ones:f32[5] bias=none n=5 --grid 'cdiv(n, BLOCK)' --device interp
nereid run scale.py:scale x=ones:f32[5] bias='&x' n=5 --grid 1 --device interp
nereid run scale.py:scale x=ones:f32[5] bias=none n=5 --grid 1 --device interp -D BLOCK=16
nereid compile scale.py:scale --sig 'x=*fp32,bias=none,n=i32' --emit tile -D BLOCK=8 | head -2
nereid compile scale.py:scale --sig 'x=*fp32,bias=none,n=i32' --emit tile
nereid list --configs scale.py:depth
nereid run scale.py:depth x=zeros:i32[8] --grid 1 --device interp -D BLOCK=8 --num-stages 4
