export NEREID_CACHE_DIR="$TMP/c"
try() { nereid cache "$@"; echo $?; }
try clean
try list all
try clear all
try --kind tool
try limit --older-than 1d
try limit 1G 2G
try limit 5
try clear --kind
try clear --kind cubins
try list --older-than 7
try list --older-than -1d
try clear --all
NEREID_CACHE_LIMIT=10 try limit
export NEREID_CACHE_DIR=
try
try list
try limit 1G
NEREID_CACHE_DIR=/dev/null/x try list
NEREID_CACHE_DIR=/dev/null/x try limit 1G
