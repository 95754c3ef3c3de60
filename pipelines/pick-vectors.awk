# pick-vectors.awk -v COLUMN=N -v MOST=N DICT... VEC: of word vectors as text those of the words in
# that column of dictionaries, of whose lines the first MOST count.
FILENAME != ARGV[ARGC - 1] { if (FNR <= MOST) want[$COLUMN]; next }
FNR == 1 { width = $2; next }
$1 in want { row[++n] = $0; delete want[$1] }
END { print n + 0, width; for (i = 1; i <= n; i++) print row[i] }
