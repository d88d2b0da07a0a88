# SPDX-License-Identifier: MIT
# Completion of tendon-gateway for bash: options are those of its own help.
_tendon_gateway() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    case $before in
        --define) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --radio) mapfile -t COMPREPLY < <(compgen -W "bluez virtual" -- "$word") ;;
        --osc-recenter) mapfile -t COMPREPLY < <(compgen -W "full yaw" -- "$word") ;;
        --families | --ignore)
            mapfile -t COMPREPLY < <(compgen -W "all bose feelspace activ5 fjorden obvious" -- "$word")
            ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null |
                sed -n 's/^  \(--[a-z-]*\).*/\1/p')" -- "$word")
            ;;
    esac
}
complete -F _tendon_gateway tendon-gateway
