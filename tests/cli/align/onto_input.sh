sapwood align five.xyz queries.xyz -o five.xyz
