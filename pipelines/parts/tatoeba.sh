# Sentence pairs of Tatoeba (LASER's selection) of English, the language A, and another, B.
part tatoeba-codes
[ $A = en ] || refuse "language $A" "the first language of Tatoeba's pairs is en"
other=$(three $B)
published raw.tatoeba.$A  raw/tatoeba.$A tatoeba/$other-eng.eng
published raw.tatoeba.$B  raw/tatoeba.$B tatoeba/$other-eng.$other
