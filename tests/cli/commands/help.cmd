nereid help compile
nereid help run
nereid --help
nereid list --help
# What follows an option that takes a value is that value.
nereid list x.py -D --help 2>&1
for c in $(nereid --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  for asked in "help $c" "$c --help" "$c -h" "$c --nonsense --help x y"; do
    nereid $asked > $TMP/help || echo "$asked: status $?"
    for code in 0 1 2; do grep -q "^  $code  " $TMP/help || echo "$asked: no status $code"; done
    grep -q "^usage: nereid $c" $TMP/help || echo "$asked: no usage"
  done
done
