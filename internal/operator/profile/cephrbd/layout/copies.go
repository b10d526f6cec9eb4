package layout

import "fmt"

// Copies of each byte of a database of so many instances. It returns bytes on the disks
// for each byte of the database, and the calculation.
func (c Ceph) Copies(instances int) (float64, string) {
	factor := float64(instances) * c.expansion()
	text := fmt.Sprintf("%d instances x %s", instances, c.expansionText())
	if c.ZFS != nil {
		f, why := c.ZFS.redundancy()
		factor *= f
		text += " x " + why
	}
	return factor, text + " = " + Number(factor)
}

// nearFull is where Ceph begins to warn (mon_osd_nearfull_ratio).
const nearFull = 0.85

// Usable bytes of volumes before Ceph warns. With more failure domains than a block
// needs, the space of one domain stays free. So Ceph can create its copies again after
// its loss.
func (c Ceph) Usable() (int64, string) {
	raw := float64(c.OSDs) * float64(c.OSDBytes)
	usable := raw * nearFull / c.expansion()
	text := fmt.Sprintf("%d OSDs x %s x %s until OSD_NEARFULL", c.OSDs, size(c.OSDBytes), Number(nearFull))
	if c.Domains > c.needed() && c.needed() > 1 {
		usable *= float64(c.Domains-1) / float64(c.Domains)
		text += fmt.Sprintf(" x %d/%d to heal the loss of one %s", c.Domains-1, c.Domains, c.Domain)
	}
	text += fmt.Sprintf(" / %s, less what BlueStore keeps for itself", c.expansionText())
	return int64(usable), text
}

// size in whole Mi or Gi.
func size(n int64) string {
	if n>>30<<30 == n {
		return fmt.Sprintf("%dGi", n>>30)
	}
	return fmt.Sprintf("%dMi", n>>20)
}
