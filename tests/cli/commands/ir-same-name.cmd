cat > "$TMP/two.tile" <<END
kernel @k(%p: *f32 {arg 0}) {
  return
}
kernel @k(%q: *f32 {arg 0}) {
  %0 = const {value 2.0} : f32
  store %q, %0
  return
}
END
cd "$TMP"
# The last one counts, as in Python.
nereid list two.tile
nereid run two.tile --device interp q=empty:f32[1] --grid 1
nereid run two.tile:k@1 --device interp p=zeros:f32[1] --grid 1
