sapwood nearest five.xyz flat.xyz
