package zfs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Client of one node's ZFS.
type Client struct {
	host.Runner
	// SearchDirs are directories and devices that are searched for pools to import. If empty,
	// zpool searches all devices of the node.
	SearchDirs []string
	// CacheFile of pools that are imported. Empty is the default, so that the next boot imports
	// them automatically; "none" prevents that.
	CacheFile string
	// Userland is the result of Version. The zero value uses nothing newer than 2.1.
	Userland Version
}

// What zpool and zfs say, as errors to compare with errors.Is. Each comes joined with
// the *host.Error of the command.
var (
	ErrNoSuchPool    = errors.New("no such pool")
	ErrNoSuchDataset = errors.New("no such dataset")
	ErrExists        = errors.New("exists already")
	// ErrNotLoaded: the node's kernel has no ZFS module loaded.
	ErrNotLoaded = errors.New("the zfs kernel module is not loaded")
	// ErrInUse: a device or pool is in use, here or by another node.
	ErrInUse = errors.New("in use")
	// ErrUnavailable: devices of the pool are missing or damaged.
	ErrUnavailable = errors.New("devices are unavailable")
	// ErrFormat: an output is not of the form that this version knows.
	ErrFormat = errors.New("unknown output format")
	// ErrInvalid: an argument was refused before any command ran.
	ErrInvalid = errors.New("invalid")
)

// said are parts of what programs write to stderr, lower case, by what they mean. All
// are from lib/libzfs and cmd/zpool of OpenZFS 2.1 to 2.4, in the C locale.
var said = []struct {
	text    string
	meaning error
}{
	{"zfs modules are not loaded", ErrNotLoaded},
	{"zfs modules cannot be auto-loaded", ErrNotLoaded},
	{"/dev/zfs and /proc/self/mounts are required", ErrNotLoaded},
	{"no such pool", ErrNoSuchPool},
	{"unable to parse pools/vdevs list", ErrNoSuchPool}, // zpool iostat
	{"dataset does not exist", ErrNoSuchDataset},
	{"parent does not exist", ErrNoSuchDataset},
	{"pool already exists", ErrExists},
	{"dataset already exists", ErrExists},
	{"a pool with that name already exists", ErrExists},
	{"is in use", ErrInUse},
	{"is part of", ErrInUse},
	{"contains a filesystem", ErrInUse},
	{"pool may be in use from other system", ErrInUse},
	{"pool was previously in use from another system", ErrInUse},
	{"pool is imported on", ErrInUse},
	{"devices are in use", ErrInUse},
	{"pool is busy", ErrInUse},
	{"pool or dataset is busy", ErrInUse},
	{"one or more devices is currently unavailable", ErrUnavailable},
	{"failed to detect device partitions", ErrUnavailable},
	{"cannot resolve path", ErrUnavailable},
}

// explain joins what the program's stderr means to its error.
func explain(err error) error {
	failed, ok := errors.AsType[*host.Error](err)
	if !ok {
		return err
	}
	text := strings.ToLower(failed.Stderr)
	for _, s := range said {
		if strings.Contains(text, s.text) {
			return fmt.Errorf("%w: %w", s.meaning, err)
		}
	}
	return err
}

func (c *Client) read(ctx context.Context, program string, args ...string) (string, error) {
	out, err := c.Run(ctx, program, args...)
	return string(out.Stdout), explain(err)
}

func (c *Client) change(ctx context.Context, program string, args ...string) error {
	_, err := c.Change(ctx, program, args...)
	return explain(err)
}

var (
	poolName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.:-]*$`)
	// A name in a dataset's path may begin with a digit.
	component = regexp.MustCompile(`^[a-zA-Z0-9_:][a-zA-Z0-9_.:-]*$`)
	reserved  = regexp.MustCompile(`^(mirror|raidz|draid|spare|log$|c[0-9])`)
)

// maxName in bytes, ZFS_MAX_DATASET_NAME_LEN less its end.
const maxName = 255

// ValidPoolName says what is wrong with the name of a pool, or nil. Source:
// zcommon/zfs_namecheck.c and zpool_name_valid; blanks, which ZFS allows, are refused.
func ValidPoolName(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("%w: pool name %.20q... is longer than %d bytes; shorten it", ErrInvalid, name, maxName)
	case !poolName.MatchString(name):
		return fmt.Errorf("%w: pool name %q must be letters, digits and _.:- and begin with a letter", ErrInvalid, name)
	case reserved.MatchString(name):
		return fmt.Errorf("%w: pool name %q is reserved by ZFS; choose another", ErrInvalid, name)
	}
	return nil
}

// ValidDatasetName says what is wrong with the name of a filesystem or volume, or nil. It does
// not accept snapshots and bookmarks.
func ValidDatasetName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("%w: dataset name %.20q... is longer than %d bytes; shorten it", ErrInvalid, name, maxName)
	}
	pool, rest, nested := strings.Cut(name, "/")
	if err := ValidPoolName(pool); err != nil {
		return err
	}
	if !nested {
		return nil
	}
	for part := range strings.SplitSeq(rest, "/") {
		if !component.MatchString(part) {
			return fmt.Errorf("%w: dataset name %q must be pool/name/... of letters, digits and _.:-", ErrInvalid, name)
		}
	}
	return nil
}
