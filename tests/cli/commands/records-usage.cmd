export NEREID_CACHE_DIR="$TMP"
try() { nereid records "$@"; echo $?; }
try exprot x
try export
try import a b
try merge -o x
try export x -o y
try -o x
try merge --out x
try import missing.records
try merge ../../runtime/records/one.records missing.records
try import .
try import /dev/zero
try export /dev/full
try export no-such/folder
export NEREID_CACHE_DIR=
try
try export x
try import ../../runtime/records/one.records
