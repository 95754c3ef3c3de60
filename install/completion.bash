# bash completion for isoglot and isoglot-NAME, from `isoglot --complete`
_isoglot() {
    local cur=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD program=${1##*/} words said
    COMPREPLY=()
    # --name=value stands in three words
    [ "$cur" != "=" ] || cur=
    words=("${COMP_WORDS[@]:1:at - 1}")
    [ "${words[*]: -1}" != "=" ] || unset 'words[-1]'
    [ "$program" = isoglot ] || words=("${program#isoglot-}" "${words[@]}")
    said=$("${1%"$program"}isoglot" --complete "${words[@]}" "$cur" 2>/dev/null | cut -f 1)
    COMPREPLY=($(compgen -W "$said" -- "$cur"))
    [ ${#COMPREPLY[@]} -gt 0 ] || case $cur in
        *=*) local f=${cur#*=}; COMPREPLY=($(compgen -f -- "${f##*,}"));;
        *) COMPREPLY=($(compgen -f -- "$cur"));;
    esac
}
complete -o default -F _isoglot isoglot $(isoglot --list 2>/dev/null | sed 's/^/isoglot-/')
