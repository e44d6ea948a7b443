sapwood verify five.sap --all
