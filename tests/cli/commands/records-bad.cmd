# A file with a mistake is not read at all, and says where the mistake is.
export NEREID_CACHE_DIR="$TMP/cache"
try() { sed "$2" ../../runtime/records/$1.records > "$TMP/x.records"; (cd "$TMP" && nereid records import x.records); echo $?; }
try one 's/nereid records/nereid records of mine/'
try one '1d'
try one 's/records 1/records 3/'
try one 's/^problem/problems/'
try one '/^problem kernel "add"/d'
try one 's/ timeout / late /'
try one 's/ timeout / pruned /'
try one 's/ timeout / ok /'
try one 's/median 12.5/median -12.5/'
try one 's/median 12.5/median 1e999/'
try one 's/median 12.5/median nan/'
try one 's/runs 20/runs 99999999999/'
try one 's/runs 20/runs/'
try one 's/2026-11-01T10:00:07Z/2026-13-01T10:00:07Z/'
try one 's/2026-11-01T10:00:07Z/1969-12-31T23:59:59Z/'
try one 's/ir "1001/ir "100/'
try one 's/ir "1001/ir "10-1/'
try one 's/ version "[^"]*"//'
try one 's/another/\\q/'
try one '$s/"$//'
try one '$s/$/ more/'
head -c 3000 /dev/zero > "$TMP/zeros"; nereid records import "$TMP/zeros" 2>&1 | sed "s|$TMP|TMP|"
nereid records export -
