sapwood --version | sed -E -e 's/(threads:) (yes|no)$/\1 YES-OR-NO/' -e 's/(SIMD: portable)( avx2)?( avx512)?$/\1/' \
  -e 's/(devices: cpu)( cuda:[0-9]+)*$/\1/'
