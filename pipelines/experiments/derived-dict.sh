# ALIGN-MLM's ablation: dictionaries of 25, 50 and 100% of the types, and of the 25% most
# frequent (Tables 2, 4, 5), inverted and transliterated.
# SCALE=demo runs it on the invented language.
setting TRANSFORMS trans-inv
setting SYSTEMS "dict dict-50 dict-100 align align-50 align-100 align-freq"
part derived-base
