//go:build linux

package vm

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// kernelArguments suit an emulated machine. It runs without mitigations, and each program has
// the same addresses in all its processes. The emulator then reuses what it has translated
// already (a third less processor time). On a busy host the kernel's check of the timer ends in
// a panic at boot.
const kernelArguments = "console=ttyS0 panic=-1 quiet loglevel=3 mitigations=off norandmaps no_timer_check net.ifnames=0"

// arguments of QEMU. Its defaults are off, so the guest has only what is named here.
func (m *Machine) arguments(disks []Disk) []string {
	image := m.options.Image
	args := append(image.acceleration(m.options.Model),
		"-smp", strconv.Itoa(m.options.Processors), "-m", strconv.Itoa(m.options.Memory),
		"-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", filepath.Join(image.Dir, "vmlinuz"),
		"-initrd", filepath.Join(image.Dir, "initrd.gz"),
		"-append", kernelArguments,
		"-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=",
		"-device", "virtio-rng-pci",
	)
	args = append(args, drive("root", "format=raw,snapshot=on,cache=unsafe,file="+escape(filepath.Join(image.Dir, "root.img")), 0)...)
	args = append(args, drive("payload", "format=raw,readonly=on,cache=unsafe,file="+escape(m.payloadPath()), 0)...)
	args = append(args, drive("artefacts", "format=raw,cache=unsafe,file="+escape(m.artefactsPath()), 0)...)
	for _, disk := range disks {
		args = append(args, drive(disk.Serial, disk.drive(), disk.SectorBytes)...)
	}
	return args
}

// drive is a disk of the guest. Its errors are the guest's to see; QEMU's own way
// with a full disk would halt the machine.
func drive(serial, backend string, sectorBytes int) []string {
	device := fmt.Sprintf("virtio-blk-pci,drive=%[1]s,serial=%[1]s,werror=report,rerror=report", serial)
	if sectorBytes != 0 {
		device += fmt.Sprintf(",logical_block_size=%[1]d,physical_block_size=%[1]d", sectorBytes)
	}
	return []string{"-drive", "if=none,id=" + serial + "," + backend, "-device", device}
}
