package nbd

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// Defaults and bounds of a Device.
const (
	DefaultBlockSize = 4096

	// Forever, for DeadConnTimeout: requests wait until the device is given another
	// connection, or is disconnected.
	Forever = 10 * 365 * 24 * time.Hour

	// MaxIndex is the last that has minor numbers with the module's default max_part.
	MaxIndex = 1<<15 - 1
	// MaxConnections is ours: the kernel makes a hardware queue for each.
	MaxConnections = 16
	// MaxTimeout of both time-outs, but for Forever.
	MaxTimeout = 24 * time.Hour
	// MaxIdentifier in bytes: the kernel prints it into one page.
	MaxIdentifier = 255
	// maxDescription is the part of an Identifier that Identify keeps of an export; what
	// is left is for the life of a server.
	maxDescription = 180

	// maxSocketPath in bytes, of sockaddr_un less its end.
	maxSocketPath = 107
	maxExport     = 255
)

// Errors to compare with errors.Is.
var (
	// ErrInvalid: an argument was refused before anything was done.
	ErrInvalid = errors.New("invalid")
	// ErrNotLoaded: the kernel has no nbd module; modprobe is for the caller.
	ErrNotLoaded = errors.New("the nbd kernel module is not loaded")
	// ErrNoSuchExport: the server has no export of that name.
	ErrNoSuchExport = errors.New("no such export")
	// ErrUnfit: the server does not offer what a device needs.
	ErrUnfit = errors.New("the server is unfit")
	// ErrInUse: the device is attached with another identifier, or by another program.
	ErrInUse = errors.New("in use")
	// ErrHeld: the device is disconnected but still open, so its index is not free.
	ErrHeld = errors.New("disconnected, but still open")
	// ErrDead: the device is attached but fails what is asked of it.
	ErrDead = errors.New("dead")
	// ErrNotAttached: there is no device to be reconnected.
	ErrNotAttached = errors.New("not attached")
	// ErrConnected: the device has a connection that lives, and the server no other for it.
	ErrConnected = errors.New("connected already")
	// ErrMismatch: what was read back differs from the request.
	ErrMismatch = errors.New("not as asked for")
	// ErrNoFreeIndex: every index is taken.
	ErrNoFreeIndex = errors.New("no free index")
)

// Device is what Attach makes of an export.
type Device struct {
	// Index N of /dev/nbdN, 0 to MaxIndex. The caller keeps which name has which index:
	// a device of another name at the same path is what ZFS would otherwise import. One
	// beyond the module's nbds_max is made by the kernel.
	Index int
	// Export is the server's name of it, at most 255 bytes.
	Export string
	// Socket is the absolute path of the server's Unix socket, at most 107 bytes.
	Socket string
	// BlockSize in bytes, logical and physical. It is a power of two from 512 to 4096, and the
	// export's size is a multiple of it. 0 is DefaultBlockSize. It never comes from the server:
	// ZeroFS reports none, and the kernel would take 512.
	BlockSize uint32
	// Timeout of one request, whole seconds up to MaxTimeout. 0 waits for as long as
	// there is a connection: choose it where the server itself bounds nothing and loses
	// nothing. A request that was under way when the connection died is sent again within
	// resendEvery of a Reconnect.
	//
	// With a time-out a server that says nothing for so long loses the connection. The
	// request then moves to another live connection, to wait as long there; with none
	// left it waits for DeadConnTimeout. Choose longer than the worst stall of what is
	// behind the server. A request that was under way when the server died waits for it
	// too, while new ones fail at once: Disconnect ends it.
	Timeout time.Duration
	// DeadConnTimeout is how long requests wait for a new connection when all are dead,
	// whole seconds up to MaxTimeout, or Forever. With 0 they fail with EIO at once, and
	// so does all else from then on. Until it has passed, Reconnect loses no request.
	DeadConnTimeout time.Duration
	// Connections to the server, 1 to MaxConnections; 0 is 1. More than one needs a
	// server that says that a flush on one covers what was written on all
	// (NBD_FLAG_CAN_MULTI_CONN). The kernel uses as many at once as the node has CPUs.
	Connections int
	// Identifier is kept by the kernel while the device is attached, and later shows its owner
	// (NBD_ATTR_BACKEND_IDENTIFIER, Linux 5.14). It has 1 to MaxIdentifier printable ASCII
	// characters without blanks. See Identify.
	Identifier string
}

// Identify makes an Identifier that differs for each start of the server. So a device of a
// former life of the server is in use, not attached already. It replaces an export name that is
// too long by its hash, which is the same each time.
func Identify(export, incarnation string) string {
	if len(export) > maxDescription {
		sum := sha256.Sum256([]byte(export))
		hash := hex.EncodeToString(sum[:16])
		export = export[:maxDescription-len(hash)-1] + "~" + hash
	}
	return export + "@" + incarnation
}

// Path of the device node of an index.
func Path(index int) string { return "/dev/" + kernelName(index) }

func kernelName(index int) string { return "nbd" + strconv.Itoa(index) }

func (d Device) withDefaults() Device {
	if d.BlockSize == 0 {
		d.BlockSize = DefaultBlockSize
	}
	if d.Connections == 0 {
		d.Connections = 1
	}
	return d
}

var (
	identifier = regexp.MustCompile(`^[!-~]+$`)
	exportName = regexp.MustCompile(`^[^\x00/]+$`)
)

// validate what withDefaults returned.
func (d Device) validate() error {
	if err := validIndex(d.Index); err != nil {
		return err
	}
	if err := d.validServer(); err != nil {
		return err
	}
	switch {
	case d.BlockSize < 512 || d.BlockSize > 4096 || d.BlockSize&(d.BlockSize-1) != 0:
		return fmt.Errorf("%w: block size %d must be a power of two from 512 to 4096", ErrInvalid, d.BlockSize)
	case !validTimeout(d.Timeout):
		return fmt.Errorf("%w: time-out %s must be whole seconds up to %s, or 0", ErrInvalid, d.Timeout, MaxTimeout)
	case !validTimeout(d.DeadConnTimeout) && d.DeadConnTimeout != Forever:
		return fmt.Errorf("%w: time-out of dead connections %s must be whole seconds up to %s, or unlimited", ErrInvalid, d.DeadConnTimeout, MaxTimeout)
	}
	return validIdentifier(d.Identifier)
}

func (d Device) validServer() error {
	switch {
	case len(d.Export) > maxExport || !exportName.MatchString(d.Export):
		return fmt.Errorf("%w: export %q must be 1 to %d bytes without /", ErrInvalid, d.Export, maxExport)
	case !filepath.IsAbs(d.Socket) || len(d.Socket) > maxSocketPath:
		return fmt.Errorf("%w: socket %q must be an absolute path of at most %d bytes", ErrInvalid, d.Socket, maxSocketPath)
	case d.Connections < 1 || d.Connections > MaxConnections:
		return fmt.Errorf("%w: %d connections; 1 to %d are possible", ErrInvalid, d.Connections, MaxConnections)
	}
	return nil
}

func validTimeout(t time.Duration) bool {
	return t >= 0 && t <= MaxTimeout && t%time.Second == 0
}

func validIndex(index int) error {
	if index < 0 || index > MaxIndex {
		return fmt.Errorf("%w: index %d must be 0 to %d", ErrInvalid, index, MaxIndex)
	}
	return nil
}

func validIdentifier(id string) error {
	if len(id) > MaxIdentifier || !identifier.MatchString(id) {
		return fmt.Errorf("%w: identifier %q must be 1 to %d printable characters without blanks", ErrInvalid, id, MaxIdentifier)
	}
	return nil
}

// FreeIndex is the lowest that is in none of the lists: what is attached, and what the
// caller has given names to.
func FreeIndex(taken ...[]int) (int, error) {
	used := map[int]bool{}
	for _, list := range taken {
		for _, index := range list {
			used[index] = true
		}
	}
	for index := range MaxIndex + 1 {
		if !used[index] {
			return index, nil
		}
	}
	return 0, ErrNoFreeIndex
}
