// Rows of ids as lists of ints, as SciPy's methods return them.
#include "kdtree.h"

#include <stdlib.h>
#include <string.h>

// ---- Ints

void py_kdtree_ints_open(py_kdtree_ints* ints, int64_t count, int64_t uses) {
    ints->count = count;
    // Without memory for the table, too, ints are made anew.
    ints->made = uses > count / 2 ? calloc((size_t)count + 1, sizeof(void*)) : NULL;
}

void py_kdtree_ints_close(py_kdtree_ints* ints) {
    for (int64_t i = 0; ints->made && i < ints->count; i++) Py_XDECREF(ints->made[i]);
    free(ints->made);
    ints->made = NULL;
}

PyObject* py_kdtree_int(py_kdtree_ints* ints, int64_t value) {
    if (!ints->made) return PyLong_FromLongLong(value);
    if (!ints->made[value] && !(ints->made[value] = PyLong_FromLongLong(value))) return NULL;
    Py_INCREF(ints->made[value]);
    return ints->made[value];
}

PyObject* py_kdtree_list(py_kdtree_ints* ints, const int32_t* ids, int64_t count) {
    PyObject* list = PyList_New((Py_ssize_t)count);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject* id = py_kdtree_int(ints, ids[i]);
        if (!id || PyList_SetItem(list, (Py_ssize_t)i, id) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

// ---- Sorting: short rows by insertion, long ones byte by byte from the lowest

enum { SHORT_ROW = 48 };

static void insert_ids(int32_t* ids, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const int32_t id = ids[i];
        int64_t to = i;
        for (; to > 0 && ids[to - 1] > id; to--) ids[to] = ids[to - 1];
        ids[to] = id;
    }
}

static void sort_by_byte(const int32_t* from, int32_t* to, int64_t count, int shift) {
    int64_t start[256] = {0};
    for (int64_t i = 0; i < count; i++) start[from[i] >> shift & 255]++;
    for (int64_t digit = 0, sum = 0; digit < 256; digit++) {
        const int64_t here = start[digit];
        start[digit] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++) to[start[from[i] >> shift & 255]++] = from[i];
}

static void sort_long(int32_t* ids, int64_t count, int32_t* room) {
    int32_t most = 0;
    for (int64_t i = 0; i < count; i++) most |= ids[i];
    int32_t *from = ids, *to = room;
    for (int shift = 0; shift < 32 && (uint32_t)most >> shift; shift += 8) {
        sort_by_byte(from, to, count, shift);
        int32_t* const other = from;
        from = to;
        to = other;
    }
    if (from != ids) memcpy(ids, from, (size_t)count * sizeof *ids);
}

typedef struct sorting {
    sap_neighbors* rows;
    int32_t* room; // [threads][longest]
    int64_t longest;
} sorting;

static void sort_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const sorting* s = context;
    for (int64_t row = from; row < to; row++) {
        int32_t* ids = (int32_t*)(uintptr_t)s->rows->ids + s->rows->offsets[row];
        const int64_t count = s->rows->offsets[row + 1] - s->rows->offsets[row];
        if (count <= SHORT_ROW)
            insert_ids(ids, count);
        else
            sort_long(ids, count, s->room + worker * s->longest);
    }
}

sap_status py_kdtree_sort(sap_neighbors* rows, int32_t threads) {
    sorting s = {rows, NULL, 0};
    for (int64_t row = 0; row < rows->count; row++) {
        const int64_t count = rows->offsets[row + 1] - rows->offsets[row];
        if (count > s.longest) s.longest = count;
    }
    if (s.longest > SHORT_ROW) {
        s.room = malloc((size_t)threads * (size_t)s.longest * sizeof *s.room);
        if (!s.room) return SAP_ERROR_MEMORY;
    }
    sap_team_loop(threads, rows->count, 1024, sort_rows, &s);
    free(s.room);
    return SAP_OK;
}
