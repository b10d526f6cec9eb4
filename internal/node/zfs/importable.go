package zfs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Importable is a pool that was found on devices and is not imported. Two of them may
// have one name.
type Importable struct {
	Name  string
	GUID  uint64
	State Health
	// Explanation and Action are what ZFS says of it, such as that another node used it.
	Explanation, Action string
	Vdevs               []VdevStatus
}

// Foreign reports whether another machine had the pool last, and did not export it. Source: the
// texts of ZPOOL_STATUS_HOSTID_MISMATCH and _ACTIVE in cmd/zpool/zpool_main.c. Foreign is false
// for the latter, where multihost shows that another machine uses the pool now.
func (p Importable) Foreign() bool {
	return strings.Contains(p.Explanation, "last accessed by another system")
}

// Importable pools on the node's devices; an empty list is valid. It lists exported and foreign
// pools, and skips destroyed ones.
func (c *Client) Importable(ctx context.Context) ([]Importable, error) {
	args := append([]string{"import"}, c.search()...)
	out, err := c.Run(ctx, "zpool", args...)
	if failed, ok := errors.AsType[*host.Error](err); ok && noneToImport(failed.Stderr) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err)
	}
	return parseImportable(string(out.Stdout))
}

func noneToImport(stderr string) bool {
	return strings.Contains(stderr, "no pools available to import")
}

func parseImportable(out string) ([]Importable, error) {
	var all []Importable
	for _, report := range reports(out) {
		text := report.texts()
		state, _, _ := strings.Cut(text["state"], " ") // "ONLINE (DESTROYED)"
		guid, _ := strconv.ParseUint(text["id"], 10, 64)
		p := Importable{
			Name: text["pool"], GUID: guid, State: Health(state),
			Explanation: text["status"], Action: text["action"], Vdevs: parseConfig(report.lines("config")),
		}
		if p.Name == "" || p.GUID == 0 || p.State == "" {
			return nil, fmt.Errorf("%w: zpool import: pool %q, id %d, state %q", ErrFormat, p.Name, p.GUID, p.State)
		}
		all = append(all, p)
	}
	return all, nil
}

// Import imports a pool by its GUID, since two pools may have one name. It mounts nothing: a
// mount would be visible in the agent's mount namespace only. It never uses force: ErrInUse
// where another node may have it; ErrNoSuchPool where no device has it.
func (c *Client) Import(ctx context.Context, guid uint64) error {
	return c.importPool(ctx, guid)
}

// TakeOver imports a pool that another machine had last and did not export. Nothing in the pool
// shows whether that machine still writes to it. The caller must know that something keeps that
// machine from the devices.
func (c *Client) TakeOver(ctx context.Context, guid uint64) error {
	return c.importPool(host.PermitTakeOver(ctx, strconv.FormatUint(guid, 10)), guid, "-f")
}

func (c *Client) importPool(ctx context.Context, guid uint64, options ...string) error {
	if guid == 0 {
		return fmt.Errorf("%w: a pool's GUID is not 0", ErrInvalid)
	}
	args := append([]string{"import", "-N"}, options...)
	if c.CacheFile != "" {
		set, err := assignments(map[string]string{"cachefile": c.CacheFile}, CanonicalPool)
		if err != nil {
			return err
		}
		args = append(args, flagged("-o", set)...)
	}
	args = append(args, c.search()...)
	return c.change(ctx, "zpool", append(args, strconv.FormatUint(guid, 10))...)
}

func (c *Client) search() []string {
	var args []string
	for _, d := range c.SearchDirs {
		args = append(args, "-d", d)
	}
	return args
}
