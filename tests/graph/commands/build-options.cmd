# What nereid build is not given, or wrong.
m=../../models/chain/model.pt2
for args in "" "$m" "-o $TMP/x" "$m $m -o $TMP/x" "$m -o $TMP/x --target sm_90" \
  "$m -o $TMP/x --target sm_80,cpu" "$m -o $TMP/x --target cpu:8,cpu:amx" \
  "$m -o $TMP/x --target sm_80,sm_90a,sm_80" "$m -o $TMP/x --target ," "$m -o . --target cpu" \
  "$m -o $TMP/x --name Bert --target cpu" "$m -o $TMP/x --name plan --target cpu" \
  "$m -o $TMP/x --mode fast --target cpu" \
  "$m -o $TMP/x --dtype int --target cpu" \
  "$m -o $TMP/x --range s0=1..2 --target cpu" "none -o $TMP/x" "$m -o no/such --target cpu"; do
  nereid build $args
  echo "${args#"$m "}: $?" | sed "s|$TMP|TMP|g"
done
ls $TMP
