# A database that is damaged is set aside; one of a newer version, or that can't be used, is left.
# only: sqlite3
export NEREID_CACHE_DIR="$TMP/cache"
F=../../runtime/records/one.records D="$TMP/cache/records.db"
try() { nereid "$@" 2>&1 | sed "s|$TMP|TMP|g; s/damaged-[0-9-]*/damaged-N/"; }
try records import $F
head -c 3000 /dev/zero > "$D"
try records export - # not an empty file: what was there cannot be read
ls "$TMP/cache" | sed 's/damaged-[0-9-]*/damaged-N/'
head -c 3000 /dev/zero > "$D"
try records import $F
sqlite3 "$D" 'PRAGMA user_version = 7'
cp "$D" "$TMP/newer.db"
try records import $F
try records export -
cmp "$D" "$TMP/newer.db"
rm "$D"; mkdir "$D"
try records import $F
try records export -
NEREID_CACHE_DIR=/dev/null/x nereid records import $F
