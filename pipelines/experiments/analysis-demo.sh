# What the models of demo know of one another's words and sentences, where every translation is
# known. It works in demo's run folder, takes the models that are there and trains what is missing.
FOLDER=demo
part synth
part analysis
