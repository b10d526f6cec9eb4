package host

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// rule is one command that may run. A command without a rule, and an option that its rule does
// not name, is refused. This file has everything that pgstorage can do to a node.
type rule struct {
	// options as getopt(3) takes them: a colon follows one with a value.
	options string
	long    []string
	// changes the node: only by Change. A read is only by Run.
	changes bool
	// check what the options do not say.
	check func(ctx context.Context, options, operands []string) error
}

// rules by program and, where the program has them, subcommand and kind of call.
var rules = map[string][]rule{
	"zpool list":    {{options: "Hpo:"}},
	"zpool get":     {{options: "Hpo:"}},
	"zpool status":  {{options: "PpvjH", long: []string{"--json-int"}}},
	"zpool iostat":  {{options: "wHp"}},
	"zpool version": {{}},
	"zpool import": {
		{options: "d:", check: noOperands},
		{options: "d:o:Nf", changes: true, check: importsOne},
	},
	"zpool create": {{options: "o:O:", changes: true}},
	"zpool set":    {{changes: true}},
	"zpool export": {{changes: true, check: oneOperand}},
	"zpool add":    {{changes: true, check: addsCacheOrLog}},
	"zpool remove": {{changes: true, check: oneDevice}},
	"zpool online": {{options: "e", changes: true, check: oneDevice}},
	"zpool clear":  {{changes: true, check: oneDevice}},
	"zpool scrub":  {{changes: true, check: oneOperand}},
	"zfs version":  {{}},
	"zfs list":     {{options: "Hprt:o:"}},
	"zfs get":      {{options: "Hprt:o:s:"}},
	"zfs create":   {{options: "o:u", changes: true, check: oneOperand}},
	"zfs set":      {{changes: true}},
	"lsblk":        {{options: "Jbpo:"}},
	"blkid":        {{options: "pio:", check: probes}},
	"wipefs": {
		{options: "Jn", check: wipesNothing},
		{options: "a", changes: true, check: wipePermitted},
	},
	"udevadm":  {{long: []string{"--timeout"}, check: settles}},
	"modprobe": {{changes: true, check: loadsNBD}},
}

// denied commands are refused for want of a rule anyway; these have their reason
// said. Safety rule 1: pgstorage destroys nothing implicitly.
var denied = map[string]string{
	"zpool destroy":    "it destroys every dataset of the pool",
	"zpool labelclear": "it removes a pool's labels; use wipe on a named device instead",
	"zpool create -f":  "force takes devices that are in use; name them with wipe instead",
	"zpool create -d":  "it leaves out features",
	"zpool import -F":  "it discards the last transactions",
	"zpool import -X":  "it discards transactions",
	"zpool import -D":  "it brings back destroyed pools",
	"zpool import -m":  "it drops acknowledged writes of the missing log device",
	"zpool import -a":  "each pool is imported by its GUID",
	"zpool export -f":  "force takes the pool from volumes that are in use",
	"zpool export -a":  "one pool is released at a time",
	"zpool add -f":     "force takes devices that are in use; name them with wipe instead",
	"zpool clear -F":   "it discards the last transactions",
	"zpool scrub -s":   "a scrub is stopped by its administrator",
	"zfs destroy":      "it destroys data",
	"zfs rollback":     "it discards what was written since the snapshot",
	"wipefs -f":        "force wipes devices that are in use",
	"wipefs -o":        "only all signatures of one named device are wiped",
	"wipefs -t":        "only all signatures of one named device are wiped",
}

// Check says why Exec would not run the command, or nil. It wraps ErrRefused.
func Check(ctx context.Context, change bool, program string, args ...string) error {
	command, rest := split(program, args)
	if reason, ok := denied[command]; ok {
		return refuse("pgstorage never runs %s: %s", command, reason)
	}
	candidates, ok := rules[command]
	if !ok {
		return refuse("pgstorage does not run %s", command)
	}
	i := slices.IndexFunc(candidates, func(r rule) bool { return r.changes == change })
	if i < 0 && change {
		return refuse("%s reads: it is not a change", command)
	}
	if i < 0 {
		return refuse("%s changes the node: it is not a read", command)
	}
	options, operands, err := candidates[i].parse(command, rest)
	if err != nil {
		return err
	}
	if candidates[i].check != nil {
		return candidates[i].check(ctx, options, operands)
	}
	return nil
}

// split off the subcommand, for the programs that have them.
func split(program string, args []string) (command string, rest []string) {
	if (program == "zpool" || program == "zfs") && len(args) > 0 {
		return program + " " + args[0], args[1:]
	}
	return program, args
}

// parse as getopt(3) of glibc does, which takes options among the operands too.
func (r rule) parse(command string, args []string) (options, operands []string, err error) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case strings.ContainsRune(a, 0):
			return nil, nil, refuse("%s: an argument holds a zero byte", command)
		case a == "--":
			return options, append(operands, args[i+1:]...), nil
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a, "=")
			if !slices.Contains(r.long, name) {
				return nil, nil, r.refuseOption(command, name)
			}
			options = append(options, a)
		case len(a) > 1 && a[0] == '-':
			letters, takesNext, err := r.letters(command, a[1:])
			if err != nil {
				return nil, nil, err
			}
			options = append(options, letters...)
			if takesNext {
				i++
			}
		default:
			operands = append(operands, a)
		}
	}
	return options, operands, nil
}

// letters of one argument such as -Hpo, and whether its value is the next one.
func (r rule) letters(command, cluster string) (letters []string, takesNext bool, err error) {
	for i, c := range cluster {
		at := strings.IndexRune(r.options, c)
		if c == ':' || at < 0 {
			return nil, false, r.refuseOption(command, "-"+string(c))
		}
		letters = append(letters, "-"+string(c))
		if strings.HasPrefix(r.options[at+1:], ":") {
			return letters, i == len(cluster)-1, nil
		}
	}
	return letters, false, nil
}

func (r rule) refuseOption(command, option string) error {
	if reason, ok := denied[command+" "+option]; ok {
		return refuse("pgstorage never runs %s %s: %s", command, option, reason)
	}
	return refuse("pgstorage does not run %s with %s", command, option)
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRefused}, args...)...)
}

func noOperands(_ context.Context, _, operands []string) error {
	if len(operands) > 0 {
		return refuse("only a listing without %q is a read", operands[0])
	}
	return nil
}

func oneOperand(_ context.Context, _, operands []string) error {
	if len(operands) != 1 {
		return refuse("exactly one object is named at a time, not %d", len(operands))
	}
	return nil
}

// oneDevice of one pool.
func oneDevice(_ context.Context, _, operands []string) error {
	if len(operands) != 2 {
		return refuse("exactly one device of one pool is named at a time")
	}
	return nil
}

// addsCacheOrLog refuses any other vdev, which the pool could never remove.
func addsCacheOrLog(_ context.Context, _, operands []string) error {
	if len(operands) < 3 || operands[1] != "cache" && operands[1] != "log" {
		return refuse("zpool add only adds a cache or a log")
	}
	for i, o := range operands[2:] {
		if !path.IsAbs(o) && (i > 0 || o != "mirror" || operands[1] != "log") {
			return refuse("zpool add %s takes devices by their full path, not %q", operands[1], o)
		}
	}
	return nil
}

func loadsNBD(_ context.Context, _, operands []string) error {
	if !slices.Equal(operands, []string{"nbd"}) {
		return refuse("modprobe only loads nbd")
	}
	return nil
}

// probes: without -p blkid answers from a cache file and writes it.
func probes(_ context.Context, options, operands []string) error {
	if !slices.Contains(options, "-p") || len(operands) != 1 {
		return refuse("blkid only probes (-p) one device")
	}
	return nil
}

func settles(_ context.Context, _, operands []string) error {
	if len(operands) != 1 || operands[0] != "settle" {
		return refuse("udevadm only settles")
	}
	return nil
}

func wipesNothing(_ context.Context, options, operands []string) error {
	if !slices.Contains(options, "-n") {
		return refuse("wipefs without -n is a change")
	}
	if len(operands) != 1 {
		return refuse("wipefs reads one device at a time")
	}
	return nil
}

type takeOverKey struct{}

// PermitTakeOver lets Exec run `zpool import -f` of exactly this pool, once it is given
// the returned context. Only zfs.TakeOver calls it; a test holds the tree to that.
func PermitTakeOver(ctx context.Context, guid string) context.Context {
	return context.WithValue(ctx, takeOverKey{}, guid)
}

func importsOne(ctx context.Context, options, operands []string) error {
	if err := oneOperand(ctx, options, operands); err != nil {
		return err
	}
	if permitted, _ := ctx.Value(takeOverKey{}).(string); slices.Contains(options, "-f") && permitted != operands[0] {
		return refuse("zpool import -f of %s: force takes a pool that another node may have imported; only zfs.TakeOver does that", operands[0])
	}
	return nil
}

type wipeKey struct{}

// PermitWipe lets Exec run `wipefs -a` on exactly this device, once it is given the
// returned context. Only blockdev.Wipe calls it; a test holds the tree to that.
func PermitWipe(ctx context.Context, device string) context.Context {
	return context.WithValue(ctx, wipeKey{}, device)
}

func wipePermitted(ctx context.Context, _, operands []string) error {
	device, _ := ctx.Value(wipeKey{}).(string)
	switch {
	case len(operands) != 1 || !path.IsAbs(operands[0]):
		return refuse("wipefs -a takes exactly one device, by its full path")
	case device != operands[0]:
		return refuse("wipefs -a of %s: only blockdev.Wipe does that", operands[0])
	}
	return nil
}
