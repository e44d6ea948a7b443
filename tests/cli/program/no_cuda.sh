# What each verb says where there is no GPU. Whether the build or the machine lacks it is the library's to say.
sapwood --version | grep -q cuda && exit 77
sapwood build five.xyz -q -o five.sap
try() {
  sapwood "$@" 2> sentence
  echo $?
  sed -E 's/(cannot open the device): [^;]*(CUDA|GPU)[^;]*;/\1: NO GPU;/' sentence
}
for device in cuda cuda:0 cuda:1023; do try nearest five.xyz --device $device; done
for devices in 0 0,1 1023,0; do try nearest five.xyz --devices $devices; done
for verb in "info five.xyz" "build five.xyz -o five.sap" "radius five.xyz -r 1" "verify five.sap" "convert five.xyz" bench; do
  try $verb --device cuda
done
