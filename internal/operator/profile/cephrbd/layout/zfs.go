package layout

import "fmt"

// redundancy is how many bytes the disks hold for each byte of a zvol, of the worst
// of the pool's vdevs.
func (z *ZFS) redundancy() (float64, string) {
	factor, text := 0.0, ""
	for _, v := range z.Vdevs {
		if f, t := v.redundancy(z.Volblock, z.Sector); f > factor {
			factor, text = f, t
		}
	}
	if text == "" {
		return 1, "1 of a pool whose vdevs are not declared here"
	}
	return factor, text
}

// parity is how many devices' worth of each row raidz keeps.
var parity = map[string]int{"raidz1": 1, "raidz2": 2, "raidz3": 3}

// redundancy for blocks of a size. RAID-Z writes each block as sectors of data, parity
// for each row of them, and padding to a multiple of parity + 1 sectors. So small
// blocks cost what a mirror does (OpenZFS, RAIDZ: space efficiency).
func (v Vdev) redundancy(block, sector int) (float64, string) {
	p := parity[v.Type]
	switch {
	case v.Type == "mirror":
		return float64(v.Devices), fmt.Sprintf("%d of the mirror", v.Devices)
	case p == 0 || v.Devices <= p || sector == 0 || block == 0:
		return 1, "1 of disks without redundancy"
	}
	data := (block + sector - 1) / sector
	rows := (data + v.Devices - p - 1) / (v.Devices - p)
	total := roundUp(data+rows*p, p+1)
	factor := float64(total) / float64(data)
	return factor, fmt.Sprintf("%s of %s over %d devices, which keeps a block of %d sectors in %d", Number(factor), v.Type, v.Devices, data, total)
}

// survives says how many disks of each vdev may be lost, of the worst of them.
func (z *ZFS) survives() int {
	least := -1
	for _, v := range z.Vdevs {
		n := parity[v.Type]
		if v.Type == "mirror" {
			n = v.Devices - 1
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return max(least, 0)
}
