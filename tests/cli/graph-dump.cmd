# What compiling leaves, stage by stage: files that read back.
m=../models/dyn_mlp/model.pt2
d=$TMP/stages
nereid graph $m ../models/dyn_mlp/input_0.npy --device nest --dump-dir $d --out-dir $TMP/out
cd $d
ls | sed -n '1,2p'
ls | sed -n '/fused.txt/,$s/^.._//p'
ls | awk '{ if (substr($1, 1, 2) + 0 != NR - 1) print "not in order:", $1 }'
for f in *.py; do
  case $f in *kernels.py) nereid list $f | wc -l;; *) nereid graph $f --emit graph | cmp - $f;; esac
done
nereid graph *_plan.txt --emit plan | cmp - *_plan.txt
grep -c subgraph *.dot | sed 's/^.._//'
nereid compile *_k1_mm_gelu.tile --emit nest -o $TMP/k0.nest && head -1 $TMP/k0.nest
nereid compile *_k1_mm_gelu.thread --emit thread | cmp - *_k1_mm_gelu.thread
cd - > $TMP/where
nereid graph $m --emit fused --dump-dir /dev/null/x
nereid graph $m --emit fused --dump-dir x/no/folder
