//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
)

const (
	// home of everything that Ceph keeps outside its OSDs' devices, on the mon's volume.
	home = "/var/lib/ceph"
	// only is the name of both mon and mgr.
	only = "a"
	fsid = "5b1c8a5e-6f0e-4a39-9d7f-2f6f0c3e1a77"
	// address of the mon by both of its protocols; the kernel's client takes the second.
	address = "[v2:127.0.0.1:3300,v1:127.0.0.1:6789]"
)

// configuration has what no profile sets: paths, and the copies of Ceph's own pool on OSDs of
// one host, which Rook sets by an object. It loads only the mgr's modules that the mgr cannot
// run without, because the mgr imports each before it answers. Its time-outs suit an emulated
// processor, which is late without being dead.
const configuration = `[global]
fsid = %s
mon_host = %s
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
osd_crush_chooseleaf_type = 0
osd_pool_default_size = %d
osd_heartbeat_grace = 120
mon_mgr_beacon_grace = 240
log_file = %[4]s/$name.log
[mon]
auth_allow_insecure_global_id_reclaim = false
mgr_initial_modules = iostat
admin_socket = %[5]s/$name.asok
[mgr]
mgr_disabled_modules = alerts,influx,insights,localpool,mirroring,nfs,osd_perf_query,prometheus,restful,selftest,snap_schedule,stats,telegraf,test_orchestrator,zabbix
admin_socket = %[5]s/$name.asok
[osd]
admin_socket = %[5]s/$name.asok
[client]
log_file = /dev/null
[client.admin]
keyring = %[6]s/admin.keyring
`

// monitors starts the mon and the mgr, on the mon's volume.
func (c *Cluster) monitors(ctx context.Context) error {
	ours := c.job.Sides[0]
	device, err := zvol(ctx, ours.Zvols, "mon", c.job.MonBytes)
	if err != nil {
		return err
	}
	if c.made, err = mounted(ctx, device, "ext4", nil, home); err != nil {
		return err
	}
	for _, path := range []string{"/etc/ceph", logs, sockets, home + "/mon", home + "/mgr/ceph-" + only, home + "/osd"} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	}
	if err := write("/etc/ceph/ceph.conf", fmt.Sprintf(configuration, fsid, address, c.job.ManagerCopies, logs, sockets, home)); err != nil {
		return err
	}
	if c.made {
		if err := makeMon(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(c.start("mon", only), c.start("mgr", only)); err != nil {
		return err
	}
	_, err = run(ctx, "ceph", "--connect-timeout", "180", "mon", "stat")
	return err
}

// makeMon creates the mon with the keys of all daemons that exist before the first OSD (Ceph,
// Manual Deployment).
func makeMon(ctx context.Context) error {
	keys, admin, mgr, monmap := home+"/mkfs.keyring", home+"/admin.keyring", home+"/mgr/ceph-"+only+"/keyring", home+"/monmap"
	return all(
		ctx,
		[]string{"ceph-authtool", "--create-keyring", keys, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *"},
		[]string{"ceph-authtool", "--create-keyring", admin, "--gen-key", "-n", "client.admin", "--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *"},
		[]string{"ceph-authtool", "--create-keyring", mgr, "--gen-key", "-n", "mgr." + only, "--cap", "mon", "allow profile mgr", "--cap", "osd", "allow *", "--cap", "mds", "allow *"},
		[]string{"ceph-authtool", keys, "--import-keyring", admin},
		[]string{"ceph-authtool", keys, "--import-keyring", mgr},
		[]string{"monmaptool", "--create", "--fsid", fsid, "--addv", only, address, monmap},
		[]string{"ceph-mon", "--mkfs", "-i", only, "--monmap", monmap, "--keyring", keys},
	)
}
