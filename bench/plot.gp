# Draws results.csv: gnuplot -e "folder='build/bench'" plot.gp
set datafile separator ","
set terminal pngcairo size 1400,900 font "sans,12"
set linetype 1 lc rgb "#2f6f4f"
set linetype 2 lc rgb "#d98a29"
set linetype 3 lc rgb "#5b8fc7"
set linetype 4 lc rgb "#a05c9e"
set linetype 5 lc rgb "#9a9a9a"
set style fill solid 0.9 noborder
set grid ytics lc rgb "#dddddd"
set xtics rotate by -40
set key top right
set boxwidth 0.7

set output folder."/ratios.png"
set title "Time of the rival over time of Sapwood (triangles: what must be reached)"
set ylabel "ratio"
plot folder."/ratios.csv" using 0:2:xtic(1) with boxes lc rgb "#2f6f4f" title "measured", \
     "" using 0:3 with points pt 9 ps 1.6 lc rgb "#c2462e" title "target"

set output folder."/rates.png"
set title "Queries answered on one thread, millions a second"
set ylabel "M/s"
set logscale y
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
# A library without a single figure has no column.
has(i) = int(system(sprintf("cut -d, -f%d '%s/rates.csv' | tail -n +2 | grep -c .", i, folder))) > 0
columns = ""
do for [i=2:6] { if (has(i)) { columns = columns." ".i } }
plot for [i in columns] folder."/rates.csv" using int(i):xtic(1) title columnheader(int(i))
