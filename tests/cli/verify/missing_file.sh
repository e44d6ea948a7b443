sapwood verify no.sap
