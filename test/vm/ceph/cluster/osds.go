//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
)

// upTime bounds how long OSDs take to be up, and groups to be clean.
const upTime = 6 * time.Minute

// startOSDs starts the OSDs of every side, and creates them first in a new cluster.
func (c *Cluster) startOSDs(ctx context.Context) error {
	if c.made {
		if err := c.configure(ctx); err != nil {
			return err
		}
	}
	for _, side := range c.job.Sides {
		for _, o := range c.osds[side.Name] {
			if c.made {
				if err := makeOSD(ctx, o, side.Zvols.DeviceClass); err != nil {
					return err
				}
			}
			if err := c.start("osd", o.id()); err != nil {
				return err
			}
		}
	}
	return until(ctx, "OSDs are up", upTime, c.alive(c.active))
}

// configure sets options before OSDs are created, because BlueStore fixes its unit of
// allocation then. A profile's values are for all OSDs; those of a side are for each of its
// own.
func (c *Cluster) configure(ctx context.Context) error {
	var text strings.Builder
	for _, side := range c.job.Sides {
		if len(side.Config) == 0 {
			continue
		}
		for _, o := range c.osds[side.Name] {
			_, _ = fmt.Fprintf(&text, "[osd.%s]\n", o.id())
			for _, option := range slices.Sorted(maps.Keys(side.Config)) {
				_, _ = fmt.Fprintf(&text, "%s = %s\n", option, side.Config[option])
			}
		}
	}
	path := home + "/options.conf"
	if err := write(path, text.String()); err != nil {
		return err
	}
	_, err := run(ctx, "ceph", "config", "assimilate-conf", "-i", path)
	return err
}

// makeOSD creates the OSD of a device, by ceph-osd itself.
func makeOSD(ctx context.Context, o osd, class string) error {
	uuid, err := os.ReadFile("/proc/sys/kernel/random/uuid")
	if err != nil {
		return err
	}
	secret, err := run(ctx, "ceph-authtool", "--gen-print-key")
	if err != nil {
		return err
	}
	id, secret, dir := strings.TrimSpace(string(uuid)), strings.TrimSpace(secret), home+"/osd/ceph-"+o.id()
	// An OSD reports to the mons the class that is in its folder.
	err = errors.Join(
		os.Mkdir(dir, 0o755), os.Symlink(o.device, dir+"/block"), write(dir+"/crush_device_class", class+"\n"),
		write(dir+"/keyring", "[osd."+o.id()+"]\nkey = "+secret+"\n"), write(dir+"/new.json", fmt.Sprintf(`{"cephx_secret": %q}`, secret)),
	)
	if err != nil {
		return err
	}
	number, err := run(ctx, "ceph", "osd", "new", id, "-i", dir+"/new.json")
	if err != nil {
		return err
	}
	if strings.TrimSpace(number) != o.id() {
		return fmt.Errorf("osd.%s was given the number %q", o.id(), number)
	}
	_, err = run(ctx, "ceph-osd", "-i", o.id(), "--mkfs", "--osd-uuid", id)
	return err
}

// active reads what each OSD reports once the mons know it.
func (c *Cluster) active() (bool, error) {
	for _, side := range c.job.Sides {
		for _, o := range c.osds[side.Name] {
			var status struct{ State string }
			if err := ask("osd."+o.id(), map[string]string{"prefix": "status"}, &status); err != nil {
				return false, err
			}
			if status.State != "active" {
				return false, fmt.Errorf("osd.%s is in the state %q", o.id(), status.State)
			}
		}
	}
	return true, nil
}

// checkConfig reads the declared options back from each OSD.
func (c *Cluster) checkConfig(context.Context) error {
	for _, side := range c.job.Sides {
		for _, o := range c.osds[side.Name] {
			if err := checkOptions(o, side); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOptions(o osd, side job.Side) error {
	for option, want := range side.Config {
		got := map[string]string{}
		if err := ask("osd."+o.id(), map[string]string{"prefix": "config get", "var": option}, &got); err != nil {
			return err
		}
		fmt.Printf("         osd.%s %s=%s\n", o.id(), option, got[option])
		if got[option] != want {
			return fmt.Errorf("osd.%s has %s=%s, and not %s", o.id(), option, got[option], want)
		}
	}
	return nil
}
