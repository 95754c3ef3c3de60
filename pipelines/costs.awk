# costs.awk -v DEVICE=cuda -v GPUS=N -v CORES=N RATES PLAN: what a plan costs on a machine that is
# not this one, from measured rates (rates.tsv): hours of training, of text, disk, a GPU's memory,
# and what that assumes. The row of rates that is nearest in weights is scaled by them. DISK=1
# prints the GB alone, for conduct, which refuses a plan that does not fit.
BEGIN { FS = "\t" }
FNR == NR {
    if ($1 == "speed" && $2 == DEVICE) {
        n++; kind[n] = $4; rate[n] = $7; memory[n] = $8; source = $9
        weights_of[n] = 12 * $5 * $6 * $6
    }
    if ($1 == "text") text = $2
    if ($1 == "disk") disk = $2
    if ($1 == "size") size[$2] = $3
    next
}
/^#/ { next }
match($6, /sources\.tsv [^ ]+/) {
    name = substr($6, RSTART + 12, RLENGTH - 12); found = 0
    for (s in size) if (index(name, s) == 1) { raw += size[s]; found = 1 }
    if (!found && name ~ /train/ && name !~ /xnli|squad|multi30k|panx|conllu|bli/)
        unknown_text = unknown_text (unknown_texts++ < 3 ? " " name : "")
}
$2 == "gpu" && $6 ~ /(^| )(pretrain|finetune|align-post) / { trained($6) }
function option(c, name,    v) {
    if (!match(c, " --" name " +[0-9.]+")) return 0
    v = substr(c, RSTART, RLENGTH); sub(/.* /, "", v)
    return v + 0
}
function weights(c,    d) {
    d = option(c, "dim")
    return option(c, "layers") * d * (4 * d + 2 * option(c, "ffn"))
}
# seconds for TOKENS by the row of KIND that is nearest to W weights
function seconds(what, w, tokens,    i, r, best, near) {
    for (i = 1; i <= n; i++) if (kind[i] == what) {
        r = log(w / weights_of[i]); if (r < 0) r = -r
        if (!best || r < near) { best = i; near = r }
    }
    if (memory[best] > most) most = memory[best]
    return tokens / rate[best] * (w + 500000) / (weights_of[best] + 500000)
}
function trained(c,    w, step, steps, objectives, k, m, passes) {
    w = weights(c); if (w) model = w; else w = model
    steps = option(c, "steps"); k = option(c, "accumulate"); if (!k) k = 1
    step = option(c, "tokens"); if (!step) step = option(c, "batch") * option(c, "stream")
    if (c ~ /align-post/) {         # a pair is some 60 tokens, read by two encoders and once more
        w = 12 * 12 * 768 * 768; steps = 1; k = 1
        step = option(c, "pairs") * option(c, "epochs") * 60 * 3
    }
    if (!n) return
    if (!steps || !step || !w) { untimed++; return }
    trainings++
    if (c ~ /--task unmt/) {        # both directions, and denoising of half as much of either
        sum += steps * (seconds("back", 2 * w, 2 * step * k) + seconds("mt", 2 * w, step * k))
        return
    }
    if (c ~ /--task mt/) { sum += steps * seconds("mt", 2 * w, step * k); return }
    passes = 1
    if (match(c, /--objective [a-z,]+/)) {
        m = split(substr(c, RSTART + 12, RLENGTH - 12), objectives, ","); passes = 0
        for (i = 1; i <= m; i++) if (objectives[i] !~ /^(gc|sop|align|moco)$/) passes++
        if (!passes) passes = 1
    }
    sum += steps * passes * seconds(c ~ /--objective mass/ ? "mt" : "mlm",
        c ~ /--objective mass/ ? 2 * w : w, step * k)
}
function hours(s) {
    return s < 5400 ? sprintf("%.0f minutes", s / 60) : sprintf("%.0f hours", s / 3600)
}
END {
    if (DISK) { printf "%d\n", raw * disk; exit }
    if (n) {
        printf "%d trainings: %s of one GPU in bf16", trainings, hours(sum)
        if (GPUS > 1) printf ", %s of %d", hours(sum / GPUS), GPUS
        print "\n  by the rates of " source (GPUS > 1 ? \
            "; all GPUs are kept busy, by trainings side by side (-j) or RANKS" : "")
        print "  without " (untimed ? untimed " trainings by epochs, " : "") \
            "translations, vectors and tests: minutes each"
    }
    if (raw) printf "text: %.0f GB, %s of %d cores (gzip and sed have one); disk: %d GB, %.1f " \
        "bytes a raw byte\n", raw, hours(raw * text / CORES), CORES, raw * disk, disk
    if (unknown_texts)
        print "  without" unknown_text \
            (unknown_texts > 3 ? " and " unknown_texts - 3 " more" : "") ", whose size is not known"
    if (n) printf "memory: %.0f GiB of a GPU for batches as measured; of counting 8 bytes a " \
        "token, or what --memory says\n", most
}
