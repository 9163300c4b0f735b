nereid list --configs prune.py:kept x=zeros:f16[256] n=128 -D WIDE=True
nereid list --configs prune.py:kept x=zeros:f16[256] n=64 -D WIDE=False
for kernel in none_left not_pruned hooked; do
  nereid list --configs prune.py:$kernel x=zeros:f16[256] n=64
done
