package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// PoolRecord is what a node keeps on its disk of a pool that it has had. It outlives the
// PgNodeStorage and the Node object.
type PoolRecord struct {
	// GUID of the pool that was last seen imported under its name; empty before.
	GUID string `json:"guid,omitempty"`
	// Consents to wipe that were used.
	Consents []Consent `json:"consents,omitempty"`
}

// Consent is one use of wipe: true.
type Consent struct {
	// Path and Serial as they were declared.
	Path   string `json:"path"`
	Serial string `json:"serial,omitempty"`
	// Disk that was at the path, by its serial number and WWN.
	Disk string    `json:"disk,omitempty"`
	At   time.Time `json:"at"`
	// PoolGUID of the pool that took the disk. While it is empty the pool is not made,
	// and the consent holds for another attempt on the same disk.
	PoolGUID string `json:"poolGUID,omitempty"`
	// Local: the disk is a cache or log of a pool on network devices.
	Local bool `json:"local,omitempty"`
}

// Use notes the consents of all devices with wipe: true, before the first is wiped. One
// that was used up stays so.
func (r *PoolRecord) Use(devices []v1alpha1.ZFSDevice, seen Seen, now time.Time, local bool) {
	r.Consents = slices.Clone(r.Consents)
	for _, d := range devices {
		if !wipes(d) {
			continue
		}
		i := slices.IndexFunc(r.Consents, func(c Consent) bool { return c.of(d) })
		switch {
		case i < 0:
			r.Consents = append(r.Consents, Consent{Path: d.Path, Serial: d.Serial, Disk: diskAt(seen, d.Path).String(), At: now.UTC(), Local: local})
		case r.Consents[i].PoolGUID == "":
			r.Consents[i].Disk, r.Consents[i].At = diskAt(seen, d.Path).String(), now.UTC()
		}
	}
}

// Spend the consents of a pool that was made, or of the given disks that it took.
func (r *PoolRecord) Spend(guid string, took func(Consent) bool) (changed bool) {
	r.Consents = slices.Clone(r.Consents)
	for i := range r.Consents {
		if r.Consents[i].PoolGUID == "" && took(r.Consents[i]) {
			r.Consents[i].PoolGUID, changed = guid, true
		}
	}
	return changed
}

// Remember the imported pool, and says whether anything is new. Its creation is over, so
// that every consent that was given for it is used up.
func (r *PoolRecord) Remember(s *v1alpha1.PgNodeStorage, seen Seen) (changed bool) {
	if seen.Pool == nil || replaced(s, seen) || seen.Network != nil && Foreign(seen) {
		return false
	}
	guid := seen.Pool["guid"].Value
	if r.GUID != guid {
		r.GUID, changed = guid, true
	}
	spent := r.Spend(guid, func(c Consent) bool { return !c.Local || inPool(seen.Status, c.Path) })
	return spent || changed
}

func inPool(s zfs.Status, path string) bool {
	return slices.ContainsFunc(s.Vdevs, func(v zfs.VdevStatus) bool {
		return slices.ContainsFunc(v.Disks(), func(d zfs.VdevStatus) bool { return isLocal(d, path) })
	})
}

// DevicesOf a creation that are named.
func DevicesOf(c *v1alpha1.ZFSPoolCreate) []v1alpha1.ZFSDevice {
	var out []v1alpha1.ZFSDevice
	if c == nil {
		return nil
	}
	for _, v := range slices.Concat(c.Vdevs, c.Logs, c.Caches, c.Special) {
		out = append(out, v.Devices...)
	}
	return out
}

func (c Consent) of(d v1alpha1.ZFSDevice) bool { return c.Path == d.Path && c.Serial == d.Serial }

func wipes(d v1alpha1.ZFSDevice) bool { return d.Wipe != nil && *d.Wipe }

// maker is a disk by what its maker wrote into it.
type maker struct{ serial, wwn string }

func (d maker) String() string {
	return strings.TrimSpace(strings.Join([]string{d.serial, d.wwn}, " "))
}

// is reports whether a declared serial is this disk's serial number or WWN.
func (d maker) is(serial string) bool {
	return serial != "" && (serial == d.serial || strings.TrimPrefix(serial, "0x") == strings.TrimPrefix(d.wwn, "0x"))
}

// named is the serial that a user would declare.
func (d maker) named() string {
	if d.serial != "" {
		return d.serial
	}
	return d.wwn
}

// diskAt a path that was probed; that of a partition is the disk that it is on.
func diskAt(seen Seen, path string) maker {
	is := seen.Signatures[path].Is
	if is.Serial != "" {
		return maker{is.Serial, is.WWN}
	}
	for _, whole := range seen.Devices {
		if is.Kernel != "" && (whole.Kernel == is.Kernel || slices.ContainsFunc(whole.Children, func(part blockdev.Device) bool { return part.Kernel == is.Kernel && part.Type == "part" })) {
			return maker{whole.Serial, whole.WWN}
		}
	}
	return maker{wwn: is.WWN}
}

// mayWipe refuses a consent that is not bound to one disk, that another disk has come in
// the place of, or that is used up. The device is not blank.
func (l *layouter) mayWipe(field string, d v1alpha1.ZFSDevice, found blockdev.Signatures) *outcome.Outcome {
	now := diskAt(l.seen, d.Path)
	begin := func() []any { return []any{field, d.Path, found} }
	hint := msgWipeByHand
	if name := now.named(); name != "" && d.Serial == "" {
		hint = fmt.Sprintf(msgWipeAddSerial, name)
	}
	if !blockdev.NamesOneDisk(d.Path) && d.Serial == "" {
		return refuse(v1alpha1.ReasonWipeRefused, outcome.Invalid, msgWipeUnbound, append(begin(), hint)...)
	}
	i := slices.IndexFunc(l.seen.Made.Consents, func(c Consent) bool { return c.of(d) })
	if i < 0 {
		return nil
	}
	switch c := l.seen.Made.Consents[i]; {
	case c.PoolGUID != "":
		return refuse(v1alpha1.ReasonWipeRefused, outcome.Invalid, msgWipeUsedUp, append(begin(), c.PoolGUID, c.At.Format(time.RFC3339), hint)...)
	case c.Disk != now.String():
		return refuse(v1alpha1.ReasonWipeRefused, outcome.Invalid, msgWipeOtherDisk, append(begin(), c.Disk, c.At.Format(time.RFC3339), now.String(), hint)...)
	}
	return nil
}
