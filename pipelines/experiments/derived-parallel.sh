# ALIGN-MLM's ablation: XLM with 1, 10, 25 and 100% of the sentence pairs (Tables 1, 6), inverted
# and transliterated.
# SCALE=demo runs it on the invented language.
setting TRANSFORMS trans-inv
setting SYSTEMS "xlm-1 xlm-10 xlm-25 xlm-100"
part derived-base
