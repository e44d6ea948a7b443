sapwood project
