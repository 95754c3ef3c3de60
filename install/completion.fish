# fish completion for isoglot and isoglot-NAME, from `isoglot --complete`
function __isoglot_complete
    set -l typed (commandline -opc)
    set -l name (string replace -r '.*/' '' -- $typed[1])
    set -e typed[1]
    test $name = isoglot; or set typed (string replace isoglot- '' -- $name) $typed
    set -l said (isoglot --complete $typed (commandline -ct) 2> /dev/null)
    # files only where no list says what may stand there
    if set -q said[1]
        printf '%s\n' $said
    else
        __fish_complete_path (commandline -ct)
    end
end
for command in isoglot isoglot-(isoglot --list 2> /dev/null)
    complete -c $command -f -a '(__isoglot_complete)'
end
