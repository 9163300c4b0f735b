nereid compile copy.py --sig 'x=*fp32:16,o=*fp32:16,n=i32' -D B=64 --emit thread >"$TMP/copy.thread"
nereid run "$TMP/copy.thread" x=ones:f32[64] o=zeros:f32[64] n=9 --grid 1 --device nest
nereid run "$TMP/copy.thread" x=ones:f32[64] 'o=&x' n=9 --grid 1 --device nest
nereid run "$TMP/copy.thread" x=ones:f32[64] 'o=&x[4:]' n=9 --grid 1 --device nest
