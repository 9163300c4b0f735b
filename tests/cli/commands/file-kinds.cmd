# What is no kernel file: each is told by its kind, and none is read to the end.
head -c 3000 /dev/zero > "$TMP/zeros.py"
mkfifo "$TMP/empty"; : > "$TMP/empty" &
cd "$TMP"
for f in . /dev/null /dev/zero zeros.py missing.py ''; do
  nereid compile "$f" --sig x=i32; echo "$f: $?"
  nereid list "$f"; echo "$f: $?"
  nereid run "$f" --grid 1; echo "$f: $?"
done
nereid compile empty; echo "a closed pipe: $?"
