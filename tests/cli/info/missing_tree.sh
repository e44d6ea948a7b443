sapwood info no.sap
