sapwood convert two.pts && sapwood convert two.pts --columns 5,6,7
