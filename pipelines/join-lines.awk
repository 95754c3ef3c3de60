# join-lines.awk -v APART=N TEXT: joins lines 1, N + 1, 2 N + 1, ... to one, 2, N + 2, ... to the
# next, and so on.
{ line[NR % APART] = line[NR % APART] " " $0 }
END { for (i = 1; i <= APART && i <= NR; i++) print substr(line[i % APART], 2) }
