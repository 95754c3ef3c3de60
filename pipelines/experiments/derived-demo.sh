# ALIGN-MLM on an invented language and its disguises, where every tag and every translation is
# known: four objectives, transliterated and inverted; what a tagger that was trained on one side
# can do on the other.
part derived-base
