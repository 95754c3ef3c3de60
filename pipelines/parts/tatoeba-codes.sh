# three LANGUAGE: its code in Tatoeba's files (LASER's selection). tatoeba_pair LANGUAGE: its pairs
# with English, as raw/tatoeba.LANGUAGE.{en,LANGUAGE}.
three() {
    case $1 in
        af) echo afr;; ar) echo ara;; bn) echo ben;; bg) echo bul;; zh) echo cmn;; de) echo deu;;
        el) echo ell;; et) echo est;; eu) echo eus;; fi) echo fin;; fr) echo fra;; he) echo heb;;
        hi) echo hin;; hu) echo hun;; id) echo ind;; it) echo ita;; jv) echo jav;; ja) echo jpn;;
        ka) echo kat;; kk) echo kaz;; ko) echo kor;; ml) echo mal;; mr) echo mar;; nl) echo nld;;
        fa) echo pes;; pt) echo por;; ru) echo rus;; es) echo spa;; sw) echo swh;; ta) echo tam;;
        te) echo tel;; tl) echo tgl;; th) echo tha;; tr) echo tur;; ur) echo urd;; vi) echo vie;;
        *) refuse "language $1" "Tatoeba's code for it is not in parts/tatoeba-codes.sh";;
    esac
}
tatoeba_pair() {
    local code; code=$(three $1) || exit
    published raw.tatoeba.$1.en  raw/tatoeba.$1.en tatoeba/$code-eng.eng
    published raw.tatoeba.$1.$1  raw/tatoeba.$1.$1 tatoeba/$code-eng.$code
}
