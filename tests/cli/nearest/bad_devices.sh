# GPUs that cannot share work: no numbers, one twice, beside another device, beside processes.
for devices in "" cpu auto cuda:0 0, ,1 0,0 1,0,1 -1,0 1024,0 0x1,2 "0, 1" $(seq -s , 0 64); do
  sapwood nearest five.xyz --devices "$devices"
done
sapwood nearest five.xyz --devices 0,1 --device cuda:0
sapwood radius five.xyz -r 1 --devices 0,1 --device cpu
sapwood box five.xyz --lower 0,0,0 --upper 1,1,1 --devices 0,1 --mpi always
sapwood nearest five.xyz --spread split
sapwood nearest five.xyz --devices 0,1 --spread halves
sapwood normals five.xyz --devices 0,1
PMI_RANK=0 PMI_SIZE=2 sapwood nearest five.xyz --devices 0,1
