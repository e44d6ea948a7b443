// Rows of a table in their places of an NPY file, which others write as well.
#include "device/device.h"
#include "files/write.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool put_at(int descriptor, const void* bytes, size_t size, int64_t at) {
    const size_t most = (size_t)1 << 30; // one write of more than 2 GiB is cut by some systems
    for (size_t done = 0; done < size;) {
        const size_t left = size - done;
        const ssize_t put =
            pwrite(descriptor, (const char*)bytes + done, left < most ? left : most, (off_t)(at + (int64_t)done));
        if (put > 0)
            done += (size_t)put;
        else if (put == 0 || errno != EINTR)
            return false;
    }
    return true;
}

// Numbers in little-endian order.
static bool put_numbers(int descriptor, const unsigned char* values, size_t size, size_t number, int64_t at) {
    unsigned char turned[4096];
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) return put_at(descriptor, values, size, at);
    for (size_t done = 0; done < size;) {
        const size_t some = size - done < sizeof turned ? size - done : sizeof turned;
        for (size_t i = 0; i < some; i++) turned[i] = values[done + i / number * number + number - 1 - i % number];
        if (!put_at(descriptor, turned, some, at + (int64_t)done)) return false;
        done += some;
    }
    return true;
}

// Closes it, too: some file systems say only then that bytes were lost.
static bool put_part(int descriptor, const sap_table* table, int64_t first, int64_t all) {
    char header[SAP_NPY_HEADER_BYTES];
    const size_t number = sap_number_bytes(table->number), start = sap_npy_header_make(table, all, header);
    const size_t row = number * (size_t)(table->columns ? table->columns : 1);
    bool good = first > 0 || put_at(descriptor, header, start, 0);
    good = good && put_numbers(descriptor, table->values, row * (size_t)table->rows, number,
                               (int64_t)start + first * (int64_t)row);
    const int error = errno;
    if (close(descriptor) && good) return false;
    errno = error;
    return good;
}

sap_status sap_table_write_part(sap_device* device, const char* path, sap_table table, int64_t first, int64_t all) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    const sap_status status = sap_table_check(device, &table);
    if (status != SAP_OK) return status;
    if (first < 0 || first > all || table.rows > all - first)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "first: rows %lld and on, %lld of them, are not all among %lld",
                        (long long)first, (long long)table.rows, (long long)all);
    int64_t bytes;
    if (__builtin_mul_overflow(all, table.columns ? table.columns : 1, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)sap_number_bytes(table.number), &bytes) ||
        bytes > INT64_MAX - SAP_NPY_HEADER_BYTES)
        return sap_fail(device, SAP_ERROR_RANGE, "all: %lld rows are more than a file can hold", (long long)all);
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor >= 0 && put_part(descriptor, &table, first, all)) return SAP_OK;
    return sap_fail(device, SAP_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
}
