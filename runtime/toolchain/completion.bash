# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion of dprof's commands in bash. What there is they say themselves (--help), so nothing is listed here.

_dprof_options() { # command...
	"$@" --help 2>/dev/null | sed -n 's/^ \+\(-[^ ], \)\?\(--[a-z-]*\)\(\[\?=\)\?.*/\2\3/p'
}

_dprof_commands() {
	dprof-analyze --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_dprof_formats() {
	dprof-analyze export --help 2>/dev/null | sed -n '/^Formats:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p'
}

_dprof_models() { # the list behind --model's colon, over several lines
	dprof-analyze diagnose --help 2>/dev/null | tr -s ' \n' ' ' | sed -n 's/.*--model=MODEL [^:]*: \([^(]*\) (default).*/\1/p' |
		sed 's/, or /, /; s/, /\n/g'
}

# What an option of a command takes, if it is a word of a list. What bash splits at = comes as three words.
_dprof_values() { # command option
	case "$1 $2" in
	"export --to" | "export -T") _dprof_formats ;;
	"diagnose --model" | "diagnose -M") _dprof_models ;;
	esac
}

# Whether what stands behind the option is a file's name; of no option, whether a command's own argument is.
_dprof_takes_file() { # command option
	case "$1 $2" in
	"pack "* | "sites "* | "audit "* | "export "*) return 0 ;;
	*" --"*) dprof-analyze ${1:+"$1"} --help 2>/dev/null | grep -q -- "$2=FILE" ;;
	*) return 1 ;;
	esac
}

_dprof_analyze() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' option='' one values
	local -a commands
	mapfile -t commands < <(_dprof_commands)
	for one in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ $command || " ${commands[*]} " != *" $one "* ]] || command=$one # --to coz: the command came before
	done
	option=$before
	[[ $before != = ]] || option=${COMP_WORDS[COMP_CWORD - 2]}
	values=$(_dprof_values "$command" "$option")
	compopt -o filenames 2>/dev/null
	if [[ $values ]]; then
		[[ $word != = ]] || word=
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
	elif [[ $before == = || $word == = ]]; then
		[[ $word != = ]] || word=
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_dprof_options dprof-analyze ${command:+"$command"})" -- "$word")
		if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
			compopt -o nospace 2>/dev/null || : # there is none while this is tested
		fi
	elif _dprof_takes_file "$command" "$option"; then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -d -- "$word"; [[ $command ]] || compgen -W "${commands[*]}" -- "$word")
	fi
}

_dprof_info() {
	mapfile -t COMPREPLY < <(compgen -W "$(_dprof_options dprof-info)" -- "${COMP_WORDS[COMP_CWORD]}")
}

complete -F _dprof_analyze dprof-analyze
complete -F _dprof_info dprof-info
complete -o default -c dprof-ab
