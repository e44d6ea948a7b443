// Processes that mpirun started and that do one command together, the ranks: each reads its part of the files, and all of
// them hold one tree. With --devices ranks are threads of this process instead, one for each GPU. Where a process works
// alone, cli->ranks is NULL, and these functions do nothing.
#ifndef SAPWOOD_CLI_RANKS_H
#define SAPWOOD_CLI_RANKS_H

#include "input.h"

// All zero is a process that works alone.
struct sap_cli_ranks {
    sap_comm* comm;
    int32_t rank, size;
    int32_t threads;                // for each rank, if the user names no number
    const sap_cli_devices* devices; // of threads; NULL: processes
    bool is_copied;                 // each of them holds all points, rather than a part of them
    bool is_broken;                 // nothing can be said to the others any more; of processes, MPI ends all of them
    void* left;                     // memory to free when all threads have ended, or NULL
    bool of_another;                // the library's last sentence tells of another rank
    char said[2048];                // the errors of this rank, a line each, until all agree
};

// This process's number among those that a launcher started, and how many they are; false if none did.
bool sap_cli_ranks_started(int32_t* rank, int32_t* size);
// Makes ranks of these processes if the options and the launcher say so. `library`: the name of libsapwood_mpi; NULL: this
// program cannot load it.
sap_cli_exit sap_cli_ranks_open(const sap_cli_options* options, const char* library, sap_cli_ranks* ranks);
void sap_cli_ranks_close(sap_cli_ranks* ranks);

// ---- devices.c
// What one rank does, or a process that works alone (NULL).
typedef sap_cli_exit sap_cli_work(const sap_cli_options* options, sap_cli_ranks* ranks);
// Does it on each GPU of --devices, in a thread of its own.
sap_cli_exit sap_cli_devices_work(const sap_cli_options* options, sap_cli_work* work);

// ---- ranks.c
// Says on stderr what a rank has said.
void sap_cli_ranks_tell(const sap_cli_options* options, const sap_cli_ranks* ranks, int32_t from, sap_cli_exit result);

// Whether this process says what is to be said once.
static inline bool sap_cli_is_first(const sap_cli* cli) { return !cli->ranks || cli->ranks->rank == 0; }

// What follows is collective.
//
// One outcome for all: if a rank failed, the first one that did says why, by way of rank 0.
sap_cli_exit sap_cli_ranks_vote(sap_cli* cli, sap_cli_exit own);
static inline sap_cli_exit sap_cli_agree(sap_cli* cli, sap_cli_exit own) {
    if (!cli->ranks) return own;
    const sap_cli_exit all = sap_cli_ranks_vote(cli, own);
    return all == SAP_EXIT_OK ? own : all; // the same, unless this rank's word was lost
}
// What rank 0 says.
uint64_t sap_cli_ranks_hear(sap_cli* cli, uint64_t value);
// The sum of all, and the largest; of doubles that are not negative, too; the least.
uint64_t sap_cli_ranks_sum(sap_cli* cli, uint64_t value);
uint64_t sap_cli_ranks_most(sap_cli* cli, uint64_t value);
uint64_t sap_cli_ranks_least(sap_cli* cli, uint64_t value);
double sap_cli_ranks_most_real(sap_cli* cli, double value);
// The bounds of the points of all, in place; their largest side.
double sap_cli_ranks_bounds(sap_cli* cli, int32_t dims, double* lower, double* upper);
// The sum of what the ranks before this one have.
int64_t sap_cli_ranks_before(sap_cli* cli, int64_t mine, int64_t* all);

// Refuses what one process does alone.
sap_cli_exit sap_cli_ranks_check(sap_cli* cli);

// ---- shares.c
// The rows of a file that this rank reads: `count` from *first on of `all`; and which rank reads a row.
int64_t sap_cli_share_of(const sap_cli* cli, int64_t all, int64_t* first);
int32_t sap_cli_share_owner(const sap_cli* cli, int64_t all, int64_t row);
// Reads this rank's rows of a file, or has rank 0 read the file and send them.
sap_cli_exit sap_cli_share_read(sap_cli* cli, const char* path, sap_format format, int32_t real_bits,
                                const sap_points_read_options* how, sap_cli_points* points);
// Builds one tree over the points of all, and describes it as if it were in one place. With --devices it may be copied:
// then each rank has reference->tree.
sap_cli_exit sap_cli_share_build(sap_cli* cli, sap_cli_reference* reference);
// Adds up what is not finite in the shares.
void sap_cli_share_not_finite(sap_cli* cli, sap_cli_points* points);

// ---- joined.c
// A table of which each rank has rows: `table` has those from `first` on, of `all`. Written as sap_cli_write would write it.
sap_cli_exit sap_cli_joined_write(sap_cli* cli, const char* path, const sap_table* table, int64_t first, int64_t all,
                                  const char* prefix);
// Brings bytes to rank 0, those of one rank behind those of the rank before: memory to be freed, NULL elsewhere.
sap_cli_exit sap_cli_joined_bytes(sap_cli* cli, const void* mine, int64_t bytes, void** all);
// Makes ids of 32 bits of those of 64, in place, if the points of the tree have such; the number that they then are.
sap_number sap_cli_joined_ids(const sap_cli_reference* reference, void* ids, int64_t count);

// ---- joined_nearest.c
// Answers of this rank, from row `first` on of `all`. All zero can be freed.
typedef struct sap_cli_answers {
    int64_t first, rows, all;
    int64_t found;         // of the points that this rank holds
    sap_number number;     // of ids: SAP_INT32 or SAP_INT64
    void *ids, *distance2; // [rows*k]
} sap_cli_answers;
// Neighbours of this rank's queries (NULL: of its rows of the reference).
sap_cli_exit sap_cli_joined_nearest(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                                    const sap_search* search, bool measured, sap_cli_answers* answers);
void sap_cli_answers_free(sap_cli_answers* answers);

// ---- joined_rows.c
// Rows of this rank. All zero can be freed.
typedef struct sap_cli_joined_rows {
    int64_t first, rows, all;
    int64_t before, here, total; // points in the rows of the ranks before, of this one, of all
    int64_t* counts;             // of each row, or NULL
    int64_t* offsets;            // [rows+1] from `before` on, or NULL
    int64_t* ids;
    void* distance2; // NULL: of boxes
} sap_cli_joined_rows;
// Rows of points within a radius of this rank's queries (NULL: of its rows of the reference), or with --count their
// numbers (`told`: the search that --metric and its sisters ask for, or NULL); rows of points in boxes,
// [count][2][dims] in the precision of the points, and their numbers.
sap_cli_exit sap_cli_joined_radius(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                                   const sap_search* told, sap_cli_joined_rows* rows);
sap_cli_exit sap_cli_joined_boxes(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* boxes,
                                  sap_cli_joined_rows* rows);
// Writes them to the outputs that the options name, or prints them. `wide`: distances are doubles.
sap_cli_exit sap_cli_joined_rows_write(sap_cli* cli, const sap_cli_reference* reference, bool wide,
                                       sap_cli_joined_rows* rows);
void sap_cli_joined_rows_free(sap_cli_joined_rows* rows);

#endif
