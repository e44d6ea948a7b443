sapwood distance five.xyz nan.xyz
