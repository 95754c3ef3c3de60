# paper: the values of the paper that an experiment is from, a file for each (paper/*.sh). What no
# paper has is refused: its numbers would stand under a published name.
case $EXPERIMENT in
unmt-*|analysis-deen|gc-sweep|gc-fail|xlu|mono) preset paper/gc;;
cs-deen|cs-xlmr) preset paper/cs;;
derived|derived-dict|derived-parallel|derived-overlap|derived-alpha) preset paper/align;;
ppa-deen|ppa-mbert) preset paper/ppa;;
tasks-deen|mt-deen) refuse "SCALE=paper" "no paper has $EXPERIMENT, which learns from 29,000" \
    "captions; it has smoke and mini (SCALE=paper of xlu has published tasks)";;
*-demo|demo|gc-anchors) refuse "SCALE=paper: invented languages have smoke and demo" \
    "no paper has $EXPERIMENT";;
gc-wiki) refuse "SCALE=paper" "no paper has gc-wiki: Wikipedia's 50 MB are for smoke, mini" \
    "and gpu";;
# a recipe of one's own: MLM-GC's values, which suit any pair of languages
*) preset paper/gc;;
esac
