nereid list --configs prune.py:kept x=zeros:f16[256] n=128 -D WIDE=True
nereid list --configs prune.py:kept x=zeros:f16[256] n=64 -D WIDE=False
for kernel in few none_left not_pruned not_here hooked; do
  nereid list --configs prune.py:$kernel x=zeros:f16[256] n=64
done
