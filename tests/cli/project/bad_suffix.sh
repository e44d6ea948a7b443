sapwood project five.xyz -o r.obj
