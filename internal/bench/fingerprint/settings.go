package fingerprint

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// Group of settings.
type Group string

// The groups, in the order in which they are shown.
const (
	Postgres Group = "Postgres"
	Storage  Group = "Storage"
	Kernel   Group = "Kernel"
	Versions Group = "Versions"
	Node     Group = "Node"
	Images   Group = "Images"
)

var groups = []Group{Postgres, Storage, Kernel, Versions, Node, Images}

// Settings by group and name. Values are compared as they stand, so each is to be
// in one unit and notation, as pg_settings and zfs get -p give them.
type Settings map[Group]map[string]string

// Set one setting.
func (s Settings) Set(group Group, name, value string) {
	if s[group] == nil {
		s[group] = map[string]string{}
	}
	s[group][name] = value
}

// Hash of all settings: 64 hexadecimal digits of SHA-256 over group, name and value of each,
// with their lengths, sorted. It does not change with a group without settings.
func (s Settings) Hash() string {
	sum := sha256.New()
	for _, g := range slices.Sorted(maps.Keys(s)) {
		for _, name := range slices.Sorted(maps.Keys(s[g])) {
			for _, part := range []string{string(g), name, s[g][name]} {
				// The length keeps "a"+"bc" apart from "ab"+"c". A hash never fails to
				// write.
				_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
				_, _ = sum.Write([]byte(part))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// order in which groups are shown.
func order(a, b Group) int {
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

// place of a group; unknown ones come last.
func place(g Group) int {
	if i := slices.Index(groups, g); i >= 0 {
		return i
	}
	return len(groups)
}
