# awk -v how=majority|lexical -f qa-baseline.awk squad.json: answers without a model, as
# predictions. majority: the context's first three words. lexical: the sentence with the largest
# share of the question's words, without these words. Reads XQuAD's layout, one value per line;
# strings stay as they are escaped.
function value(s) { sub(/^ *"[a-z]*": "/, "", s); sub(/",?$/, "", s); return s }
function bare(w) { gsub(/[.,;:!?()]/, "", w); gsub(/\\"/, "", w); return tolower(w) }
function answer(  n, i, k, m, s, w, v, asked, best, most, hits, out) {
    n = split(context, w, " ")
    if (how == "majority") return w[1] (n > 1 ? " " w[2] : "") (n > 2 ? " " w[3] : "")
    m = split(question, v, " ")
    for (i = 1; i <= m; i++) asked[bare(v[i])] = 1
    n = split(context, s, /[.!?] */)
    for (i = 1; i <= n; i++) {
        m = split(s[i], v, " ")
        hits = 0
        for (k = 1; k <= m; k++) hits += bare(v[k]) in asked
        if (m && hits / (m + 3) > most) { most = hits / (m + 3); best = i }
    }
    m = split(best ? s[best] : s[1], v, " ")
    for (k = 1; k <= m; k++)
        if (!(bare(v[k]) in asked)) out = out (out == "" ? "" : " ") v[k]
    return out == "" ? s[1] : out
}
/^ *"context": "/ { context = value($0) }
/^ *"id": "/ { id = value($0) }
/^ *"question": "/ {
    question = value($0)
    printf "%s\"%s\": \"%s\"", (any++ ? ",\n " : "{"), id, answer()
}
END { print any ? "}" : "{}" }
