# A name must not command the terminal that it is shown on.
name=$'a\033[2Jb\rc\nd\177e\302\233f\377g\303\251.xyz'
sapwood info "$name"
cp five.xyz "$name" && sapwood info "$name" | head -n 1
sapwood nearest five.xyz -k $'\033[31m'
sapwood $'\033[31m'
