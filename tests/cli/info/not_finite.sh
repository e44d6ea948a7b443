sapwood info nan.xyz
