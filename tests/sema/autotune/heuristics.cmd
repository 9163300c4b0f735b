nereid list --configs heuristics.py:both x=zeros:f16[40,4] bias=none n=96
nereid list --configs heuristics.py:both x=zeros:f32[4] bias=\&x n=64 -D NAME=given
nereid list --configs heuristics.py:alone x=zeros:i32[64] n=40
nereid list --configs heuristics.py:alone x=zeros:i32[64] n=40 -D BLOCK=16
for kernel in unknown_attribute unknown_name list_value unknown; do
  nereid list --configs heuristics.py:$kernel x=zeros:i32[1]
done
nereid list --configs heuristics.py:unknown x=zeros:i32[1] -D A=1
