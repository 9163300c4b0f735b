printf '#!/bin/sh\necho "cc: no space left" >&2\nexit 1\n' > "$TMP/mycc"
chmod +x "$TMP/mycc"
(cd "$TMP"; export NEREID_CACHE_DIR= CC=./mycc; nereid run "$OLDPWD/add.py:unmasked" --device cpu x_ptr=ones:f32[64] out_ptr=ones:f32[64] -D BLOCK=64 --grid 1)
