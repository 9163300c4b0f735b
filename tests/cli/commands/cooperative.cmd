# Programs of a cooperative launch run at once, or none does.
nereid run ../../runtime/waiting/kernels.py:ring o=zeros:i32[256] f=zeros:i32[257] -D P=256 \
  --grid 256 --device cpu --launch-cooperative-grid
nereid run ../../runtime/waiting/kernels.py:ring o=zeros:i32[5,205] f=zeros:i32[1026] -D P=1025 \
  --grid 5,205 --device cpu --launch-cooperative-grid
