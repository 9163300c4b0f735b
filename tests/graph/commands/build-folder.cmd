# A project is written to a new folder, an empty one, or over an earlier build, but over nothing
# else; what fails leaves nothing behind.
m=../../models/chain/model.pt2
cd $TMP
m=$OLDPWD/$m
nereid build $m -o p --target cpu && ls p && cat p/nereid-build.txt | head -n 2
touch p/model.o p/libmodel.a
nereid build $m -o p/ --target sm_80 --ptx-only && ls p
nereid build $m -o p --target sm_80 --ptx-only --mode reduce-overhead && grep replay p/plan.c
touch p/notes.txt
nereid build $m -o p --target cpu
mkdir q r && echo x >r/x
nereid build $m -o q --target cpu && ls q | wc -l
nereid build $m -o r --target cpu
nereid build $m -o r/x --target cpu
ls -A . r
# What a build that was killed left goes with the next one, unless it is still at work.
mkdir .p.nereid-1-0 .q.nereid-1-0 .q.nereid-2-0 && touch .p.nereid-1-0/plan.c .q.nereid-1-0/run.c
( flock 9; nereid build $m -o q --target cpu ) 9<.q.nereid-2-0
ls -A
