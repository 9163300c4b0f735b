mkdir $TMP/folder; cd $TMP; nereid list folder
