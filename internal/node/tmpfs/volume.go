package tmpfs

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Base is the folder of the node that has all volumes in memory, by profile and name.
const Base = naming.MemoryDir

// ErrInUse is returned where a volume cannot be unmounted because something uses it.
var ErrInUse = errors.New("in use")

// Place is where a volume is: the profile, and the name of the volume.
type Place struct{ Profile, Name string }

// Dir is the mount point of the place. A profile or name that is not one element of a path
// is an error.
func (p Place) Dir() (string, error) {
	if !element(p.Profile) || !element(p.Name) {
		return "", fmt.Errorf("profile %q and volume %q must each be one element of a path", p.Profile, p.Name)
	}
	return path.Join(Base, p.Profile, p.Name), nil
}

// element reports whether a name stays in its folder.
func element(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// Volume to mount.
type Volume struct {
	Place
	// Bytes limit the contents of the files.
	Bytes uint64
}

// Mount is a tmpfs that is mounted at a place.
type Mount struct {
	Place
	// Incarnation identifies the tmpfs. It is empty if the mount is half-made: the folder that
	// has this name is missing, or there are several.
	Incarnation string
	// Empty is true if the tmpfs has no file and no folder.
	Empty bool
	// Size limits the contents of the files, and Used is what they have, in bytes.
	Size, Used uint64
	// NoSwap is true if the kernel never writes the files to swap.
	NoSwap bool
	// Elsewhere lists mount points of folders of the same tmpfs. The kubelet makes one for each
	// pod that uses the volume.
	Elsewhere []string
}

// Path is the folder that is the volume.
func (m Mount) Path() string { return naming.MemoryPath(m.Profile, m.Name, m.Incarnation) }

// Seen is what one visit to the node has read about a profile.
type Seen struct {
	Mounts []Mount
	// Swap is true if the node has swap.
	Swap bool
}

// incarnation is what the agent names the folder of a volume: 16 hexadecimal digits.
var incarnation = regexp.MustCompile(`^[0-9a-f]{16}$`)
