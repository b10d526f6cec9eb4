//go:build linux

// Package cluster runs in a virtual machine and creates a real Ceph cluster of one node on real
// zvols. It creates the zvols as zfs-localpv would. Mon, mgr and OSDs are from Debian's
// packages, deployed as in Ceph's manual deployment. Pools and images are as Rook and its CSI
// driver would create them. The console has every command and what it printed.
package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// Cluster that runs.
type Cluster struct {
	job     job.Job
	daemons []*daemon
	// osds by the name of their side.
	osds map[string][]osd
	// made reports that Open created the cluster, rather than found it.
	made bool
}

// osd of a side, with its number in the order of the job.
type osd struct {
	number int
	device string
}

func (o osd) id() string { return fmt.Sprint(o.number) }

// Open opens the cluster of a node whose pool is imported. It creates what is missing, and
// starts the rest in the order of its dependencies. It returns once every placement group is
// clean.
func Open(ctx context.Context, j job.Job) (*Cluster, error) {
	c := &Cluster{job: j, osds: map[string][]osd{}}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"zvols", c.zvols},
		{"mon and mgr", c.monitors},
		{"OSDs", c.startOSDs},
		{"pools", c.pools},
		{"clean", c.clean},
		{"configuration", c.checkConfig},
	} {
		begin := time.Now()
		fmt.Printf("== %s\n", step.name)
		if err := step.do(ctx); err != nil {
			return c, fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("== %s: %.1f s\n", step.name, time.Since(begin).Seconds())
	}
	return c, nil
}

// Made reports whether Open created the cluster, rather than found it.
func (c *Cluster) Made() bool { return c.made }

// explanation is everything that may explain a failure.
const explanation = `mount -t debugfs debugfs /sys/kernel/debug
for f in /var/log/ceph/*; do echo "== $f"; tail -n 60 "$f"; done
echo == dmesg; dmesg | tail -n 60
echo == zfs; zpool status; zfs list -t all
echo == memory; head -n 5 /proc/meminfo
echo == rbd; cat /sys/bus/rbd/devices/*/{pool,name,size} /sys/kernel/debug/ceph/*/{osdc,monc}
echo == ceph; timeout 60 ceph --connect-timeout 20 status; timeout 60 ceph --connect-timeout 20 osd tree`

// Explain prints what may explain a failure.
func Explain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", explanation)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	fmt.Println("== what the node says:", finish(ctx, cmd))
}

// write writes a file of the cluster.
func write(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
