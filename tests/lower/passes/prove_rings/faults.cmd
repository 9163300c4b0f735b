# Faults of rings, each made from a right kernel: what the pass says of it, and where.
matmul() {
  nereid compile ../../../../examples/kernels/matmul.py:matmul --emit thread --num-warps 4 "$@" \
    --sig "$(printf '%s,' a_ptr=*bf16:16 b_ptr=*bf16:16 c_ptr=*bf16:16 M=i32:16 N=i32:16 K=i32:16 \
      stride_am=i32:16 stride_ak=i32:1 stride_bk=i32:16 stride_bn=i32:1 stride_cm=i32:16)stride_cn=i32:1" \
    -D BLOCK_M=64 -D BLOCK_N=32 -D BLOCK_K=32 -D GROUP_M=1
}
matmul --target sm_90a --num-stages 2 > $TMP/boxes
matmul --target sm_90a --num-stages 3 > $TMP/flight
matmul --target sm_80 --num-stages 3 > $TMP/groups
nereid compile ../../../codegen/tensor_cores/dot_group_columns.py --emit thread --num-warps 4 --target sm_90a \
  --sig 'a_ptr=*fp16:16,b_ptr=*fp16:16,c_ptr=*fp32:16' > $TMP/stored

prove() { # title, kernel: what is wrong with it
  echo "== $1" >&2
  nereid compile "$2" --run-passes prove_rings 2>&1 >$TMP/out | grep -v '^  ' | sed "s,$TMP/,," >&2
}
fault() { # title, kernel, sed's script
  sed "$3" $TMP/$2 > $TMP/$2.thread
  cmp -s $TMP/$2 $TMP/$2.thread && [ -n "$3" ] && echo "no change: $1" >&2
  prove "$1" $TMP/$2.thread
}

for kernel in boxes flight groups stored; do fault "$kernel" $kernel ''; done
fault 'no wait for a box' boxes '/mbar.wait/d'
fault 'no wait for a group' groups '/cp.wait {groups 1}/d'
fault 'a wait for one group too few' groups 's/cp.wait {groups 1}/cp.wait {groups 2}/'
fault 'the copy goes to the slot that is read' groups '/%fill = select/d'
fault 'no wait for the products before a slot is filled' flight '/mma.wait {groups 1}/d'
fault 'no barrier before a slot is filled' boxes '/mbar.wait/,/%more/{/^    bar /d}'
fault 'no barrier between stores and loads' boxes '/st \[@tile/,${/^  bar/d}'
fault 'no fence for the mbarriers' boxes '/fence {kind "proxy"}/d'
fault 'no fence for what threads stored' stored '/fence {kind "proxy"}/d'
fault 'the fence after the barrier' stored '/fence {kind "proxy"}/{h;d};/^  bar/{G}'
fault 'no wait for the last product' flight '/mma.wait {groups 0}/d'
fault 'no fence of registers' flight '/fence {kind "mma"}/d'
fault 'an mbarrier that is not made' boxes '/mbar.init \[@full + 8\]/d'
fault 'no arrival' boxes '/mbar.expect/d'
fault 'the parity begins with 1' boxes 's/%phase = mov 0 /%phase = mov 1 /'
fault 'two arrivals' boxes 's/^    mbar.expect.*/&\n&/'
fault 'fewer bytes than the copies have' boxes 's/{tx 6144}/{tx 4096}/'

cat > $TMP/end.thread <<'N'
nest @ends level thread {target "sm_90a", num_warps 1, lanes 32, shared 136} {
  param %a : *f16 {arg 0, div 16}
  param %n : i32 {arg 1}
  map @a : f16 at %a [64 of %n]
  buffer @tile : shared 128 {align 1024, offset 0} holds f16
  buffer @full : shared 8 {align 8, offset 128} holds i64
  var %lane : i32
  var %warp : i32
  var %both : i32
  var %leader : i1
  %lane = lane : i32
  %warp = warp : i32
  %both = or %lane, %warp : i32
  %leader = eq %both, 0 : i32
  mbar.init [@full] {count 1} if %leader
  fence {kind "proxy"}
  bar
  mbar.expect [@full] {tx 128} if %leader
  bulk.copy [@tile], [@full], 0 {map "a"} if %leader
  mbar.wait [@full], 0
}
N
prove 'a box' $TMP/end.thread
sed '/mbar.wait/d' $TMP/end.thread > $TMP/x.thread; prove 'the end without a wait' $TMP/x.thread
sed 's/mbar.wait \[@full\], 0/mbar.wait [@full], %n/' $TMP/end.thread > $TMP/x.thread
prove 'a parity of the caller' $TMP/x.thread
sed 's/^  mbar.wait.*/&\n  bulk.store [@tile], 0 {map "a"} if %leader\n  bulk.commit if %leader\n  bar\n  st [@tile], %n : i32/' \
  $TMP/end.thread > $TMP/x.thread
prove 'bytes from which a box is stored' $TMP/x.thread
sed 's/^  mbar.wait.*/  role {warps 1} { & }/' $TMP/end.thread > $TMP/x.thread
prove 'a role' $TMP/x.thread
python3 - $TMP/end.thread > $TMP/x.thread <<'P' || exit
import sys
text = open(sys.argv[1]).read()
names = [f"p{i}" for i in range(9)]
params = "".join(f"  param %{p} : i32 {{arg {i + 2}}}\n" for i, p in enumerate(names))
decls = "".join(f"  var %c{p} : i1 uniform\n  var %g{p} : i1\n" for p in names)
code = "".join(f"  %c{p} = lt %{p}, 1 : i32\n  %g{p} = and %c{p}, %leader : i1\n"
               f"  fence {{kind \"proxy\"}} if %g{p}\n" for p in names)
text = text.replace("  map", params + "  map").replace("  %lane = lane", decls + "  %lane = lane")
print(text.replace("  fence {kind", code + "  fence {kind", 1))
P
prove 'nine conditions that nothing is known of' $TMP/x.thread
