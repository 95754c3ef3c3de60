# The paper's text for German and English, and for French: NewsCrawl 2007 to 2017, newstest2013 to
# choose, newstest2016 (of French 2014) to score, as XLM's scripts take them. No hash is published
# for these; a stage's stamp records what was read. Romanian has a text of its own.
[ "$B" != ro ] || { part newscrawl-ro; return; }
tested=newstest2016
[ "$B" != fr ] || tested=newstest2014-fren
years="2007 2008 2009 2010 2011 2012 2013 2014 2015 2016 2017"
# the sets are SGML; a line is what stands between <seg> and </seg>
sgml="sed -n 's|.*<seg[^>]*>\(.*\)</seg>.*|\1|p'"
sgml+=" | sed 's/\&quot;/\"/g; s/\&lt;/</g; s/\&gt;/>/g; s/\&amp;/\&/g'"
for l in $LANGS; do
    news=
    for y in $years; do
        published raw.news.$y.$l  raw/news/$y.$l.gz newscrawl/$l.$y "gzip -1"
        news+=" raw/news/$y.$l.gz"
    done
    stage raw.train.$l  raw/train.$l : $news : "gzip -dc$news > raw/train.$l"
    published raw.valid.$l  raw/valid.$l wmt/newstest2013.$l.sgm "$sgml"
    published raw.test.$l   raw/test.$l wmt/$tested.$l.sgm "$sgml"
done
part gold
