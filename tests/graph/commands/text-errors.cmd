nereid graph wrong.py --emit graph
nereid graph endless.py --emit graph
nereid graph ../../cli/commands/add.py --emit graph
nereid graph kernels.py --emit kernels
nereid graph huge.py --emit kernels
nereid graph products.py --emit kernels
# No model at all: one message.
printf 'root:x:0:0:root:/root:/bin/bash\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n' >$TMP/passwd
(cd $TMP && nereid graph passwd)
