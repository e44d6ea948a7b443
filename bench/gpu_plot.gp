# Draws what gpu_plots.sh has cut out of gpu.csv: gnuplot -e "folder='build/bench'" gpu_plot.gp
set terminal svg size 1100,700 font "sans,14" background rgb "white"
set style line 1 lc rgb "#2f6f4f" lw 2 pt 7
set style line 2 lc rgb "#2f6f4f" lw 2 pt 6 dt 2
set style line 3 lc rgb "#d98a29" lw 2 pt 5
set style line 4 lc rgb "#d98a29" lw 2 pt 4 dt 2
set style line 5 lc rgb "#5b8fc7" lw 2 pt 9
set style line 6 lc rgb "#a05c9e" lw 2 pt 11
set style line 7 lc rgb "#9a9a9a" lw 2 pt 13
set linetype 1 lc rgb "#2f6f4f"
set linetype 2 lc rgb "#d98a29"
set linetype 3 lc rgb "#5b8fc7"
set linetype 4 lc rgb "#a05c9e"
set linetype 5 lc rgb "#9a9a9a"
set linetype 6 lc rgb "#c2462e"
set linetype 7 lc rgb "#7a6a3a"
set grid ytics lc rgb "#dddddd"
set datafile missing "?"

# Columns of a leaves file: leaf, depth, then k = 1 random, ordered, k = 8 random, ordered, the CPU's k = 8, the build.
do for [data in datas] {
    file = folder."/gpu_leaf_".data.".dat"
    set output folder."/gpu_leaf_".data.".svg"
    set title "Points a leaf, and the depth that they make, against time, ".data." data"
    set key outside right
    set logscale y
    set ylabel "ms"
    set xlabel "points a leaf (depth)" offset 0,-0.6
    set yrange [*:*]
    cpu = int(system("awk '$7 != \"?\"' ".file." | grep -c .")) > 0
    plot file using 0:3:xtic(sprintf("%d\n(%d)", $1, $2)) with linespoints ls 1 title "k = 1, random", \
         "" using 0:4 with linespoints ls 2 title "k = 1, ordered", \
         "" using 0:5 with linespoints ls 3 title "k = 8, random", \
         "" using 0:6 with linespoints ls 4 title "k = 8, ordered", \
         "" using 0:8 with linespoints ls 7 title "build", \
         (cpu ? file : "/dev/null") using 0:(cpu ? column(7) : 1/0) with linespoints ls 6 \
             title cpu ? "k = 8, random, CPU" : ""
}

# Columns of a neighbours file: k, Sapwood, then one rival each; the first line names them.
do for [order in orders] {
    file = folder."/gpu_k_".order.".dat"
    set output folder."/gpu_k_".order.".svg"
    set title "1M queries on 1M uniform points, ".order
    set key outside right
    unset logscale
    set logscale y
    set ylabel "ms"
    set xlabel "neighbours"
    columns = int(system("head -n 1 ".file." | awk -F'\t' '{ print NF }'"))
    set datafile separator tab
    plot for [i = 2:columns] file using 0:i:xtic(1) with linespoints lw (i == 2 ? 4 : 2) pt 5 + i lt i - 1 \
        title columnheader(i)
    set datafile separator whitespace
}
