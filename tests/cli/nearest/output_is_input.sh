sapwood nearest five.xyz queries.xyz -o ./queries.xyz; echo $?
sapwood nearest five.xyz queries.xyz --distances five.xyz; echo $?
