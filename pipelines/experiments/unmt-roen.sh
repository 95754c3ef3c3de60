# Unsupervised translation, English and Romanian, as unmt-deen (MLM-GC's Table 4). Romanian is
# normalised and loses its diacritics, as XLM's scripts do it: translations have none, so BLEU is
# printed against the references as they are and (BLEU-plain) without theirs, too. Multi30k has no
# Romanian: French captions stand in below SCALE=paper, to prove the plumbing.
languages en ro
roman="--normalise-romanian --remove-diacritics"
tokenizing[ro]=$roman
alike[ro]="tokenize -l ro --no-tokenize $roman" alike_name[ro]=BLEU-plain
if [ $SCALE = paper ]; then part newscrawl-ro; else part captions-ro; fi
part translation
paper A 4
