package zfs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/host"
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

// Importable pools on the node's devices; none is no error. Exported and foreign pools
// are listed, destroyed ones are not.
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

// Import a pool by its GUID, as names may be twice, and mount nothing of it: a mount would
// be seen in the agent's mount namespace only. Never forced: ErrInUse where
// another node may have it; ErrNoSuchPool where no device has it.
func (c *Client) Import(ctx context.Context, guid uint64) error {
	if guid == 0 {
		return fmt.Errorf("%w: a pool's GUID is not 0", ErrInvalid)
	}
	args := []string{"import", "-N"}
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
