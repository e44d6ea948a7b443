# Values that name no device.
for device in tpu gpu cuda: cuda:x cuda:-1 cuda:1e0 CPU "" auto:0; do
  sapwood nearest five.xyz --device "$device"
done
