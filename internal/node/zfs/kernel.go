package zfs

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// Kernel reads what the node's kernel reports of ZFS. FS is the node's /, as from
// os.DirFS("/").
type Kernel struct {
	FS fs.FS
}

// ARC is the state of the read cache. Sizes are bytes; hits and misses count since the
// module was loaded.
type ARC struct {
	Size, Target, Min, Max uint64
	Hits, Misses           uint64
	// L2: the cache devices. L2Size before compression; L2Headers are bytes of memory.
	L2Hits, L2Misses, L2Size, L2Headers uint64
}

const (
	arcStats   = "proc/spl/kstat/zfs/arcstats"
	memInfo    = "proc/meminfo"
	parameters = "sys/module/zfs/parameters/"
)

// ARC by /proc/spl/kstat/zfs/arcstats; ErrNotLoaded where the module is not.
func (k Kernel) ARC() (ARC, error) {
	data, err := k.read(arcStats)
	if err != nil {
		return ARC{}, err
	}
	return parseARC(string(data))
}

func parseARC(data string) (ARC, error) {
	var a ARC
	fields := map[string]*uint64{
		"size": &a.Size, "c": &a.Target, "c_min": &a.Min, "c_max": &a.Max,
		"hits": &a.Hits, "misses": &a.Misses, "l2_hits": &a.L2Hits, "l2_misses": &a.L2Misses,
		"l2_size": &a.L2Size, "l2_hdr_size": &a.L2Headers,
	}
	missing := len(fields)
	for line := range strings.Lines(data) {
		f := strings.Fields(line) // name, type, value
		if len(f) != 3 || fields[f[0]] == nil {
			continue
		}
		n, err := strconv.ParseUint(f[2], 10, 64)
		if err != nil {
			return ARC{}, fmt.Errorf("%w: %s: %q", ErrFormat, arcStats, line)
		}
		*fields[f[0]] = n
		delete(fields, f[0])
		missing--
	}
	if missing > 0 {
		return ARC{}, fmt.Errorf("%w: %s: %d fields are missing", ErrFormat, arcStats, missing)
	}
	return a, nil
}

var parameterName = regexp.MustCompile(`^[a-z0-9_]+$`)

// ErrNoSuchParameter says that the loaded module has no parameter of that name.
var ErrNoSuchParameter = errors.New("no such module parameter")

// Parameter of the loaded module, such as zfs_arc_max, without its end of line.
// ErrNoSuchParameter, or ErrNotLoaded.
func (k Kernel) Parameter(name string) (string, error) {
	if !parameterName.MatchString(name) {
		return "", fmt.Errorf("%w: %q is not the name of a module parameter", ErrInvalid, name)
	}
	data, err := k.read(parameters + name)
	if errors.Is(err, ErrNotLoaded) && k.Loaded() {
		return "", fmt.Errorf("%w: %s", ErrNoSuchParameter, name)
	}
	return strings.TrimSpace(string(data)), err
}

// Loaded says whether the module is.
func (k Kernel) Loaded() bool {
	_, err := fs.Stat(k.FS, strings.TrimSuffix(parameters, "/"))
	return err == nil
}

// MemTotal of the node, in bytes.
func (k Kernel) MemTotal() (uint64, error) {
	data, err := fs.ReadFile(k.FS, memInfo)
	if err != nil {
		return 0, err
	}
	return parseMemTotal(string(data))
}

func parseMemTotal(data string) (uint64, error) {
	for line := range strings.Lines(data) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "MemTotal:" || f[2] != "kB" {
			continue
		}
		n, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil || n > 1<<53 {
			break
		}
		return n << 10, nil
	}
	return 0, fmt.Errorf("%w: %s has no MemTotal", ErrFormat, memInfo)
}

func (k Kernel) read(name string) ([]byte, error) {
	data, err := fs.ReadFile(k.FS, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNotLoaded, err)
	}
	return data, err
}
