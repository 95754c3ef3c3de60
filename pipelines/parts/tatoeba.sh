# Sentence pairs of Tatoeba (LASER's selection) of English, the language A, and another, B.
three() {
    case $1 in
        de) echo deu;; fr) echo fra;; es) echo spa;; it) echo ita;; ru) echo rus;;
        *) refuse "language $1" "Tatoeba's code for it is not in parts/tatoeba.sh";;
    esac
}
[ $A = en ] || refuse "language $A" "the first language of Tatoeba's pairs is en"
other=$(three $B)
published raw.tatoeba.$A  raw/tatoeba.$A tatoeba/$other-eng.eng
published raw.tatoeba.$B  raw/tatoeba.$B tatoeba/$other-eng.$other
