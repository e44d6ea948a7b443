// The package's module has no files. What the library's calls that take paths would ask of the system stands here and
// answers "no", so that the C library's own functions, and all that they import from a host, stay out of the module.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int no(void) {
    errno = ENOSYS;
    return -1;
}

int open(const char* path, int flags, ...) { return (void)path, (void)flags, no(); }
int close(int file) { return (void)file, no(); }
int fcntl(int file, int command, ...) { return (void)file, (void)command, no(); }
int fsync(int file) { return (void)file, no(); }
ssize_t read(int file, void* bytes, size_t size) { return (void)file, (void)bytes, (void)size, no(); }
ssize_t write(int file, const void* bytes, size_t size) { return (void)file, (void)bytes, (void)size, no(); }
int access(const char* path, int mode) { return (void)path, (void)mode, no(); }
int unlink(const char* path) { return (void)path, no(); }
int rename(const char* from, const char* to) { return (void)from, (void)to, no(); }
int stat(const char* restrict path, struct stat* restrict target) { return (void)path, (void)target, no(); }
int lstat(const char* restrict path, struct stat* restrict target) { return (void)path, (void)target, no(); }
int fstat(int file, struct stat* target) { return (void)file, (void)target, no(); }
int fchmod(int file, mode_t mode) { return (void)file, (void)mode, no(); }
pid_t getpid(void) { return 1; }
char* realpath(const char* restrict path, char* restrict resolved) {
    return (void)path, (void)resolved, (void)no(), NULL;
}
char* strerror(int error) { return (void)error, "there are no files here"; }
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
    return (void)at, (void)size, (void)protection, (void)flags, (void)file, (void)offset, (void)no(), MAP_FAILED;
}
int munmap(void* at, size_t size) { return (void)at, (void)size, no(); }
