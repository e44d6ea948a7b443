# Text is rounded to the tree's type without a word: 0.1 is meant.
sapwood build five.xyz -q -o five.sap
echo 0.1 0.2 0.3 | sapwood nearest five.sap -
