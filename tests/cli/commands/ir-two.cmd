cat > "$TMP/two.tile" <<END
kernel @first(%p: *f32 {arg 0}) {
  %0 = const {value 1.0} : f32
  store %p, %0
  return
}
kernel @second(%q: *f32 {arg 0}) {
  %0 = const {value 2.0} : f32
  store %q, %0
  return
}
END
cd "$TMP"
nereid list two.tile
nereid run two.tile:second --device interp q=empty:f32[1] --grid 1
nereid run two.tile:first --device nest p=empty:f32[1] --grid 1
nereid run two.tile:second@6 --device interp q=empty:f32[1] --grid 1 && echo by line
nereid compile two.tile:second --run-passes induction_variables | head -1
nereid compile two.tile:third
nereid compile two.tile --run-passes induction_variables
nereid compile two.tile; echo $?
nereid run two.tile --device interp p=empty:f32[1] --grid 1
