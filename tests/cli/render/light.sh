# Light itself: linear floats, rows from the bottom up. A picture without light is 0 but for the background.
sapwood render quad.obj -o a.pfm --size 3x2 --samples 1 --background 1,2,4 --eye 0,0,9 --at 0,0,20 -q
head -2 a.pfm; head -3 a.pfm | tail -1; tail -c 72 a.pfm | od -An -v -f -w12 | tr -s ' '
