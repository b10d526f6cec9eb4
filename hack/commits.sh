#!/usr/bin/env bash
# Checks commit messages: an imperative subject of at most 72 characters without
# a period, an empty line, a body wrapped at 72.
# Usage: hack/commits.sh [message FILE|install]
# Without arguments it checks every commit after the base. A clone without that
# commit (shallow, or no clone at all) counts as skipped.
set -euo pipefail
export LC_ALL=C.UTF-8 # lengths are in characters
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Commits up to this one were written before the rule.
base=${PGSTORAGE_COMMITS_BASE:-f24c8ac714d122ccfbf621433dc20316ae0ba740}
width=72
# No imperative, although capitalised: articles, question words, prepositions.
not_verbs=' A An The This That These Those It Its What Where When Which Who Why How Of In On At By For From To With Without And Or But No Not Now Then There Only '
# Imperatives that end like another form of a verb.
verbs=' Access Address Assess Bless Bypass Canvas Compress Cross Discuss Dismiss Dress Express Focus Guess Miss Pass Possess Press Process Progress Stress Suppress Toss Trespass Witness Bleed Breed Embed Exceed Feed Heed Need Proceed Seed Shed Shred Speed Succeed Weed Bring Cling Fling Ping Ring Sing Spring Sting String Swing '

# faults_of reads a message from standard input and prints what is wrong with it.
faults_of() {
	local subject second='' line number=1 word fenced=''
	IFS= read -r subject || true
	case $subject in
	'Merge '* | 'Revert "'*) return 0 ;;
	esac
	[ ${#subject} -le $width ] || echo "the subject has ${#subject} characters, at most $width are allowed"
	[[ $subject != *. ]] || echo "the subject ends with a period"
	word=${subject%%[ ,:]*}
	if [[ ! $word =~ ^[A-Z][a-z]*$ ]]; then
		echo "the subject begins with \"$word\": begin with a capitalised verb, as in \"Count device bytes\""
	elif [[ $not_verbs == *" $word "* ]]; then
		echo "the subject begins with \"$word\", which is not a verb: say what the commit does, as in \"Count device bytes\""
	elif [[ $word =~ (s|ed|ing)$ && $verbs != *" $word "* ]]; then
		echo "the subject begins with \"$word\": use the imperative, as in \"Count device bytes\""
	fi
	while IFS= read -r line; do
		number=$((number + 1))
		if [ $number = 2 ]; then second=$line; fi
		[ $number != 2 ] || [ -z "$second" ] || echo "line 2 is not empty"
		case $line in
		'```'*) if [ "$fenced" ]; then fenced=''; else fenced=yes; fi ;;
		'    '* | *://* | [A-Z]*-by:*) ;; # quoted output, addresses and trailers cannot be wrapped
		*) [ "$fenced" ] || [ ${#line} -le $width ] || echo "line $number has ${#line} characters, wrap it at $width" ;;
		esac
	done
}

# check NAME: reports the faults of the message on standard input.
check() {
	local faults
	faults=$(faults_of)
	[ -n "$faults" ] || return 0
	while IFS= read -r fault; do printf '%s: %s\n' "$1" "$fault" >&2; done <<<"$faults"
	return 1
}

skip() {
	echo "commits: skipped, $1"
	exit 0
}

since_base() {
	local commit status=0 count=0
	git rev-parse --git-dir >/dev/null 2>&1 || skip "this is not a clone of the repository"
	git cat-file -e "$base^{commit}" 2>/dev/null || skip "the history of this clone does not reach ${base:0:12}; fetch it with git fetch --unshallow"
	for commit in $(git rev-list --no-merges "$base..HEAD"); do
		count=$((count + 1))
		git log -1 --format=%B "$commit" | check "commit ${commit:0:12} \"$(git log -1 --format=%s "$commit")\"" || status=1
	done
	[ $status = 0 ] || exit 1
	echo "commits: $count checked, no findings"
}

install_hook() {
	local hooks
	hooks=$(git rev-parse --git-path hooks)
	mkdir -p "$hooks"
	[ ! -e "$hooks/commit-msg" ] || cmp -s hack/hooks/commit-msg "$hooks/commit-msg" || {
		echo "commits: $hooks/commit-msg exists and is not ours; remove it first" >&2
		exit 1
	}
	install -m 755 hack/hooks/commit-msg "$hooks/commit-msg"
	echo "installed $hooks/commit-msg"
}

case ${1:-} in
'') since_base ;;
message) grep -v '^#' "$2" | sed '/^-\{8,\} >8/,$d' | check "commit message" ;;
install) install_hook ;;
*) echo "usage: hack/commits.sh [message FILE|install]" >&2 && exit 1 ;;
esac
