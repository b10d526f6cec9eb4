package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhatMayRun(t *testing.T) {
	wipe := PermitWipe(t.Context(), "/dev/disk/by-id/wwn-0x5")
	for _, c := range []struct {
		line   string
		change bool
		ctx    context.Context
	}{
		{line: "zpool list -Hp -o name,guid"},
		{line: "zpool get -Hp all tank"},
		{line: "zpool status -P -p -v tank"},
		{line: "zpool status -j -P -p tank"},
		{line: "zpool iostat -wHp tank"},
		{line: "zpool version"},
		{line: "zpool import"},
		{line: "zpool import -d /dev/disk/by-id"},
		{line: "zpool import -d /dev/disk/by-id 123", change: true},
		{line: "zpool create -o ashift=12 -O atime=off tank mirror /dev/a /dev/b", change: true},
		{line: "zpool set autotrim=on tank", change: true},
		{line: "zpool import -N -o cachefile=none -d /run/pgstorage/p 123", change: true},
		{line: "zpool import -N -f -o cachefile=none -d /run/pgstorage/p 123", change: true, ctx: PermitTakeOver(t.Context(), "123")},
		{line: "zpool export tank", change: true},
		{line: "zpool add tank cache /dev/a /dev/b", change: true},
		{line: "zpool add tank log /dev/a", change: true},
		{line: "zpool add tank log mirror /dev/a /dev/b", change: true},
		{line: "zpool remove tank /dev/a", change: true},
		{line: "zpool online tank /dev/a", change: true},
		{line: "zpool online -e tank /dev/a", change: true},
		{line: "zpool clear tank /dev/a", change: true},
		{line: "zpool scrub tank", change: true},
		{line: "modprobe nbd", change: true},
		{line: "zfs version"},
		{line: "zfs list -Hp -r -t filesystem tank"},
		{line: "zfs get -Hp -r -t filesystem,volume -o name,value all tank"},
		{line: "zfs create -o recordsize=8192 tank/pgdata", change: true},
		{line: "zfs set atime=off tank/pgdata", change: true},
		{line: "lsblk -J -b -p -o NAME"},
		{line: "lsblk -J -b -p -o NAME /dev/sda"},
		{line: "blkid -p -o export /dev/sda"},
		{line: "wipefs -J -n /dev/sda"},
		{line: "udevadm settle --timeout=20"},
		{line: "wipefs -a /dev/disk/by-id/wwn-0x5", change: true, ctx: wipe},
		// The value of an option is not an option.
		{line: "zpool create -o -f tank /dev/a", change: true},
		{line: "zpool list -Hpo -f"},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		f := strings.Fields(c.line)
		if err := Check(ctx, c.change, f[0], f[1:]...); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		if err := Check(ctx, !c.change, f[0], f[1:]...); !strings.HasPrefix(c.line, "zpool import") && !errors.Is(err, ErrRefused) {
			t.Errorf("%s as change=%v: %v, not refused", c.line, !c.change, err)
		}
	}
}

// Safety rule 1: each of these destroys something or weakens a guard.
func TestWhatNeverRuns(t *testing.T) {
	permitted := PermitTakeOver(PermitWipe(t.Context(), "/dev/sda"), "7")
	for _, c := range []struct{ line, says string }{
		{"zpool destroy tank", "destroys every dataset"},
		{"zpool destroy -f tank", "destroys every dataset"},
		{"zpool labelclear /dev/sda", "labels"},
		{"zpool labelclear -f /dev/sda", "labels"},
		{"zpool create -f tank /dev/sda", "force"},
		{"zpool create tank /dev/sda -f", "force"},
		{"zpool create -fo ashift=12 tank /dev/sda", "force"},
		{"zpool create -o ashift=12 -f tank /dev/sda", "force"},
		{"zpool create -oashift=12 -f tank /dev/sda", "force"},
		{"zpool create -d tank /dev/sda", "features"},
		{"zpool create --force tank /dev/sda", "--force"},
		{"zpool create -n tank /dev/sda", "-n"},
		{"zpool create -: tank /dev/sda", "-:"},
		{"zpool import -f tank", "another node"},
		{"zpool import 123 -f", "another node"},
		{"zpool import -Nf 123", "another node"},
		{"zpool import -d /dev -f 123", "another node"},
		{"zpool import -f 7 -f 123", "exactly one"},
		{"zpool import -F 123", "last transactions"},
		{"zpool import -X 123", "transactions"},
		{"zpool import -D 123", "destroyed"},
		{"zpool import -m 123", "log device"},
		{"zpool import -a", "GUID"},
		{"zpool import --rewind-to-checkpoint 123", "--rewind-to-checkpoint"},
		{"zpool import 123 newname", "exactly one"},
		{"zpool export -f tank", "force"},
		{"zpool export -a", "one pool"},
		{"zpool export tank other", "exactly one"},
		{"zpool export", "exactly one"},
		{"zpool clear tank", "exactly one device"},
		{"zpool clear -F tank /dev/sda", "last transactions"},
		{"zpool clear -n tank /dev/sda", "-n"},
		{"zpool add tank /dev/sda", "only adds a cache or a log"},
		{"zpool add tank mirror /dev/sda /dev/sdb", "only adds a cache or a log"},
		{"zpool add tank special /dev/sda", "only adds a cache or a log"},
		{"zpool add -f tank cache /dev/sda", "force"},
		{"zpool add tank cache /dev/sda special /dev/sdb", "full path"},
		{"zpool add tank cache mirror /dev/sda /dev/sdb", "full path"},
		{"zpool add tank log /dev/sda mirror /dev/sdb /dev/sdc", "full path"},
		{"zpool add tank cache", "only adds a cache or a log"},
		{"zpool remove tank", "exactly one device"},
		{"zpool remove tank /dev/sda /dev/sdb", "exactly one device"},
		{"zpool remove -w tank /dev/sda", "-w"},
		{"zpool online tank /dev/sda /dev/sdb", "exactly one device"},
		{"zpool offline tank /dev/sda", "does not run zpool offline"},
		{"zpool scrub -s tank", "administrator"},
		{"zpool scrub", "exactly one"},
		{"zpool attach tank /dev/sda /dev/sdb", "does not run zpool attach"},
		{"zpool replace tank /dev/sda /dev/sdb", "does not run zpool replace"},
		{"zpool upgrade -a", "zpool upgrade"},
		{"zpool", "zpool"},
		{"zfs destroy tank/pgdata", "destroys data"},
		{"zfs destroy -r tank", "destroys data"},
		{"zfs rollback -r tank/pgdata@a", "discards"},
		{"zfs recv tank/x", "zfs recv"},
		{"zfs create -V 1G tank/x", "-V"},
		{"zfs create -p tank/x/y", "-p"},
		{"zfs create tank/x tank/y", "exactly one"},
		{"zfs inherit atime tank/pgdata", "does not run zfs inherit"},
		{"zfs inherit -r atime tank", "does not run zfs inherit"},
		{"wipefs /dev/sda", "wipefs"},
		{"wipefs -f -a /dev/sda", "force"},
		{"wipefs -af /dev/sda", "force"},
		{"wipefs -a /dev/sdb", "blockdev.Wipe"},
		{"wipefs -a /dev/sda /dev/sdb", "exactly one"},
		{"wipefs -a sda", "exactly one"},
		{"wipefs -a", "exactly one"},
		{"wipefs -o 0 /dev/sda", "all signatures"},
		{"wipefs -t ext4 /dev/sda", "all signatures"},
		{"wipefs --all /dev/sda", "--all"},
		{"blkid /dev/sda", "probes"},
		{"blkid -p", "probes"},
		{"blkid -g", "-g"},
		{"udevadm trigger", "settle"},
		{"lsblk -f", "-f"},
		{"sh -c true", "does not run sh"},
		{"zfs\x00 destroy tank", "does not run"},
		{"modprobe zfs", "only loads nbd"},
		{"modprobe nbd nbds_max=0", "only loads nbd"},
		{"modprobe -r nbd", "-r"},
		{"modprobe", "only loads nbd"},
		{"dd of=/dev/sda", "does not run dd"},
	} {
		f := strings.Fields(c.line)
		err := Check(permitted, true, f[0], f[1:]...)
		if strings.HasPrefix(c.line, "blkid") || strings.HasPrefix(c.line, "udevadm") || strings.HasPrefix(c.line, "lsblk") {
			err = Check(permitted, false, f[0], f[1:]...)
		} else if read := Check(permitted, false, f[0], f[1:]...); !errors.Is(read, ErrRefused) {
			t.Errorf("%s as a read: %v", c.line, read)
		}
		if c.line == "wipefs /dev/sda" { // without -a it would list
			continue
		}
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, wanted a refusal that says %q", c.line, err, c.says)
		}
	}
}

func TestCheckOfUnusualArguments(t *testing.T) {
	for _, c := range []struct {
		name   string
		change bool
		args   []string
		ok     bool
	}{
		{"after -- all are operands", true, []string{"zpool", "create", "--", "tank", "-f"}, true},
		{"a zero byte", true, []string{"zpool", "set", "a=b\x00", "tank"}, false},
		{"one dash is an operand", true, []string{"zfs", "create", "-"}, true},
		{"wipefs without -n is no read", false, []string{"wipefs", "-J", "/dev/sda"}, false},
		{"wipefs of two is no read", false, []string{"wipefs", "-n", "/dev/sda", "/dev/sdb"}, false},
		{"import of a pool is no read", false, []string{"zpool", "import", "123"}, false},
		{"an import of all is no change", true, []string{"zpool", "import"}, false},
		{"empty", false, []string{"zfs", ""}, false},
	} {
		err := Check(t.Context(), c.change, c.args[0], c.args[1:]...)
		if c.ok != (err == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Whatever the arguments, no option -f passes where a program would read it as one.
func FuzzNoForce(f *testing.F) {
	for _, s := range []string{"-f tank a", "tank a -f", "-o x=y -f t a", "-of t", "-o -f t", "-- -f", "-Of -f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		if Check(t.Context(), true, "zpool", append([]string{"create"}, args...)...) != nil {
			return
		}
		for i, a := range args {
			if a == "--" {
				return
			}
			value := i > 0 && (strings.HasSuffix(args[i-1], "o") || strings.HasSuffix(args[i-1], "O")) && args[i-1][0] == '-'
			if !value && (a == "-f" || a == "--force") {
				t.Fatalf("%q passes", line)
			}
		}
	})
}

// What a permit is for is said by its one caller each.
func TestPermitsHaveOneCaller(t *testing.T) {
	for permit, caller := range map[string]string{
		"host.PermitWipe": "internal/node/blockdev/wipe.go", "host.PermitTakeOver": "internal/node/zfs/importable.go",
	} {
		if callers := callersOf(t, permit); !slices.Equal(callers, []string{caller}) {
			t.Errorf("%s is called by %q, only by %q allowed", permit, callers, caller)
		}
	}
}

// callersOf a function in Go files. The folders of other languages have none.
func callersOf(t *testing.T, function string) []string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var callers []string
	for _, top := range []string{"api", "cmd", "controllers", "internal", "test"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), function+"(") {
				rel, _ := filepath.Rel(root, path)
				callers = append(callers, filepath.ToSlash(rel))
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return callers
}
