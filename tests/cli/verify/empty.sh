: > empty.sap; sapwood verify empty.sap
