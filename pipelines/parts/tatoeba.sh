# Sentence pairs of Tatoeba (LASER's selection) of English, the language A, and another, B.
three() {
    case $1 in
        af) echo afr;; ar) echo ara;; bn) echo ben;; bg) echo bul;; zh) echo cmn;; de) echo deu;;
        el) echo ell;; et) echo est;; eu) echo eus;; fi) echo fin;; fr) echo fra;; hi) echo hin;;
        hu) echo hun;; id) echo ind;; it) echo ita;; jv) echo jav;; ja) echo jpn;; ka) echo kat;;
        kk) echo kaz;; ml) echo mal;; mr) echo mar;; fa) echo pes;; ru) echo rus;; es) echo spa;;
        te) echo tel;; tl) echo tgl;; th) echo tha;; ur) echo urd;;
        *) refuse "language $1" "Tatoeba's code for it is not in parts/tatoeba.sh";;
    esac
}
[ $A = en ] || refuse "language $A" "the first language of Tatoeba's pairs is en"
other=$(three $B)
published raw.tatoeba.$A  raw/tatoeba.$A tatoeba/$other-eng.eng
published raw.tatoeba.$B  raw/tatoeba.$B tatoeba/$other-eng.$other
