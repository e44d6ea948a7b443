sapwood distance five.xyz flat.xyz
