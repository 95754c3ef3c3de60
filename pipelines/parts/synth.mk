# Text of two invented languages, whose dictionary is known. No network.
A := xa
B := xb
SYNTH_SEED ?= 1
$(call stage,raw.synth,$(foreach l,$A $B,synth/mono.$l synth/dev.$l synth/test.$l) synth/dict.tsv,\
  synth-corpus --out synth $(SYNTH) --seed $(SYNTH_SEED))
$(foreach l,$A $B,\
  $(call stage,raw.train.$l,raw/train.$l,cp synth/mono.$l raw/train.$l)\
  $(call stage,raw.valid.$l,raw/valid.$l,cp synth/dev.$l raw/valid.$l)\
  $(call stage,raw.test.$l,raw/test.$l,cp synth/test.$l raw/test.$l))
$(call stage,raw.gold,raw/gold.tsv,sed "s/.*/\L&/" synth/dict.tsv > raw/gold.tsv)
