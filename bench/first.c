// First builds: in a process of its own each, for memory that was used before is faster.
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

double bench_first_pass(void* state) {
    const bench_first* s = state;
    const char* words[] = {s->options->program, "--first-build", s->words[0], s->words[1], s->words[2], NULL};
    int ends[2];
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(words[0], (char* const*)(uintptr_t)words);
        fprintf(stderr, "bench: cannot start %s: %s\n", words[0], strerror(errno));
        _exit(127);
    }
    double seconds = -1, cpu_seconds = 0;
    int status = -1;
    if (child > 0) {
        close(ends[1]);
        FILE* answer = fdopen(ends[0], "r");
        if (answer && fscanf(answer, "%lf %lf", &seconds, &cpu_seconds) != 2) seconds = -1;
        if (answer) fclose(answer);
        waitpid(child, &status, 0);
    }
    if (status != 0 || seconds < 0) {
        fprintf(stderr, "bench: a first build by %s in a process of its own failed\n", s->words[0]);
        exit(1);
    }
    return s->options->cpu_time ? cpu_seconds : seconds;
}

void bench_first_timed(void (*build)(void* state), void* state) {
    double start = bench_seconds(), cpu_start = bench_cpu_seconds();
    build(state);
    double cpu_seconds = bench_cpu_seconds() - cpu_start;
    printf("%.9f %.9f\n", bench_seconds() - start, cpu_seconds);
}
