sapwood info - <&-
