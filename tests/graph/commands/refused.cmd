# What a run or a build refuses it refuses before the C compiler is first called: $CC tells of it.
m=$PWD/../../models large=$PWD/large.py x=$PWD/../../models/mlp/input_0.npy
cd $TMP
printf '#!/bin/sh\necho compiling >&2\nexec false\n' >cc && chmod +x cc
printf '\223NUMPY broken' >broken.npy
export CC=$PWD/cc
for arguments in "" "$x $x" "--input z=$x" "$m/hf_bert/input_0.npy" broken.npy nowhere.npy \
  "$x --compare nowhere" "$x --out-dir nowhere/x" "$x --out-dir cc" "$x --trace nowhere/x"; do
  nereid graph $m/mlp/model.pt2 $arguments --time --device cpu
  echo "status $?"
done
nereid graph $large n=1100000000 --random-inputs --device cpu
nereid build $m/mlp/model.pt2 -o nowhere/x --target cpu
nereid build $m/mlp/model.pt2 -o x --target cpu --name 7
nereid graph $m/mlp/model.pt2 --emit plan --device cpu -o mlp.plan
nereid build mlp.plan -o x --target cpu
nereid graph $m/mlp/model.pt2 $x --device cpu 2>&1 >/dev/null | sort -u | grep -x compiling
