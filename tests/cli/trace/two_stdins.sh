sapwood trace - - --input-format obj
