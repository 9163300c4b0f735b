# The program that measures: one that does nothing, one that cannot be started, and none.
# slow: it measures
# Each has a cache without records.
export NEREID_CACHE_DIR="$TMP/cache"
try() {
  rm -rf "$NEREID_CACHE_DIR" && cp -r "$MEASURED" "$NEREID_CACHE_DIR"
  nereid tune tuning.py:scale x=rand:f32[64] y=zeros:f32[64] n=64 --grid 1 --device cpu \
    --space BLOCK=64 --space MODE="$1" --json - | sed -n 's/.*"best": /best: /p'
}
NEREID_PROGRAM=/bin/false try 0
echo hello >"$TMP/text"
chmod +x "$TMP/text"
NEREID_PROGRAM="$TMP/text" try 0
printf '#!/bin/sh\nkill -9 $$\n' >"$TMP/killed"
chmod +x "$TMP/killed"
NEREID_PROGRAM="$TMP/killed" try 0
NEREID_PROGRAM="$TMP/none" try 0
nereid worker </dev/null
echo $?
