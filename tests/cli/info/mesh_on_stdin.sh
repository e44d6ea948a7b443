sapwood info - --input-format obj < quad.obj | head -4
