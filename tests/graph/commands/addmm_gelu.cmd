# PyTorch's kernels of GPUs for _addmm_activation have GELU by tanh, those of CPUs by erf.
for device in cpu cuda; do
  nereid graph addmm_gelu.py --device $device --emit kernels | grep -o 'erf\|tanh' | sort -u
done
