# A dictionary with wrong translations: the same words on either side, each target moved on by half
# the lines, so that as many tokens are switched as by the true one. A line stays only if it is
# alone.
BEGIN { FS = OFS = "\t" }
{ source[NR] = $1; target[NR] = $2 }
END {
    if (NR < 2) { print "rotate-dict: a dictionary of " NR " lines" > "/dev/stderr"; exit 1 }
    for (i = 1; i <= NR; i++) print source[i], target[(i + int(NR / 2) - 1) % NR + 1]
}
