# Nesting far past what anybody writes, of every kind.
cd "$TMP"
many() { printf "%0$2d" 0 | sed "s/0/$1/g"; }
kernel() { printf 'import triton\n@triton.jit\ndef k(p):\n%s\n' "$1" > k.py; }
try() { nereid compile k.py --sig 'p=*fp32' 2>&1 | head -1 | cut -c1-100; }
kernel "    x = $(many '(' 50000)1$(many ')' 50000)"; try
kernel "    x = $(many '[' 50000)"; try
kernel "    x = $(many '-' 50000)1"; try
kernel "    x = $(many 'not ' 50000)1"; try
kernel "    x = 1$(many ' + 1' 50000)"; try
kernel "    x = 1$(many ' if p else 1' 20000)"; try
kernel "    x = p$(many '.T' 20000)"; try
kernel "    x = $(many 'p(' 20000)$(many ')' 20000)"; try
kernel "    x = $(many '1 < ' 20000)1"; try
{ printf 'import triton\n@triton.jit\ndef k(p):\n'; for i in $(seq 300); do printf "%${i}s if p:\n" ' '; done; } > k.py; try
{ printf 'kernel @k(%%c: i1 {arg 0}) {'; many 'if %c { ' 5000; } > k.tile; nereid compile k.tile 2>&1 | head -1 | cut -c1-100
