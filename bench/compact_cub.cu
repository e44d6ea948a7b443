// Compaction on the GPU beside CUB's: a table and CSV on stdout; 1 if any answer differs from CUB's.
#include "compact_cub.cuh"

int main(void) {
    compact_cub_row rows[COMPACT_CUB_ROWS];
    cudaStream_t stream = NULL;
    COMPACT_CUB_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int count = compact_cub_rows(stream, rows);
    compact_cub_print(stdout, rows, count);
    COMPACT_CUB_TRY(cudaStreamDestroy(stream));
    return 0;
}
