//go:build linux

// Package server runs in a virtual machine and creates what a node and an instance have. The
// agent creates the pool. Volumes are as the CSI driver, and Postgres as CloudNativePG, would
// create them.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
)

// commandTime bounds a command of the agent, on an emulated processor.
const commandTime = time.Minute

// Job is what the manager would have said, as the host renders it.
type Job struct {
	Storage    *v1alpha1.PgNodeStorage `json:"storage"`
	Parameters map[string]string       `json:"parameters"`
}

// Load a job that the host wrote.
func Load(path string) (Job, error) {
	var j Job
	content, err := os.ReadFile(path)
	if err != nil {
		return j, err
	}
	return j, json.Unmarshal(content, &j)
}

// Converge runs passes of the agent until the node is as declared.
func (j Job) Converge(ctx context.Context) error {
	n := agent.New("", &host.Exec{Timeout: commandTime})
	for range 10 {
		result, err := n.Pass(ctx, j.Storage)
		if err != nil {
			return err
		}
		result.Status.Conditions = status.Conditions(j.Storage.Status.Conditions, j.Storage.Generation, metav1.Now(), result.Outcomes)
		j.Storage.Status = result.Status
		if !result.Changed {
			break
		}
	}
	if !meta.IsStatusConditionTrue(j.Storage.Status.Conditions, v1alpha1.ConditionReady) {
		return fmt.Errorf("the node is not as declared: %+v", j.Storage.Status.Conditions)
	}
	return nil
}

// Volume mounts a dataset, and reports whether it created it. A new dataset has the properties
// that zfs-localpv sets, and the given ones, such as recordsize=16k. It inherits everything
// else.
func Volume(ctx context.Context, dataset, mountpoint string, properties ...string) (bool, error) {
	names, err := Run(ctx, "zfs", "list", "-H", "-o", "name")
	if err != nil {
		return false, err
	}
	made := false
	if !strings.Contains(names+"\n", dataset+"\n") {
		made = true
		args := []string{"create"}
		for _, property := range append([]string{"mountpoint=legacy"}, properties...) {
			args = append(args, "-o", property)
		}
		if _, err := Run(ctx, "zfs", append(args, dataset)...); err != nil {
			return made, err
		}
	}
	if err := os.MkdirAll(mountpoint, 0o755); err != nil {
		return made, err
	}
	_, err = Run(ctx, "mount", "-t", "zfs", dataset, mountpoint)
	return made, err
}

// Run a program and return what it printed.
func Run(ctx context.Context, program string, args ...string) (string, error) {
	return finish(exec.CommandContext(ctx, program, args...))
}

// Unmount unmounts the volume of a Postgres that was stopped. A stopped Postgres removes its
// pid file first, and uses its folder for a moment longer.
func Unmount(ctx context.Context, path string) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = Run(ctx, "umount", path)
		return last == nil, nil
	})
	return errors.Join(err, last)
}

func finish(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out), nil
}

// Healthy fails if a pool has found an error.
func Healthy(ctx context.Context) error {
	health, err := Run(ctx, "zpool", "status", "-x")
	if err == nil && strings.TrimSpace(health) != "all pools are healthy" {
		err = fmt.Errorf("zpool status: %s", health)
	}
	return err
}
