sapwood build no.ply -o no.sap
