# A graph in other floating dtypes: as if the model had been cast before its export.
nereid graph dtype.py --emit graph --dtype bf16
nereid graph dtype.py --dtype bf16 --random-inputs --device interp
nereid graph ../../models/hf_llama/model.pt2 --emit graph --dtype bf16 | sed 's/;.*//' > $TMP/cast.txt
sed 's/;.*//' ../../models/bf16_llama/readable.txt | cmp - $TMP/cast.txt
m=../../models/mlp
nereid graph $m/model.pt2 --emit plan --dtype bf16 -o $TMP/mlp.plan
nereid graph $TMP/mlp.plan $m/input_0.npy --weights $m/model.pt2 --device interp --compare $m
nereid graph $TMP/mlp.plan $m/input_0.npy --weights $m/model.pt2 --device interp --dtype bf16
nereid graph ../../models/hf_bert/model.pt2 $m/input_0.npy --device interp --dtype bf16
nereid graph bits.py --random-inputs --device interp --dtype bf16
nereid graph bits.py --device interp --dtype i32
nereid graph bits.py --device interp --dtype bp16
