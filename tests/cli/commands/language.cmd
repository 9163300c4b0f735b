# Rules of Triton 3.6 and 3.9: by the option, else by what the package requires.
t() { nereid compile $1/language.py:kernel --sig 'p=*fp16,q=*i8' --emit tile $2 2>&1 >$TMP/ir; }
t .
t . "--language 3.6"
t . "--language 3.9"
nereid compile language.py:kernel --sig 'p=*fp16,q=*i8' --language 3.10
mkdir -p $TMP/package/inside && cp language.py $TMP/package/inside/
for needs in '"triton>=3.9"' '"torch", "triton == 3.9.*; sys_platform == '"'linux'"'"' '"triton>=3.6"' '"triton-ascend>=3.9"' '"triton>=3.6", "triton>=4"'; do
  printf '[project]\ndependencies = [%s]\n' "$needs" > $TMP/package/pyproject.toml
  (cd $TMP/package && t inside)
done
(cd $TMP/package && t inside "--language 3.6")
