# A million brackets, in each form of text.
# slow: a million brackets
export NEREID_DIAGNOSTICS=text  # lines are cut
cat > $TMP/make.py <<'END'
import sys
n, open_, shut = 1000000, *sys.argv[2]
print({"call": 'def forward(self, x: "f32[2]"):\n    a = torch.ops.aten.relu.default(%s)\n    return (a,)',
       "type": 'def forward(self, x: "f32[%s]"):\n    return (x,)',
       "return": 'def forward(self, x: "f32[2]"):\n    return %s',
       "listing": "graph():\n    %%x : [num_users=1] = placeholder[target=x]\n"
                  "    %%a : [num_users=1] = call_function[target=a.b](args = (%s,), kwargs = {})\n"
                  "    return (a,)"}[sys.argv[1]] % (open_ * n + "x" + shut * n))
END
cd $TMP
for form in "call ()" "call []" "type ()" "return ()" "listing ()" "listing []" "listing {}"; do
  $PYTHON make.py $form > deep.py
  nereid graph deep.py --emit fused 2>&1 | cut -c1-70 | head -1 1>&2
done
