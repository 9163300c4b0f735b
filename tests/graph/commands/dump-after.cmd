# The graph after a pass, on standard error; passes that were not run are refused.
m=../../models/mlp/readable.txt
nereid graph $m --emit fused --dump-after decompose 2> $TMP/decomposed.py > $TMP/fused
sed -n '1s/, .*//p' $TMP/decomposed.py
tail -n +2 $TMP/decomposed.py > $TMP/body.py && nereid graph $TMP/decomposed.py --emit graph | cmp - $TMP/body.py
nereid graph $m --emit plan --dump-after all 2>&1 > $TMP/plan | grep '^# after' | sed 's/, .* ms//'
nereid graph $m --emit graph --run-passes functionalize,simplify --dump-after simplify 2>&1 > $TMP/graph | sed 's/, .* ms//' | head -1
nereid graph $m --emit fused --dump-after decomp
nereid graph $m --emit plan --device cuda --dump-after pack
nereid graph $m --emit graph --dump-after freeze
