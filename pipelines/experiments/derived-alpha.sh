# ALIGN-MLM's ablation: ALIGN's weight 1, 10 and 100 (appendix G.5), inverted and transliterated.
# SCALE=demo runs it on the invented language.
setting TRANSFORMS trans-inv
setting SYSTEMS "align-a1 align-a10 align-a100"
part derived-base
