//go:build guest

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/process" //nolint:depguard // the node of a test
)

// agent of the node; see test/vm/passes.
type agent struct {
	storage *v1alpha1.PgNodeStorage
	process *process.Process
	started time.Time
}

const (
	storageFile = kept + "/storage.yaml"
	statusFile  = storageFile + ".status"
)

// write what the API server has. A status that was cut with the power is lost, which
// it is not there.
func (a *agent) write() error {
	text, err := yaml.Marshal(a.storage)
	if err != nil {
		return err
	}
	if _, err := a.status(); err != nil {
		_ = os.Remove(statusFile)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(storageFile), 0o755), os.WriteFile(storageFile, text, 0o600))
}

func (a *agent) status() (v1alpha1.PgNodeStorageStatus, error) {
	var s v1alpha1.PgNodeStorageStatus
	text, err := os.ReadFile(statusFile)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

func (a *agent) start(args ...string) error {
	cmd := exec.Command("passes", append(args, storageFile)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	var err error
	a.started = time.Now()
	a.process, err = process.Start(cmd)
	return err
}

// watch runs passes until kill.
func (a *agent) watch() error {
	return a.start("-until", "Ready=Never", "-timeout", "24h", "-every", "1s")
}

func (a *agent) kill() error {
	if a.process == nil {
		return nil
	}
	return a.process.Kill()
}

// grow the exports, from the next start of the agent on.
func (a *agent) grow(size string) error {
	quantity, err := resource.ParseQuantity(size)
	if err != nil {
		return err
	}
	a.storage.Spec.NetworkDevices.ExportSize = quantity
	a.storage.Generation++
	return a.write()
}

// until the agent that watches says of a condition TYPE=STATUS or TYPE=STATUS/REASON,
// in a status that this run of it wrote.
func (a *agent) until(ctx context.Context, want, seconds string) (string, error) {
	limit, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return "", err
	}
	kind, rest, _ := strings.Cut(want, "=")
	value, reason, _ := strings.Cut(rest, "/")
	said := ""
	for begin := time.Now(); time.Since(begin) < limit; {
		// First its time: what is read then is as new as that, or newer.
		file, unwritten := os.Stat(statusFile)
		s, err := a.status() // a file that is being written is none
		if c := meta.FindStatusCondition(s.Conditions, kind); err == nil && c != nil {
			said = fmt.Sprintf("%s/%s: %s", c.Status, c.Reason, c.Message)
			if unwritten == nil && file.ModTime().After(a.started) && c.ObservedGeneration == a.storage.Generation &&
				string(c.Status) == value && (reason == "" || c.Reason == reason) {
				return said, nil
			}
		}
		if a.process.Wait(pause) == nil || ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("%s never held, it is %s", want, said)
}
