sapwood --generate pdf
