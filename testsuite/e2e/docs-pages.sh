#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The pages in docs/ and README.md: what they link to is there, the commands and options that they name exist, formats.md has every
# key of each command's JSON, and the tutorial's program has the places that the tutorial says.
. testsuite/lib.sh
pages=(README.md ARCHITECTURE.md docs/*.md docs/concepts/*.md)

for page in "${pages[@]}"; do
	for link in $(grep -oE '\]\([^)#: ]+\)' "$page" | tr -d '])('); do
		[ -e "$(dirname "$page")/$link" ] || fail "$page: no $link"
	done
done
for page in docs/concepts/*.md docs/*.md; do
	[ "$page" != docs/tutorial.md ] || continue
	grep -q "$(basename "$page")" docs/tutorial.md README.md || fail "no page leads to $page"
done
for path in $(grep -ohE '\b(pragmas|plugin|runtime|analysis|testsuite|docs)/[a-z_./-]+\.(def|h|c|cc|scd|clp|mk|inc|in)\b' docs/*.md | sort -u); do
	[ -e "$path" ] || fail "docs name $path, which is not there"
done

# A section that a manual page says is above, or below, is.
for page in docs/*.scd; do
	awk -v page="$page" '
		/^# / { at[substr($0, 3)] = NR }
		match($0, /see \*?[A-Z][A-Z ]+\*? (above|below)/) {
			name = substr($0, RSTART + 4, RLENGTH - 10)
			gsub(/\*/, "", name)
			said[NR] = name; where[NR] = substr($0, RSTART + RLENGTH - 5, 5)
		}
		END {
			for (line in said)
				if (!at[said[line]] || (at[said[line]] < line + 0) != (where[line] == "above"))
					print page ":" line ": " said[line] " is not " where[line]
		}' "$page"
done >"$dir/sections"
[ ! -s "$dir/sections" ] || fail "$(cat "$dir/sections")"
grep -q 'see \*REGIONS OF THREADS\* above' docs/dprof.7.scd || fail "dprof(7) does not say where REGIONS OF THREADS is"

# Commands and options.
"$analyze" --help |
	sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*(or: \([a-z]*\)).*/\1 \2/p; /^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' |
	tr ' ' '\n' >"$dir/commands"
for command in $(grep -ohE '(`|^    )dprof-analyze [a-z]+( |`|$)' "${pages[@]}" | tr -d '`' | awk '{ print $2 }' | sort -u); do
	grep -qx -- "$command" "$dir/commands" || fail "a page names dprof-analyze $command, which is not there"
done
while read -r command options; do
	"$analyze" "$command" --help >"$dir/help" || fail "$command --help"
	for option in $options; do
		grep -q -- "$option\>" "$dir/help" || fail "a page names $command $option, which is not there"
	done
done < <(grep -ohE 'dprof-analyze [a-z]+( --[a-z-]+( [A-Za-z0-9.]+)?)+' docs/*.md docs/concepts/*.md | sed -E 's/^dprof-analyze //; s/ [A-Za-z0-9.]+( |$)/ /2g' |
	awk '{ printf "%s", $1; for (i = 2; i <= NF; i++) if ($i ~ /^--/) printf " %s", $i; print "" }' | sort -u)

# README.md says so of each command in its table.
sed -n '/^| command /,/^$/p' README.md | grep -oE '`[a-z][^`]*`' | tr -d '`' |
	awk '{ print $1, $2 ~ /^[a-z]+$/ ? $2 : $1 == "dprof-analyze" ? "report" : "" }' |
	sort -u >"$dir/table"
{ cat "$dir/table"; echo dprof-ab; } | while read -r words; do
	# shellcheck disable=SC2086
	case $words in
	dprof-* | freezer*) "$B/bin/"$words --help ;;
	*) "$analyze" $words --help ;;
	esac | grep -q '^Example' || echo "$words"
done >"$dir/without"
[ "$(wc -l <"$dir/table")" -ge 15 ] && [ ! -s "$dir/without" ] ||
	fail "README.md: --help has no example: $(cat "$dir/without"); $(cat "$dir/table")"

# The models of diagnose: those that the help and the manual page name are those that there are.
models() { tr -s '\n\t ' ' ' | sed -n 's/.*how the program works: \([^(]*\) (default).*/\1/p' | sed 's/,\? or /, /; s/, /\n/g' | sort; }
"$analyze" diagnose --help | models >"$dir/models"
models <docs/dprof-analyze.1.scd | diff "$dir/models" - >"$dir/out" ||
	fail "the help names other models than the manual page: $(cat "$dir/out")"
n=$(sed -n '/^static const struct diagnosis_model \*const models\[\]/,/;/p' analysis/diagnose/models.c | grep -o '&' | wc -l)
[ "$n" -ge 7 ] && [ "$(wc -l <"$dir/models")" -eq $((n + 1)) ] ||
	fail "the help has not all of $n models and auto: $(cat "$dir/models")"

# Keys.
"$analyze" pack testsuite/fixtures/analysis/job.txt "$dir/t" || exit 1
mkdir "$dir/none"
general='bounds span_s assumptions notes problems undecided'
for command in report csp coz path waits efficiency profile diff diagnose query clocks check dump sites; do
	case $command in
	diff) set -- diff "$dir/t" "$dir/t" ;;
	query) set -- query "$dir/t" 'count(barrier) >= 1' ;;
	sites) set -- sites "$B/examples/coz_two_threads" ;;
	*) set -- "$command" "$dir/t" ;;
	esac
	if [ "$command" != sites ]; then
		"$analyze" "${@/#"$dir/t"/"$dir/none"}" --json >"$dir/out" 2>"$dir/err"
		[ $? = 1 ] && [ ! -s "$dir/out" ] && grep -q 'found an empty directory' "$dir/err" ||
			fail "docs/formats.md: $command --json of an empty folder is not nothing with exit status 1: $(cat "$dir/out" "$dir/err")"
	fi
	row=$(grep "^| \`$command\` |" docs/formats.md)
	for key in $("$analyze" "$@" --json 2>/dev/null | jq -r 'keys[]'); do
		[[ " $general " == *" $key "* || $row == *"\"$key\""* ]] || fail "docs/formats.md: $command --json has a key \"$key\""
	done
	case $command in
	dump) continue ;; # its rows hold what the text form has words for
	csp) set -- "$@" --frames --instances body ;;
	path) set -- "$@" --every 1us ;;
	esac
	"$analyze" "$@" --json 2>/dev/null | jq -r --arg command "$command" '[paths[] | strings] | unique[] | "\"" + . + "\" of " + $command' >>"$dir/keys"
done
[ "$(wc -l <"$dir/keys")" -ge 100 ] || fail "few keys: $(cat "$dir/keys")"
awk 'FILENAME == ARGV[1] { at[$1] = $0; next } { for (key in at) if (index($0, key)) delete at[key] } END { for (key in at) print at[key] }' \
	"$dir/keys" docs/formats.md docs/dprof-analyze.1.scd docs/dprof-query.7.scd >"$dir/unsaid"
[ ! -s "$dir/unsaid" ] || fail "no page says what this is: $(cat "$dir/unsaid")"

# The tutorial's program.
if command -v mpicc >/dev/null; then
	sed -n '/^`primes.c`/,/^    dprof-mpicc/p' docs/tutorial.md | sed -n '/^```c$/,/^```$/p' | sed '1d;$d' >"$dir/primes.c"
	(cd "$dir" && "$B/bin/dprof-mpicc" -O2 primes.c -o primes && "$analyze" sites primes | sed -n 's/^  *//p') >"$dir/sites" ||
		fail "the tutorial's program cannot be compiled: $(cat "$dir/sites")"
	[ "$(wc -l <"$dir/sites")" -ge 4 ] || fail "the tutorial's program has few sites: $(cat "$dir/sites")"
	while read -r place; do
		grep -qF -- "$place" docs/tutorial.md || fail "the tutorial does not say '$place'"
	done <"$dir/sites"
fi
exit $failed
