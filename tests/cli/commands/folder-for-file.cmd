# A folder where a kernel or a model is expected.
cd $TMP
mkdir empty with && touch with/model.onnx with/notes.txt with/weights.bin
nereid graph empty
nereid graph with
nereid build with -o out --target cpu
nereid compile empty --sig x=i32
nereid run with --grid 1
