# The paper's text for English and Romanian: NewsCrawl 2007 to 2017 and 2015 (XLM's choice; MLM-GC
# says 2016), newsdev2016 to choose, newstest2016 to score (no hash is published).
news=
for y in 2007 2008 2009 2010 2011 2012 2013 2014 2015 2016 2017; do
    published raw.news.$y  raw/news/$y.en.gz newscrawl/en.$y "gzip -1"
    news+=" raw/news/$y.en.gz"
done
stage raw.train.en  raw/train.en :$news : "gzip -dc$news > raw/train.en"
published raw.train.ro  raw/train.ro newscrawl/ro.2015
sgml="sed -n 's|.*<seg[^>]*>\(.*\)</seg>.*|\1|p'"
sgml+=" | sed 's/\&quot;/\"/g; s/\&lt;/</g; s/\&gt;/>/g; s/\&amp;/\&/g'"
for l in en ro; do
    published raw.valid.$l  raw/valid.$l wmt/newsdev2016-roen.$l.sgm "$sgml"
    published raw.test.$l  raw/test.$l wmt/newstest2016-roen.$l.sgm "$sgml"
done
part gold-muse
