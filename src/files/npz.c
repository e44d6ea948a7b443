// Members are found by the directory at the archive's end: what stands before each of them need not tell its size.
#include "files/npz.h"
#include "base/assert.h"
#include "files/gzip.h"
#include <stdio.h>
#include <string.h>

enum { END_BYTES = 22, END64_BYTES = 56, LOCATOR_BYTES = 20, ENTRY_BYTES = 46, LOCAL_BYTES = 30 };
enum { MOST_COMMENT = 65535, OF_64_BITS = 1, ENCRYPTED = 1, STORED = 0, DEFLATED = 8 };

// Where entries of the directory are taken from.
typedef struct directory {
    const sap_source* source;
    size_t at, end;
} directory;

typedef struct entry {
    sap_span name;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, unpacked, local; // bytes; where what stands before the member is
} entry;

static uint64_t number_at(const sap_source* source, size_t at, int bytes) {
    uint64_t number = 0;
    SAP_ASSERT(at + (size_t)bytes <= source->size);
    for (int i = bytes; i-- > 0;) number = number << 8 | source->bytes[at + (size_t)i];
    return number;
}

static bool is_at(const sap_source* source, size_t at, size_t bytes, const char* mark) {
    return at <= source->size && bytes <= source->size - at && !memcmp(source->bytes + at, mark, 4);
}

bool sap_npz_begins(const sap_source* source) {
    return is_at(source, 0, 4, "PK\3\4") || is_at(source, 0, END_BYTES, "PK\5\6");
}

static sap_status damaged(const sap_source* source, uint64_t at, const char* what) {
    return sap_bad_byte(source, SAP_ERROR_FORMAT, (int64_t)at, "%s; the file is truncated or damaged; get it again",
                        what);
}

sap_status sap_member_refuse(const sap_source* source) {
    return sap_bad_byte(source, SAP_ERROR_ARGUMENT, -1, "this is no archive (NPZ), so it has no member '%.40s'",
                        source->member);
}

// ---- The directory

static sap_status find_directory(const sap_source* source, directory* d) {
    size_t end = source->size < END_BYTES ? 0 : source->size - END_BYTES;
    const size_t first = end > MOST_COMMENT ? end - MOST_COMMENT : 0;
    while (end > first && !is_at(source, end, END_BYTES, "PK\5\6")) end--;
    if (!is_at(source, end, END_BYTES, "PK\5\6"))
        return damaged(source, source->size, "the directory of the archive is missing");
    uint64_t bytes = number_at(source, end + 12, 4), at = number_at(source, end + 16, 4);
    if (end >= LOCATOR_BYTES && is_at(source, end - LOCATOR_BYTES, LOCATOR_BYTES, "PK\6\7")) {
        const uint64_t end64 = number_at(source, end - LOCATOR_BYTES + 8, 8);
        if (end64 > source->size || !is_at(source, (size_t)end64, END64_BYTES, "PK\6\6"))
            return damaged(source, end, "the directory of the archive is not where its end says");
        bytes = number_at(source, (size_t)end64 + 40, 8);
        at = number_at(source, (size_t)end64 + 48, 8);
    }
    if (at > end || bytes > end - at)
        return damaged(source, end, "the directory of the archive is not where its end says");
    *d = (directory){source, (size_t)at, (size_t)(at + bytes)};
    return SAP_OK;
}

// Numbers that 32 bits cannot hold stand in a field of their own, in this order.
static bool take_64_bits(const sap_source* source, size_t at, size_t end, entry* e) {
    uint64_t* const numbers[] = {&e->unpacked, &e->packed, &e->local};
    size_t field = 0, next = at;
    while (end - at >= 4 && !field) {
        next = at + 4 + (size_t)number_at(source, at + 2, 2);
        if (next > end) return false;
        if (number_at(source, at, 2) == OF_64_BITS) field = at + 4;
        at = next;
    }
    for (int i = 0; i < 3; i++) {
        if (*numbers[i] != UINT32_MAX) continue;
        if (!field || next - field < 8) return false;
        *numbers[i] = number_at(source, field, 8);
        field += 8;
    }
    return true;
}

// Takes the next entry; at the end of the directory its name is empty.
static sap_status next_entry(directory* d, entry* e) {
    const sap_source* source = d->source;
    *e = (entry){.flags = 0};
    if (d->at == d->end) return SAP_OK;
    if (d->end - d->at < ENTRY_BYTES || !is_at(source, d->at, ENTRY_BYTES, "PK\1\2"))
        return damaged(source, d->at, "this is no entry of an archive's directory");
    const size_t name = d->at + ENTRY_BYTES, more = name + (size_t)number_at(source, d->at + 28, 2);
    const size_t comment = more + (size_t)number_at(source, d->at + 30, 2);
    const size_t next = comment + (size_t)number_at(source, d->at + 32, 2);
    e->flags = (unsigned)number_at(source, d->at + 8, 2);
    e->method = (unsigned)number_at(source, d->at + 10, 2);
    e->crc = (uint32_t)number_at(source, d->at + 16, 4);
    e->packed = number_at(source, d->at + 20, 4);
    e->unpacked = number_at(source, d->at + 24, 4);
    e->local = number_at(source, d->at + 42, 4);
    if (next > d->end || more == name || !take_64_bits(source, more, comment, e))
        return damaged(source, d->at, "this entry of the archive's directory is cut off");
    e->name = (sap_span){(const char*)source->bytes + name, (const char*)source->bytes + more};
    d->at = next;
    return SAP_OK;
}

// ---- The member that is wanted

// A member that is an array has a name that ends with .npy, which is not shown.
static bool is_array(entry* e) {
    static const char suffix[] = ".npy";
    const size_t length = sizeof suffix - 1;
    if ((size_t)(e->name.last - e->name.first) <= length || memcmp(e->name.last - length, suffix, length) != 0)
        return false;
    e->name.last -= length;
    return true;
}

static bool is_named(const entry* e, const char* member) {
    const size_t length = (size_t)(e->name.last - e->name.first);
    if (strlen(member) < length || memcmp(e->name.first, member, length) != 0) return false;
    return !member[length] || !strcmp(member + length, ".npy");
}

static sap_status choose(const sap_source* source, const char* member, const char* const* usual, entry* chosen) {
    directory d = {source, 0, 0};
    entry e;
    char names[160] = "", shown[SAP_SHOWN_BYTES];
    int best = INT32_MAX;
    int64_t count = 0;
    sap_status status = find_directory(source, &d);
    for (bool more = true; status == SAP_OK && more;) {
        status = next_entry(&d, &e);
        more = e.name.first < e.name.last;
        if (status != SAP_OK || !more || !is_array(&e)) continue;
        int rank = member && is_named(&e, member) ? 0 : INT32_MAX;
        for (int i = 0; !member && usual && usual[i] && rank == INT32_MAX; i++)
            if (is_named(&e, usual[i])) rank = i;
        if (rank < best || (!member && !count)) *chosen = e;
        if (rank < best) best = rank;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", count ? ", " : "", sap_span_show(e.name, shown));
        count++;
    }
    if (status != SAP_OK || best < INT32_MAX || (count == 1 && !member)) return status;
    if (!count)
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1,
                            "this archive holds no arrays of NumPy (NAME.npy); unpack what it holds");
    if (member)
        return sap_bad_byte(source, SAP_ERROR_ARGUMENT, -1, "there is no member '%.40s'; the members are %s", member,
                            names);
    return sap_bad_byte(source, SAP_ERROR_ARGUMENT, -1, "there are several members; choose one of %s", names);
}

sap_status sap_npz_take(sap_source* source, const char* member, const char* const* usual, sap_file_bytes* unpacked) {
    entry e = {.flags = 0};
    *unpacked = (sap_file_bytes){NULL, 0, 0};
    sap_status status = choose(source, member, usual, &e);
    if (status != SAP_OK) return status;
    if (e.flags & ENCRYPTED || (e.method != STORED && e.method != DEFLATED))
        return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1,
                            "the member is encrypted, or packed by method %u; save it anew with numpy.savez", e.method);
    // The fields before the member may be longer or shorter than those of the directory.
    if (e.local > source->size || !is_at(source, (size_t)e.local, LOCAL_BYTES, "PK\3\4"))
        return damaged(source, e.local < source->size ? e.local : source->size, "the member is not where it should be");
    const size_t local = (size_t)e.local;
    const uint64_t at = e.local + LOCAL_BYTES + number_at(source, local + 26, 2) + number_at(source, local + 28, 2);
    if (at > source->size || e.packed > source->size - at || (e.method == STORED && e.packed != e.unpacked))
        return damaged(source, e.local, "the member is longer than the file");
    const sap_deflated deflated = {(size_t)at, (size_t)e.packed, e.unpacked, e.crc};
    status =
        e.method == DEFLATED ? sap_deflated_unpack(source, &deflated, unpacked) : sap_stored_check(source, &deflated);
    if (status != SAP_OK) return status;
    char shown[SAP_SHOWN_BYTES];
    memcpy(source->within, sap_span_show(e.name, shown), sizeof shown);
    source->bytes = e.method == DEFLATED ? unpacked->memory : source->bytes + at;
    source->size = (size_t)e.unpacked;
    return SAP_OK;
}
