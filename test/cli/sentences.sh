# Wikipedia from WikiExtractor's output: articles of both of its forms, however packed, become
# sentences, by hand what the rules of Moses' split-sentences.perl say of each; recipes of
# SCALE=paper make their text of it, without repeats.
. "$TOP/test/cli/lib.sh"
unset CORPUS_CACHE REHEARSE ISOGLOT_DATA START RANKS PRECISION
P=$TOP/pipelines
mkdir -p de/AA de/AB
cat > de/AA/wiki_00 <<'X'
<doc id="1" url="https://de.wikipedia.org/wiki?curid=1" title="Turing &amp; Co">
Turing &amp; Co

Alan M. Turing (* 23. Juni 1912 in London; † 7. Juni 1954) war Logiker. Er lebte z. B. in Bonn.
„Können Maschinen denken?“ Das fragte er... Ähnliches fragt Dr. Öhler bis heute! 1936 kam es.
Er sagte:&lt;br&gt;„Nein.“ Danach ging er. weiter im R.&amp;nbsp;E. M. Haus. (Es blieb.) Ende

</doc>
<doc id="2" url="x" title="Leer">
Leer

</doc>
X
cat > de.want <<'X'
Alan M. Turing (* 23. Juni 1912 in London; † 7. Juni 1954) war Logiker.
Er lebte z. B. in Bonn.
„Können Maschinen denken?“
Das fragte er...
Ähnliches fragt Dr. Öhler bis heute! 1936 kam es.
Er sagte: „Nein.“
Danach ging er. weiter im R. E. M. Haus.
(Es blieb.)
Ende

Zweiter Artikel.
Er ist "neu" \ kurz 😀é.
X
printf '%s\n' '{"id": "3", "revid": "9", "url": "u", "title": "\"B\" \u00e9", "text": '\
'"\"B\" \u00e9\n\nZweiter Artikel. Er ist \"neu\" \\ kurz \ud83d\ude00\u00e9.\n"}' \
    '{"id": "4", "url": "u", "title": "C", "text": ""}' | bzip2 > de/AB/wiki_00.bz2
"$P/sentences" --documents de de > out; same out de.want
"$P/sentences" de de > out; grep . de.want > want; same out want

# English's list, a number behind "No."; the scripts that have stops of their own, or no capitals
article() { printf '<doc id="1" url="u" title="x">\nx\n\n%s\n</doc>\n' "$1"; }
article 'Mr. Smith left the U.S. Army. See No. 5. No. He said "go." Then 3 came.' | gzip > en.gz
is "$("$P/sentences" en en.gz)" "$(printf '%s\n' 'Mr. Smith left the U.S. Army.' 'See No. 5.' \
    No. 'He said "go."' 'Then 3 came.')"
article '他来了。她走了！“好。”他说。' | zstd -q > zh
is "$("$P/sentences" zh zh)" "$(printf '%s\n' 他来了。 她走了！ “好。” 他说。)"
article 'यह है। वह था।' > hi; is "$("$P/sentences" hi hi)" "$(printf 'यह है।\nवह था।')"
article 'كيف حالك؟ قال د. سامي نعم. أنا بخير.' > ar
is "$("$P/sentences" ar ar)" "$(printf 'كيف حالك؟\nقال د. سامي نعم.\nأنا بخير.')"
article 'เขามา แล้วก็ไป' > th; is "$("$P/sentences" th th)" 'เขามา แล้วก็ไป'

# one page as WikiExtractor 3.1.0 itself wrote it, in both forms: a backslash and a "u" are text
cat > page <<'X'
<doc id="12" url="?curid=12" title="Test &amp; café">
Test &amp; café

Test is a term used in. It has "quotes" &amp; an ampersand (e.g. 𝒳 and \u00e9).
History.
The "end" of history was reached in 1990,  after all. A picture.

</doc>
X
printf '%s' '{"id": "12", "revid": "1", "url": "?curid=12", "title": ' \
    '"Test &amp; caf\u00e9", "text": "Test is a term used in. ' \
    'It has \"quotes\" &amp; an ampersand (e.g. \ud835\udcb3 ' \
    'and \\u00e9).\nHistory.\nThe \"end\" of history was reached in 1990, \u00a0after all. ' \
    'A picture."}' > page.json
cat > page.want <<'X'
Test is a term used in.
It has "quotes" & an ampersand (e.g. 𝒳 and \u00e9).
History.
The "end" of history was reached in 1990, after all.
A picture.
X
for f in page page.json; do "$P/sentences" en $f > out; same out page.want; done

# what is none of it, or cut off
echo text > none; fails 1 "none: line 1: not WikiExtractor's" "$P/sentences" de none
head -n 4 de/AA/wiki_00 > cut; fails 1 'cut: line 4: an article without </doc>' \
    "$P/sentences" de cut
head -c 80 de/AB/wiki_00.bz2 > torn; fails 1 'torn: .*damaged' "$P/sentences" de torn
fails 1 'nowhere: no such file' "$P/sentences" de nowhere

# recipes: what is in CORPUS_CACHE decides; text prepared elsewhere goes before
plan() { EXPERIMENTS=$P/experiments TOP=$TOP BIN=$BIN SCALE=paper SEEDS=1 DEVICE=auto \
    CORPUS_CACHE=$PWD/cache "$P/plan" "$1"; }
mkdir -p cache/wikipedia-extracted cache/wiki15 raw
cp -R de cache/wikipedia-extracted
for k in 1 2; do article "$(seq -f 'Satz Nummer %.0f ist da.' 1 200 | tr '\n' ' ')"
done > cache/wikipedia-extracted/de/AA/wiki_01
plan gc-fail > plan
grep -q '^raw.train.en.*wiki15/train.en' plan || fail "English, which is not there"
command_of() { TOP=$TOP bash -euc "$(awk -F'\t' -v n="$1" '$1 == n { print $6 }' plan)"; }
command_of raw.wikipedia.de
command_of raw.parts.de
is "$(cat raw/{train,valid,test}.de | sort)" \
    "$({ cat want; seq -f 'Satz Nummer %.0f ist da.' 1 200; } | sort)" "each sentence once"
echo x > cache/wiki15/train.de; plan xlu > plan
grep -q '^raw.train.de.*wiki15/train.de' plan || fail "text that was prepared elsewhere"
mkdir cache/wikipedia-extracted/en
for k in $(seq 2001); do echo "{\"title\": \"t\", \"text\": \"Number $k. It ends.\"}"; done \
    > cache/wikipedia-extracted/en/wiki_00
plan mono > plan
command_of raw.wikipedia
command_of raw.parts
is "$(cat raw/valid.en)" "$(printf 'Number %s.\nIt ends.\n\n' 1000 2000)"
is "$(cat raw/test.en)" "$(printf 'Number %s.\nIt ends.\n\n' 1 1001 2001)"
is "$(grep -c '^$' raw/train.en)" 1996
# few articles: the last to choose, the first to test; too few are said to be
head -n 5 cache/wikipedia-extracted/en/wiki_00 > few && mv few cache/wikipedia-extracted/en/wiki_00
command_of raw.wikipedia
command_of raw.parts
is "$(head -n 1 raw/test.en; head -n 1 raw/valid.en; grep -c '^$' raw/train.en)" \
    "$(printf 'Number %s.\n' 1 5; echo 3)"
head -n 2 cache/wikipedia-extracted/en/wiki_00 > few && mv few cache/wikipedia-extracted/en/wiki_00
command_of raw.wikipedia
fails 1 '^2 articles: too few to learn from' command_of raw.parts
