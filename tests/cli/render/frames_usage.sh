# What --frames cannot be; each prints its sentence, and nothing is drawn.
moving_gltf > walk.gltf
sed 's/"animations".*/"extras": [{/' walk.gltf | sed 's/^  "channels.*/}],/' > still.gltf
for frames in 5 5: :5 5:5 5:4 -1:3 0:99999999999 a:b 0:1:2; do
  sapwood render walk.gltf -o a.ppm --frames "$frames" 2>&1 | head -n 1
done
for options in "--fps 30" "--clip walk" "--frames 0:2 --fps 0" "--frames 0:2 --fps nan" "--frames 0:200000" "--frames 0:2 --orbit 2" \
  "--frames 0:2 --clip run" "--frames 0:2 --clip 1" "--frames 0:2 --photons 9 --photon-cloud a.ply"; do
  sapwood render walk.gltf -o a.ppm $options 2>&1 | grep -v ' --help'
done
sapwood render walk.gltf -o - --frames 0:2
sapwood render walk.gltf -o no/a.ppm --frames 0:2
sapwood render still.gltf -o a.ppm --frames 0:2
sapwood render faces.ply -o a.ppm --frames 0:2
sapwood render faces_%d.ply -o a.ppm --frames 0:2 --fps 3
sapwood render faces_%d.ppm --input-format ply -o a.ppm --frames 0:2
ls *.ppm 2> /dev/null
