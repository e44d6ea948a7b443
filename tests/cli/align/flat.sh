sapwood align flat.xyz flat.xyz
