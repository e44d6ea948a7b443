// What a signal that ends the program leaves behind: no file that is only half there.
#include "file.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 256 };

// Files that wait for others, closed already.
static const char* volatile waiting[SAP_CLI_MOST_WAITING];

void sap_cli_interrupted_removes(int place, const char* path) { waiting[place] = path; }

// Whether a path is that of a file that takes the place of another when it is complete: FOLDER/.sapwood-….part.
static bool is_part(const char* path, size_t length) {
    static const char first[] = "/.sapwood-", last[] = ".part";
    size_t name = length;
    while (name && path[name - 1] != '/') name--;
    return name && length - name >= sizeof first - 2 + sizeof last - 1 &&
           !memcmp(path + name - 1, first, sizeof first - 1) &&
           !memcmp(path + length - (sizeof last - 1), last, sizeof last - 1);
}

// Only calls that a signal may interrupt: the files are found by the descriptors that are open, the library's too.
static void remove_parts(int number) {
    char path[4097], link[] = "/proc/self/fd/000";
    char* digits = link + sizeof link - 4;
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
        char* at = digits;
        if (fd >= 100) *at++ = (char)('0' + fd / 100);
        if (fd >= 10) *at++ = (char)('0' + fd / 10 % 10);
        *at++ = (char)('0' + fd % 10);
        *at = 0;
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length <= 0) continue;
        path[length] = 0;
        if (is_part(path, (size_t)length)) unlink(path);
    }
    for (int i = 0; i < SAP_CLI_MOST_WAITING; i++)
        if (waiting[i]) unlink(waiting[i]);
    raise(number); // which the default action, back in its place, answers
}

void sap_cli_interrupted_watch(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_handler = remove_parts, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)}, before;
        sigemptyset(&action.sa_mask);
        // What the caller has the program ignore, as nohup does, stays ignored.
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL) sigaction(numbers[i], &action, NULL);
    }
}
