/* Preloaded into the server: while armed, every write to a regular file or a pipe takes a part of its bytes only.
 *
 * The file named by SHORT_WRITES holds two numbers that the test and all processes share: whether it is armed, and how
 * many writes were cut. A write of one byte cannot be cut. Built by the test with cc -shared -fPIC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int *shared;

__attribute__((constructor)) static void open_shared(void) {
    const char *name = getenv("SHORT_WRITES");
    int descriptor = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    void *found = mmap(NULL, 2 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (found != MAP_FAILED) shared = found;
    close(descriptor);
}

static size_t part(int descriptor, size_t size) {
    struct stat status;
    if (!shared || !shared[0] || size < 2 || fstat(descriptor, &status)) return size;
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return size;
    __sync_fetch_and_add(&shared[1], 1);
    return (size + 1) / 2;
}

ssize_t write(int descriptor, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    return real(descriptor, data, part(descriptor, size));
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    return real(descriptor, data, part(descriptor, size), offset);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
    return pwrite64(descriptor, data, size, offset);
}
