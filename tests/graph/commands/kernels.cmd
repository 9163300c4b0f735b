# How many kernels a run of a model takes: the last layers are fused as the first ones are.
for m in hf_bert hf_gpt2 hf_llama hf_t5enc kv_decode; do
  echo $m $(nereid graph ../../models/$m/model.pt2 --emit fused --device cuda | grep '^[0-9]' | grep -vc once)
done
# Memory that a kernel updates is a parameter inout, whether an operand is written over or scattered to.
nereid graph ../../models/kv_decode/model.pt2 --emit kernels --device cpu | grep 'def.*inout'
