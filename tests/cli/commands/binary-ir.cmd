# An IR file that breaks off, holds bytes that are none of its text, or is only begun.
cd "$TMP"
printf 'kernel @k(' > a.tile; nereid compile a.tile; echo $?
printf 'nest @k level thread {target "sm_90a", num_warps 1' > b.thread; nereid compile b.thread; echo $?
printf 'kernel @k() { \001\377 }' > c.tile; nereid compile c.tile 2>err; echo $?; head -1 err
printf 'kernel @k() { return }\0' > d.tile; nereid compile d.tile 2>err; echo $?; head -1 err
