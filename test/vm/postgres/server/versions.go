//go:build linux

package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Versions of OpenZFS, Linux and PostgreSQL of this machine, for reports.
func Versions(ctx context.Context) (string, error) {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "", err
	}
	module, err := os.ReadFile("/sys/module/zfs/version")
	if err != nil {
		return "", err
	}
	postgres, err := exec.CommandContext(ctx, "postgres", "--version").Output()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("OpenZFS %s, Linux %s, PostgreSQL %s",
		strings.TrimSpace(string(module)), strings.TrimSpace(string(kernel)), strings.Fields(string(postgres))[2]), nil
}
