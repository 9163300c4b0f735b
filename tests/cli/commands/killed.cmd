# A run that is killed before its end leaves the old result.
cat > "$TMP/forever.py" <<END
import triton
import triton.language as tl


@triton.jit
def forever(p):
    tl.store(p, 1.0)
    while tl.load(p) > 0.0:
        tl.store(p, 2.0)
END
cd "$TMP"
echo old > o.npy
nereid run forever.py p=zeros:f32[1] --grid 1 --device cpu --out p=o.npy &
sleep 1
kill -9 $!
wait $! 2>/dev/null
cat o.npy
ls
