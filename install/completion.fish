# fish completion for isoglot and isoglot-NAME, from `isoglot --complete`
function __isoglot_complete
    set -l typed (commandline -opc)
    set -l name (string replace -r '.*/' '' -- $typed[1])
    set -e typed[1]
    test $name = isoglot; or set typed (string replace isoglot- '' -- $name) $typed
    isoglot --complete $typed (commandline -ct) 2> /dev/null
end
for command in isoglot isoglot-(isoglot --list 2> /dev/null)
    complete -c $command -a '(__isoglot_complete)'
end
