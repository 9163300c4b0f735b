# Rewrite rules of one's own: what they do, and what is wrong with them.
cat > $TMP/g.py << 'END'
def forward(self, x: "f32[s0, 4]", y: "f32[4]"):
    a = torch.ops.aten.mul.Tensor(x, 3)
    b = torch.ops.aten.add.Tensor(y, a)
    c = torch.ops.aten.relu.default(b)
    return (c,)
END
rewrite() {
  cat > $TMP/rules.py
  (cd $TMP && nereid graph g.py --rewrite rules.py --emit graph --run-passes simplify,rewrite)
  echo "$1: $?"
}
rewrite "sizes, a factor, either order" << 'END'
import torch.ops.aten as aten  # for editors

class scaled:
    """x * n + y is one op."""
    def pattern(x: "float[R, C]", y: "f32[C]", n: float):
        assert n > 2 and C % 2 == 0 and x.dtype in (torch.float32, torch.float64)
        return x * n + y

    def replacement(x, y, n):
        whole = aten.expand(y, [R, C])
        return aten.add.Tensor(whole, x, alpha=n + C / 4 - 1)
END
rewrite "an assert that does not hold" << 'END'
class scaled:
    def pattern(x, n: float):
        assert not (n == 3 or n <= 1) or x.shape[-1] != 4 or x.ndim == 3
        return x * n

    def replacement(x, n):
        return x
END
rewrite "the replacement is an operand" << 'END'
class dropped:
    def pattern(x, y: any):
        return aten.relu(aten.add(y, aten.mul(x, ...)))

    def replacement(x, y):
        return x
END
rewrite "another type" << 'END'
class sums:
    def pattern(x):
        return aten.relu(x)

    def replacement(x):
        return aten.sum(x)
END
rewrite "what cannot be" << 'END'
class products:
    def pattern(x):
        return aten.relu(x)

    def replacement(x):
        return aten.mm(x, aten.unsqueeze(x, 0))
END
rewrite "too many terms" << END
class large:
    def pattern(x):
        return aten.relu(x)

    def replacement(x):
$(for i in $(seq 60); do echo "        x = x + x"; done)
        return x
END
rewrite "again and again" << 'END'
class more:
    def pattern(x):
        return aten.relu(x)

    def replacement(x):
        return aten.relu(x + 1)
END
rewrite "no rules" << 'END'
rules = []
END
rewrite "no replacement" << 'END'
class half:
    def pattern(x):
        return aten.relu(x)
END
rewrite "parameters" << 'END'
class differ:
    def pattern(x, y):
        return x + y

    def replacement(y, x):
        return x
END
rewrite "annotations" << 'END'
class kinds:
    def pattern(x: "f33[2]", y: tensor, z: "f32[2, 3"):
        return x + y

    def replacement(x, y, z):
        return x
END
rewrite "a type" << 'END'
class kinds:
    def pattern(x: "f33[2]"):
        return aten.relu(x)

    def replacement(x):
        return x
END
rewrite "an operator" << 'END'
class operators:
    def pattern(x, y):
        return x @ y

    def replacement(x, y):
        return aten.matmul(x, y)
END
rewrite "a name" << 'END'
class names:
    def pattern(x):
        return aten.relu(z)

    def replacement(x):
        return x
END
rewrite "an op" << 'END'
class ops:
    def pattern(x):
        return aten.rellu(x)

    def replacement(x):
        return x
END
rewrite "a loop" << 'END'
class loops:
    def pattern(x):
        for i in range(3):
            x = x + 1
        return x

    def replacement(x):
        return x
END
rewrite "no call" << 'END'
class roots:
    def pattern(x):
        return x

    def replacement(x):
        return x
END
rewrite "a parameter that nothing says" << 'END'
class unused:
    def pattern(x, y):
        return aten.relu(x)

    def replacement(x, y):
        return y
END
rewrite "too many calls" << END
class large:
    def pattern(x):
$(for i in $(seq 70); do echo "        x = x + $i"; done)
        return x

    def replacement(x):
        return x
END
rewrite "an assert in the replacement" << 'END'
class asserts:
    def pattern(x):
        return aten.relu(x)

    def replacement(x):
        assert x.ndim == 2
        return x
END
rewrite "syntax" << 'END'
class broken:
    def pattern(x)
        return x
END
cd $TMP
nereid graph g.py --rewrite none.py --emit graph
echo "no file: $?"
nereid graph g.py --emit plan --device cpu -o g.plan
nereid graph g.plan --rewrite rules.py --emit plan
echo "a plan: $?"
