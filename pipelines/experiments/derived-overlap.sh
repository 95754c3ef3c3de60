# ALIGN-MLM's ablation: 0, 25, 50% of the types are shared by the language and its copy (Table 7),
# inverted and transliterated: OVERLAP=0.25 make ... in a run folder of its own each.
# SCALE=demo runs it on the invented language.
setting TRANSFORMS trans-inv
setting SYSTEMS "mlm xlm align"
setting OVERLAP 0.25
FOLDER=derived-overlap-$OVERLAP
part derived-base
