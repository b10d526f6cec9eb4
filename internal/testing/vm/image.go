//go:build linux

package vm

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// Image is what a machine boots from. Machines never write to it.
type Image struct {
	// Dir has vmlinuz, initrd.gz and root.img.
	Dir string
	// Accelerator is kvm or tcg.
	Accelerator string
}

// FindImage returns the image, which it has hack/vm.sh make where there is none yet.
// PGSTORAGE_VM_IMAGE in the environment names the folder of another.
func FindImage(ctx context.Context) (Image, error) { return find(ctx, "image") }

// FindCephImage is [FindImage] of the image that has Ceph's daemons too.
// PGSTORAGE_VM_CEPH_IMAGE in the environment names the folder of another.
func FindCephImage(ctx context.Context) (Image, error) { return find(ctx, "ceph-image") }

func find(ctx context.Context, verb string) (Image, error) {
	dir, err := script(ctx, verb)
	if err != nil {
		return Image{}, err
	}
	accelerator, err := script(ctx, "probe")
	return Image{Dir: dir, Accelerator: accelerator}, err
}

// acceleration with a model of the processor, where it is emulated and one is named.
func (i Image) acceleration(model string) []string {
	if i.Accelerator == "kvm" {
		return []string{"-accel", "kvm", "-cpu", "host"}
	}
	args := []string{"-accel", "tcg,thread=multi"}
	if model != "" {
		args = append(args, "-cpu", model)
	}
	return args
}

// script runs hack/vm.sh, which reports its progress on standard error.
func script(ctx context.Context, verb string) (string, error) {
	out, err := process.Output(ctx, filepath.Join(repository.Root(), "hack", "vm.sh"), verb)
	return strings.TrimSpace(string(out)), err
}
