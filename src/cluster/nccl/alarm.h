// What the ranks of one machine tell each other beside NCCL's messages, which say nothing of a rank that fails: that one of
// them has, and with what status; and which of them are gone. It is a page of a file in memory, named by the
// communicator's id, and a lock on a byte of it for each rank, which the system opens when its process dies.
#ifndef SAPWOOD_CLUSTER_NCCL_ALARM_H
#define SAPWOOD_CLUSTER_NCCL_ALARM_H

#include "sapwood/cluster.h"

typedef struct sap_alarm_page sap_alarm_page;

typedef struct sap_alarm {
    sap_alarm_page* page;
    size_t bytes;
    int file; // -1: there is none, and the page is this rank's alone
    int32_t rank, size;
    int64_t meetings; // that this rank was at
    int32_t here;     // ranks of this machine, once they meet
    char name[64];
} sap_alarm;

// False if there is no memory. Where no file can be made, the page is this rank's alone. `ordinal`: of the rank's GPU.
bool sap_alarm_open(sap_alarm* alarm, const sap_nccl_id* id, int32_t rank, int32_t size, int32_t ordinal);
// Takes the file's name away: before all ranks of the communicator have come, those of this machine may still look for it.
void sap_alarm_hide(sap_alarm* alarm);
// Whether all ranks have come, on this machine.
bool sap_alarm_met(const sap_alarm* alarm);
// Says that this rank is gone, before what it leaves is freed.
void sap_alarm_leave(sap_alarm* alarm);
void sap_alarm_close(sap_alarm* alarm);
// Whether a rank has come, on this machine.
bool sap_alarm_is_here(const sap_alarm* alarm, int32_t rank);
// The GPU of a rank that is a thread of this process, or -1.
int32_t sap_alarm_beside(const sap_alarm* alarm, int32_t rank);

// The ranks of this machine meet, once all have come, all of them as often: each arrives, and looks whether all have.
void sap_alarm_arrive(sap_alarm* alarm);
bool sap_alarm_all_arrived(const sap_alarm* alarm);

// Says that this rank has done one more of the calls that all ranks make, in one order.
void sap_alarm_count(sap_alarm* alarm);
// Whether the others of this machine have done as many.
bool sap_alarm_caught_up(const sap_alarm* alarm);
// Says that this rank fails. The status of the first that did. Any thread.
sap_status sap_alarm_raise(sap_alarm* alarm, sap_status status);
bool sap_alarm_is_raised(const sap_alarm* alarm);
// What ends this rank's next call: the status of the first that failed, unless it did so after it had done that call itself,
// as all others then will. SAP_OK: nothing does.
sap_status sap_alarm_status(const sap_alarm* alarm);
// A rank of this machine that closes its handle, has closed it or died, or -1.
int32_t sap_alarm_gone(const sap_alarm* alarm);

#endif
