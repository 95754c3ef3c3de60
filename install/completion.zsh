#compdef isoglot -P isoglot-*
# zsh completion for isoglot and isoglot-NAME, from `isoglot --complete`
local -a typed said
typed=("${(@)words[2,CURRENT]}")
[[ ${words[1]:t} == isoglot ]] || typed=("${${words[1]:t}#isoglot-}" "${typed[@]}")
if [[ $PREFIX == --*=* ]]; then
    typed[-1]=("${PREFIX%%=*}" '')
    compset -P '*='
fi
said=(${(f)"$(isoglot --complete "${typed[@]}" 2> /dev/null)"})
said=("${(@)said/$'\t'/:}")
if (( $#said )); then _describe isoglot said; else _files; fi
