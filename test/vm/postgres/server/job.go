//go:build linux

// Package server runs in a virtual machine and makes there what a node and an
// instance have: the pool by the agent, volumes as the CSI driver, Postgres as
// CloudNativePG.
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

// Volume mounts a dataset, which is made first where there is none: with the
// properties that zfs-localpv gives it and those that are named here, as
// recordsize=16k, so that the rest is its parent's. It tells whether it was made.
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

// Unmount what a Postgres that was stopped lay on. It ends a moment after it has removed
// its pid file, by which its end is told, and until then it is at work in its folder.
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
