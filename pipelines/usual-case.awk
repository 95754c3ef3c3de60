# usual-case.awk A B GOLD: a dictionary's words as a text spells them, which has letters' case. A
# and B: "word count lower-case count", the words of two languages; GOLD: "source <tab> target <tab>
# both in lower case". The dictionary's own spelling stays where the text has it at least a tenth as
# often as the one it has most (Essen beside essen); else it is that one; words that no spelling of
# is there stay as they are.
BEGIN { OFS = "\t" }
FNR == 1 { file++; if (file == 3) FS = "\t"; $0 = $0 }
file < 3 {
    count[file, $1] = $2
    if ($2 > most[file, $3]) { most[file, $3] = $2; usual[file, $3] = $1 }
    next
}
NF == 4 { print spelt(1, $1, $3), spelt(2, $2, $4) }
function spelt(side, word, lower) {
    if (!((side, lower) in most) || 10 * count[side, word] >= most[side, lower]) return word
    return usual[side, lower]
}
