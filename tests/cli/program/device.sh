# Each verb takes a device, and its answers do not depend on it.
same() { "$@" > default && "$@" --device auto > auto && "$@" --device cpu > cpu && cmp default auto && cmp default cpu; }
for verb in info convert nearest "nearest --verify" "radius -r 1" "radius -r 1 --verify"; do same sapwood $verb five.xyz -q; done
sapwood build five.xyz -q -o default.sap && sapwood build five.xyz -q --device cpu -o cpu.sap && cmp default.sap cpu.sap
same sapwood verify default.sap
for verb in "bench five.xyz" "build five.xyz -q -o five.sap" "info five.xyz" "nearest five.xyz" "radius five.xyz -r 1" \
  "verify default.sap"; do
  sapwood $verb --json --device cpu | grep -c "\"processor\": \"cpu\""
done
