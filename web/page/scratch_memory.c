#include "page.h"
#include <stdio.h>
#include <stdlib.h>
sap_status sap_tree_save_memory(const sap_tree* t, void** b, size_t* n) {
    sap_status s = sap_tree_save(t, "/t.sap");
    if (s) return s;
    FILE* f = fopen("/t.sap", "rb"); fseek(f, 0, SEEK_END); *n = (size_t)ftell(f); rewind(f);
    *b = malloc(*n); fread(*b, 1, *n, f); fclose(f); return SAP_OK;
}
sap_status sap_tree_load_memory(sap_device* d, const void* b, size_t n, sap_tree** t) {
    FILE* f = fopen("/l.sap", "wb"); fwrite(b, 1, n, f); fclose(f);
    return sap_tree_load(d, "/l.sap", t);
}
void sap_bytes_free(sap_device* d, void* b, size_t n) { free(b); }
