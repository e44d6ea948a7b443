sapwood build five.xyz -q -o five.sap
cat five.sap | sapwood nearest -; echo $?
sapwood nearest - < five.sap; echo $?
sapwood nearest <(cat five.sap); echo $?
mkfifo pipe.sap; sapwood nearest pipe.sap; echo $?
