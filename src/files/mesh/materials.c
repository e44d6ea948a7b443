// The materials of a mesh by name, and MTL, the text that defines them.
#include "base/assert.h"
#include "device/device.h"
#include "files/mesh/mesh_draft.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct entry {
    size_t name; // where it begins among the names
    size_t length;
    uint32_t hash;
    bool defined; // by a library
} entry;

static const sap_material plain = {
    .diffuse = {0.8f, 0.8f, 0.8f}, .shininess = 1, .opacity = 1, .refraction = 1, .illum = 2};

float sap_absorption(float left, float distance) {
    if (!(left < 1) || !(distance < FLT_MAX)) return 0;
    const double taken = left > 0 ? -log((double)left) / (double)distance : FLT_MAX;
    return taken < FLT_MAX ? (float)taken : FLT_MAX;
}

static uint32_t hash_of(sap_span name) {
    uint32_t hash = 2166136261u; // FNV-1a
    for (; name.first < name.last; name.first++) hash = (hash ^ (unsigned char)*name.first) * 16777619u;
    return hash ^ hash >> 15;
}

// Where the name stands among the slots, or the free slot where it would.
static int64_t slot_of(const sap_material_table* table, sap_span name, uint32_t hash) {
    const entry* entries = table->entries.memory;
    size_t length = (size_t)(name.last - name.first);
    SAP_ASSERT(table->count < table->slot_count && !(table->slot_count & (table->slot_count - 1)));
    int64_t mask = table->slot_count - 1, slot = hash & mask;
    for (;; slot = (slot + 1) & mask) {
        int32_t at = table->slots[slot];
        if (at < 0) return slot;
        const entry* e = &entries[at];
        if (e->hash == hash && e->length == length &&
            !memcmp((const char*)table->names.memory + e->name, name.first, length))
            return slot;
    }
}

// Doubles the slots and fills them anew.
static bool grow(const sap_device* device, sap_material_table* table) {
    enum { FIRST_SLOTS = 16 };
    int64_t count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS;
    const entry* entries = table->entries.memory;
    int32_t* slots = sap_memory_allocate(device, (size_t)count * sizeof *slots);
    if (!slots) return false;
    for (int64_t i = 0; i < count; i++) slots[i] = -1;
    for (int32_t i = 0; i < table->count; i++) {
        int64_t slot = entries[i].hash & (count - 1);
        while (slots[slot] >= 0) slot = (slot + 1) & (count - 1);
        slots[slot] = i;
    }
    sap_memory_release(device, table->slots, (size_t)table->slot_count * sizeof *slots);
    table->slots = slots;
    table->slot_count = count;
    return true;
}

int32_t sap_material_named(const sap_device* device, sap_material_table* table, sap_span name) {
    if (table->count == INT32_MAX) return -1;
    if (2 * (int64_t)table->count >= table->slot_count && !grow(device, table)) return -1;
    uint32_t hash = hash_of(name);
    int64_t slot = slot_of(table, name, hash);
    if (table->slots[slot] >= 0) return table->slots[slot];
    size_t length = (size_t)(name.last - name.first), at = table->names.used;
    char* copy = sap_array_add(device, &table->names, length + 1);
    entry* added = copy ? sap_array_add(device, &table->entries, sizeof *added) : NULL;
    sap_material* material = added ? sap_array_add(device, &table->materials, sizeof *material) : NULL;
    if (!material) return -1;
    memcpy(copy, name.first, length);
    copy[length] = 0;
    *added = (entry){at, length, hash, false};
    *material = plain;
    table->slots[slot] = table->count;
    return table->count++;
}

sap_material* sap_material_at(const sap_material_table* table, int32_t material) {
    SAP_ASSERT(material >= 0 && material < table->count);
    return (sap_material*)table->materials.memory + material;
}

bool sap_material_define(const sap_material_table* table, int32_t material) {
    entry* e = (entry*)table->entries.memory + material;
    bool before = e->defined;
    e->defined = true;
    return !before;
}

void sap_materials_finish(sap_material_table* table) {
    const entry* entries = table->entries.memory;
    for (int32_t i = 0; i < table->count; i++)
        sap_material_at(table, i)->name = (const char*)table->names.memory + entries[i].name;
}

void sap_materials_release(const sap_device* device, sap_material_table* table) {
    sap_array_release(device, &table->materials);
    sap_array_release(device, &table->entries);
    sap_array_release(device, &table->names);
    sap_memory_release(device, table->slots, (size_t)table->slot_count * sizeof *table->slots);
    table->slots = NULL;
    table->slot_count = 0;
}

// ---- MTL.

typedef struct mtl_file {
    const sap_source* source;
    sap_lines lines;
    sap_material* material; // that the statements are about; NULL: none yet
} mtl_file;

// Reads one number that must be within the range of a float.
static sap_status take_number(const mtl_file* mtl, sap_span word, float* number) {
    sap_decimal decimal;
    char shown[SAP_SHOWN_BYTES];
    if (!sap_span_number(word, &decimal))
        return sap_bad_line(mtl->source, SAP_ERROR_FORMAT, mtl->lines.number, "'%s' is not a number%s",
                            sap_span_show(word, shown), sap_number_remedy(mtl->source, word));
    if (!sap_decimal_in_float_range(&decimal))
        return sap_bad_line(mtl->source, SAP_ERROR_RANGE, mtl->lines.number, "'%s' is beyond the range of a float",
                            sap_span_show(word, shown));
    *number = sap_decimal_float(&decimal);
    return SAP_OK;
}

static sap_status too_few(const mtl_file* mtl, const char* what) {
    return sap_bad_line(mtl->source, SAP_ERROR_FORMAT, mtl->lines.number, "%s lacks a value; correct the line", what);
}

// Red, green and blue; one number stands for all three. Spectra and CIE colours are left out.
static sap_status take_color(const mtl_file* mtl, const char* what, sap_span rest, float color[3]) {
    sap_span word;
    float values[3];
    int count = 0;
    for (; count < 3 && sap_word_next(&rest, &word); count++) {
        if (!count && (sap_span_equal_any_case(word, "spectral") || sap_span_equal_any_case(word, "xyz")))
            return SAP_OK;
        sap_status status = take_number(mtl, word, &values[count]);
        if (status != SAP_OK) return status;
    }
    if (count == 0 || count == 2) return too_few(mtl, what);
    for (int i = 0; i < 3; i++) color[i] = values[count == 3 ? i : 0];
    return SAP_OK;
}

static sap_status take_value(const mtl_file* mtl, const char* what, sap_span rest, float* value) {
    sap_span word;
    bool any = sap_word_next(&rest, &word);
    if (any && sap_span_equal_any_case(word, "-halo")) any = sap_word_next(&rest, &word);
    return any ? take_number(mtl, word, value) : too_few(mtl, what);
}

// What a unit of length leaves of the light. Zeros are what programs write that have no such filter.
static sap_status take_filter(const mtl_file* mtl, sap_span rest, float absorption[3]) {
    float left[3] = {0, 0, 0};
    const sap_status status = take_color(mtl, "Tf", rest, left);
    const bool any = left[0] > 0 || left[1] > 0 || left[2] > 0;
    for (int i = 0; i < 3 && status == SAP_OK; i++) absorption[i] = any ? sap_absorption(left[i], 1) : 0;
    return status;
}

static sap_status take_illum(const mtl_file* mtl, sap_span rest, int32_t* illum) {
    enum { MOST = 1000 }; // the format has 0 to 10
    sap_span word;
    int64_t number;
    char shown[SAP_SHOWN_BYTES];
    if (!sap_word_next(&rest, &word)) return too_few(mtl, "illum");
    if (!sap_span_count(word, &number) || number > MOST)
        return sap_bad_line(mtl->source, SAP_ERROR_FORMAT, mtl->lines.number, "'%s' is not an illumination model",
                            sap_span_show(word, shown));
    *illum = (int32_t)number;
    return SAP_OK;
}

// One statement about the material; others than these are skipped.
static sap_status take_statement(const mtl_file* mtl, sap_span word, sap_span rest) {
    static const char* const names[] = {"kd", "ks", "ke", "ns", "ni", "d", "tr", "tf", "illum"};
    enum { DIFFUSE, SPECULAR, EMISSION, SHININESS, REFRACTION, OPACITY, TRANSPARENCY, FILTER, ILLUM, COUNT };
    int which = 0;
    while (which < COUNT && !sap_span_equal_any_case(word, names[which])) which++;
    if (which == COUNT) return SAP_OK;
    sap_material* material = mtl->material;
    if (!material)
        return sap_bad_line(mtl->source, SAP_ERROR_FORMAT, mtl->lines.number,
                            "%s before any newmtl; name the material first", names[which]);
    float clear = 0;
    sap_status status;
    switch (which) {
    case DIFFUSE: return take_color(mtl, "Kd", rest, material->diffuse);
    case SPECULAR: return take_color(mtl, "Ks", rest, material->specular);
    case EMISSION: return take_color(mtl, "Ke", rest, material->emission);
    case SHININESS: return take_value(mtl, "Ns", rest, &material->shininess);
    case REFRACTION: return take_value(mtl, "Ni", rest, &material->refraction);
    case OPACITY: return take_value(mtl, "d", rest, &material->opacity);
    case TRANSPARENCY:
        status = take_value(mtl, "Tr", rest, &clear);
        if (status == SAP_OK) material->opacity = 1 - clear;
        return status;
    case FILTER: return take_filter(mtl, rest, material->absorption);
    default: return take_illum(mtl, rest, &material->illum);
    }
}

sap_status sap_read_mtl(const sap_source* source, sap_material_table* table) {
    mtl_file mtl = {.source = source, .lines = sap_text_begin(source)};
    sap_material ignored = plain;
    for (sap_span line, word; sap_line_next(&mtl.lines, &line);) {
        if (!sap_word_next(&line, &word) || *word.first == '#') continue;
        if (!sap_span_equal_any_case(word, "newmtl")) {
            sap_status status = take_statement(&mtl, word, line);
            if (status != SAP_OK) return status;
            continue;
        }
        sap_span name = sap_span_trim(line);
        if (name.first == name.last)
            return sap_bad_line(source, SAP_ERROR_FORMAT, mtl.lines.number, "newmtl without a name");
        int32_t material = sap_material_named(source->device, table, name);
        if (material < 0) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for its materials");
        // The next newmtl may move the materials, and then looks this one up no more.
        mtl.material = sap_material_define(table, material) ? sap_material_at(table, material) : &ignored;
    }
    return SAP_OK;
}
