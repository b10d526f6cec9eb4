package zfs

import (
	"fmt"
	"slices"
)

// Effect of setting a property on what exists already.
type Effect string

// Effects.
const (
	// AtOnce: from now on, for everything.
	AtOnce Effect = "AtOnce"
	// NewBlocks: whatever is written from now on, into files that exist too.
	NewBlocks Effect = "NewBlocks"
	// NewFiles: only files made from now on.
	NewFiles Effect = "NewFiles"
	// AtMount: with the next mount.
	AtMount Effect = "AtMount"
	// AtCreation: only together with the dataset.
	AtCreation Effect = "AtCreation"
)

// Rule of a dataset property that pgstorage accepts.
type Rule struct {
	Name string
	// Filesystems and Volumes: which of them have the property.
	Filesystems, Volumes bool
	// Inheritable by datasets below.
	Inheritable bool
	Effect      Effect

	parse parser
}

// parser of a value into the form in which ZFS prints it with -p, or what is wrong
// with it and what to use.
type parser func(value string) (canonical string, err error)

const (
	fsOnly  = 1
	volOnly = 2
	both    = 3
)

func rule(name string, kinds int, inheritable bool, effect Effect, parse parser) Rule {
	return Rule{
		Name: name, Filesystems: kinds&fsOnly != 0, Volumes: kinds&volOnly != 0,
		Inheritable: inheritable, Effect: effect, parse: parse,
	}
}

// properties, sorted by name. Source: zfsprops(7) and zcommon/zfs_prop.c of OpenZFS 2.1
// to 2.4; what is refused of them: design.md, safety rules.
var properties = []Rule{
	rule("atime", fsOnly, true, AtOnce, oneOf("on", "off")),
	rule("canmount", fsOnly, false, AtMount, oneOf("on", "off", "noauto")),
	rule("checksum", both, true, NewBlocks, checksum),
	rule("compression", both, true, NewBlocks, compression),
	rule("copies", both, true, NewBlocks, oneOf("1", "2", "3")),
	rule("dedup", both, true, NewBlocks, oneOf("off", "on", "verify")),
	rule("dnodesize", fsOnly, true, NewFiles, oneOf("legacy", "auto", "1k", "2k", "4k", "8k", "16k")),
	rule("encryption", both, true, AtCreation, only("off",
		"pgstorage has no place for its keys; encrypt the devices below it")),
	rule("logbias", both, true, NewBlocks, oneOf("latency", "throughput")),
	rule("mountpoint", fsOnly, true, AtMount, mountpoint),
	rule("primarycache", both, true, AtOnce, oneOf("all", "none", "metadata")),
	rule("quota", fsOnly, false, AtOnce, sizeOrNone),
	rule("readonly", both, true, AtOnce, oneOf("on", "off")),
	rule("recordsize", fsOnly, true, NewFiles, recordsize),
	rule("redundant_metadata", both, true, NewBlocks, oneOf("all", "most", "some", "none")),
	rule("refquota", fsOnly, false, AtOnce, sizeOrNone),
	rule("refreservation", both, false, AtOnce, sizeOrNone),
	rule("relatime", fsOnly, true, AtOnce, oneOf("on", "off")),
	rule("reservation", both, false, AtOnce, sizeOrNone),
	rule("secondarycache", both, true, AtOnce, oneOf("all", "none", "metadata")),
	rule("special_small_blocks", fsOnly, true, NewBlocks, smallBlocks),
	rule("sync", both, true, AtOnce, syncWrites),
	rule("volblocksize", volOnly, false, AtCreation, powerOfTwo(minVolBlock, maxVolBlock)),
	rule("volsize", volOnly, false, AtOnce, sizeAboveZero),
	rule("xattr", fsOnly, true, NewFiles, oneOf("on", "off", "sa", "dir")),
}

// Properties that pgstorage accepts on datasets, sorted by name.
func Properties() []Rule { return slices.Clone(properties) }

func lookup(property string) (Rule, error) {
	for _, r := range properties {
		if r.Name == property {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("%w: %s is not a dataset property that pgstorage accepts; remove it", ErrInvalid, property)
}

func applies(property string, kind Kind) error {
	r, err := lookup(property)
	if err != nil {
		return err
	}
	if kind == Filesystem && !r.Filesystems || kind == Volume && !r.Volumes {
		return fmt.Errorf("%w: a %s has no %s; remove it", ErrInvalid, kind, property)
	}
	return nil
}

// Canonical is a value of a dataset property as ZFS prints it with -p. A wanted value then
// compares with one that was read back. It returns ErrInvalid for a value that ZFS
// rejects, that pgstorage does not know, or that is not safe for a database.
func Canonical(property, value string) (string, error) {
	r, err := lookup(property)
	if err != nil {
		return "", err
	}
	return canonical(property, value, r.parse)
}

func canonical(property, value string, parse parser) (string, error) {
	out, err := parse(value)
	if err != nil {
		return "", fmt.Errorf("%w: %s=%.80s: %w", ErrInvalid, property, value, err)
	}
	return out, nil
}

// Same reports whether a value that was read back is the wanted one. Releases of ZFS differ in
// what xattr=on means and in how they print it. As a wanted value it leaves that to the
// release, and as a value that was read it is dir.
func Same(property, wanted, seen string) bool {
	want, err := Canonical(property, wanted)
	if err != nil {
		return wanted == seen
	}
	if property == "xattr" && want == "on" {
		return seen == "on" || seen == "dir" || seen == "sa"
	}
	if property == "xattr" && seen == "on" {
		seen = "dir"
	}
	return want == seen
}

// poolProperties that pgstorage accepts, by name. Source: zpoolprops(7).
var poolProperties = map[string]parser{
	"ashift":        ashift,
	"autoexpand":    oneOf("on", "off"),
	"autotrim":      oneOf("on", "off"),
	"cachefile":     cachefile,
	"compatibility": compatibility,
	"failmode":      oneOf("wait", "continue", "panic"),
	"multihost":     oneOf("on", "off"),
}

// CanonicalPool is Canonical for the properties of a pool.
func CanonicalPool(property, value string) (string, error) {
	parse, ok := poolProperties[property]
	if !ok {
		return "", fmt.Errorf("%w: %s is not a pool property that pgstorage accepts; remove it", ErrInvalid, property)
	}
	return canonical(property, value, parse)
}

// since is the first release that has a value.
type since struct{ major, minor, patch int }

// Supports says that this version of ZFS does not take a value, or nil. The value is
// canonical. Sources: release notes of 2.2.0 and 2.1.7.
func Supports(v Version, property, value string) error {
	var need since
	switch {
	case property == "checksum" && value == "blake3":
		need = since{2, 2, 0}
	case property == "special_small_blocks" && bytesOf(value) > 128<<10:
		need = since{2, 2, 0}
	case property == "redundant_metadata" && (value == "some" || value == "none"):
		need = since{2, 1, 7}
	}
	if v.AtLeast(need.major, need.minor, need.patch) {
		return nil
	}
	return fmt.Errorf("%w: %s=%s needs ZFS %d.%d.%d and the node has %s; use another value or upgrade the node",
		ErrInvalid, property, value, need.major, need.minor, need.patch, v.Text)
}
