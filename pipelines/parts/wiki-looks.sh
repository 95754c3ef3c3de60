# For cs-deen and ppa-deen of TEXT=wiki: their models of both languages are encoders that start from
# nothing, in a folder of their own, and every one of them is fine-tuned on XTREME's tasks, too.
FOLDER=encoders
[ -z "${CS_UNMT-}" ] || refuse "CS_UNMT TEXT=wiki" "translators of code switching are captions'"
tuned_from=pretrain
also() {
    scores=
    zero_shot s$1/$2 $1 "${title[$2]}"
    results+=$scores
}
