# ALIGN-MLM (Tang et al. 2022), Table 3, Figures 1 to 3: English and its disguises, four objectives,
# parts of speech, names and inference.
part derived-base
