# shrink.awk -v SHRINK=N PLAN: a plan with its sizes divided and nothing else changed, for `make
# rehearse/X`: the same stages with the same options. Widths, tokens and batches are an Nth; every
# training has 12 steps, and what else is counted in its steps shrinks with them, but it is
# validated and saved four times at most; vocabularies, queues and numbers of pairs are what
# stand-in.awk's texts bear.
BEGIN { FS = OFS = "\t"; if (!SHRINK) SHRINK = 16; STEPS = 12 }
/^#/ || $6 !~ /(pretrain|finetune|align-post|bpe-learn|vocab-count|embed|ngrams|dict-induce) / {
    print; next
}
{
    n = split($6, w, " "); steps = 0; text = ""
    for (i = 1; i < n; i++) if (w[i] == "--steps") steps = w[i + 1]
    for (i = 1; i <= n; i++) text = text (i > 1 ? " " : "") shrunk(w[i - 1], w[i])
    $6 = text
    print
}
function at_least(least, v) { v = int(v); return v < least ? least : v }
# a number of steps; of a training by epochs, as though it had 5,000
function of_steps(v) { return at_least(1, v * STEPS / (steps ? steps : 5000)) }
function ramp(v,    part, k, m, pair, s) {
    if (v !~ /:/) return v
    m = split(v, part, ",")
    for (k = 1; k <= m; k++) {
        split(part[k], pair, ":")
        s = s (k > 1 ? "," : "") (pair[1] ? of_steps(pair[1]) + k - 1 : 0) ":" pair[2]
    }
    return s
}
function shrunk(option, v) {
    if (option == "--denoise") return ramp(v)
    if (v !~ /^[0-9]+$/) return v
    if (option == "--steps") return STEPS
    if (option == "--warmup") return v ? of_steps(v) : v
    # a fifth validation would show nothing that four do not
    if (option ~ /^--(valid|save)-every$/) return v ? at_least(STEPS / 4, of_steps(v)) : v
    if (option == "--epochs") return 1
    if (option ~ /^--(dim|ffn|embed-dim|projection)$/) return at_least(16, v / SHRINK)
    if (option == "--tokens") return at_least(512, v / SHRINK)
    if (option == "--batch") return at_least(2, v / SHRINK)
    if (option == "--accumulate") return at_least(1, v / SHRINK)
    if (option == "-n") return at_least(200, v / 100)
    if (option == "--max-size") return at_least(100, v / 100)
    if (option == "--top") return at_least(100, v / 1000)
    if (option == "--queue") return at_least(16, v / 2000)
    if (option == "--pairs") return at_least(64, v / 10000)
    if (option == "--specific") return 2
    return v
}
