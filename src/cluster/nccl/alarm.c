#include "cluster/nccl/alarm.h"

#if defined(__linux__)
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANK_AWAITED, RANK_HERE, RANK_CLOSED };
enum { STATUS_BITS = 8 };

typedef struct rank_entry { // whose first byte is locked, too
    int32_t state, ordinal;
    int64_t process;
    uint64_t calls; // that it has done
} rank_entry;

struct sap_alarm_page {
    uint64_t failed; // the status of the first rank that has, above it how many calls that rank had done; 0: none
    int64_t arrived; // at meetings, in all
    int32_t came;
    rank_entry ranks[];
};

static off_t place_of(int32_t rank) {
    return (off_t)(offsetof(sap_alarm_page, ranks) + (size_t)rank * sizeof(rank_entry));
}

static int32_t state_of(const sap_alarm* a, int32_t rank) {
    return __atomic_load_n(&a->page->ranks[rank].state, __ATOMIC_ACQUIRE);
}

// Locks belong to an open file: those of two ranks of one process are apart.
static int lock(int file, int command, int32_t rank, short* kind) {
    struct flock range = {.l_type = *kind, .l_whence = SEEK_SET, .l_start = place_of(rank), .l_len = 1};
    const int result = fcntl(file, command, &range);
    *kind = range.l_type;
    return result;
}

// The name is a hash of the id, which is random.
static void name_of(sap_alarm* a, const sap_nccl_id* id) {
    uint64_t words[2] = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4)};
    for (size_t i = 0; i < sizeof id->bytes; i++)
        for (int w = 0; w < 2; w++) words[w] = (words[w] ^ (uint64_t)(id->bytes[i] + w)) * UINT64_C(0x100000001b3);
    snprintf(a->name, sizeof a->name, "/dev/shm/sapwood-%016llx%016llx", (unsigned long long)words[0],
             (unsigned long long)words[1]);
}

// Room for all ranks is added, never taken away: another rank may have the page by now.
static int open_file(const sap_alarm* a) {
    const int file = open(a->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    short kind = F_WRLCK;
    if (file < 0) return -1;
    if (!posix_fallocate(file, 0, (off_t)a->bytes) && !lock(file, F_OFD_SETLK, a->rank, &kind)) return file;
    close(file);
    return -1;
}

bool sap_alarm_open(sap_alarm* a, const sap_nccl_id* id, int32_t rank, int32_t size, int32_t ordinal) {
    *a = (sap_alarm){.rank = rank, .size = size, .bytes = (size_t)place_of(size)};
    name_of(a, id);
    a->file = open_file(a);
    const int kind = a->file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    void* page = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, kind, a->file, 0);
    if (page == MAP_FAILED) {
        if (a->file >= 0) close(a->file);
        a->file = -1;
        return false;
    }
    a->page = page;
    a->page->ranks[rank].ordinal = ordinal;
    a->page->ranks[rank].process = getpid();
    __atomic_store_n(&a->page->ranks[rank].state, RANK_HERE, __ATOMIC_RELEASE);
    __atomic_add_fetch(&a->page->came, 1, __ATOMIC_ACQ_REL);
    return true;
}

void sap_alarm_hide(sap_alarm* a) {
    if (a->file >= 0 && a->name[0]) (void)unlink(a->name);
    a->name[0] = 0;
}

bool sap_alarm_met(const sap_alarm* a) { return __atomic_load_n(&a->page->came, __ATOMIC_ACQUIRE) >= a->size; }

void sap_alarm_leave(sap_alarm* a) {
    if (a->page) __atomic_store_n(&a->page->ranks[a->rank].state, RANK_CLOSED, __ATOMIC_RELEASE);
}

void sap_alarm_close(sap_alarm* a) {
    if (!a->page) return;
    sap_alarm_hide(a);
    sap_alarm_leave(a);
    munmap(a->page, a->bytes);
    if (a->file >= 0) close(a->file);
    a->page = NULL;
}

bool sap_alarm_is_here(const sap_alarm* a, int32_t rank) { return state_of(a, rank) != RANK_AWAITED; }

int32_t sap_alarm_beside(const sap_alarm* a, int32_t rank) {
    if (rank == a->rank || !sap_alarm_is_here(a, rank) || a->page->ranks[rank].process != getpid()) return -1;
    return a->page->ranks[rank].ordinal;
}

void sap_alarm_arrive(sap_alarm* a) {
    for (int32_t r = 0; r < a->size && !a->meetings; r++) a->here += sap_alarm_is_here(a, r);
    a->meetings++;
    __atomic_add_fetch(&a->page->arrived, 1, __ATOMIC_ACQ_REL);
}

bool sap_alarm_all_arrived(const sap_alarm* a) {
    return __atomic_load_n(&a->page->arrived, __ATOMIC_ACQUIRE) >= a->here * a->meetings;
}

void sap_alarm_count(sap_alarm* a) { __atomic_add_fetch(&a->page->ranks[a->rank].calls, 1, __ATOMIC_ACQ_REL); }

static uint64_t calls_of(const sap_alarm* a, int32_t rank) {
    return __atomic_load_n(&a->page->ranks[rank].calls, __ATOMIC_ACQUIRE);
}

bool sap_alarm_caught_up(const sap_alarm* a) {
    for (int32_t r = 0; r < a->size; r++)
        if (state_of(a, r) == RANK_HERE && calls_of(a, r) < calls_of(a, a->rank)) return false;
    return true;
}

sap_status sap_alarm_raise(sap_alarm* a, sap_status status) {
    uint64_t before = 0;
    const uint64_t word = calls_of(a, a->rank) << STATUS_BITS | (uint64_t)status;
    const bool first =
        __atomic_compare_exchange_n(&a->page->failed, &before, word, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return first ? status : (sap_status)(before & ((1 << STATUS_BITS) - 1));
}

bool sap_alarm_is_raised(const sap_alarm* a) { return __atomic_load_n(&a->page->failed, __ATOMIC_ACQUIRE) != 0; }

sap_status sap_alarm_status(const sap_alarm* a) {
    const uint64_t word = __atomic_load_n(&a->page->failed, __ATOMIC_ACQUIRE);
    if (word >> STATUS_BITS > calls_of(a, a->rank)) return SAP_OK;
    return (sap_status)(word & ((1 << STATUS_BITS) - 1));
}

int32_t sap_alarm_gone(const sap_alarm* a) {
    if (a->file < 0) return -1;
    for (int32_t r = 0; r < a->size; r++) {
        const int32_t state = state_of(a, r);
        short kind = F_WRLCK;
        if (r == a->rank || state == RANK_AWAITED) continue;
        if (state == RANK_CLOSED || (!lock(a->file, F_OFD_GETLK, r, &kind) && kind == F_UNLCK)) return r;
    }
    return -1;
}

#endif
