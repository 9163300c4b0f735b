# Chrome's trace format.
cat > $TMP/count.py <<'END'
def forward(self, n: "f32[]", x: "f32[4, 8]"):
    sum_2 = torch.ops.aten.sum.default(x)
    copy_ = torch.ops.aten.copy_.default(n, sum_2)
    sum_1 = torch.ops.aten.sum.dim_IntList(x, [1])
    return (sum_1, sum_2)
END
nereid graph $TMP/count.py --random-inputs --device interp --trace $TMP/t.json
$PYTHON - $TMP/t.json <<'END'
import json, sys
trace = json.load(open(sys.argv[1]))["traceEvents"]
spans = [e for e in trace if e["ph"] == "X"]
stages = [e for e in spans if (e["pid"], e["tid"]) == (1, 0)]
kernels = [e for e in spans if e["pid"] == 1 and e["tid"] > 0]
steps = [e for e in spans if e["pid"] == 2]
names = [e["name"] for e in stages]
print(names[:2], names[-4:])
print({e["name"] for e in steps} - {"updates"} <= {e["name"] for e in kernels}, len(steps) % 3)
print(sorted(steps[0]["args"]), steps[0]["args"]["bytes read"] > 0, [e["name"] for e in steps][-1])
print(all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans),
      all(a["ts"] + a["dur"] <= b["ts"] + 0.01 for a, b in zip(stages, stages[1:])),
      all(a["ts"] + a["dur"] <= b["ts"] + 0.01 for a, b in zip(steps, steps[1:])))
END
nereid graph ../../models/chain/model.pt2 --random-inputs --device interp --trace /dev/null/x
nereid graph ../../models/chain/model.pt2 --trace x --emit plan
