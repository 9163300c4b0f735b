# Records travel as files: the same bytes come out of every machine that has the same ones.
F=../../runtime/records
export NEREID_CACHE_DIR="$TMP/a"
nereid records | sed "s|$TMP|TMP|"
nereid records export - # nothing yet
nereid records import $F/one.records
nereid records import $F/one.records
nereid records import $F/two.records
nereid records | sed "s|$TMP|TMP|"
nereid records export "$TMP/a.records"
nereid records merge $F/two.records $F/one.records -o "$TMP/merged.records"
nereid records merge $F/one.records $F/two.records $F/one.records | cmp - "$TMP/merged.records"
cmp "$TMP/a.records" "$TMP/merged.records"
NEREID_CACHE_DIR="$TMP/b" nereid records import "$TMP/a.records"
NEREID_CACHE_DIR="$TMP/b" nereid records export - | cmp - "$TMP/a.records"
cat "$TMP/a.records"
