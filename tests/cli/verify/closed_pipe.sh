sapwood build five.xyz -q -o five.sap && closed_pipe sapwood verify five.sap
