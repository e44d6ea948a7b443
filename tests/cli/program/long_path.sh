# However long the name, the reason is said.
part=$(printf '%0200d' 0)
sapwood info "$part/$part/$part.xyz"
mkdir -p "$part/$part" && cp bad.xyz "$part/$part" && sapwood info "$part/$part/bad.xyz"
