//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/pgstorage/pgstorage/test/vm/ceph/job"
	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Mount mounts an image of a side on a folder, as Rook's CSI driver and the kubelet do. It
// creates a missing image, has the kernel's client map it, and creates or checks its file
// system. It returns the image's device.
func (c *Cluster) Mount(ctx context.Context, side job.Side, claim string, bytes int64, folder string) (string, error) {
	image := side.Pool.Name + "/pvc-" + claim
	if c.made {
		_, err := run(ctx, "rbd", "create", image, "--size", fmt.Sprintf("%dM", bytes>>20), "--image-feature", strings.Join(side.Images.Features, ","))
		if err != nil {
			return "", err
		}
	}
	out, err := run(ctx, "rbd", "map", image)
	if err != nil {
		return "", err
	}
	device := strings.TrimSpace(out)
	made, err := mounted(ctx, device, side.Images.FSType, side.Images.MountOptions, folder)
	if err == nil && made != c.made {
		err = fmt.Errorf("%s had a file system: %v; it was made now: %v", image, !made, c.made)
	}
	return device, err
}

// Unmount unmounts and releases an image that no process uses any more. While it is mounted the
// kernel's client needs its OSDs: a machine that shuts down waits for them indefinitely.
func (c *Cluster) Unmount(ctx context.Context, device, folder string) error {
	if err := server.Unmount(ctx, folder); err != nil {
		return err
	}
	_, err := run(ctx, "rbd", "unmap", device)
	return err
}

// mounted mounts a device. It first creates a file system on one that is empty: on which blkid
// finds nothing (its exit code 2).
func mounted(ctx context.Context, device, fsType string, options []string, folder string) (made bool, err error) {
	_, err = run(ctx, "blkid", device)
	var exit *exec.ExitError
	switch {
	case err == nil:
		_, err = run(ctx, "fsck", "-a", device)
		if errors.As(err, &exit) && exit.ExitCode() == 1 { // errors were corrected
			err = nil
		}
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		made = true
		// As ceph-csi does.
		_, err = run(ctx, "mkfs."+fsType, "-q", "-m0", "-Enodiscard,lazy_itable_init=1,lazy_journal_init=1", device)
	}
	if err != nil {
		return made, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return made, err
	}
	args := []string{"-t", fsType, device, folder}
	if len(options) > 0 {
		args = append([]string{"-o", strings.Join(options, ",")}, args...)
	}
	_, err = run(ctx, "mount", args...)
	return made, err
}
