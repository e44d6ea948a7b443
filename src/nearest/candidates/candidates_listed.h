// A list that writes every point within a radius where its row has room: with it the walks of nearest/walk.h list the points
// in a ball. Text for compute shaders; needs the buffers `ids` and `distance2`.

struct sap_candidates {
    float limit2;
    int place; // of the next
};

sap_candidates sap_candidates_none(int k, float limit2) {
    sap_candidates list;
    list.limit2 = limit2;
    list.place = 0;
    return list;
}

float sap_candidates_limit2(sap_candidates list) { return list.limit2; }
int sap_candidates_limit_id(sap_candidates list) { return SAP_NO_ID; }

sap_candidates sap_candidates_insert(sap_candidates list, float apart2, int id) {
    if (apart2 <= list.limit2) {
        ids[list.place] = id;
        distance2[list.place] = apart2;
        list.place += 1;
    }
    return list;
}
