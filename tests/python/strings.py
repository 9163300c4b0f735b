#!/usr/bin/env python3
"""ONNX models of strings from Python: labels, categories, maps of ZipMap, tokens and n-grams,
against what Python makes of them; what is refused, and what the program says of such a model."""
import os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NEREID_BUILD", ROOT / "build")).resolve()
NEREID = os.path.abspath(os.environ.get("NEREID", ROOT / "build/nereid"))
sys.dont_write_bytecode = True
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests/support")]
import nereid
import numpy as np
from onnx_text import f32, field, graph, i64, ints, model, node, tensor, type_of
from tally import check, report

TEXT = 8
ML = ["ai.onnx.ml:3"]
GIVES_C = graph([node("Identity", "c", "r")], {}, "r")
GIVES_W = graph([node("Identity", "w", "r")], {}, "r")


def strings(name, *values):
    return tensor(name, TEXT, [len(values)], more=b"".join(field(6, v) for v in values))


def loaded(nodes, inputs, outputs, initializers=(), imports=(), opset=17, **options):
    made = model(nodes, inputs, outputs, initializers=list(initializers), opset=opset,
                 imports=list(imports))
    return nereid.load(made, device=options.pop("device", "interp"), **options)


def same(what, got, want):
    got = [g.tolist() if hasattr(g, "tolist") else g for g in got]
    check(got == want, f"{what}: {got}, not {want}")


def check_far_away():
    """A function of strings that another has made, of which others are chosen many times."""
    chosen = [node("Where", f"flags s{i} none", f"s{i + 1}") for i in range(110)]
    f = loaded([node("StringNormalizer", "x", "s0", case_change_action="LOWER"), *chosen,
                node("StringNormalizer", "s110", "y", case_change_action="UPPER")],
               {"x": type_of(TEXT, [2]), "flags": type_of(9, [2])}, "y", [strings("none", "n")])
    same("strings from far away", [f(np.array(["Ab", "Cd"], object), np.array([True, False]))],
         [["AB", "N"]])


def refused(what, words, make):
    try:
        make()
        check(False, f"{what} is not refused")
    except (nereid.errors.NereidError, TypeError, ValueError) as error:
        check(all(w in str(error) for w in words), f"{what}: {error}")


def array(*values):
    return np.array(values, dtype=object)


# ---- moving and comparing ----


def check_moved():
    x = {"x": type_of(TEXT, ["n", 2]), "i": i64("k")}
    m = loaded([node("Gather", "x i", "a", axis=0), node("Transpose", "a", "b", perm=[1, 0]),
                node("Equal", "x word", "c"), node("Where", "c other x", "d"),
                node("Shape", "x", "e")], x, "b c d e",
               [strings("word", "red"), strings("other", "blau")])
    value = array(["red", "grün"], ["a new one", "red"], ["", "red"])
    got = m.run({"x": value, "i": np.array([2, 0])})
    want = np.where(value == "red", "blau", value)
    same("strings that are moved", got, [value[[2, 0]].T.tolist(), (value == "red").tolist(),
                                         want.tolist(), [3, 2]])
    check(got[0].dtype == object and isinstance(got[0][0, 0], str), "strings are str")
    check(m.inputs[0].type == "str[n, 2]" and m.outputs[0].dtype == "str", f"{m.inputs}")
    same("bytes and fixed widths", m.run(np.array([["red", "a"]]), np.array([0])),
         [[["red"], ["a"]], [[True, False]], [["blau", "a"]], [1, 2]])
    refused("numbers for strings", ["'x' takes strings", "float64"],
            lambda: m.run({"x": np.ones((1, 2)), "i": np.array([0])}))
    refused("None among strings", ["'x' takes strings", "NoneType"],
            lambda: m.run({"x": array([None, "a"]), "i": np.array([0])}))
    refused("bytes of the executable", ["kept as its file"], m.bytes)


def check_folded():
    m = loaded([node("Constant", "", "c", value_strings=["a", "b", "a"]),
                node("Unsqueeze", "c axes", "u"), node("Constant", "", "s", value_string="b"),
                node("Equal", "c s", "e"), node("If", "flag", "y", then_branch=GIVES_C,
                                                else_branch=GIVES_W)],
               {"flag": type_of(9, [])}, "u s e y", [ints("axes", 0), strings("w", "x", "y", "z")])
    for flag, want in ((True, ["a", "b", "a"]), (False, ["x", "y", "z"])):
        same("strings that are known", m.run(np.array(flag)),
             [[["a", "b", "a"]], "b", [False, True, False], want])


# ---- ai.onnx.ml ----


def check_labels():
    coefficients = [1.0, 0.0, 0.0, 1.0, -1.0, -1.0]
    m = loaded([node("LinearClassifier", "x", "label p", domain="ai.onnx.ml",
                     classlabels_strings=["cat", "dog", "elk"], coefficients=coefficients,
                     intercepts=[0.0, 0.0, 0.5]),
                node("ZipMap", "p", "maps", domain="ai.onnx.ml",
                     classlabels_strings=["cat", "dog", "elk"]),
                node("ZipMap", "p", "numbers", domain="ai.onnx.ml",
                     classlabels_int64s=[7, 1, 9]),
                node("LabelEncoder", "label", "code", domain="ai.onnx.ml",
                     keys_strings=["elk", "cat"], values_int64s=[5, 6], default_int64=-3),
                node("LabelEncoder", "code", "back", domain="ai.onnx.ml", keys_int64s=[5],
                     values_strings=["an elk"], default_string="none"),
                node("CategoryMapper", "label", "whole", domain="ai.onnx.ml", default_int64=-7,
                     cats_strings=["cat", "elk", "cat"], cats_int64s=[3, 2, 1]),
                node("CategoryMapper", "whole", "text", domain="ai.onnx.ml", default_string="no",
                     cats_strings=["cat", "elk"], cats_int64s=[1, 2])],
               {"x": f32("n", 2)}, "label maps numbers code back whole text", imports=ML)
    x = np.array([[2, 1], [1, 3], [-1, -1]], "f4")
    p = (x @ np.array(coefficients, "f4").reshape(3, 2).T + np.array([0, 0, 0.5], "f4")).tolist()
    same("labels", m.run(x), [["cat", "dog", "elk"],
                              [dict(zip(["cat", "dog", "elk"], row)) for row in p],
                              [dict(zip([7, 1, 9], row)) for row in p], [6, -3, 5],
                              ["none", "none", "an elk"], [1, -7, 2], ["cat", "no", "elk"]])


def check_kept_keys():
    """Keys outlive the file, whose memory is given back, and here overwritten."""
    keys = [7 * i - 3 for i in range(300)]
    data = model([node("ZipMap", "x", "maps", domain="ai.onnx.ml", classlabels_int64s=keys)],
                 {"x": f32("n", len(keys))}, "maps", imports=ML)
    code = ("import nereid, numpy, sys; m = nereid.load(sys.stdin.buffer.read());"
            "print(list(m.run(numpy.zeros((1, 300), 'f4'))[0][0]))")
    done = subprocess.run([sys.executable, "-c", code], input=bytes(data), capture_output=True,
                          env={**os.environ, "MALLOC_PERTURB_": "85",
                               "PYTHONPATH": str(BUILD / "python")})
    said = done.stdout.decode().strip()
    check(said == str(keys), f"keys {said[:99]} {done.stderr[-200:]}")


def check_categories():
    def one_hot(zeros):
        return loaded([node("OneHotEncoder", "x", "y", domain="ai.onnx.ml", zeros=zeros,
                            cats_strings=["b", "a"])], {"x": type_of(TEXT, ["n"])}, "y",
                      imports=ML, device="cpu")
    same("categories", one_hot(1).run(array("a", "c", "b")), [[[0, 1], [0, 0], [1, 0]]])
    same("categories that must be there", one_hot(0).run(array("a", "b")), [[[0, 1], [1, 0]]])
    refused("no category", ["an element is none of OneHotEncoder's categories"],
            lambda: one_hot(0).run(array("a", "c")))


# ---- functions of strings ----


def normalized(opset=17, **attributes):
    return node("StringNormalizer", "x", "n", **attributes)


def tokens(source, result, **attributes):
    return node("Tokenizer", source, result, domain="com.microsoft",
                **{"mark": 0, "pad_value": "#", "mincharnum": 1, **attributes})


def grams(source, result, pool, starts, indexes, **attributes):
    return node("TfIdfVectorizer", source, result, pool_strings=pool, ngram_counts=starts,
                ngram_indexes=indexes, **{"mode": "TF", "min_gram_length": 1, "max_gram_length": 2,
                                          "max_skip_count": 0, **attributes})


def check_case():
    for action, change in (("LOWER", str.lower), ("UPPER", str.upper), ("NONE", str)):
        m = loaded([normalized(case_change_action=action)], {"x": type_of(TEXT, ["n"])}, "n")
        words = ["Grün", "ABC def", "", "x"]
        same(action, m.run(array(*words)), [[change(w) for w in words]])
        same(action + " of nothing", m.run(np.empty(0, object)), [[]])


def check_tokens():
    inputs, ms = {"x": type_of(TEXT, ["n"])}, ["com.microsoft:1"]
    words = loaded([tokens("x", "y", tokenexp="[a-z]+", mincharnum=2)], inputs, "y", imports=ms)
    same("words", words.run(array("ab c de", "fgh")), [[["ab", "de"], ["fgh", "#"]]])
    same("no words", words.run(array("a", "?")), [[[], []]])
    split = loaded([tokens("x", "y", separators=[" ", "[.]"], mark=1)], inputs, "y", imports=ms)
    same("between separators", split.run(array("a b.c", "d")),
         [[["\2", "a", "b", "c", "\3"], ["\2", "d", "\3", "#", "#"]]])
    letters = loaded([tokens("x", "y", separators=[""])], inputs, "y", imports=ms)
    same("characters", letters.run(array("añ", "b")), [[["a", "ñ"], ["b", "#"]]])
    # RE2's spaces, which have no \v, unlike Python's.
    for pattern, want in (("\\s+", [["a", "b\vc"], ["d"]]), ("[\\s.]", [["a", "b\vc"], ["d"]])):
        split = loaded([tokens("x", "y", separators=[pattern])], inputs, "y", imports=ms)
        same(pattern, split.run(array("a\t \nb\vc", "\r\fd")), [[want[0], [*want[1], "#"]]])
    words = loaded([tokens("x", "y", tokenexp="\\S+")], inputs, "y", imports=ms)
    same("no spaces", words.run(array("a\vb c")), [[["a\vb", "c"]]])
    match = loaded([node("RegexFullMatch", "x", "y", pattern="(a|b)+c?")], inputs, "y", opset=20)
    same("matches", match.run(array("abc", "c", "ba", "abd")), [[True, False, True, False]])


def check_stop_words():
    words = array("Monday", "ab", "MONDAY", "Cd")
    for more, want in (({}, ["ab", "Cd"]), (dict(case_change_action="UPPER"), ["AB", "CD"]),
                       (dict(is_case_sensitive=1), ["ab", "MONDAY", "Cd"]),
                       (dict(is_case_sensitive=1, case_change_action="LOWER"),
                        ["ab", "monday", "cd"])):
        for row in (False, True):
            m = loaded([normalized(stopwords=["Monday", "x"], **more)],
                       {"x": type_of(TEXT, [1, "n"] if row else ["n"])}, "n")
            same(f"stop words {more}", m.run(words[None] if row else words),
                 [[want] if row else want])
            none = array("Monday", "Monday")
            same("nothing but stop words", m.run(none[None] if row else none),
                 [[[""]] if row else [""]])
            same("no words", m.run(none[None, :0] if row else none[:0]), [[[""]] if row else [""]])
    # The words that are left, in another case, are joined and split again.
    m = loaded([normalized(stopwords=["a"], case_change_action="UPPER"),
                node("StringConcat", "n tail", "joined"),
                node("StringNormalizer", "joined", "y", case_change_action="LOWER"),
                node("RegexFullMatch", "joined", "z", pattern="B-.*|-T")],
               {"x": type_of(TEXT, ["n"])}, "y z", [strings("tail", "-T")], opset=20)
    same("words that are left", m.run(array("b", "A", "c")), [["b-t", "c-t"], [True, False]])
    same("the empty string in their place", m.run(array("A")), [["-t"], [True]])


def check_joined():
    m = loaded([node("StringConcat", "x y", "a"), node("StringConcat", "a x", "b"),
                node("Equal", "b word", "c")],
               {"x": type_of(TEXT, ["n", 1]), "y": type_of(TEXT, ["k"])}, "a b c",
               [strings("word", "xyx")], opset=20)
    x, y = array(["x"], ["ü"], ["x"]), array("y", "", "yy")
    joined = np.array([[a[0] + b for b in y] for a in x], object)
    same("strings that are joined", m.run(x, y), [
        joined.tolist(), (joined + x).tolist(), (joined + x == "xyx").tolist()])
    same("none", m.run(x[:0], y), [[], [], []])
    many = array(*[str(i) for i in range(5000)])
    refused("too many pairs", ["5000 different strings", "pairs"],
            lambda: m.run(many[:, None], array(*[f"_{i}" for i in range(5000)])))


def check_split():
    x = array("a.b..c", "", ".d")
    for how, cut in ((dict(delimiter="."), lambda s: s.split(".")),
                     (dict(delimiter=".", maxsplit=1), lambda s: s.split(".", 1)),
                     ({}, str.split), (dict(delimiter="", maxsplit=2), lambda s: s.split(None, 2))):
        m = loaded([node("StringSplit", "x", "parts counts", **how)], {"x": type_of(TEXT, ["n"])},
                   "parts counts", opset=20)
        for given in (x, array(" a  b ", "c", "d e f g"), array(" ", ""), x[:0]):
            parts = [cut(s) for s in given]
            width = max(map(len, parts), default=0)
            same(f"parts {how}", m.run(given),
                 [[p + [""] * (width - len(p)) for p in parts], [len(p) for p in parts]])
    m = loaded([node("StringSplit", "x", "y", delimiter=",")], {"x": type_of(TEXT, [])}, "y",
               opset=20)
    same("parts of one string", m.run(np.array("a,b", object)), [["a", "b"]])


def check_numbers():
    m = loaded([node("Cast", "x", "f", to=1), node("Cast", "y", "i", to=6)],
               {"x": type_of(TEXT, ["n"]), "y": type_of(TEXT, ["n"])}, "f i")
    same("strings as numbers", m.run(array("1.5", "-INF", "1e3"), array("7", "-2", "+0")),
         [[1.5, -np.inf, 1000.0], [7, -2, 0]])
    for text, real in (("1.5", "1"), ("x", "1"), (str(1 << 63), "1"), ("1_0", "1"),
                       ("\u0661", "1"), ("1_0.5", "1_0.5")):
        try:
            m.run(array(real), array("1" if real == text else text))
            check(False, f"the number {text} is taken")
        except ValueError as error:
            check(text in str(error), f"no integer: {error}")


def check_anchors():
    pattern = "(\\W|^)[\\w.\\-]{0,25}@(yahoo|gm)\\.com(\\W|$)"
    m = loaded([node("RegexFullMatch", "x", "y", pattern=pattern)], {"x": type_of(TEXT, ["n"])},
               "y", opset=20)
    given = ["a.b@gm.com", "a@gm.comx", "a@gm.com\n", "a@gm.com\n\n", "éé@gm.com"]
    same("begin and end", m.run(array(*given)), [[True, False, True, False, False]])


def check_ngrams():
    pool, starts = ["dog", "the", "the", "dog", "fox", "the"], [0, 2]
    attributes = dict(tokenexp="[a-z]+")
    m = loaded([node("Reshape", "x shape", "flat"), node(
        "StringNormalizer", "flat", "low", case_change_action="LOWER"),
        tokens("low", "t", **attributes), grams("t", "y", pool, starts, [3, 0, 1, 2])],
        {"x": type_of(TEXT, ["n", 1])}, "y", [ints("shape", -1)], imports=["com.microsoft:1"])
    got = m.run(array(["The dog and the fox"], ["FOX THE DOG the the"], [""]))
    same("n-grams", got, [[[2, 1, 0, 1], [3, 1, 1, 1], [0, 0, 0, 0]]])
    for mode, want in (("IDF", [[20, 3, 0, 5]]), ("TFIDF", [[40, 3, 0, 5]])):
        m = loaded([grams("x", "y", pool, starts, [3, 0, 1, 2], mode=mode,
                          weights=[5.0, 20.0, 3.0, 9.0])], {"x": type_of(TEXT, ["n", "k"])}, "y")
        same(mode, m.run(array(["the", "dog", "and", "the"])), [want])
    m = loaded([grams("x", "y", pool, starts, [3, 0, 1, 2], max_skip_count=2)],
               {"x": type_of(TEXT, ["k"])}, "y")
    same("n-grams with others between", m.run(array("fox", "a", "b", "the", "dog")),
         [[1, 1, 1, 1]])
    same("a short row", m.run(array("the")), [[1, 0, 0, 0]])


def check_refused():
    inputs, ms = {"x": type_of(TEXT, ["n"]), "k": f32("n")}, ["com.microsoft:1", *ML]
    for what, words, nodes, opset in (
            ("an operator of numbers", ["Relu", "strings"], [node("Relu", "x", "y")], 17),
            ("strings as flags", ["Cast", "strings as i1"], [node("Cast", "x", "y", to=9)], 17),
            ("lines", ["expression"], [tokens("x", "y", tokenexp="^a")], 17),
            ("parts of words that are left", ["parts of strings"],
             [node("StringNormalizer", "x", "s", stopwords=["a"]),
              node("StringSplit", "s", "y")], 20),
            ("numbers as strings", ["Cast", "string"], [node("Cast", "k", "y", to=TEXT)], 17),
            ("choices", ["expression a|ab"], [tokens("x", "y", tokenexp="a|ab")], 17),
            ("no spaces in a class", ["expression [\\S]"], [tokens("x", "y", tokenexp="[\\S]+")],
             17),
            ("lazy repeats", ["expression"], [tokens("x", "y", tokenexp="a+?")], 17),
            ("what RE2 alone has", ["expression"], [tokens("x", "y", tokenexp="\\pL+")], 17),
            ("categories of numbers", ["another type"],
             [node("OneHotEncoder", "x", "y", domain="ai.onnx.ml", cats_int64s=[1])], 17),
            ("maps that are used", ["maps"],
             [node("ZipMap", "p", "q", domain="ai.onnx.ml", classlabels_int64s=[1]),
              node("Identity", "q", "y")], 17),
            ("parts of some strings", ["parts of strings"],
             [node("Slice", "x one two", "s"), tokens("s", "y", tokenexp="[a-z]+")], 17),
            ("a byte of 0", ["bytes of 0"],
             [node("Constant", "", "y", value_string="a\0b")], 17)):
        refused(what, words, lambda: loaded(
            nodes, {**inputs, "p": f32("n", 1)}, "y", [ints("one", 1), ints("two", 2)], imports=ms,
            opset=opset))


def check_program():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "m.onnx").write_bytes(model(
            [node("Gather", "names i", "y")], {"i": i64("n")}, "y", opset=17,
            initializers=[strings("names", "cat", 'a "dog"')]))
        np.save(folder / "i.npy", np.array([1, 0, 1]))
        def run(*options):
            return subprocess.run([NEREID, "graph", "m.onnx", *options], cwd=folder, text=True,
                                  capture_output=True)
        done = run("i.npy", "--device", "interp", "--out-dir", ".")
        check("--emit strings" in done.stderr and not done.returncode, done.stderr)
        same("numbers of strings", [np.load(folder / "output_0.npy")], [[1, 0, 1]])
        check('"strings": ["cat", "a \\"dog\\""]' in run("--emit", "strings").stdout, "the list")


def main():
    for run in (check_stop_words, check_joined, check_split, check_numbers, check_anchors,
                check_moved, check_folded, check_kept_keys, check_labels, check_categories,
                check_case, check_tokens, check_ngrams, check_far_away, check_refused,
                check_program):
        run()
    return report()


if __name__ == "__main__":
    sys.exit(main())
