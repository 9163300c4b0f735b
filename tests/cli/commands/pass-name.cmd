echo 'kernel @k() { return }' > "$TMP/k.tile"
nereid compile "$TMP/k.tile" --run-passes induction_variables,nothing
