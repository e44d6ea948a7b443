sapwood --generate fish | grep -e '-l walk'
