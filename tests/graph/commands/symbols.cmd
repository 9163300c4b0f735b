# Sizes may be called as the variables of a template, or as words of C: kernels call them otherwise.
nereid graph symbols.py --random-inputs --device interp
sed 's/batch/s0/g; s/rows/s1/g; s/n\]/s2]/g' symbols.py >$TMP/plain.py
nereid graph $TMP/plain.py --random-inputs --device interp
nereid graph symbols.py --emit plan | grep -E '^(symbol|step)' | cut -d' ' -f1-8
sed 's/batch/int/g; s/rows/sizeof/g; s/n\]/run]/g' symbols.py >$TMP/words.py
cd $TMP && nereid build words.py -o p --target cpu && grep sizeof_ p/plan.c | head -1
# A pipe, whose first bytes say what it is, can be read once only.
cat plain.py | nereid graph /dev/stdin --random-inputs --device interp
nereid graph plain.py --emit plan | nereid graph /dev/stdin --random-inputs --device interp
