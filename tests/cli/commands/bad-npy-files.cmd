# Every way in which a .npy can be none.
cd "$TMP"
head() { printf '\223NUMPY\001\000v\000%-117s\n' "$1"; }
zeros() { dd if=/dev/zero bs=1 count="$1" 2>/dev/null; }
try() {
  nereid run add.py:unmasked x_ptr=@"$1" out_ptr=empty:f32[64] -D BLOCK=64 --grid 1 --device interp
  echo "$1: $?"
}
cp "$OLDPWD/add.py" .
{ head "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }"; zeros 256; } > good.npy
{ head "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }"; zeros 255; } > short.npy
{ head "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }"; zeros 257; } > long.npy
{ head "{'descr': '<f4', 'fortran_order': False, 'shape': (99,), }"; zeros 256; } > claims.npy
{ head "{'descr': '<f4', 'fortran_order': False, 'shape': (-64,), }"; zeros 256; } > negative.npy
{ head "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,99999999999), }"; } > huge.npy
{ head "{'descr': '<f4', 'fortran_order': True, 'shape': (8,8), }"; zeros 256; } > fortran.npy
{ head "{'descr': '<c8', 'fortran_order': False, 'shape': (32,), }"; zeros 256; } > complex.npy
{ head "{'descr': '|O', 'fortran_order': False, 'shape': (32,), }"; zeros 256; } > object.npy
{ head "{'descr': '>f4', 'fortran_order': False, 'shape': (64,), }"; zeros 256; } > big-endian.npy
{ head "{'descr': '<f4', 'shape': (64,), }"; zeros 256; } > lacks.npy
{ head "{'descr': "; } > broken.npy
head "{'descr': '<f4'" | dd bs=1 count=40 of=cut.npy 2>/dev/null
printf '\223NUMPY' > start.npy
printf 'PK\003\004' > zip.npz
for f in good short long claims negative huge fortran complex object big-endian lacks broken cut start; do
  try $f.npy
done
try zip.npz
try .
try missing.npy
nereid run add.py:unmasked x_ptr=@good.npy:i64 out_ptr=empty:f32[64] -D BLOCK=64 --grid 1 --device interp; echo $?
