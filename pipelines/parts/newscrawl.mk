# The paper's text for German and English: NewsCrawl 2007 to 2017, newstest2013 to choose, newstest2016 to score, as XLM's
# scripts take them. No hash is published for these; a stage's stamp records what was read.
years = 2007 2008 2009 2010 2011 2012 2013 2014 2015 2016 2017
$(foreach l,en de,\
  $(foreach y,$(years),$(call stage,raw.news.$y.$l,raw/news/$y.$l.gz,$(fetch) newscrawl/$l.$y | gzip -1 > raw/news/$y.$l.gz))\
  $(call stage,raw.train.$l,raw/train.$l,gzip -dc $(foreach y,$(years),raw/news/$y.$l.gz) > raw/train.$l))
# the sets are SGML; a line is what stands between <seg> and </seg>
plain = sed -n 's|.*<seg[^>]*>\(.*\)</seg>.*|\1|p' | sed 's/\&quot;/"/g; s/\&lt;/</g; s/\&gt;/>/g; s/\&amp;/\&/g'
$(foreach l,en de,\
  $(call stage,raw.valid.$l,raw/valid.$l,$(fetch) wmt/newstest2013.$l.sgm | $(plain) > raw/valid.$l)\
  $(call stage,raw.test.$l,raw/test.$l,$(fetch) wmt/newstest2016.$l.sgm | $(plain) > raw/test.$l))
