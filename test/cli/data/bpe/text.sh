#!/bin/sh
# Invented text for test/cli/bpe.sh and test/peers/bpe.sh: words of many scripts, frequent ones more
# often, with numbers, combining marks, joiners, doubled letters, empty lines, runs of spaces and
# long words. Always the same bytes.
awk 'function draw(n) { x = (x * 16807) % 2147483647; return int(x / 2147483647 * n) }
function word(   s, k, n, i, script) {
    script = draw(scripts); n = 1 + draw(4); s = ""
    if (draw(40) == 0) n = 12 + draw(90)
    for (i = 0; i < n; i++) { k = draw(size[script]); s = s part[script, k + 1] }
    return s
}
BEGIN {
    x = 20
    all[0] = "the an d er ing tion s a be re com"
    all[1] = "sch en lich ung ä ö ß ge ver die"
    all[2] = "пр о ст и ни е ть вы ё й"
    all[3] = "κα ι το ν η ς ά λό γος"
    all[4] = "न म स् ते हि न्दी क् ष ा"
    all[5] = "中 文 的 一 是 不 了 人 我"
    all[6] = "ไ ท ย ก า ร ที่ น้ำ"
    all[7] = "و ال ب م ن ة ل ك"
    all[8] = "aa aaa b bb aba ab ba a"
    all[9] = "e\314\201 o\314\210 👩\342\200\215👩 \342\200\213 𝔘 𐍈 é ö"
    all[10] = "0 1 2 19 7 Debian - . \047 \\ * #"
    scripts = 11
    for (i = 0; i < scripts; i++) { size[i] = split(all[i], p, " ");
        for (k = 1; k <= size[i]; k++) part[i, k] = p[k] }
    types = 900
    for (i = 0; i < types; i++) type[i] = word()
    type[0] = "the"; type[1] = ","; type[2] = "and"; type[3] = "Debian"; type[9] = "Debian12"
    for (line = 1; line <= 1200; line++) {
        s = ""; n = draw(22)
        for (i = 0; i < n; i++) {
            u = draw(1000000) / 1000000
            s = s (i ? " " : "") type[int(types * u * u * u)] (draw(60) ? "" : " ")
        }
        if (draw(50) == 0) s = " " s
        print s
    }
}'
