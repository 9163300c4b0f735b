# What compiling leaves, stage by stage: files that read back.
m=../../models/chain/model.pt2
d=$TMP/stages
nereid graph $m ../../models/chain/input_0.npy --device nest --dump-dir $d --out-dir $TMP/out
cd $d
ls | sed -n '1,2p'
ls | sed -n '/fused.txt/,$s/^.._//p'
ls | awk '{ if (substr($1, 1, 2) + 0 != NR - 1) print "not in order:", $1 }'
for f in *.py; do
  case $f in *kernels.py) nereid list $f | grep -c sigmoid;; *) nereid graph $f --emit graph | cmp - $f;; esac
done
nereid graph *_plan.txt --emit plan | cmp - *_plan.txt
grep -c subgraph *.dot | sed 's/^.._//'
nereid compile *_k0_sigmoid.tile --emit nest -o $TMP/k0.nest && head -1 $TMP/k0.nest | cut -d"{" -f1
nereid compile *_k0_sigmoid.thread --emit thread | cmp - *_k0_sigmoid.thread
cd - > $TMP/where
nereid graph $m --emit fused --dump-dir /dev/null/x
nereid graph $m --emit fused --dump-dir x/no/folder
