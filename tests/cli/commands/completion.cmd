# Completions have every command, option and value that the help has.
# slow: three shells
for shell in bash zsh fish; do
  nereid completion $shell > $TMP/$shell || echo "$shell: $?"
  for c in $(nereid --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    grep -q "\b$c\b" $TMP/$shell || echo "$shell: no $c"
    for o in $(nereid help $c | sed -n 's/^  \(-., \)\?--\([a-z-]*\) .*/\2/p'); do
      grep -qE -- "(--|-l )$o\b" $TMP/$shell || echo "$shell: no $c --$o"
    done
  done
done
cat > $TMP/ask <<'P'
. $TMP/bash
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nereid; echo "${COMPREPLY[*]}"; }
ask nereid re
ask nereid run --dev
ask nereid run k.py --device ''
ask nereid graph m.pt2 --mode re
ask nereid tune k.py --color ''
ask nereid run k
P
bash $TMP/ask
nereid completion tcsh; echo $?
nereid completion; echo $?
