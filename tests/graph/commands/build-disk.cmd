# A file that can't be written, here for its size, is an error, and nothing is left.
m=$PWD/../../models/mlp/model.pt2
cd $TMP
trap '' XFSZ
(ulimit -f 512; nereid build $m -o p --target cpu)
echo "$? $(ls)"
