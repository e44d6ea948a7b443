// OpenMP as far as the library asks for it by name, for web/threads/openmp.c.
#ifndef WEB_THREADS_OMP_H
#define WEB_THREADS_OMP_H

int omp_get_thread_num(void);
int omp_get_max_threads(void);
int omp_get_level(void);

#endif
